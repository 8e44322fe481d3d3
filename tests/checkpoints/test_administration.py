"""What the administration page asks over REST: what the rule does and why, deletion of many, and what no row needs."""

import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from checkpoints.cut import folder_remove
from checkpoints.models import Checkpoint
from checkpoints.selectors import needs_of_executions
from checkpoints.services import checkpoint_update, savepoint_keep
from checkpoints.storages import folder_of
from jobs.models import AuditEntry, Driver, Execution, ExecutionStatus, JobConfig, Role, Worker
from jobs.selectors import surveys
from jobs.selectors.checkpoint_administration import next_run
from tests.checkpoints.kept import execution_row, kept
from tests.checkpoints.test_checkpoint_api import member, send, signed_in
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db

DELETE = "/api/checkpoints/delete"


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(surveys, "TERM", 0)
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "root")
    monkeypatch.setattr(settings, "CHECKPOINTS_KEPT", 2)
    return tmp_path / "root"


@pytest.fixture
def execution() -> Execution:
    return execution_row(job_row())


@pytest.fixture
def operator(execution: Execution) -> Client:
    return member("olga", Role.OPERATOR)


@pytest.fixture
def superuser(execution: Execution) -> Client:
    from django.contrib.auth.models import User

    return signed_in(User.objects.create_superuser("root"))


def ended(execution: Execution) -> None:
    Execution.objects.filter(pk=execution.pk).update(status=ExecutionStatus.CANCELLED, end_time=timezone.now())


def aged(path: Path, hours: float = 2) -> Path:
    then = time.time() - hours * 3600
    for one in (path, *path.rglob("*")):
        os.utime(one, (then, then))
    return path


def test_the_rule_says_of_each_why_it_goes_or_stays(execution: Execution, operator: Client) -> None:
    pinned, savepoint, *_ = (kept(execution) for _ in range(5))
    checkpoint_update(checkpoint=pinned, pinned=True)
    savepoint_keep(checkpoint=savepoint)
    page = send(operator, "GET", "/api/checkpoints/retention")
    told = {one["checkpoint_id"]: (one["action"], one["kind"]) for one in page["results"]}
    assert told == {
        5: ("keep", "NEWEST"),
        4: ("keep", "NEWEST"),
        3: ("delete", "COUNT"),
        2: ("keep", "SAVEPOINT"),
        1: ("keep", "PINNED"),
    }
    taken = {one.checkpoint_id: one.exclusive_bytes for one in Checkpoint.objects.all()}
    reasons = {(one["action"], one["kind"]): (one["count"], one["bytes"]) for one in page["reasons"]}
    assert reasons["keep", "NEWEST"] == (2, taken[4] + taken[5])
    assert reasons["delete", "COUNT"] == (1, taken[3])
    assert page["results"][0] | {"newest": 2, "age": settings.CHECKPOINTS_KEPT_HOURS * 3600} == page["results"][0]


def test_what_an_execution_needs_and_the_newest_good_one_are_named(execution: Execution, operator: Client) -> None:
    JobConfig.objects.create(job=execution.job, config_key="checkpoint.retention.age", config_value="3600000")
    origin, _, newest = kept(execution), kept(execution), kept(execution)
    ended(execution)
    restored = execution_row(execution.job, restored_from_checkpoint_id=origin.pk)
    Checkpoint.objects.all().update(create_time=timezone.now() - timedelta(hours=2))
    found = {one["checkpoint"]: one for one in send(operator, "GET", "/api/checkpoints/retention?job=numbers")["results"]}
    assert (found[origin.pk]["kind"], found[origin.pk]["needed_by"]) == ("EXECUTION", restored.execution_id)
    assert found[newest.pk]["kind"] == "NEWEST_GOOD"


