"""What a clean-up keeps, what it deletes, and why."""

import os
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from checkpoints import cleaning
from checkpoints.cleaning import checkpoints_clean, checkpoints_retain
from checkpoints.cut import folder_remove, partial_of
from checkpoints.deletion import checkpoint_delete
from checkpoints.models import Checkpoint
from checkpoints.retention import Decision, Scope
from checkpoints.selectors import newest_good
from checkpoints.services import checkpoint_begin, checkpoint_update, savepoint_keep
from checkpoints.storage import bytes_freed
from checkpoints.storages import folder_of
from jobs.models import Execution, ExecutionStatus, Job, JobConfig
from tests.checkpoints.kept import execution_row, kept, live_of, spark_folder
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "root")
    monkeypatch.setattr(settings, "CHECKPOINTS_KEPT", 2)
    return tmp_path / "root"


@pytest.fixture
def execution() -> Execution:
    return execution_row(job_row())


def ended(execution: Execution, status: str = ExecutionStatus.CANCELLED) -> Execution:
    Execution.objects.filter(pk=execution.pk).update(status=status, end_time=timezone.now())
    return execution


def cleaned(*, dry_run: bool = False, **scope: Any) -> list[Decision]:
    return checkpoints_clean(scope=Scope(**scope), dry_run=dry_run, deleted_by="olga")


def told(found: list[Decision]) -> dict[int | str, tuple[str, str]]:
    return {one.checkpoint.checkpoint_id if one.checkpoint else one.path.name: (one.action, one.reason) for one in found}


def of_rows(found: list[Decision]) -> list[Decision]:
    return [one for one in found if one.checkpoint]


def aged(path: Path) -> Path:
    long_ago = time.time() - 7200
    for one in (path, *path.rglob("*")):
        os.utime(one, (long_ago, long_ago))
    return path


