"""Every address there is, walked by the signed out and by an admin of another project."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from jobs.models import Connection, ExecutionStatus, Job
from tests.api.rows import chain, checkpoint, codes, execution, history, job, send

pytestmark = pytest.mark.django_db

#: Open to everybody: the icon stands on the sign-in page too. The demo API wants its own token, a webhook its sender's proof.
HOOK = "hooks/<uuid:job_uid>/<str:node_id>"
OPEN = {"healthz", "readyz", "favicon.ico", "sign-in", "sign-in/link/<str:token>", "demo/api", "demo/api/flights", HOOK}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def routes(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[str]:
    for entry in (resolver or get_resolver()).url_patterns:
        where = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry, where)
        elif isinstance(entry, URLPattern):
            yield where


def address(route: str, values: dict[str, str]) -> str:
    """The route with `values` in its places; what it does not know becomes 1."""
    filled = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values.get(found.group(1), "1"), route)
    filled = re.sub(r"\(\?P<(\w+)>[^)]*\)", lambda found: values.get(found.group(1), "1"), filled)
    filled = re.sub(r"\(\?!.*?\)", "", filled)
    return "/" + filled.replace("^", "").replace("$", "").replace(".*", "anything").replace("\\", "").replace("?", "").removeprefix("/")


def test_the_walk_sees_the_routes_it_should() -> None:
    found = set(routes())
    assert {"api/jobs", "api/jobs/<str:job_name>/draft", "api/executions/<str:execution_id>/logs", "healthz", "sign-out"} <= found
    assert len(found) > 60


@pytest.mark.parametrize("method", METHODS)
def test_the_signed_out_get_nothing_but_the_open_addresses(editor: User, method: str) -> None:
    run = execution(job(editor, "mine"), ExecutionStatus.RUNNING)
    values = {"job_name": "mine", "execution_id": run.execution_id, "job_uid": str(run.job.job_uid)}
    client = Client(REMOTE_ADDR="203.0.113.7")
    for route in routes():
        answer = client.generic(method, address(route, values), "{}", content_type="application/json")
        where = f"{method} {address(route, values)} answered {answer.status_code}"
        if route in OPEN:
            assert answer.status_code in (200, 400, 401, 403, 405, 410, 503) or (route == HOOK and answer.status_code == 404), where
        elif route.startswith("api/"):
            assert answer.status_code == 401, where
            assert set(json.loads(answer.content)["error"]) == {"code", "message", "problems"}, where
        else:
            assert answer.status_code in ((302, 403, 404, 405) if route != "metrics" else (401, 405)), where
            if answer.status_code == 302:
                assert "sign-in" in answer["Location"] or "login" in answer["Location"], where
        assert "mine" not in answer.content.decode() or "/mine" in where, where


def mine_of(editor: User) -> tuple[dict[str, str], Any]:
    """A job with everything on it, and its names for the walk."""
    made = job(editor, "mine")
    run = execution(made, ExecutionStatus.RUNNING)
    history(run)
    kept = checkpoint(run, number=2)
    place = Connection.objects.create(project=made.project, name="warehouse", kind="sqlite", config={"path": "x.sqlite3"})
    values = {
        "job_name": "mine",
        "job_uid": str(made.job_uid),
        "execution_id": run.execution_id,
        "checkpoint_id": str(kept.pk),
        "connection_id": str(place.pk),
        "id": str(kept.pk),
        "pk": str(kept.pk),
        "version": "1",
    }
    return values, run


@pytest.mark.parametrize("method", METHODS)
def test_an_admin_of_another_project_finds_nothing_here(
    editor: User, stranger: User, client_of: Callable[[User], Client], method: str
) -> None:
    values, run = mine_of(editor)
    client = client_of(stranger)
    bodies = {"PUT": {"document": chain("mine"), "positions": {}, "results": []}, "POST": {}, "PATCH": {}}
    for route in routes():
        if not route.startswith("api/") or "<" not in route or route == "api/^.*$":
            continue
        answer = send(client, method, address(route, values), bodies.get(method), if_match='"1"')
        where = f"{method} {address(route, values)} answered {answer.status_code}: {answer.content[:200]!r}"
        assert answer.status_code in (404, 405, 422), where
        if method == "GET" and answer.status_code != 405:
            assert answer.status_code == 404, where
        assert run.execution_id not in answer.content.decode() or run.execution_id in address(route, values), where
    assert Job.objects.get(job_name="mine").deleted_at is None
    run.refresh_from_db()
    assert (run.status, run.commands.count()) == (ExecutionStatus.RUNNING, 0)


@pytest.mark.parametrize(
    "path",
    [
        "/api/jobs",
        "/api/jobs?q=mine&project=default",
        "/api/executions",
        "/api/executions?job_name=mine",
        "/api/connections",
        "/api/connections?project=default",
        "/api/overview",
        "/api/search?q=mine",
        "/api/me",
    ],
)
def test_lists_hold_nothing_of_another_project(editor: User, stranger: User, client_of: Callable[[User], Client], path: str) -> None:
    _, run = mine_of(editor)
    found = client_of(stranger).get(path)
    assert found.status_code == 200
    assert run.execution_id not in found.content.decode()
    assert '"mine"' not in found.content.decode()
    assert "warehouse" not in found.content.decode()


@pytest.mark.parametrize("path", ["/api/jobs/validate", "/api/jobs/preview"])
def test_documents_are_not_analysed_with_another_projects_connections(
    editor: User, stranger: User, client_of: Callable[[User], Client], path: str
) -> None:
    body = {"document": chain(), "project": "default", "node_id": "numbers"}
    if path.endswith("validate"):
        del body["node_id"]
    answer = send(client_of(stranger), "POST", path, body)
    assert (answer.status_code, answer.json()["error"]["problems"][0]["code"]) == (422, "project.unknown")


def test_nothing_is_made_in_another_project(stranger: User, client_of: Callable[[User], Client]) -> None:
    client = client_of(stranger)
    assert codes(send(client, "POST", "/api/jobs", {**chain(), "project": "default"})) == ["project.unknown"]
    connection = {"name": "x", "kind": "sqlite", "config": {"path": "x"}}
    assert codes(send(client, "POST", "/api/connections", {**connection, "project": "default"})) == ["project.unknown"]
    assert not Job.objects.exists()
    assert not Connection.objects.exists()


def test_without_a_project_things_are_made_in_the_one_that_is_the_users(stranger: User, client_of: Callable[[User], Client]) -> None:
    own = stranger.project_memberships.get().project
    assert send(client_of(stranger), "POST", "/api/jobs", chain()).json()["project"] == own.slug
    assert (
        send(client_of(stranger), "POST", "/api/connections", {"name": "x", "kind": "sqlite", "config": {"path": "x"}}).status_code == 201
    )
    assert Connection.objects.get().project == own
    stranger.project_memberships.all().delete()
    assert send(client_of(stranger), "POST", "/api/jobs", {**chain(), "name": "another"}).status_code == 403


def test_a_deactivated_user_sees_nothing_any_more(browser: Client, editor: User) -> None:
    job(editor)
    assert browser.get("/api/jobs").status_code == 200
    User.objects.filter(pk=editor.pk).update(is_active=False)
    assert browser.get("/api/jobs").status_code == 401
