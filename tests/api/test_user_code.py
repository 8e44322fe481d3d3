"""The doors refuse Python of those who may not run it, and say what is missing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from jobs.api import documents, pipeline_tests
from tests.api.rows import chain, send

pytestmark = pytest.mark.django_db


def with_code() -> dict[str, Any]:
    document = chain("own")
    document["nodes"]["own"] = {"type": "flow.python", "name": "Own", "config": {}}
    document["edges"] = {"e1": {"from": ["numbers", "out"], "to": ["own", "in"]}, "e2": {"from": ["own", "out"], "to": ["out", "in"]}}
    return document


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The nodes that a driver was asked to look at."""
    nodes: list[str] = []

    def call(kind: str, payload: dict[str, Any], timeout: float, **_: Any) -> dict[str, Any]:
        nodes.append(payload["node_id"])
        return {"problems": [], "in": {}, "out": {}}

    monkeypatch.setattr(documents, "interactive_call", call)
    return nodes


@pytest.fixture
def tests_asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of questions that a driver was asked."""
    kinds: list[str] = []

    def call(kind: str, payload: dict[str, Any], timeout: float, **_: Any) -> dict[str, Any]:
        kinds.append(kind)
        return {"results": []}

    monkeypatch.setattr(pipeline_tests, "interactive_call", call)
    return kinds


@pytest.mark.parametrize("node_id", ["own", "out"])
def test_a_preview_that_would_run_the_code_is_refused(browser: Client, asked: list[str], node_id: str) -> None:
    answer = send(browser, "POST", "/api/jobs/preview", {"document": with_code(), "node_id": node_id})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (403, "python.forbidden")
    assert "looking at its rows needs the permission jobs.run_python" in error["message"]
    assert asked == []


def test_a_preview_above_the_code_runs_none_and_is_answered(browser: Client, asked: list[str]) -> None:
    assert send(browser, "POST", "/api/jobs/preview", {"document": with_code(), "node_id": "numbers"}).status_code == 200
    assert asked == ["numbers"]


def test_who_has_the_permission_looks(editor: User, client_of: Callable[[User], Client], asked: list[str]) -> None:
    editor.user_permissions.add(Permission.objects.get(codename="run_python"))
    assert send(client_of(editor), "POST", "/api/jobs/preview", {"document": with_code(), "node_id": "own"}).status_code == 200
    assert asked == ["own"]


def test_a_job_with_code_is_neither_made_nor_published_nor_started(
    browser: Client, client_of: Callable[[User], Client], editor: User
) -> None:
    assert send(browser, "POST", "/api/jobs", with_code()).status_code == 403
    root = User.objects.create_superuser("root", password="x" * 12)
    made = send(client_of(root), "POST", "/api/jobs", with_code())
    assert made.status_code == 201, made.content
    for path in ("publish", "start"):
        refused = send(browser, "POST", f"/api/jobs/own/{path}", {})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "python.forbidden"), path


def test_its_tests_run_the_code_too(browser: Client, editor: User, client_of: Callable[[User], Client], tests_asked: list[str]) -> None:
    root = client_of(User.objects.create_superuser("root", password="x" * 12))
    document = with_code() | {"tests": [{"name": "one", "given": {"numbers": []}, "expect": {"out": []}}]}
    assert send(root, "POST", "/api/jobs", document).status_code == 201
    refused = send(browser, "POST", "/api/jobs/own/tests", {})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "python.forbidden")
    assert tests_asked == []
    assert send(root, "POST", "/api/jobs/own/tests", {}).status_code == 200
    assert tests_asked == ["test"]


def test_a_fault_in_the_code_is_a_problem_on_its_node_without_spark(browser: Client) -> None:
    document = with_code()
    document["nodes"]["own"]["config"] = {"code": "def process(row):\n    return f'${row[name]}' +\n"}
    found = send(browser, "POST", "/api/jobs/validate", {"document": document, "analyse": False}).json()["problems"]
    assert [(problem["node_id"], problem["pointer"]) for problem in found] == [("own", "/nodes/own/config/code")]
    assert found[0]["message"].startswith("line 2: invalid syntax")
