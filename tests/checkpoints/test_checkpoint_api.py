"""Checkpoints over REST and in the administration: who may see and do what."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from checkpoints.models import Checkpoint
from checkpoints.services import checkpoint_begin, checkpoint_update
from checkpoints.storages import folder_of
from jobs import broadcast
from jobs.models import AuditEntry, Execution, ExecutionStatus, Project, ProjectMember, Role
from tests.checkpoints.kept import execution_row, kept
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db


def member(name: str, role: Role, slug: str = "default") -> Client:
    project, _ = Project.objects.get_or_create(slug=slug, defaults={"title": slug})
    user = User.objects.create_user(name, password="correct horse battery")
    ProjectMember.objects.create(project=project, user=user, role=role)
    return signed_in(user)


def signed_in(user: User) -> Client:
    client = Client(headers={"accept": "application/json"})
    client.force_login(user)
    return client


def send(client: Client, method: str, path: str, body: Any = None, expected: int = 200) -> Any:
    answer = client.generic(method, path, "" if body is None else json.dumps(body), content_type="application/json")
    assert answer.status_code == expected, answer.content
    return answer.json() if answer.content else None


@pytest.fixture
def execution() -> Execution:
    return execution_row(job_row())


@pytest.fixture
def operator(execution: Execution) -> Client:
    return member("olga", Role.OPERATOR)


@pytest.fixture
def viewer(execution: Execution) -> Client:
    return member("vera", Role.VIEWER)


@pytest.fixture
def stranger(execution: Execution) -> Client:
    return member("sam", Role.ADMIN, "elsewhere")


def ended(execution: Execution) -> None:
    Execution.objects.filter(pk=execution.pk).update(status=ExecutionStatus.CANCELLED, end_time=timezone.now())


def test_the_list_is_newest_first_and_has_every_column(execution: Execution, viewer: Client) -> None:
    kept(execution)
    kept(execution, label="second")
    page = send(viewer, "GET", "/api/checkpoints?page_size=1")
    (newest,) = page["results"]
    assert (newest["checkpoint_id"], newest["label"], newest["job_name"], newest["project"]) == (2, "second", "numbers", "default")
    assert newest["restorable"]
    assert {field.column for field in Checkpoint._meta.fields} <= set(newest)
    (older,) = send(viewer, "GET", page["next"])["results"]
    assert older["checkpoint_id"] == 1


def test_filters_choose(execution: Execution, viewer: Client) -> None:
    other = execution_row(job_row("letters"))
    first, second, third = kept(execution), kept(execution, savepoint=True), kept(other, label="before the sale")
    checkpoint_update(checkpoint=first, pinned=True)
    failed = checkpoint_begin(execution_id=other.execution_id, attempt=1, origin="MANUAL")

    def found(query: str) -> set[int]:
        return {row["id"] for row in send(viewer, "GET", f"/api/checkpoints?{query}")["results"]}

    assert found("job=letters") == {third.pk, failed.pk}
    assert found("job_name=numbers&status=completed") == {first.pk, second.pk}
    assert found(f"execution={other.execution_id}&status=PENDING,FAILED") == {failed.pk}
    assert found("is_savepoint=true") == {second.pk}
    assert found("pinned=true") == {first.pk}
    assert found("kept=true") == {first.pk, second.pk}
    assert found("origin=MANUAL") == {failed.pk}
    assert found("q=the+sale") == {third.pk}
    rows = send(viewer, "GET", f"/api/executions/{execution.execution_id}/checkpoints")["results"]
    assert {row["id"] for row in rows} == {first.pk, second.pk}


def test_nothing_of_another_project_is_seen_or_touched(execution: Execution, stranger: Client) -> None:
    checkpoint = kept(execution)
    path = f"/api/checkpoints/{checkpoint.pk}"
    assert send(stranger, "GET", "/api/checkpoints")["results"] == []
    send(stranger, "GET", f"/api/executions/{execution.execution_id}/checkpoints", expected=404)
    for method, where in (("GET", path), ("PATCH", path), ("DELETE", path), ("GET", f"{path}/precheck"), ("POST", f"{path}/restore")):
        send(stranger, method, where, {}, expected=404)
    assert send(stranger, "POST", "/api/checkpoints/cleanup", {})["results"] == []
    send(stranger, "POST", "/api/checkpoints/cleanup", {"scope": {"job_name": "numbers"}}, expected=404)
    assert folder_of(checkpoint).exists()


def test_a_viewer_looks_and_changes_nothing(execution: Execution, viewer: Client) -> None:
    path = f"/api/checkpoints/{kept(execution).pk}"
    send(viewer, "GET", path)
    send(viewer, "GET", f"{path}/precheck")
    for method, where in (("PATCH", path), ("DELETE", path), ("POST", f"{path}/restore")):
        send(viewer, method, where, {}, expected=403)
    assert send(viewer, "POST", "/api/checkpoints/cleanup", {"dry_run": False})["results"] == []


def test_label_pin_and_savepoint_are_changed_and_audited(execution: Execution, operator: Client) -> None:
    checkpoint = kept(execution)
    path = f"/api/checkpoints/{checkpoint.pk}"
    changed = send(operator, "PATCH", path, {"label": "good", "pinned": True})
    assert (changed["label"], changed["pinned"], changed["is_savepoint"]) == ("good", True, False)
    changed = send(operator, "PATCH", path, {"is_savepoint": True})
    assert (changed["label"], changed["is_savepoint"]) == ("good", True)
    assert changed["exclusive_bytes"] == changed["storage_size_bytes"]
    error = send(operator, "PATCH", path, {"is_savepoint": False}, expected=409)["error"]
    assert "stays one" in error["message"]
    send(operator, "PATCH", path, {"status": "FAILED"}, expected=422)
    assert AuditEntry.objects.filter(action="checkpoint changed", actor="olga", object_id=str(checkpoint.pk)).count() == 2


def test_who_watches_the_execution_hears_what_was_changed(
    execution: Execution, operator: Client, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    heard: list[tuple[str, Any]] = []
    monkeypatch.setattr(broadcast, "execution_message", lambda watched, message, *, project: heard.append((watched, message)))
    checkpoint = kept(execution)
    with django_capture_on_commit_callbacks(execute=True):
        send(operator, "PATCH", f"/api/checkpoints/{checkpoint.pk}", {"label": "good", "pinned": True})
    [(watched, message)] = heard
    assert (watched, message.type) == (execution.execution_id, "checkpoint")
    assert (message.checkpoint.id, message.checkpoint.label, message.checkpoint.pinned) == (checkpoint.pk, "good", True)


def test_deleting_says_what_stands_in_the_way(execution: Execution, operator: Client) -> None:
    checkpoint = kept(execution)
    path = f"/api/checkpoints/{checkpoint.pk}"
    error = send(operator, "DELETE", path, expected=409)["error"]
    assert error["code"] == "checkpoint.reason"
    assert execution.execution_id in error["message"]
    ended(execution)
    assert "the newest good one of its job" in send(operator, "DELETE", path, expected=409)["error"]["message"]
    error = send(operator, "DELETE", f"{path}?reason={'x' * 501}", expected=422)["error"]
    assert error["problems"][0]["message"] == "reason has 501 characters; at most 500 are kept"
    send(operator, "DELETE", f"{path}?reason=a+test", expected=204)
    shown = send(operator, "GET", path)
    assert (shown["status"], shown["deleted_by"], shown["restorable"]) == ("EXPIRED", "olga", False)
    assert shown["restorable_reason"] == "its files were deleted"
    assert execution.events.filter(kind="checkpoint_deleted", actor="olga").exists()


def test_the_precheck_names_what_is_wrong_and_what_stands_in_the_way(execution: Execution, operator: Client) -> None:
    checkpoint = kept(execution)
    path = f"/api/checkpoints/{checkpoint.pk}/precheck"
    found = send(operator, "GET", path)
    checks = {check["name"]: check for check in found["checks"]}
    assert not found["ok"]
    assert checks["files"]["ok"]
    assert "stop or cancel it first" in checks["execution"]["message"]
    assert checks["sink.out"]["message"].endswith("are written again (within one generation the sink writes at least once)")
    ended(execution)
    assert send(operator, "GET", path)["ok"]
    (folder_of(checkpoint) / "out/offsets/1").write_text("x")
    found = send(operator, "GET", path)
    assert not found["ok"]
    assert found["checks"][0]["message"].startswith("It cannot be read: out/offsets/1 has 1 bytes instead of")


def test_a_restore_starts_a_new_generation(execution: Execution, operator: Client) -> None:
    checkpoint = kept(execution)
    send(operator, "POST", f"/api/checkpoints/{checkpoint.pk}/restore", {}, expected=409)
    ended(execution)
    started = send(operator, "POST", f"/api/checkpoints/{checkpoint.pk}/restore", {}, expected=202)
    restored = Execution.objects.get(execution_id=started["execution_id"])
    assert (restored.restored_from_checkpoint_id, restored.triggered_by) == (checkpoint.pk, "RESTORE")
    assert restored.generation != execution.generation


def test_a_clean_up_tells_first_and_deletes_only_when_asked(execution: Execution, operator: Client, settings: Any) -> None:
    settings.CHECKPOINTS_KEPT = 1
    old, new = kept(execution), kept(execution)
    told = send(operator, "POST", "/api/checkpoints/cleanup", {"scope": {"job_name": "numbers"}})
    assert told["dry_run"] is True
    assert [(row["checkpoint"], row["action"]) for row in told["results"]] == [(new.pk, "keep"), (old.pk, "delete")]
    assert told["bytes"] == told["results"][1]["bytes"] > 0
    assert folder_of(old).exists()
    send(operator, "POST", "/api/checkpoints/cleanup", {"dry_run": False})
    assert not folder_of(old).exists()
    assert AuditEntry.objects.get(action="checkpoints cleaned up").detail["deleted"] == 1
    assert execution.events.filter(kind="checkpoint_deleted", actor="olga").count() == 1


def test_the_administration_pins_keeps_and_cleans_up(execution: Execution, settings: Any) -> None:
    settings.CHECKPOINTS_KEPT = 1
    first, second, third = kept(execution), kept(execution), kept(execution)
    client = signed_in(User.objects.create_superuser("ada", password="correct horse battery"))
    where = "/admin/checkpoints/checkpoint/"
    assert client.get(where).status_code == 200
    assert client.get(f"{where}{first.pk}/change/").status_code == 200

    def act(action: str, *rows: Checkpoint) -> str:
        answer = client.post(where, {"action": action, "_selected_action": [row.pk for row in rows]}, follow=True)
        return answer.content.decode()

    assert "1 pinned" in act("pin", first)
    assert "1 kept as savepoints" in act("keep_as_savepoint", first)
    assert "1 would be deleted" in act("clean_up_dry_run", third)
    assert folder_of(second).exists()
    assert "needs checkpoint 3" in act("delete_files", third)
    assert "1 deleted" in act("clean_up", third)
    assert not folder_of(second).exists()
    first.refresh_from_db()
    assert (first.pinned, first.is_savepoint) == (True, True)


def test_staff_of_another_project_see_nothing_in_the_administration(execution: Execution, stranger: Client) -> None:
    from django.contrib.auth.models import Permission

    checkpoint = kept(execution)
    sam = User.objects.get(username="sam")
    sam.is_staff = True
    sam.save()
    sam.user_permissions.add(Permission.objects.get(codename="view_checkpoint"))
    assert "checkpoint 1 of" not in stranger.get("/admin/checkpoints/checkpoint/").content.decode()
    assert stranger.get(f"/admin/checkpoints/checkpoint/{checkpoint.pk}/change/").status_code == 302


def test_state_is_shown_to_members_of_complete_ones_and_only_by_a_driver(execution: Execution, viewer: Client, stranger: Client) -> None:
    row = kept(execution)
    path = f"/api/checkpoints/{row.pk}/state"
    assert send(viewer, "GET", path, expected=503)["error"]["code"] == "unavailable"
    Checkpoint.objects.filter(pk=row.pk).update(queries={"out": {}, "also": {}})
    for asked, pointer, words in (
        ("query=out&operator=-1", "/operator", "a whole number"),
        ("", "/query", "query is missing: name one of also, out"),
        ("query=nope", "/query", 'no query "nope": name one of also, out'),
        (f"query=out&q={'x' * 1001}", "/q", "at most 1,000"),
    ):
        (problem,) = send(viewer, "GET", f"{path}/rows?{asked}", expected=422)["error"]["problems"]
        assert (problem["pointer"], words in problem["message"]) == (pointer, True), problem
    for address in (path, f"{path}/rows", f"{path}/file"):
        send(stranger, "GET", address, expected=404)
    Checkpoint.objects.filter(pk=row.pk).update(status="EXPIRED")
    assert "EXPIRED" in send(viewer, "GET", path, expected=409)["error"]["message"]


def test_a_savepoint_whose_copying_died_is_kept_again() -> None:
    execution, client = execution_row(job_row()), member("olga", Role.OPERATOR)
    checkpoint, _ = kept(execution), kept(execution)
    Checkpoint.objects.filter(pk=checkpoint.pk).update(is_savepoint=True)
    found = send(client, "PATCH", f"/api/checkpoints/{checkpoint.pk}", {"is_savepoint": True})
    assert found["exclusive_bytes"] == found["storage_size_bytes"]
    assert all(path.stat().st_nlink == 1 for path in folder_of(checkpoint).rglob("*") if path.is_file())