def test_the_rule_is_told_by_page_and_filter(execution: Execution, operator: Client) -> None:
    for _ in range(5):
        kept(execution)
    path = "/api/checkpoints/retention"
    going = send(operator, "GET", f"{path}?action=delete&rows=2&offset=1")
    assert (going["count"], [one["checkpoint_id"] for one in going["results"]]) == (3, [2, 1])
    assert sum(one["count"] for one in going["reasons"]) == 5, "the counts are of all"
    assert send(operator, "GET", f"{path}?kind=PINNED")["results"] == []
    assert "must be one of" in send(operator, "GET", f"{path}?kind=pinned", expected=422)["error"]["problems"][0]["message"]
    viewer, stranger = member("vera", Role.VIEWER), member("sam", Role.ADMIN, "elsewhere")
    assert [send(viewer, "GET", f"{path}{more}")["count"] for more in ("", "?operated=true")] == [5, 0]
    assert send(stranger, "GET", path)["count"] == 0
    send(stranger, "GET", f"{path}?job=numbers", expected=404)


def test_the_rule_says_what_a_clean_up_then_does(execution: Execution, operator: Client) -> None:
    for _ in range(5):
        kept(execution)
    told = [one["checkpoint"] for one in send(operator, "GET", "/api/checkpoints/retention?action=delete")["results"]]
    done = send(operator, "POST", "/api/checkpoints/cleanup", {"dry_run": False})
    assert sorted(told) == sorted(one["checkpoint"] for one in done["results"] if one["action"] == "delete")
    assert (done["deleted"], done["kept"]) == (3, 2)
    assert send(operator, "POST", "/api/checkpoints/cleanup", {"brief": True})["results"] == []


