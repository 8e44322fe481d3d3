"""What is forgotten of the past, and what stays because something can still be gone back to."""

import os
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db.models import QuerySet

from checkpoints.models import Checkpoint
from jobs.models import (
    AuditEntry,
    Event,
    Execution,
    ExecutionStatus,
    Job,
    JobSchedule,
    QueryProgress,
    RejectedRow,
    ScheduleFire,
    SignInLink,
)
from jobs.services.history import NEWEST, Forgotten, history_prune
from jobs.services.metrics import batches_written
from jobs.tasks import history_prune_task
from tests.services.job_rows import job_row, operator

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 1, 3, 0, tzinfo=UTC)
OLD = NOW - timedelta(days=100)


@pytest.fixture
def job() -> Job:
    return job_row()


def ran(job: Job, ended: datetime = OLD, status: str = ExecutionStatus.COMPLETED, **given: Any) -> Execution:
    facts = {"generation": uuid.uuid4(), "attempt": 1, "triggered_by": "MANUAL", "version": 1} | given
    found = Execution.objects.create(job=job, job_name=job.job_name, job_type=job.job_type, status=status, **facts)
    Execution.objects.filter(pk=found.pk).update(create_time=ended - timedelta(minutes=1), end_time=ended)
    found.refresh_from_db()
    return found


def taken(execution: Execution, number: int = 1, status: str = "EXPIRED", at: datetime | None = None) -> Checkpoint:
    found = Checkpoint.objects.create(
        execution=execution,
        generation=execution.generation,
        checkpoint_id=number,
        checkpoint_type="STREAMING",
        status=status,
        origin="INTERVAL",
    )
    Checkpoint.objects.filter(pk=found.pk).update(create_time=at or execution.end_time or NOW)
    return found


def newest(job: Job) -> list[Execution]:
    """As many young ones as stay in any case."""
    return [ran(job, NOW - timedelta(hours=number)) for number in range(NEWEST)]


def there(*rows: Execution) -> list[bool]:
    return [Execution.objects.filter(pk=row.pk).exists() for row in rows]


def test_a_finished_execution_goes_with_all_that_was_kept_of_it(job: Job) -> None:
    old = ran(job)
    Event.objects.create(execution=old, seq=1, time=OLD, kind="triggered")
    rejected(old)
    taken(old)
    young = newest(job)
    assert history_prune(now=NOW).executions == 1
    assert there(old, *young) == [False, *[True] * NEWEST]
    assert (Event.objects.count(), RejectedRow.objects.count(), Checkpoint.objects.count()) == (0, 0, 0)


