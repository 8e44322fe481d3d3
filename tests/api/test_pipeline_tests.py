"""The door to a job's tests: what is asked of the driver, and who may ask."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client

from jobs import queue
from jobs.api import pipeline_tests
from jobs.models import Job, Project, Role
from tests.api.rows import chain, codes, job, member, send

pytestmark = pytest.mark.django_db

TEST = {"name": "one", "given": {"numbers": [{"id": 1}]}, "expect": {"out": [{"id": 1}]}}
TESTS = "/api/jobs/numbers/tests"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every question to the driver, which answers with one test that failed."""
    questions: list[Any] = []
    row = {"expected": {"id": 1}, "actual": {"id": 2}, "columns": ["id"]}
    counts = {"expected_rows": 1, "actual_rows": 1, "missing_rows": 0, "unexpected_rows": 0, "differing_rows": 1, "first_out_of_order": 0}
    outlet = {"outlet": "out", "columns": ["id"], "differences": {**counts, "missing": [], "unexpected": [], "differing": [row]}}
    result = {"name": "one", "status": "failed", "seconds": 0.5, "message": "", "node_id": "", "problems": [], "outlets": [outlet]}

    def answered(kind: str, payload: dict[str, Any], timeout: float, **_: Any) -> dict[str, Any]:
        questions.append((kind, payload))
        assert payload["seconds"] < timeout
        return {"problems": [], "results": [result]}

    monkeypatch.setattr(pipeline_tests, "interactive_call", answered)
    return questions


def saved(browser: Client, document: dict[str, Any]) -> Any:
    revision = browser.get("/api/jobs/numbers/draft").json()["revision"]
    return send(browser, "PUT", "/api/jobs/numbers/draft", {"document": document}, if_match=f'"{revision}"')


def test_the_draft_a_version_or_a_document_as_sent_is_tested(browser: Client, editor: User, asked: list[Any]) -> None:
    job(editor)
    assert saved(browser, chain(tests=[TEST])).status_code == 200
    assert send(browser, "POST", "/api/jobs/numbers/publish").status_code == 200
    assert saved(browser, chain(tests=[TEST, {**TEST, "name": "two"}])).status_code == 200
    answer = send(browser, "POST", TESTS).json()
    assert (answer["available"], answer["results"][0]["status"]) == (True, "failed")
    assert answer["results"][0]["outlets"][0]["differences"]["differing"][0]["columns"] == ["id"]
    send(browser, "POST", TESTS, {"version": 2})
    send(browser, "POST", TESTS, {"document": chain(tests=[{**TEST, "name": "sent"}], layout={"positions": {}}), "test": "sent"})
    assert [[test["name"] for test in payload["document"]["tests"]] for _, payload in asked] == [["one", "two"], ["one"], ["sent"]]
    assert [payload["test"] for _, payload in asked] == [None, None, "sent"]
    assert "layout" not in asked[2][1]["document"]
    assert answer["results"][0]["outlets"][0]["rows"] == []
    send(browser, "POST", TESTS, {"version": 2, "rows": True})
    assert [payload["rows"] for _, payload in asked] == [False, False, False, True]


def test_a_test_is_found_by_its_name_as_it_was_written(browser: Client, editor: User, asked: list[Any]) -> None:
    job(editor)
    named = chain(tests=[{**TEST, "name": " late rows "}])
    assert send(browser, "POST", TESTS, {"document": named, "test": " late rows "}).status_code == 200
    assert [payload["test"] for _, payload in asked] == ["late rows"]


def test_what_cannot_be_tested_is_refused(browser: Client, editor: User, asked: list[Any]) -> None:
    job(editor)
    assert codes(send(browser, "POST", TESTS, {"test": "gone"})) == ["test.unknown"]
    assert codes(send(browser, "POST", TESTS, {"document": chain(tests=[{"given": {}}])})) == ["test.invalid"]
    assert send(browser, "POST", TESTS, {"version": 9}).status_code == 404
    assert asked == []


def test_only_who_may_preview_may_test(
    browser: Client, editor: User, stranger: User, home: Project, client_of: Callable[[User], Client], asked: list[Any]
) -> None:
    job(editor)
    for role, code in ((Role.VIEWER, 403), (Role.OPERATOR, 403), (Role.EDITOR, 200)):
        assert send(client_of(member(home, f"a-{role}".lower(), role)), "POST", TESTS).status_code == code
    assert send(client_of(stranger), "POST", TESTS).status_code == 404


def test_without_a_worker_the_answer_says_so(browser: Client, editor: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> dict[str, Any]:
        raise queue.InteractiveUnavailable("no interactive driver answered")

    job(editor)
    monkeypatch.setattr(pipeline_tests, "interactive_call", away)
    answer = send(browser, "POST", TESTS).json()
    assert (answer["available"], answer["message"], answer["results"]) == (False, "no interactive driver answered", [])


def test_tests_are_saved_published_and_exported_with_their_problems(browser: Client, editor: User) -> None:
    job(editor)
    left_behind = saved(browser, chain(tests=[{**TEST, "expect": {"gone": []}}])).json()
    assert [(problem["severity"], problem["pointer"]) for problem in left_behind["problems"]] == [("warning", "/tests/0/expect/gone")]
    assert send(browser, "POST", "/api/jobs/numbers/publish").status_code == 200
    saved(browser, chain(tests=[TEST, TEST]))
    assert set(codes(send(browser, "POST", "/api/jobs/numbers/publish"))) == {"test.duplicate_name"}
    saved(browser, chain(tests=[TEST]))
    send(browser, "POST", "/api/jobs/numbers/publish")
    exported = yaml.safe_load(browser.get("/api/jobs/numbers/export?format=yaml").content)
    assert exported["tests"] == [TEST]
    imported = browser.post("/api/jobs/import", yaml.safe_dump(exported), content_type="application/yaml").json()
    assert (imported["document"]["tests"], imported["problems"]) == ([TEST], [])
    assert Job.objects.get().version == 3
