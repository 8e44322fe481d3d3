"""The shared draft: saved by its revision, never over somebody else's work."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs.models import JobDraft, Project, Role
from tests.api.rows import chain, job, member, send

pytestmark = pytest.mark.django_db
DRAFT = "/api/jobs/numbers/draft"


@pytest.fixture(autouse=True)
def _job(editor: User) -> None:
    job(editor)


def save(client: Client, revision: int, **extra: Any) -> Any:
    return send(client, "PUT", DRAFT, {"document": chain(**extra)}, if_match=f'"{revision}"')


def test_a_save_without_if_match_gets_428(browser: Client) -> None:
    answer = send(browser, "PUT", DRAFT, {"document": chain()})
    assert (answer.status_code, answer.json()["error"]["code"]) == (428, "precondition_required")


def test_a_save_raises_the_revision_which_is_the_etag(browser: Client) -> None:
    assert browser.get(DRAFT)["ETag"] == '"1"'
    answer = save(browser, 1, rows=5)
    assert (answer.status_code, answer["ETag"], answer.json()["revision"]) == (200, '"2"', 2)


def test_a_stale_save_gets_409_with_who_and_when(browser: Client, home: Project, client_of: Callable[[User], Client]) -> None:
    other = client_of(member(home, "otto", Role.EDITOR))
    assert save(other, 1, rows=5).status_code == 200
    answer = save(browser, 1, rows=6)
    conflict = answer.json()["error"]["conflict"]
    assert (answer.status_code, conflict["revision"], conflict["updated_by"]) == (409, 2, "otto")
    assert conflict["update_time"].endswith("Z")
    assert json.loads(JobDraft.objects.get().document)["nodes"]["numbers"]["config"]["total_rows"] == 5


def test_a_save_whose_answer_got_lost_is_no_conflict_with_oneself(
    browser: Client, home: Project, client_of: Callable[[User], Client]
) -> None:
    other = client_of(member(home, "otto", Role.EDITOR))
    first, again = save(browser, 1, rows=5), save(browser, 1, rows=5)
    assert (again.status_code, again["ETag"]) == (200, '"2"')
    assert again.json() == first.json()
    assert save(browser, 1, rows=6).status_code == 409
    assert save(other, 1, rows=5).status_code == 409
    assert save(browser, 2, rows=7).status_code == 200
    assert save(browser, 1, rows=5).status_code == 409
    assert JobDraft.objects.get().revision == 3


@pytest.mark.parametrize("header", ["*", "abc", '"99999999999999999999"', '"0"', ""])
def test_an_if_match_that_is_no_revision_never_overwrites(browser: Client, header: str) -> None:
    answer = send(browser, "PUT", DRAFT, {"document": chain(rows=6)}, if_match=header)
    assert answer.status_code == 409
    assert JobDraft.objects.get().revision == 1


def test_a_draft_that_is_put_back_is_no_longer_dirty(browser: Client) -> None:
    assert save(browser, 1, rows=5).json()["dirty"] is True
    assert browser.get("/api/jobs").json()["results"][0]["draft"]["dirty"] is True
    assert save(browser, 2).json()["dirty"] is False
    assert browser.get("/api/jobs").json()["results"][0]["draft"]["dirty"] is False


def test_a_draft_that_is_no_document_yet_is_kept_with_its_problems(browser: Client) -> None:
    answer = send(browser, "PUT", DRAFT, {"document": {"name": "numbers", "nodes": {"x": {"type": ""}}}}, if_match='"1"')
    assert answer.status_code == 200
    assert answer.json()["problems"]
    assert browser.get(DRAFT).json()["document"] == {"name": "numbers", "nodes": {"x": {"type": ""}}}


def test_a_draft_cannot_take_another_name(browser: Client) -> None:
    answer = send(browser, "PUT", DRAFT, {"document": chain("other")}, if_match='"1"')
    assert (answer.status_code, answer.json()["error"]["problems"][0]["pointer"]) == (422, "/name")


def test_the_layout_is_kept_without_using_up_a_revision(browser: Client) -> None:
    layout = {"positions": {"numbers": {"x": 10, "y": 20.5}}, "notes": [{"text": "look"}], "groups": []}
    assert send(browser, "PUT", "/api/jobs/numbers/layout", layout).status_code == 200
    draft = browser.get(DRAFT).json()
    assert (draft["layout"], draft["revision"], draft["dirty"]) == (layout, 1, False)
    assert browser.get("/api/jobs/numbers/layout").json()["layout"] == layout


def test_a_layout_that_is_none_is_refused(browser: Client) -> None:
    assert send(browser, "PUT", "/api/jobs/numbers/layout", {"positions": {"a": {"x": "left"}}}).status_code == 422


def test_of_two_saves_at_once_one_wins(browser: Client, editor: User) -> None:
    """The compare-and-set is the database's: a revision read twice can be used once."""
    assert {save(browser, 1, rows=5).status_code, save(browser, 1, rows=6).status_code} == {200, 409}