def test_the_newest_of_a_job_stays_while_the_disk_is_not_there(
    execution: Execution, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files come back with the disk, and a clean-up would find that no row needs them."""
    monkeypatch.setattr(settings, "CHECKPOINTS_KEPT", 100)
    monkeypatch.setattr(settings, "CHECKPOINTS_KEPT_HOURS", 7 * 24.0)
    older, newest = kept(execution), kept(execution)
    ended(execution)
    Checkpoint.objects.update(create_time=timezone.now() - timedelta(days=30))
    root.rename(tmp_path / "unmounted")
    root.mkdir()
    cleaned()
    root.rmdir()
    (tmp_path / "unmounted").rename(root)
    assert {row.pk: row.status for row in Checkpoint.objects.all()} == {older.pk: "EXPIRED", newest.pk: "COMPLETED"}
    assert newest_good(job_id=execution.job_id) == newest.pk


def test_the_newest_of_a_generation_are_kept(execution: Execution) -> None:
    for _ in range(4):
        kept(execution)
    assert told(cleaned(dry_run=True)) == {
        4: ("keep", "one of the newest 2"),
        3: ("keep", "one of the newest 2"),
        2: ("delete", "older than the newest 2"),
        1: ("delete", "older than the newest 2"),
    }
    assert Checkpoint.objects.filter(status="COMPLETED").count() == 4, "a dry run deletes nothing"
    cleaned()
    assert list(Checkpoint.objects.filter(status="COMPLETED").order_by("checkpoint_id").values_list("checkpoint_id", flat=True)) == [3, 4]
    assert [folder_of(row).exists() for row in Checkpoint.objects.order_by("checkpoint_id")] == [False, False, True, True]


def test_savepoints_and_pins_are_kept_and_savepoints_do_not_count(execution: Execution) -> None:
    pinned, savepoint, *_ = (kept(execution) for _ in range(5))
    checkpoint_update(checkpoint=pinned, pinned=True)
    savepoint_keep(checkpoint=savepoint)
    found = told(cleaned())
    assert (found[1], found[2], found[3]) == (("keep", "pinned"), ("keep", "a savepoint"), ("delete", "older than the newest 2"))


def test_what_a_restored_execution_starts_from_is_kept(execution: Execution) -> None:
    first, *_ = (kept(execution) for _ in range(4))
    ended(execution)
    restored = execution_row(execution.job, restored_from_checkpoint_id=first.pk)
    assert told(cleaned())[1] == ("keep", f"execution {restored.execution_id} needs it")


def test_every_generation_has_its_own_newest(execution: Execution) -> None:
    for _ in range(3):
        kept(execution)
    ended(execution)
    other = execution_row(execution.job)
    kept(other)
    actions = [(one.checkpoint.execution_id, one.action) for one in cleaned() if one.checkpoint]
    assert [action for execution_id, action in actions if execution_id == execution.execution_id] == ["keep", "keep", "delete"]
    assert [action for execution_id, action in actions if execution_id == other.execution_id] == ["keep"]


def test_a_job_may_say_how_many_are_kept(execution: Execution) -> None:
    JobConfig.objects.create(job=execution.job, config_key="checkpoint.retention", config_value="3")
    for _ in range(4):
        kept(execution)
    assert [one.action for one in cleaned()] == ["keep", "keep", "keep", "delete"]


def test_what_is_older_than_its_time_goes_but_for_the_newest_of_the_job(execution: Execution) -> None:
    JobConfig.objects.create(job=execution.job, config_key="checkpoint.retention.age", config_value=str(36 * 3_600_000))
    older = kept(execution)
    ended(execution)
    of_another_generation = kept(execution_row(execution.job))
    ended(of_another_generation.execution)
    Checkpoint.objects.filter(pk=of_another_generation.pk).update(create_time=timezone.now() - timedelta(hours=35))
    Checkpoint.objects.filter(pk=older.pk).update(create_time=timezone.now() - timedelta(hours=37))
    assert [(one.action, one.reason) for one in of_rows(cleaned(dry_run=True))] == [
        ("keep", "one of the newest 2"),
        ("delete", "older than 36 hours"),
    ]
    Checkpoint.objects.all().update(create_time=timezone.now() - timedelta(days=9))
    assert {one.reason for one in of_rows(cleaned())} == {"the newest of its job", "older than 36 hours"}
    assert cleaned()[0].action == "keep"


@pytest.mark.parametrize(("hours", "words"), [(168, "7 days"), (24, "1 day"), (0.5, "30 minutes")])
def test_the_installation_says_for_how_long(execution: Execution, monkeypatch: pytest.MonkeyPatch, hours: float, words: str) -> None:
    monkeypatch.setattr(settings, "CHECKPOINTS_KEPT_HOURS", hours)
    old, _ = kept(execution), kept(execution)
    Checkpoint.objects.filter(pk=old.pk).update(create_time=timezone.now() - timedelta(days=8))
    assert told(cleaned())[1] == ("delete", f"older than {words}")


def test_a_job_may_say_how_much_room_they_take(execution: Execution) -> None:
    JobConfig.objects.create(job=execution.job, config_key="checkpoint.retention", config_value="9")
    JobConfig.objects.create(job=execution.job, config_key="checkpoint.retention.bytes", config_value="2500")
    pinned, *_ = (kept(execution) for _ in range(4))
    checkpoint_update(checkpoint=pinned, pinned=True)
    Checkpoint.objects.all().update(exclusive_bytes=1000)
    assert told(cleaned(dry_run=True)) == {
        4: ("keep", "one of the newest 9"),
        3: ("keep", "one of the newest 9"),
        2: ("delete", "the checkpoints of its job would take more than 2.4 KB"),
        1: ("keep", "pinned"),
    }
    Checkpoint.objects.all().update(exclusive_bytes=9000)
    ended(execution)
    assert told(cleaned(dry_run=True))[4] == ("keep", "the newest of its job")


def test_where_one_goes_for_want_of_room_no_older_one_stays_in_its_stead(execution: Execution) -> None:
    JobConfig.objects.create(job=execution.job, config_key="checkpoint.retention", config_value="9")
    JobConfig.objects.create(job=execution.job, config_key="checkpoint.retention.bytes", config_value="10000")
    for size in (5000, 8000, 4000):
        Checkpoint.objects.filter(pk=kept(execution).pk).update(exclusive_bytes=size)
    assert {number: action for number, (action, _) in told(cleaned(dry_run=True)).items()} == {3: "keep", 2: "delete", 1: "delete"}


@pytest.mark.parametrize("meanwhile", ["restored", "savepoint"])
def test_what_came_to_be_needed_since_it_was_decided_stays(execution: Execution, monkeypatch: pytest.MonkeyPatch, meanwhile: str) -> None:
    first, *_ = (kept(execution) for _ in range(4))
    ended(execution)

    def measured(paths: list[Path]) -> list[int]:
        if meanwhile == "restored":
            execution_row(execution.job, restored_from_checkpoint_id=first.pk)
        else:
            savepoint_keep(checkpoint=first)
        return bytes_freed(paths)

    monkeypatch.setattr(cleaning, "bytes_freed", measured)
    assert {one.checkpoint.checkpoint_id for one in cleaned() if one.checkpoint and one.action == "delete"} == {2}
    first.refresh_from_db()
    assert first.status == "COMPLETED"
    assert folder_of(first).exists()


def test_the_newest_that_can_still_be_read_is_the_one_kept(execution: Execution) -> None:
    JobConfig.objects.create(job=execution.job, config_key="checkpoint.retention.age", config_value="3600000")
    _, vanished = kept(execution), kept(execution)
    ended(execution)
    (folder_of(vanished) / "manifest.json").unlink()
    Checkpoint.objects.all().update(create_time=timezone.now() - timedelta(days=1))
    assert told(cleaned()) == {2: ("delete", "older than 1 hour"), 1: ("keep", "the newest of its job")}


@pytest.mark.parametrize(("with_files", "stays"), [((1, 2), 2), ((1,), 1), ((), 2)])
def test_where_none_is_good_one_stays_that_a_later_check_may_find_whole(
    execution: Execution, with_files: tuple[int, ...], stays: int
) -> None:
    JobConfig.objects.create(job=execution.job, config_key="checkpoint.retention.age", config_value="3600000")
    rows = [kept(execution), kept(execution)]
    ended(execution)
    Checkpoint.objects.all().update(create_time=timezone.now() - timedelta(days=1), failure_reason="it is damaged: out/metadata is missing")
    for row in rows:
        if row.checkpoint_id not in with_files:
            folder_remove(folder_of(row))
    assert [number for number, (action, _) in told(cleaned()).items() if action == "keep"] == [stays]
    left = Checkpoint.objects.get(status="COMPLETED")
    assert newest_good(job_id=execution.job_id) is None
    assert checkpoint_delete(checkpoint=left, deleted_by="olga") >= 0, "a person may take it away without a word"


def test_a_new_checkpoint_pushes_out_the_oldest(execution: Execution) -> None:
    first, second = kept(execution), kept(execution)
    assert checkpoints_retain(checkpoint=second) == []
    third = kept(execution)
    assert [(one.checkpoint, one.reason) for one in checkpoints_retain(checkpoint=third)] == [(first, "older than the newest 2")]
    first.refresh_from_db()
    assert (first.status, first.deleted_by) == ("EXPIRED", "retention")


def test_the_bytes_of_deletions_add_up_to_what_is_given_back(execution: Execution) -> None:
    for batches in (2, 3, 4, 5, 6):
        kept(execution, batches)
    live = live_of(execution)
    for path in live.rglob("*"):
        if path.is_file() and path.name in ("0", "1", "2"):
            path.unlink()  # as Spark prunes: now checkpoints alone hold these
    before = sum(found.st_size for found in inodes(Path(settings.CHECKPOINT_ROOT)).values())
    foreseen = sum(one.bytes for one in cleaned(dry_run=True) if one.action == "delete")
    assert foreseen > 0
    cleaned()
    after = sum(found.st_size for found in inodes(Path(settings.CHECKPOINT_ROOT)).values())
    assert before - after == foreseen


def inodes(root: Path) -> dict[int, os.stat_result]:
    return {(found := path.stat()).st_ino: found for path in root.rglob("*") if path.is_file()}


def test_what_a_checkpoint_alone_holds_is_measured_again(execution: Execution) -> None:
    first, second = kept(execution, 3), kept(execution, 3)
    before = second.exclusive_bytes
    for path in live_of(execution).rglob("*"):
        if path.is_file():
            path.unlink()
    checkpoints_clean(scope=Scope(), dry_run=False, deleted_by="olga")
    second.refresh_from_db()
    assert second.exclusive_bytes == before, "the other checkpoint still links its files"
    assert bytes_freed([folder_of(first), folder_of(second)])[1] > before


def test_live_folders_that_may_be_gone_on_from_are_never_orphans(execution: Execution, root: Path) -> None:
    running = aged(spark_folder(live_of(execution) / "out", 2).parent)
    old = ended(execution_row(job_row("letters"), create_time=timezone.now()), ExecutionStatus.FAILED)
    failed = aged(spark_folder(live_of(old) / "out", 2).parent)
    assert told(cleaned()) == {}
    assert running.exists()
    assert failed.exists()


def test_a_live_folder_of_a_superseded_generation_is_an_orphan(execution: Execution) -> None:
    superseded = aged(spark_folder(live_of(ended(execution)) / "out", 2).parent)
    newer = execution_row(execution.job)
    aged(spark_folder(live_of(newer) / "out", 2).parent)
    assert told(cleaned(dry_run=True)) == {str(execution.generation): ("delete", "live folder of a generation that was superseded")}
    assert superseded.exists()
    cleaned()
    assert not superseded.exists()
    assert live_of(newer).exists()


def test_a_live_folder_whose_last_batch_is_recent_stays_for_its_grace_time(execution: Execution) -> None:
    superseded = aged(spark_folder(live_of(ended(execution)) / "out", 2).parent)
    execution_row(execution.job)
    (superseded / "out" / "commits" / "3").write_text("v1")
    ((action, reason),) = told(cleaned()).values()
    assert (action, reason.endswith("it goes once nothing of it has changed for an hour")) == ("keep", True)
    assert superseded.exists()


def test_the_last_generation_that_did_not_complete_stays_beside_a_newer_one_that_did(execution: Execution) -> None:
    unfinished = aged(spark_folder(live_of(ended(execution, ExecutionStatus.FAILED)) / "out", 2).parent)
    complete = ended(execution_row(execution.job), ExecutionStatus.COMPLETED)
    aged(spark_folder(live_of(complete) / "out", 2).parent)
    cleaned()
    assert unfinished.exists()


def test_what_an_interruption_left_is_an_orphan_once_it_is_quiet(execution: Execution) -> None:
    begun = checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="INTERVAL")
    partial = partial_of(folder_of(begun))
    partial.mkdir(parents=True)
    aged(partial)
    assert told(cleaned()) == {}, "it is being written"
    Checkpoint.objects.filter(pk=begun.pk).update(status="FAILED")
    stray = folder_of(begun).with_name("99")
    stray.mkdir()
    young = ("keep", "no checkpoint stands for it; it goes once nothing of it has changed for an hour")
    assert told(cleaned()) == {partial.name: ("delete", "left by a checkpoint that did not finish"), "99": young}
    aged(stray)
    assert told(cleaned()) == {"99": ("delete", "no checkpoint stands for it")}
    assert not stray.exists()


def test_folders_of_a_job_that_is_not_ours_are_told_and_left_alone(execution: Execution, root: Path) -> None:
    foreign = aged(spark_folder(root / str(uuid.uuid4()) / str(uuid.uuid4()) / "out", 2).parent)
    (root / "lost+found").mkdir()
    (found,) = cleaned()
    assert (found.action, found.path) == ("keep", foreign)
    assert foreign.exists()


def test_checkpoints_of_a_deleted_job_go_but_savepoints_stay(execution: Execution) -> None:
    first, _ = kept(execution), kept(execution)
    savepoint_keep(checkpoint=first)
    ended(execution)
    Job.objects.filter(pk=execution.job_id).update(deleted_at=timezone.now())
    assert told(cleaned())[1] == ("keep", "a savepoint")
    assert told(cleaned(dry_run=True)).get(2) is None
    assert Checkpoint.objects.get(checkpoint_id=2).status == "EXPIRED"


def test_a_scope_looks_at_nothing_else(execution: Execution) -> None:
    other = execution_row(job_row("letters"))
    for one in (execution, other):
        for _ in range(3):
            kept(one)
    assert len(cleaned(dry_run=True, job_id=execution.job_id)) == 3
    assert len(cleaned(dry_run=True, execution_id=other.execution_id)) == 3
    assert cleaned(dry_run=True, projects=frozenset()) == []


def test_the_command_tells_and_then_does(execution: Execution, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        kept(execution)
    call_command("clean_checkpoints", "--dry-run")
    said = capsys.readouterr().out
    assert "1 would be deleted" in said
    assert "older than the newest 2" in said
    assert Checkpoint.objects.filter(status="COMPLETED").count() == 3
    call_command("clean_checkpoints")
    assert "1 deleted" in capsys.readouterr().out
    assert execution.events.filter(kind="checkpoint_deleted").count() == 1


def test_one_whose_folder_was_taken_away_says_so_and_is_found_no_more(execution: Execution) -> None:
    older, gone = kept(execution), kept(execution)
    folder_remove(folder_of(gone))
    cleaned(dry_run=True)
    assert Checkpoint.objects.get(pk=gone.pk).failure_reason == "", "a dry run changes nothing"
    cleaned()
    assert Checkpoint.objects.get(pk=gone.pk).failure_reason == "it is damaged: its files are not there"
    assert Checkpoint.objects.get(pk=older.pk).failure_reason == ""
    assert newest_good(job_id=execution.job_id) == older.pk