def test_more_checkpoints_take_no_more_queries(
    execution: Execution, operator: Client, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    def queries() -> int:
        with django_assert_max_num_queries(60) as captured:
            send(operator, "GET", "/api/checkpoints/retention")
        return len(captured)

    def grow(name: str, number: int) -> None:
        other = execution_row(job_row(name), resolved={"checkpoint_on_cancel": "delete"})
        for _ in range(number):
            kept(other)
        ended(other)

    grow("letters", 1)
    queries()
    few = queries()
    grow("words", 4)
    grow("pages", 4)
    assert queries() == few


def test_the_nightly_run_is_the_next_two_in_the_morning_of_its_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CELERY_TIMEZONE", "Asia/Shanghai")
    before, after = parse_datetime("2026-01-01T17:59:00Z"), parse_datetime("2026-01-01T18:00:00Z")
    assert before is not None
    assert after is not None
    assert next_run(before) == after
    assert next_run(after) == after + timedelta(days=1)


def test_several_go_at_once_and_what_something_needs_for_a_reason_only(execution: Execution, operator: Client) -> None:
    rows = [kept(execution) for _ in range(5)]
    checkpoint_update(checkpoint=rows[0], pinned=True)
    savepoint_keep(checkpoint=rows[1])
    ids = [row.pk for row in rows]
    told = send(operator, "POST", DELETE, {"ids": ids, "dry_run": True})
    assert [one["refusal"] for one in told["results"]] == ["REASON", "REASON", "", "", "REASON"]
    assert [[need["kind"] for need in one["needs"]] for one in told["results"]] == [["PINNED"], ["SAVEPOINT"], [], [], ["EXECUTION"]]
    assert Checkpoint.objects.filter(status="COMPLETED").count() == 5
    done = send(operator, "POST", DELETE, {"ids": ids})
    assert (done["deleted"], [one["refusal"] for one in done["results"]]) == (2, ["REASON", "REASON", "", "", "REASON"])
    done = send(operator, "POST", DELETE, {"ids": ids, "reason": " the disk is full "})
    assert [one["refusal"] for one in done["results"]] == ["", "", "GONE", "GONE", ""]
    assert [folder_of(row).exists() for row in rows] == [False] * 5
    detail = send(operator, "GET", f"/api/checkpoints/{ids[0]}")
    assert (detail["deleted_by"], detail["delete_reason"]) == ("olga", "the disk is full")
    audit = AuditEntry.objects.filter(action="checkpoint deleted", object_id=str(ids[1])).get()
    assert (audit.detail["reason"], audit.detail["although"]) == ("the disk is full", ["checkpoint 2 is a savepoint"])
    assert execution.events.filter(kind="checkpoint_deleted", reason="the disk is full").count() == 3


def test_what_an_execution_starts_from_goes_for_no_reason(execution: Execution, operator: Client) -> None:
    origin = kept(execution)
    ended(execution)
    restored = execution_row(execution.job, restored_from_checkpoint_id=origin.pk)
    (found,) = send(operator, "POST", DELETE, {"ids": [origin.pk], "reason": "any"})["results"]
    assert (found["refusal"], found["needs"]) == ("NEEDED", [{"kind": "START", "execution": restored.execution_id}])
    assert folder_of(origin).exists()


def test_what_was_to_be_started_from_stays_for_who_continues_that(execution: Execution, operator: Client) -> None:
    """The execution that a restore gave was cancelled before it began, and another one continues its generation."""
    origin, _ = kept(execution), kept(execution)
    ended(execution)
    first = execution_row(execution.job, status="CANCELLED", restored_from_checkpoint_id=origin.pk, end_time=timezone.now())
    going_on = execution_row(execution.job, generation=first.generation)
    assert needs_of_executions([origin]) == {origin.pk: (going_on.execution_id, True)}
    (found,) = send(operator, "POST", DELETE, {"ids": [origin.pk], "reason": "no use"})["results"]
    assert found["refusal"] == "NEEDED"


def test_of_an_execution_whose_own_are_damaged_the_origin_is_needed_too(execution: Execution) -> None:
    origin = kept(execution)
    ended(execution)
    restored = execution_row(execution.job, restored_from_checkpoint_id=origin.pk)
    own = kept(restored)
    assert needs_of_executions([origin, own]) == {own.pk: (restored.execution_id, False)}
    Checkpoint.objects.filter(pk=own.pk).update(failure_reason="it is damaged: out/offsets/1 is missing")
    assert needs_of_executions([origin, own]) == dict.fromkeys([own.pk, origin.pk], (restored.execution_id, False))


def test_deletion_keeps_to_projects_and_roles(execution: Execution, operator: Client) -> None:
    row, other = kept(execution), kept(execution)
    stranger, viewer = member("sam", Role.ADMIN, "elsewhere"), member("vera", Role.VIEWER)
    for client, refusal in ((stranger, "NOT_FOUND"), (viewer, "FORBIDDEN")):
        (found,) = send(client, "POST", DELETE, {"ids": [row.pk], "reason": "mine"})["results"]
        assert found["refusal"] == refusal
    assert Checkpoint.objects.filter(status="COMPLETED").count() == 2
    found = send(operator, "POST", DELETE, {"ids": [999_999, row.pk, row.pk], "reason": "twice"})["results"]
    assert [(one["checkpoint"], one["refusal"]) for one in found] == [(999_999, "NOT_FOUND"), (row.pk, "")]
    for ids in ([], [0], ["x"], list(range(1, 502))):
        send(operator, "POST", DELETE, {"ids": ids}, expected=422)
    problems = send(operator, "POST", DELETE, {"checkpoints": [row.pk]}, expected=422)["error"]["problems"]
    assert [(problem["pointer"], problem["message"]) for problem in problems] == [
        ("/ids", 'the field "ids" is missing'),
        ("/checkpoints", 'there is no field called "checkpoints"; there is ids, reason, dry_run'),
    ]
    assert Checkpoint.objects.get(pk=other.pk).status == "COMPLETED"


def test_one_goes_without_a_reason_where_nothing_needs_it(execution: Execution, operator: Client) -> None:
    savepoint, plain, _ = kept(execution), kept(execution), kept(execution)
    savepoint_keep(checkpoint=savepoint)
    send(operator, "DELETE", f"/api/checkpoints/{plain.pk}", expected=204)
    error = send(operator, "DELETE", f"/api/checkpoints/{savepoint.pk}", expected=409)["error"]
    assert (error["code"], error["needs"]) == ("checkpoint.reason", [{"kind": "SAVEPOINT", "execution": ""}])
    send(operator, "DELETE", f"/api/checkpoints/{savepoint.pk}?reason=no+longer+of+use", expected=204)
    assert send(operator, "GET", f"/api/checkpoints/{savepoint.pk}")["delete_reason"] == "no longer of use"


def test_orphans_are_told_with_size_age_and_the_end_of_their_grace_time(execution: Execution, superuser: Client, root: Path) -> None:
    stray = folder_of(kept(execution)).with_name("99")
    stray.mkdir()
    (stray / "offsets").write_bytes(b"x" * 700)
    young = stray.with_name("98")
    young.mkdir()
    aged(stray)
    part = root / ".tmp-part"
    part.write_bytes(b"y" * 30)
    aged(part, 72)
    (root / "lost+found").mkdir()
    (root / ".snapshot").mkdir()
    page = send(superuser, "GET", "/api/checkpoints/orphans")
    assert [(Path(one["path"]).name, one["kind"], one["bytes"], one["due"]) for one in page["results"]] == [
        (".tmp-part", "TEMPORARY", 30, True),
        ("99", "NO_ROW", 700, True),
        ("98", "NO_ROW", 0, False),
    ]
    ends, changed = (parse_datetime(page["results"][2][name]) for name in ("grace_ends", "changed"))
    assert ends is not None
    assert changed is not None
    assert ends - changed == timedelta(seconds=page["grace"])
    assert {one["kind"]: (one["count"], one["due"]) for one in page["kinds"]} == {"TEMPORARY": (1, 1), "NO_ROW": (2, 1)}
    send(superuser, "POST", "/api/checkpoints/cleanup", {"dry_run": False})
    assert [part.exists(), stray.exists(), young.exists()] == [False, False, True]
    assert [(root / name).exists() for name in ("lost+found", ".snapshot")] == [True, True]


def test_a_part_that_belongs_to_no_job_is_the_installations(execution: Execution, operator: Client, root: Path) -> None:
    kept(execution)
    aged_part = root / ".tmp-part"
    aged_part.mkdir()
    aged(aged_part)
    of_job = root / str(execution.job.job_uid) / ".upload.tmp"
    of_job.mkdir()
    aged(of_job)
    found = send(operator, "GET", "/api/checkpoints/orphans")["results"]
    assert [(Path(one["path"]).name, one["job_name"]) for one in found] == [(".upload.tmp", "numbers")]
    send(operator, "POST", "/api/checkpoints/cleanup", {"dry_run": False})
    assert (aged_part.exists(), of_job.exists()) == (True, False)


def test_a_row_whose_folder_was_taken_away_is_told_then_marked(execution: Execution, operator: Client) -> None:
    older, gone = kept(execution), kept(execution)
    folder_remove(folder_of(gone))
    (found,) = send(operator, "GET", "/api/checkpoints/orphans?kind=NO_FILES")["results"]
    assert (found["checkpoint"], found["due"], found["marked"]) == (gone.pk, True, False)
    send(operator, "POST", "/api/checkpoints/cleanup", {"dry_run": False})
    (found,) = send(operator, "GET", "/api/checkpoints/orphans?kind=NO_FILES")["results"]
    assert (found["due"], found["marked"], found["grace_ends"]) == (False, True, None)
    row = send(operator, "GET", f"/api/checkpoints/{gone.pk}")
    assert (row["restorable"], row["nearest_good"]["id"]) == (False, older.pk)


def test_nothing_is_lost_of_what_lies_on_another_host(execution: Execution, operator: Client, root: Path, tmp_path: Path) -> None:
    """Here its files cannot be seen: that is no damage, they can be restored there, and a clean-up here leaves them."""
    rows = [kept(execution) for _ in range(4)]
    ended(execution)
    Execution.objects.filter(pk=execution.pk).update(storage_host="another", start_time=None)
    root.rename(tmp_path / "on_another_host")
    (root / "lost+found").mkdir(parents=True)
    sizes = dict(Checkpoint.objects.values_list("pk", "exclusive_bytes"))
    assert send(operator, "GET", f"/api/checkpoints/{rows[-1].pk}")["restorable"]
    checks = send(operator, "GET", f"/api/checkpoints/{rows[-1].pk}/precheck")["checks"]
    assert checks[0]["message"] == "Its files are on the disk of another, where the restore checks them"
    error = send(operator, "PATCH", f"/api/checkpoints/{rows[0].pk}", {"is_savepoint": True}, expected=409)["error"]
    assert error["message"] == "checkpoint 1 cannot be kept now: its files are on the disk of another"
    send(operator, "POST", "/api/checkpoints/cleanup", {"dry_run": False})
    assert set(Checkpoint.objects.values_list("status", "failure_reason", "is_savepoint")) == {("COMPLETED", "", False)}
    assert dict(Checkpoint.objects.values_list("pk", "exclusive_bytes")) == sizes


def test_a_host_that_was_not_heard_of_for_weeks_is_not_waited_for(
    execution: Execution, operator: Client, root: Path, tmp_path: Path
) -> None:
    for _ in range(4):
        kept(execution)
    ended(execution)
    away = tmp_path / "on_another_host"
    root.rename(away)
    there = sorted(away.rglob("*"))
    (root / "lost+found").mkdir(parents=True)
    long_ago = timezone.now() - timedelta(days=40)
    times = {"create_time": long_ago, "start_time": long_ago, "end_time": long_ago}
    Execution.objects.filter(pk=execution.pk).update(storage_host="another", **times)
    week = timedelta(days=7)
    alive = {"host": "another", "pid": 1, "heartbeat_time": timezone.now() - week + timedelta(hours=1)}
    known = (Driver.objects.create(kind="SHARED", worker="w", **alive), Worker.objects.create(name="w", start_time=long_ago, **alive))
    for row in known:
        send(operator, "POST", "/api/checkpoints/cleanup", {"dry_run": False})
        assert set(Checkpoint.objects.values_list("status", flat=True)) == {"COMPLETED"}
        type(row).objects.update(heartbeat_time=timezone.now() - week)
    send(operator, "POST", "/api/checkpoints/cleanup", {"dry_run": False})
    left = dict(Checkpoint.objects.values_list("checkpoint_id", "status"))
    assert left == {1: "EXPIRED", 2: "EXPIRED", 3: "COMPLETED", 4: "COMPLETED"}
    assert sorted(away.rglob("*")) == there


def test_a_host_that_is_called_otherwise_than_before_finds_its_own_files(execution: Execution, operator: Client) -> None:
    rows = [kept(execution) for _ in range(4)]
    ended(execution)
    Execution.objects.filter(pk=execution.pk).update(storage_host="as it was called")
    send(operator, "PATCH", f"/api/checkpoints/{rows[0].pk}", {"is_savepoint": True})
    send(operator, "POST", "/api/checkpoints/cleanup", {"dry_run": False})
    assert {row.checkpoint_id: row.status for row in Checkpoint.objects.all()} == {
        1: "COMPLETED",
        2: "EXPIRED",
        3: "COMPLETED",
        4: "COMPLETED",
    }


def test_rows_are_not_marked_for_want_of_a_disk_or_for_files_on_another_host(
    execution: Execution, operator: Client, root: Path, tmp_path: Path
) -> None:
    row = kept(execution)
    root.rename(tmp_path / "unmounted")
    root.mkdir()
    assert send(operator, "GET", "/api/checkpoints/orphans")["count"] == 0
    (root / "lost+found").mkdir()
    Execution.objects.filter(pk=execution.pk).update(storage_host="another")
    send(operator, "POST", "/api/checkpoints/cleanup", {"dry_run": False})
    assert Checkpoint.objects.get(pk=row.pk).failure_reason == ""
