"""Sample rows beside the draft, and previews that take them."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs.api import documents
from jobs.models import JobDraft, Project, Role
from tests.api.rows import chain, codes, job, member, send

pytestmark = pytest.mark.django_db

SAMPLES = "/api/jobs/numbers/draft/samples"
OWN = f"{SAMPLES}/numbers"
ROWS = [{"id": 1, "key": "a"}, {"id": 2, "key": None}]


@pytest.fixture(autouse=True)
def _job(editor: User) -> None:
    job(editor)


def pointers(answer: Any) -> list[str]:
    return [problem["pointer"] for problem in answer.json()["error"]["problems"]]


def test_rows_are_kept_read_back_and_dropped(browser: Client) -> None:
    assert browser.get(SAMPLES).json() == {"samples": {}}
    assert browser.get(OWN).status_code == 404
    kept = send(browser, "PUT", OWN, {"rows": ROWS, "columns": "id bigint, key string", "by_hand": True})
    assert (kept.status_code, kept.json()["rows"], kept.json()["taken_by"], kept.json()["by_hand"]) == (200, ROWS, "erin", True)
    assert kept["ETag"] == f'"{kept.json()["revision"]}"'
    assert browser.get(SAMPLES).json() == {"samples": {"numbers": kept.json()}}
    assert send(browser, "DELETE", OWN).status_code == 204
    assert browser.get(SAMPLES).json() == {"samples": {}}


def test_columns_keep_their_order_whatever_the_database_does_with_keys(browser: Client) -> None:
    row = {"id": 1, "customer": {"name": "x", "at": "now"}, "at": None}
    send(browser, "PUT", OWN, {"rows": [row]})
    draft = JobDraft.objects.get()
    draft.samples = json.loads(json.dumps(draft.samples, sort_keys=True))  # PostgreSQL sorts them in its way
    draft.save()
    assert json.dumps(browser.get(OWN).json()["rows"]) == json.dumps([row])


def test_rows_that_were_kept_as_a_list_are_read_and_stay_beside_newer_ones(browser: Client) -> None:
    more = chain()
    more["nodes"]["second"] = more["nodes"]["numbers"]
    send(browser, "PUT", "/api/jobs/numbers/draft", {"document": more}, if_match='"1"')
    kept = {"columns": "", "rows": ROWS, "by_hand": True, "taken_at": "2026-01-31T12:00:00Z", "taken_by": "erin"}
    JobDraft.objects.update(samples={"numbers": kept})
    send(browser, "PUT", f"{SAMPLES}/second", {"rows": [{"id": 3}]})
    samples = browser.get(SAMPLES).json()["samples"]
    assert {node_id: found["rows"] for node_id, found in samples.items()} == {"numbers": ROWS, "second": [{"id": 3}]}


def test_all_rows_are_replaced_at_once_with_columns_one_by_one(browser: Client) -> None:
    columns = [{"name": "id", "type": "bigint"}]
    taken = "2026-01-31T12:00:00Z"
    body = {"samples": {"numbers": {"rows": [{"id": 1}], "columns": columns, "taken_at": taken}}}
    kept = send(browser, "PUT", SAMPLES, body).json()["samples"]["numbers"]
    assert (kept["columns"], kept["by_hand"], kept["taken_at"]) == (columns, False, taken)
    assert send(browser, "DELETE", SAMPLES).status_code == 204
    assert JobDraft.objects.get().samples == {}


def test_keeping_rows_uses_up_no_revision_of_the_draft_and_changes_nothing_in_it(browser: Client) -> None:
    before = browser.get("/api/jobs/numbers/draft").json()
    send(browser, "PUT", OWN, {"rows": ROWS})
    assert browser.get("/api/jobs/numbers/draft").json() == before


def test_rows_of_sources_that_the_draft_no_longer_has_are_dropped_when_others_are_kept(browser: Client) -> None:
    more = chain()
    more["nodes"]["second"] = more["nodes"]["numbers"]
    send(browser, "PUT", "/api/jobs/numbers/draft", {"document": more}, if_match='"1"')
    assert send(browser, "PUT", f"{SAMPLES}/second", {"rows": ROWS}).status_code == 200
    send(browser, "PUT", "/api/jobs/numbers/draft", {"document": chain()}, if_match='"2"')
    assert set(browser.get(SAMPLES).json()["samples"]) == {"second"}
    send(browser, "PUT", OWN, {"rows": ROWS})
    assert set(browser.get(SAMPLES).json()["samples"]) == {"numbers"}
    assert send(browser, "PUT", SAMPLES, {"samples": {"second": {"rows": ROWS}}}).json() == {"samples": {}}


def test_only_a_source_of_the_draft_is_given_rows(browser: Client) -> None:
    for node_id in ("out", "gone"):
        assert codes(send(browser, "PUT", f"{SAMPLES}/{node_id}", {"rows": ROWS})) == ["sample.no_source"]


@pytest.mark.parametrize(
    ("body", "pointer", "words"),
    [
        ({"rows": [{"id": number} for number in range(1001)]}, "/rows", "1,001 sample rows; at most 1,000"),
        ({"rows": [{"text": "x" * 1024 * 1024}]}, "/samples", "at most 1 MiB is kept"),
        ({"rows": [{"id": 1}, 2]}, "/rows/1", '"rows/1" must be an object'),
        ({"rows": [], "columns": [{"name": "id"}]}, "/columns/0/type", '"type" is missing'),
        ({"rows": [], "password": "x"}, "/password", 'no field called "password"'),
        ({}, "/rows", '"rows" is missing'),
    ],
)
def test_what_cannot_be_kept_is_refused_at_its_place(browser: Client, body: dict[str, Any], pointer: str, words: str) -> None:
    answer = send(browser, "PUT", OWN, body)
    problems = answer.json()["error"]["problems"]
    assert (answer.status_code, JobDraft.objects.get().samples) == (422, {})
    assert any(problem["pointer"] == pointer and words in problem["message"] for problem in problems), problems


def test_the_bounds_hold_for_all_sources_together(browser: Client) -> None:
    more = chain()
    more["nodes"]["second"] = more["nodes"]["numbers"]
    send(browser, "PUT", "/api/jobs/numbers/draft", {"document": more}, if_match='"1"')
    half = {"rows": [{"text": "x" * 600 * 1024}]}
    assert send(browser, "PUT", OWN, half).status_code == 200
    assert pointers(send(browser, "PUT", f"{SAMPLES}/second", half)) == ["/samples"]
    too_many: dict[str, Any] = {"rows": [{}] * 1001}
    assert pointers(send(browser, "PUT", SAMPLES, {"samples": {"second": too_many}})) == ["/samples/second/rows"]


def test_rows_that_somebody_else_changed_are_not_overwritten_unseen(
    browser: Client, home: Project, client_of: Callable[[User], Client]
) -> None:
    seen = send(browser, "PUT", OWN, {"rows": ROWS}, if_none_match="*").json()
    send(client_of(member(home, "otto", Role.EDITOR)), "PUT", OWN, {"rows": [{"id": 9}]})
    for refused in (
        send(browser, "PUT", OWN, {"rows": []}, if_match=f'"{seen["revision"]}"'),
        send(browser, "PUT", OWN, {"rows": []}, if_none_match="*"),
        send(browser, "DELETE", OWN, if_match=f'"{seen["revision"]}"'),
    ):
        error = refused.json()["error"]
        assert (refused.status_code, error["code"], error["conflict"]["updated_by"]) == (409, "sample.conflict", "otto")
    assert error["conflict"]["revision"] == browser.get(OWN).json()["revision"]
    assert send(browser, "PUT", OWN, {"rows": []}, if_match=f'"{error["conflict"]["revision"]}"').status_code == 200
    send(browser, "DELETE", OWN)
    assert send(browser, "PUT", OWN, {"rows": []}, if_match=f'"{seen["revision"]}"').status_code == 409


def test_who_sees_the_draft_sees_its_rows_and_who_edits_it_keeps_them(
    browser: Client, stranger: User, home: Project, client_of: Callable[[User], Client]
) -> None:
    send(browser, "PUT", OWN, {"rows": ROWS})
    for role, kept, dropped in ((Role.VIEWER, 403, 403), (Role.OPERATOR, 403, 403), (Role.EDITOR, 200, 204)):
        client = client_of(member(home, f"a-{role}".lower(), role))
        assert [client.get(path).status_code for path in (SAMPLES, OWN)] == [200, 200]
        for path, body in ((OWN, {"rows": ROWS}), (SAMPLES, {"samples": {}})):
            assert send(client, "PUT", path, body).status_code == kept
            assert send(client, "DELETE", path).status_code == dropped
    other = client_of(stranger)
    for path in (OWN, SAMPLES):
        answers = [other.get(path), send(other, "PUT", path, {"rows": ROWS}), send(other, "DELETE", path)]
        assert [answer.status_code for answer in answers] == [404, 404, 404]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every question to the driver, which answers that all rows were given."""
    questions: list[Any] = []

    def answered(kind: str, payload: dict[str, Any], timeout: float, **_: Any) -> dict[str, Any]:
        questions.append((kind, payload))
        return {"problems": [], "in": {}, "out": {}, "not_acted": [], "given": list(payload["samples"]), "supposed": {"least": 1}}

    monkeypatch.setattr(documents, "interactive_call", answered)
    return questions