def test_what_was_kept_of_an_execution_goes_before_it_in_short_pieces(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.services.history._PIECE", 3)
    old = ran(job)
    Event.objects.bulk_create(Event(execution=old, seq=number, time=OLD, kind="noted") for number in range(8))
    for number in range(8):
        rejected(old, number)
        taken(old, number)
    newest(job)
    deleted: list[int] = []
    delete = QuerySet.delete

    def counted(rows: QuerySet[Any]) -> tuple[int, dict[str, int]]:
        count, kinds = delete(rows)
        deleted.append(count)
        return count, kinds

    monkeypatch.setattr(QuerySet, "delete", counted)
    history_prune(now=NOW)
    assert there(old) == [False]
    assert (Event.objects.count(), RejectedRow.objects.count(), Checkpoint.objects.count()) == (0, 0, 0)
    assert max(deleted) == 3


def rejected(execution: Execution, batch: int = 0) -> RejectedRow:
    return RejectedRow.objects.create(
        execution=execution, node_id="n", generation=execution.generation, query="out", batch_id=batch, ordinal=0, reason="bad", row="{}"
    )


def test_the_newest_of_each_job_stay_however_old_they_are(job: Job) -> None:
    rows = [ran(job, OLD - timedelta(days=number)) for number in range(NEWEST + 2)]
    other = ran(job_row("letters"))
    assert history_prune(now=NOW).executions == 2
    assert there(*rows, other) == [*[True] * NEWEST, False, False, True]


def test_what_is_not_finished_stays(job: Job) -> None:
    paused = ran(job, status=ExecutionStatus.PAUSED)
    newest(job)
    history_prune(now=NOW)
    assert there(paused) == [True]


def test_what_ended_behind_a_checkpoint_that_is_kept_stays(job: Job) -> None:
    """A roll-back to it takes away what they wrote."""
    before, origin, behind = ran(job, OLD - timedelta(days=9)), ran(job, OLD - timedelta(days=5)), ran(job, OLD)
    taken(origin, status="COMPLETED", at=OLD - timedelta(days=6))
    newest(job)
    history_prune(now=NOW)
    assert there(before, origin, behind) == [False, True, True]


def test_a_line_of_positions_that_goes_on_stays(job: Job) -> None:
    first = ran(job, OLD - timedelta(days=3))
    resumed = ran(job, NOW - timedelta(days=1), generation=first.generation)
    begun_from = ran(job, OLD - timedelta(days=2))
    point = taken(begun_from)
    ran(job, NOW - timedelta(days=1), restored_from_checkpoint_id=point.pk)
    free = ran(job, OLD - timedelta(days=1))
    newest(job)
    assert history_prune(now=NOW).executions == 1
    assert there(first, resumed, begun_from, free) == [True, True, True, False]


def test_of_a_job_that_goes_on_every_night_old_executions_go_but_for_those_that_are_asked(job: Job) -> None:
    """A start, a restore and a roll-back ask what a line of positions began from, went through, and how far it came."""
    line = uuid.uuid4()

    def in_line(number: int, **given: Any) -> Execution:
        return ran(job, OLD + timedelta(hours=number), generation=line, **given)

    first, spare = in_line(0), in_line(1)
    restored, gone_back_to, other_version = in_line(2, restored_from_checkpoint_id=77), in_line(3), in_line(4, version=2)
    origin = taken(gone_back_to)
    failed, failed_last = in_line(5, status=ExecutionStatus.FAILED), in_line(6, status=ExecutionStatus.FAILED)
    furthest, less_far, idle = in_line(7), in_line(8), in_line(9)
    for execution, query, batch_id in ((furthest, "a", 9), (less_far, "a", 8), (idle, "b", -1), (spare, "b", -1)):
        QueryProgress.objects.create(execution=execution, query=query, batch_id=batch_id)
    ran(job, NOW - timedelta(days=1), restored_from_checkpoint_id=origin.pk)
    for number in range(NEWEST):
        ran(job, NOW - timedelta(hours=number), generation=line)
    before = batches_written(generation=line)
    assert history_prune(now=NOW).executions == 3
    assert there(first, restored, gone_back_to, other_version, failed_last, furthest, idle) == [True] * 7
    assert there(spare, failed, less_far) == [False] * 3
    assert batches_written(generation=line) == before
    assert not history_prune(now=NOW)


def test_rows_of_deleted_checkpoints_go_but_for_what_others_are_told_by(job: Job) -> None:
    running = ran(job, NOW, status=ExecutionStatus.RUNNING)
    at = NOW - timedelta(days=40)
    first, second, failed, origin, kept = (
        taken(running, number, status, at) for number, status in enumerate(("EXPIRED", "EXPIRED", "FAILED", "EXPIRED", "COMPLETED"), 1)
    )
    young = taken(running, 6, at=NOW - timedelta(days=20))
    renewed = Checkpoint.objects.create(
        execution=running, generation=uuid.uuid4(), checkpoint_id=7, checkpoint_type="STREAMING", status="EXPIRED", origin="INTERVAL"
    )
    Checkpoint.objects.filter(pk=renewed.pk).update(create_time=at)
    ran(job_row("letters"), restored_from_checkpoint_id=origin.pk)
    assert history_prune(now=NOW) == Forgotten(checkpoints=2)
    assert list(Checkpoint.objects.order_by("pk")) == [first, origin, kept, young, renewed]
    assert {second.pk, failed.pk}.isdisjoint(Checkpoint.objects.values_list("pk", flat=True))


def told(execution: Execution, kind: str, at: datetime, checkpoint: int | None = None, origin: str = "INTERVAL", actor: str = "") -> int:
    """The number of one more event of `execution`."""
    seq = Event.objects.filter(execution=execution).count() + 1
    detail = {"origin": origin, "checkpoint_row": checkpoint} if checkpoint is not None else {}
    return Event.objects.create(execution=execution, seq=seq, time=at, kind=kind, actor=actor, detail=detail).seq


def test_events_of_old_checkpoints_go_while_their_execution_runs_on(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that runs for ever takes a checkpoint each minute."""
    monkeypatch.setattr("jobs.services.history._PIECE", 3)
    running, old = ran(job, NOW, status=ExecutionStatus.RUNNING), NOW - timedelta(days=40)
    stay = [told(running, "claimed", old)]
    taken(running, 1, at=old)  # the first of a line of positions stays listed
    for number in (2, 3, 4):
        point = taken(running, number, at=old).pk
        told(running, "checkpoint_pending", old, point)
        told(running, "checkpoint_completed", old, point, origin="ROWS")
        told(running, "checkpoint_deleted", old, point, actor="retention")
    gone = point + 99
    stay.extend(
        [
            told(running, "checkpoint_failed", old, gone),
            told(running, "attempt_failed", old),
            told(running, "checkpoint_requested", old, gone, actor="olga"),
            told(running, "checkpoint_pending", old, gone, origin="MANUAL", actor="olga"),
            told(running, "checkpoint_deleted", old, gone, actor="olga"),
            told(running, "checkpoint_completed", old, taken(running, 5, "COMPLETED", old).pk),
            told(running, "checkpoint_completed", NOW - timedelta(days=20), gone),
        ]
    )
    assert history_prune(now=NOW) == Forgotten(checkpoints=3, events=9)
    assert list(Event.objects.order_by("seq").values_list("seq", flat=True)) == stay
    assert not history_prune(now=NOW)


def test_what_a_stream_tells_all_the_time_goes_while_it_runs_on(job: Job) -> None:
    """One that is always behind tells each minute what it skips, for years."""
    running, old = ran(job, NOW, status=ExecutionStatus.RUNNING), NOW - timedelta(days=40)
    for _ in range(3):
        noticed(running, old, skipped=1200)
        told(running, "waiting", old)
        told(running, "answers", old)
    stay = [told(running, "given_up", old), noticed(running, old, before="generation"), noticed(running, NOW, skipped=7)]
    assert history_prune(now=NOW) == Forgotten(events=9)
    assert list(Event.objects.order_by("seq").values_list("seq", flat=True)) == stay


def noticed(execution: Execution, at: datetime, **detail: object) -> int:
    seq = told(execution, "notice", at)
    Event.objects.filter(execution=execution, seq=seq).update(detail=detail)
    return seq


def test_old_times_of_schedules_rejected_rows_and_links_go(job: Job) -> None:
    running = ran(job, NOW, status=ExecutionStatus.RUNNING)
    schedule = JobSchedule.objects.create(job=job, schedule_type="CRON", cron_expression="* * * * *")
    for number, time in enumerate((OLD, NOW)):
        fire = ScheduleFire.objects.create(schedule=schedule, fire_time=time, outcome="STARTED")
        ScheduleFire.objects.filter(pk=fire.pk).update(create_time=time)
        RejectedRow.objects.filter(pk=rejected(running, number).pk).update(create_time=time)
        SignInLink.objects.create(user=operator(), digest=str(number), expire_time=time)
    found = history_prune(now=NOW)
    assert (found.schedule_fires, found.rejected_rows) == (1, 1)
    assert [ScheduleFire.objects.get().fire_time, RejectedRow.objects.get().batch_id, SignInLink.objects.get().digest] == [NOW, 1, "1"]


def test_sessions_that_are_over_go() -> None:
    for seconds in (-60, 3600):
        session = SessionStore()
        session.set_expiry(seconds)
        session.create()
    history_prune_task()
    assert Session.objects.get().session_key == session.session_key


def test_logs_of_what_is_forgotten_go(job: Job, settings: Any, tmp_path: Path) -> None:
    settings.LOG_DIR = tmp_path
    old, young = ran(job), newest(job)[0]
    for name in (old.execution_id, young.execution_id, "drivers", str(uuid.uuid4())):
        (tmp_path / name).mkdir()
        (tmp_path / name / "attempt-1.jsonl").touch()
    for name in (old.execution_id, young.execution_id, "drivers"):
        os.utime(tmp_path / name, (OLD.timestamp(), OLD.timestamp()))
    history_prune(now=NOW)
    left = {entry.name for entry in tmp_path.iterdir()}
    assert old.execution_id not in left
    assert len(left) == 3


@pytest.mark.parametrize("days", [0, -1])
def test_nothing_is_forgotten_where_it_is_kept_for_ever(job: Job, settings: Any, days: int) -> None:
    settings.HISTORY_KEPT_DAYS, settings.CHECKPOINT_HISTORY_DAYS = days, days
    old = ran(job)
    newest(job)
    told(ran(job_row("letters"), NOW, status=ExecutionStatus.RUNNING), "checkpoint_pending", OLD, checkpoint=1)
    assert not history_prune(now=NOW)
    assert there(old) == [True]


def test_a_night_that_forgot_something_stands_in_the_audit_trail(job: Job) -> None:
    history_prune_task()
    assert not AuditEntry.objects.exists()
    ran(job, datetime.now(UTC) - timedelta(days=100))
    for _ in range(NEWEST):
        ran(job, datetime.now(UTC))
    history_prune_task()
    assert AuditEntry.objects.get().detail == {"executions": 1, "checkpoints": 0, "rejected_rows": 0, "schedule_fires": 0, "events": 0}
