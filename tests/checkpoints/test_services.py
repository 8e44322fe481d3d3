"""Rows and files of checkpoints: begun, completed, failed, kept, deleted."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from checkpoints.cut import cut_files
from checkpoints.deletion import checkpoint_delete
from checkpoints.fall_back import newest_readable
from checkpoints.models import Checkpoint
from checkpoints.selectors import not_restorable
from checkpoints.services import (
    CheckpointRefused,
    checkpoint_begin,
    checkpoint_complete,
    checkpoint_fail,
    checkpoint_update,
    checkpoints_check,
    checkpoints_expire,
    checkpoints_reconcile,
    savepoint_keep,
)
from checkpoints.storages import folder_of
from checkpoints.stores.base import StorageFailed
from checkpoints.verification import checkpoint_verify
from jobs.models import Execution, ExecutionStatus
from jobs.services.executions import execution_generation_renew
from tests.checkpoints.kept import cut_of, execution_row, kept
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db


@pytest.fixture
def execution() -> Execution:
    return execution_row(job_row(), lease_expires_at=timezone.now() + timedelta(minutes=1))


def test_numbers_grow_per_execution(execution: Execution) -> None:
    other = execution_row(job_row("letters"))
    assert [kept(execution).checkpoint_id, kept(execution).checkpoint_id, kept(other).checkpoint_id] == [1, 2, 1]


def test_a_completed_checkpoint_says_what_it_is(execution: Execution) -> None:
    checkpoint = kept(execution, batches=3, requested_by="olga", label="before the sale")
    assert (checkpoint.status, checkpoint.checkpoint_type, checkpoint.generation) == ("COMPLETED", "STREAMING", execution.generation)
    manifest = cut_files(folder_of(checkpoint) / "out")
    assert checkpoint.queries["out"] == {
        "batch_id": 2,
        "sinks": ["out"],
        "files": len(manifest),
        "bytes": sum(one["bytes"] for one in manifest.values()),
        "watermark_ms": None,
    }
    assert checkpoint.state_data["sources"] == {"numbers": {"next": 30}}
    assert checkpoint.storage_path == str(folder_of(checkpoint))
    assert 0 < checkpoint.exclusive_bytes < checkpoint.storage_size_bytes
    assert checkpoint.complete_time
    assert checkpoint.complete_time >= checkpoint.create_time
    assert checkpoint_verify(folder_of(checkpoint)) == []
    assert not_restorable(checkpoint) == ""


def test_an_attempt_that_lost_its_execution_takes_no_checkpoint(execution: Execution) -> None:
    with pytest.raises(CheckpointRefused, match="attempt 0 no longer runs"):
        checkpoint_begin(execution_id=execution.execution_id, attempt=0, origin="INTERVAL")
    Execution.objects.filter(pk=execution.pk).update(end_time=timezone.now())
    with pytest.raises(CheckpointRefused, match="attempt 1 no longer runs"):
        checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="INTERVAL")


def test_a_takeover_in_between_keeps_it_from_completing(execution: Execution) -> None:
    begun = checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="INTERVAL")
    result = cut_of(execution, begun, 2)
    Execution.objects.filter(pk=execution.pk).update(attempt=2)
    with pytest.raises(CheckpointRefused, match="cannot be completed"):
        checkpoint_complete(row=begun.pk, result=result)


def test_completing_twice_is_completing_once(execution: Execution) -> None:
    begun = checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="INTERVAL")
    result = cut_of(execution, begun, 2)
    first = checkpoint_complete(row=begun.pk, result=result)
    assert checkpoint_complete(row=begun.pk, result=result).complete_time == first.complete_time
    assert checkpoint_fail(row=begun.pk, reason="late", phases={}).status == "COMPLETED"


def test_a_failed_one_keeps_its_reason_and_times(execution: Execution) -> None:
    begun = checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="MANUAL")
    failed = checkpoint_fail(row=begun.pk, reason="copying: no space left on device", phases={"wait": 3, "copy": 40})
    assert (failed.status, failed.failure_reason, failed.phases) == ("FAILED", "copying: no space left on device", {"wait": 3, "copy": 40})
    assert failed.complete_time is not None
    assert not_restorable(failed) == "it failed while it was written"


def test_a_new_one_fails_what_was_left_pending(execution: Execution) -> None:
    left = checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="INTERVAL")
    checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="INTERVAL")
    left.refresh_from_db()
    assert (left.status, left.failure_reason) == ("FAILED", "it was never finished")


def test_what_died_with_its_attempt_is_failed_and_its_files_go(execution: Execution) -> None:
    begun = checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="INTERVAL")
    cut_of(execution, begun, 2)
    assert checkpoints_reconcile() == [], "its attempt still holds the lease"
    Execution.objects.filter(pk=execution.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert [row.pk for row in checkpoints_reconcile()] == [begun.pk]
    assert checkpoints_reconcile() == []
    begun.refresh_from_db()
    assert (begun.status, begun.failure_reason) == ("FAILED", "the attempt that took it ended first")
    assert not folder_of(begun).exists()


def test_pin_and_label(execution: Execution) -> None:
    checkpoint = kept(execution)
    checkpoint_update(checkpoint=checkpoint, label="  good  ", pinned=True)
    stored = Checkpoint.objects.get(pk=checkpoint.pk)
    assert (stored.label, stored.pinned) == ("good", True)
    failed = checkpoint_fail(row=checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="STOP").pk, reason="", phases={})
    with pytest.raises(CheckpointRefused, match="only a completed one can be pinned"):
        checkpoint_update(checkpoint=failed, pinned=True)


def test_keeping_it_as_a_savepoint_copies_what_was_linked(execution: Execution) -> None:
    checkpoint = kept(execution)
    savepoint_keep(checkpoint=checkpoint)
    assert checkpoint.is_savepoint
    assert checkpoint.exclusive_bytes == checkpoint.storage_size_bytes
    assert all(path.stat().st_nlink == 1 for path in folder_of(checkpoint).rglob("*") if path.is_file())
    assert checkpoint_verify(folder_of(checkpoint)) == []


def test_what_is_damaged_cannot_be_kept_as_a_savepoint(execution: Execution) -> None:
    checkpoint = kept(execution)
    (folder_of(checkpoint) / "out/commits/1").unlink()
    with pytest.raises(CheckpointRefused, match=r"damaged and cannot be kept: out/commits/1 is missing"):
        savepoint_keep(checkpoint=checkpoint)
    assert not Checkpoint.objects.get(pk=checkpoint.pk).is_savepoint


def test_no_rule_takes_away_what_is_being_kept(execution: Execution, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint, _ = kept(execution), kept(execution)
    seen: list[bool] = []

    def copied(folder: Path) -> list[str]:
        seen.append(Checkpoint.objects.get(pk=checkpoint.pk).is_savepoint)
        checkpoints_expire(Checkpoint.objects.filter(pk=checkpoint.pk), "olga")  # a person may
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("checkpoints.files.folder_own", copied)
    with pytest.raises(CheckpointRefused, match="checkpoint 1 cannot be kept now: No such file or directory"):
        savepoint_keep(checkpoint=checkpoint)
    assert seen == [True]
    with pytest.raises(CheckpointRefused, match="checkpoint 1 is EXPIRED"):
        savepoint_keep(checkpoint=checkpoint)


def test_deleting_takes_the_files_and_leaves_the_row(execution: Execution) -> None:
    checkpoint, newer = kept(execution), kept(execution)
    exclusive = checkpoint.exclusive_bytes
    assert checkpoint_delete(checkpoint=checkpoint, deleted_by="olga") == exclusive
    stored = Checkpoint.objects.get(pk=checkpoint.pk)
    assert (stored.status, stored.deleted_by, stored.exclusive_bytes) == ("EXPIRED", "olga", 0)
    assert not folder_of(checkpoint).exists()
    assert checkpoint_verify(folder_of(newer)) == []
    with pytest.raises(CheckpointRefused, match="EXPIRED: it has no files"):
        checkpoint_delete(checkpoint=stored, deleted_by="olga")


def test_neither_pinned_nor_needed_ones_can_be_deleted(execution: Execution) -> None:
    older, newest = kept(execution), kept(execution)
    checkpoint_update(checkpoint=older, pinned=True)
    with pytest.raises(CheckpointRefused, match="pinned"):
        checkpoint_delete(checkpoint=older, deleted_by="olga")
    with pytest.raises(CheckpointRefused, match=f"execution {execution.execution_id} needs checkpoint 2"):
        checkpoint_delete(checkpoint=newest, deleted_by="olga")
    Execution.objects.filter(pk=execution.pk).update(status=ExecutionStatus.CANCELLED, end_time=timezone.now())
    with pytest.raises(CheckpointRefused, match="checkpoint 2 is the newest good one of its job"):
        checkpoint_delete(checkpoint=newest, deleted_by="olga")
    checkpoint_delete(checkpoint=newest, deleted_by="olga", reason="made by mistake")
    checkpoint_delete(checkpoint=older, deleted_by="olga", reason="made by mistake")


def test_the_origin_of_a_restore_is_needed_until_it_has_a_checkpoint_of_its_own(execution: Execution) -> None:
    origin = kept(execution)
    Execution.objects.filter(pk=execution.pk).update(status=ExecutionStatus.CANCELLED, end_time=timezone.now())
    restored = execution_row(execution.job, restored_from_checkpoint_id=origin.pk)
    with pytest.raises(CheckpointRefused, match=f"execution {restored.execution_id} needs"):
        checkpoint_delete(checkpoint=origin, deleted_by="olga", reason="no reason is good enough")
    kept(restored)
    checkpoint_delete(checkpoint=origin, deleted_by="olga")


def test_the_newest_that_can_be_read_is_found_and_the_others_are_told(execution: Execution) -> None:
    good, damaged, missing = kept(execution, 2), kept(execution, 3), kept(execution, 4)
    (folder_of(damaged) / "out/offsets/2").unlink()
    shutil.rmtree(folder_of(missing))
    found = newest_readable(generation=execution.generation)
    assert found.checkpoint == good
    assert [(row.pk, problems) for row, problems in found.damaged] == [
        (missing.pk, ["manifest.json is missing"]),
        (damaged.pk, ["out/offsets/2 is missing"]),
    ]
    assert not_restorable(missing) == "its files are not there"


def test_what_was_gone_on_from_before_two_renewals_is_found_behind_what_is_damaged(execution: Execution) -> None:
    good = kept(execution, 2)
    Execution.objects.filter(pk=execution.pk).update(status=ExecutionStatus.CANCELLED, end_time=timezone.now())
    onward = execution_row(execution.job, restored_from_checkpoint_id=good.pk)
    for _ in range(2):
        damaged = kept(onward, 2)
        (folder_of(damaged) / "out/offsets/1").unlink()
        execution_generation_renew(execution=onward, checkpoint=damaged, actor="driver", reason="it was damaged")
    assert newest_readable(generation=onward.generation).checkpoint == good


def test_files_are_found_after_the_root_was_moved(execution: Execution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = kept(execution)
    shutil.copytree(settings.CHECKPOINT_ROOT, tmp_path / "moved")
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "moved")
    assert checkpoint_verify(folder_of(checkpoint)) == []


def test_nothing_outside_the_root_is_ever_deleted(execution: Execution, tmp_path: Path) -> None:
    checkpoint = kept(execution)
    kept(execution)
    precious = tmp_path / "precious"
    precious.mkdir()
    Checkpoint.objects.filter(pk=checkpoint.pk).update(storage_path=str(precious))
    checkpoint.refresh_from_db()
    checkpoint_delete(checkpoint=checkpoint, deleted_by="olga")
    assert precious.is_dir()


def test_a_store_that_is_away_is_asked_once_and_says_nothing_of_its_checkpoints(
    execution: Execution, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, *far = (kept(execution, batches) for batches in (2, 3, 4))
    Checkpoint.objects.filter(pk__in=[row.pk for row in far]).update(storage="s3")
    asked: list[str] = []

    def problems(checkpoint: Checkpoint) -> list[str]:
        asked.append(checkpoint.storage)
        if checkpoint.storage == "s3":
            raise StorageFailed("s3: the store does not answer")
        return ["out/metadata is missing"]

    monkeypatch.setattr("checkpoints.services.checkpoint_problems", problems)
    assert checkpoints_check(generation=execution.generation) == [here]
    assert asked == ["s3", "local"]
    assert sorted(Checkpoint.objects.values_list("failure_reason", flat=True)) == ["", "", "it is damaged: out/metadata is missing"]