def test_a_preview_hands_the_rows_on_and_says_what_was_given(browser: Client, asked: list[Any]) -> None:
    body = {"document": chain(), "node_id": "out"}
    assert send(browser, "POST", "/api/jobs/preview", body).json()["given"] == []
    answer = send(browser, "POST", "/api/jobs/preview", {**body, "samples": {"numbers": {"rows": ROWS}}})
    assert (answer.status_code, answer.json()["given"], answer.json()["supposed"]) == (200, ["numbers"], {"least": 1})
    assert [payload["samples"] for _, payload in asked] == [{}, {"numbers": {"columns": "", "rows": ROWS}}]


@pytest.mark.parametrize(
    ("samples", "pointer"),
    [
        ({"out": {"rows": []}}, "/samples/out"),
        ({"numbers": {"rows": [{}] * 1001}}, "/samples/numbers/rows"),
        ({"numbers": {"rows": [{"text": "x" * 1024 * 1024}]}}, "/samples"),
        ({"numbers": {"rows": "many"}}, "/samples/numbers/rows"),
        ({"not an id": {"rows": []}}, "/samples/not an id"),
    ],
)
def test_a_preview_refuses_rows_that_could_not_be_kept(browser: Client, asked: list[Any], samples: dict[str, Any], pointer: str) -> None:
    answer = send(browser, "POST", "/api/jobs/preview", {"document": chain(), "node_id": "out", "samples": samples})
    assert (answer.status_code, asked) == (422, [])
    assert pointer in {place.removesuffix("/[key]") for place in pointers(answer)}
