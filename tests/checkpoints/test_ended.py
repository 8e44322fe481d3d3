"""What becomes of checkpoints when their execution is cancelled or has read everything."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from checkpoints.cleaning import checkpoints_clean
from checkpoints.models import Checkpoint
from checkpoints.retention import Scope
from checkpoints.services import checkpoint_update, savepoint_keep
from checkpoints.storages import folder_of
from jobs.models import Event, Execution, ExecutionStatus
from jobs.scheduling.reconciling import checkpoints_of_ended_delete
from jobs.services.executions import execution_restore
from tests.checkpoints.kept import execution_row, kept
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db
S = ExecutionStatus


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "root")


def ended(status: str, *deleting: str, minutes_ago: float = 0) -> tuple[Execution, list[Checkpoint]]:
    """An execution with three checkpoints that ended so; `deleting`: the settings that say delete."""
    execution = execution_row(job_row(f"job-{status.lower()}"), resolved=dict.fromkeys(deleting, "delete"))
    rows = [kept(execution) for _ in range(3)]
    Execution.objects.filter(pk=execution.pk).update(status=status, end_time=timezone.now() - timedelta(minutes=minutes_ago))
    return execution, rows


def states(rows: list[Checkpoint]) -> list[str]:
    return [Checkpoint.objects.get(pk=row.pk).status for row in rows]


def test_they_stay_unless_the_settings_say_otherwise() -> None:
    _, cancelled = ended(S.CANCELLED, "checkpoint_on_completion")
    _, old = ended(S.COMPLETED)
    _, failed = ended(S.FAILED, "checkpoint_on_cancel", "checkpoint_on_completion")
    checkpoints_of_ended_delete()
    assert {*states(cancelled), *states(old), *states(failed)} == {"COMPLETED"}


@pytest.mark.parametrize(("status", "setting"), [(S.CANCELLED, "checkpoint_on_cancel"), (S.COMPLETED, "checkpoint_on_completion")])
def test_they_go_where_the_settings_ask_for_it_and_the_history_says_why(status: str, setting: str) -> None:
    execution, rows = ended(status, setting)
    checkpoint_update(checkpoint=rows[0], pinned=True)
    savepoint_keep(checkpoint=rows[1])
    checkpoints_of_ended_delete()
    assert states(rows) == ["COMPLETED", "COMPLETED", "EXPIRED"]
    assert not folder_of(rows[2]).exists()
    told = Event.objects.get(execution=execution, kind="checkpoint_deleted")
    assert (told.detail["checkpoint_id"], told.actor) == (3, "retention")
    assert "its settings delete checkpoints then" in told.reason
    checkpoints_of_ended_delete()
    assert Event.objects.filter(execution=execution, kind="checkpoint_deleted").count() == 1


def test_what_another_execution_goes_on_from_stays() -> None:
    execution, rows = ended(S.CANCELLED, "checkpoint_on_cancel")
    restored = execution_row(execution.job, restored_from_checkpoint_id=rows[0].pk)
    kept(restored)
    checkpoints_of_ended_delete()
    assert states(rows) == ["COMPLETED"] * 3


def test_those_of_an_execution_that_a_restore_took_the_place_of_stay() -> None:
    before, (origin, *_) = ended(S.COMPLETED)
    execution = execution_row(before.job, resolved={"checkpoint_on_cancel": "delete"})
    rows = [kept(execution) for _ in range(3)]
    Execution.objects.filter(pk=execution.pk).update(status=S.PAUSED)
    execution_restore(checkpoint=origin, user=None)
    assert Execution.objects.get(pk=execution.pk).status == S.CANCELLED
    checkpoints_of_ended_delete()
    assert states(rows) == ["COMPLETED"] * 3


def test_those_of_long_ago_are_the_clean_ups() -> None:
    _, rows = ended(S.CANCELLED, "checkpoint_on_cancel", minutes_ago=60)
    checkpoints_of_ended_delete()
    assert states(rows) == ["COMPLETED"] * 3
    found = checkpoints_clean(scope=Scope(), dry_run=False, deleted_by="olga")
    assert {decision.reason for decision in found} == {"its execution was cancelled, and its settings delete checkpoints then"}
    assert states(rows) == ["EXPIRED"] * 3


def test_the_history_has_them_even_if_the_deletion_is_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        """As a process that ends between two steps."""

    def killed(*_: object) -> int:
        raise Killed

    execution, rows = ended(S.CANCELLED, "checkpoint_on_cancel")
    with monkeypatch.context() as patched:
        patched.setattr("checkpoints.cleaning.expired_files_delete", killed)
        with pytest.raises(Killed):
            checkpoints_of_ended_delete()
    assert states(rows) == ["EXPIRED"] * 3
    assert folder_of(rows[0]).exists()
    told = Event.objects.filter(execution=execution, kind="checkpoint_deleted").values_list("detail__checkpoint_id", flat=True)
    assert sorted(told) == [1, 2, 3]
    old = timezone.now().timestamp() - 7200
    for row in rows:
        for path in (folder_of(row), *folder_of(row).rglob("*")):
            os.utime(path, (old, old))
    checkpoints_clean(scope=Scope(), dry_run=False, deleted_by="olga")
    assert not any(folder_of(row).exists() for row in rows)
