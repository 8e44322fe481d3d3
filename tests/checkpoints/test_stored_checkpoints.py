"""Checkpoints with rows whose files are in another store than the local disk: all that is done with them."""

import errno
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from checkpoints.cleaning import checkpoints_clean, checkpoints_retain
from checkpoints.deletion import checkpoint_delete
from checkpoints.fall_back import newest_readable
from checkpoints.models import Checkpoint, CheckpointData
from checkpoints.retention import Decision, Scope
from checkpoints.selectors import needed_among, newest_key, not_restorable
from checkpoints.services import CheckpointRefused, checkpoint_begin, checkpoint_fail, checkpoints_check, savepoint_keep
from checkpoints.storages import folder_of, key_of, opened, storage_chosen, storage_named
from checkpoints.stores.base import StorageUnfit
from checkpoints.verification import checkpoint_verify
from jobs.driver.position import plan_with_position
from jobs.engine.failure import ExecutionFailure
from jobs.models import Execution, ExecutionStatus, Role
from jobs.services.drafts import document_read
from jobs.services.events import event_record
from jobs.services.executions import execution_restore
from tests.checkpoints.archives import exported, imported
from tests.checkpoints.kept import execution_row, kept, stored
from tests.checkpoints.test_checkpoint_api import ended, member, send
from tests.services.job_rows import document_with, job_row

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "root")
    monkeypatch.setattr(settings, "CHECKPOINT_STORAGE_URLS", [f"file://{tmp_path}/store"])
    monkeypatch.setattr(settings, "CHECKPOINTS_KEPT", 2)
    return tmp_path / "store"


@pytest.fixture
def execution() -> Execution:
    return execution_row(job_row())


@pytest.fixture(params=["file", "database"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def editor(execution: Execution) -> Client:
    return member("eda", Role.EDITOR)


def keys(name: str) -> set[str]:
    return {one.key for one in storage_named(name).list_stored()}


def cleaned(*, dry_run: bool = False) -> list[Decision]:
    return checkpoints_clean(scope=Scope(), dry_run=dry_run, deleted_by="olga")


def aged(store: Path) -> None:
    for path in store.rglob("*"):
        os.utime(path, (time.time() - 7200,) * 2)


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_its_row_says_where_it_is_and_nothing_stays_on_the_local_disk(execution: Execution, name: str) -> None:
    row = stored(execution, name)
    assert (row.status, row.storage, row.storage_path) == ("COMPLETED", name, storage_named(name).place(key_of(row)))
    assert row.phases["upload"] >= 0
    assert not folder_of(row).exists()
    assert not_restorable(row) == ""
    with opened(row) as folder:
        assert checkpoint_verify(folder) == []
    assert files_below(folder_of(row).parent) == []


def test_it_is_checked_byte_by_byte_before_a_restore(execution: Execution, name: str, editor: Client, store: Path) -> None:
    row = stored(execution, name)
    ended(execution)
    assert send(editor, "GET", f"/api/checkpoints/{row.pk}/precheck")["ok"]
    storage_named(name).delete(key_of(row))
    checks = send(editor, "GET", f"/api/checkpoints/{row.pk}/precheck")["checks"]
    assert [one["ok"] for one in checks if one["name"] == "files"] == [False]


def test_its_restore_may_run_on_any_host(execution: Execution, name: str) -> None:
    Execution.objects.filter(pk=execution.pk).update(storage_host="a host that is gone")
    elsewhere, here = stored(execution, name), kept(execution)
    ended(execution)
    restored = execution_restore(checkpoint=here, user=None)
    assert restored.storage_host == "a host that is gone"
    Execution.objects.filter(pk=restored.pk).update(status=ExecutionStatus.PAUSED)
    assert execution_restore(checkpoint=elsewhere, user=None).storage_host == ""


def test_a_full_disk_here_is_no_fault_of_the_store(execution: Execution, editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    row = stored(execution, "file")
    ended(execution)
    restored = execution_row(execution.job, status=ExecutionStatus.INITIALIZING, restored_from_checkpoint_id=row.pk)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "out/state")

    monkeypatch.setattr("fsspec.implementations.local.LocalFileSystem.get_file", full)
    with pytest.raises(ExecutionFailure, match=r"cannot be put in place \(out/state\): No space left on device") as told:
        plan_with_position(restored, actor="d", log=logging.getLogger("test"))
    assert (told.value.kind, told.value.permanent) == ("external", False)
    (message,) = (one["message"] for one in send(editor, "GET", f"/api/checkpoints/{row.pk}/precheck")["checks"] if one["name"] == "files")
    assert message.startswith("It cannot be read now: the local disk gives trouble: ")
    job_row("letters")
    error = send(editor, "POST", "/api/jobs/letters/checkpoints/import", {"checkpoint": row.pk}, expected=409)["error"]
    assert error["code"] == "checkpoint.storage"


def test_it_travels_as_an_archive_and_as_a_copy(execution: Execution, name: str, editor: Client) -> None:
    row = stored(execution, name)
    ended(execution)
    job_row("letters")
    brought = imported(editor, "letters", exported(editor, row.pk))
    copied = send(editor, "POST", "/api/jobs/letters/checkpoints/import", {"checkpoint": row.pk}, expected=201)
    for one in (brought, copied):
        made = Checkpoint.objects.select_related("execution__job").get(pk=one["id"])
        assert (made.storage, made.is_savepoint) == ("local", True)
        assert checkpoint_verify(folder_of(made)) == []
    assert files_below(folder_of(row).parent) == [], "what was fetched for it is gone"


@pytest.mark.parametrize("chosen", ["file", "database", "attic"])
def test_what_is_brought_goes_to_the_installations_store(
    execution: Execution, chosen: str, editor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = kept(execution)
    ended(execution)
    job_row("letters")
    monkeypatch.setattr(settings, "CHECKPOINT_STORAGE", chosen)
    copied = send(editor, "POST", "/api/jobs/letters/checkpoints/import", {"checkpoint": row.pk}, expected=201)
    made = Checkpoint.objects.select_related("execution__job").get(pk=copied["id"])
    assert made.storage == ("local" if chosen == "attic" else chosen)
    assert newest_readable(generation=made.generation).checkpoint == made
    assert (Execution.with_imported.get(pk=made.execution.pk).storage_host == "") == (made.storage != "local")
    assert bool(files_below(folder_of(made).parent)) == (made.storage == "local")


def test_a_store_that_is_away_takes_nothing_that_is_brought(
    execution: Execution, editor: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = kept(execution)
    ended(execution)
    job_row("letters")
    (tmp_path / "store").write_text("a file stands where the store was")
    monkeypatch.setattr(settings, "CHECKPOINT_STORAGE", "file")
    answer = send(editor, "POST", "/api/jobs/letters/checkpoints/import", {"checkpoint": row.pk}, expected=409)
    assert answer["error"]["code"] == "checkpoint.storage"
    assert Checkpoint.objects.count() == 1


def test_its_positions_are_read_and_set(execution: Execution, name: str, editor: Client) -> None:
    row = stored(execution, name)
    ended(execution)
    wanted = {"sources": {"numbers": {"to": "values", "values": {"next": 5}}}, "dry_run": False}
    made = send(editor, "POST", f"/api/checkpoints/{row.pk}/positions", wanted)
    assert made["sources"] == [{"node_id": "numbers", "before": {"next": 20}, "after": {"next": 5}}]
    assert made["checkpoint"]["storage"] == "local"


def test_a_savepoint_of_it_shares_nothing(execution: Execution, store: Path) -> None:
    first, second = stored(execution, "file"), stored(execution, "file", 3)
    savepoint_keep(checkpoint=second)
    second.refresh_from_db()
    assert second.is_savepoint
    assert second.exclusive_bytes == second.storage_size_bytes or second.exclusive_bytes > first.exclusive_bytes / 2
    for path in files_below(store / key_of(first)):
        path.unlink()
    assert newest_readable(generation=execution.generation).checkpoint == second


def turned(path: Path) -> None:
    """Damaged, and as large as before."""
    path.write_bytes(path.read_bytes()[:-1] + b"!")


def halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5])


@pytest.mark.parametrize("what", ["objects", "contents"])
@pytest.mark.parametrize("damage", [turned, halved])
def test_behind_one_that_is_damaged_the_next_is_whole(execution: Execution, store: Path, damage: Callable[[Path], None], what: str) -> None:
    before = stored(execution, "file", 2)
    for path in files_below(store / key_of(before)):
        if (path.name == "contents.json") == (what == "contents"):
            damage(path)
    if damage is turned:
        assert checkpoints_check(generation=execution.generation) == [before]
    after = stored(execution, "file", 3)
    assert storage_named("file").verify(key_of(after), folder_of(after)) == []
    assert newest_key(generation=execution.generation, storage="file") == key_of(after)


def test_of_one_behind_a_damaged_one_what_is_shared_is_shared_with_the_last_good_one(execution: Execution) -> None:
    good, damaged = stored(execution, "file", 2), stored(execution, "file", 3)
    Checkpoint.objects.filter(pk=damaged.pk).update(failure_reason="it is damaged: out/offsets/2 is missing")
    assert newest_key(generation=execution.generation, storage="file") == key_of(good)
    assert set(needed_among([good, damaged])) == {good.pk}, "it stays for as long as the next may name what it holds"
    Checkpoint.objects.filter(pk=good.pk).update(failure_reason="it is damaged: out/offsets/1 is missing")
    assert newest_key(generation=execution.generation, storage="file") == ""
    assert set(needed_among([good, damaged])) == {damaged.pk}, "a later check may find it whole"


def test_one_that_is_damaged_cannot_be_kept(execution: Execution, store: Path) -> None:
    row = stored(execution, "file")
    max(files_below(store / key_of(row)), key=lambda path: path.stat().st_mtime_ns - path.stat().st_size).write_bytes(b"?")
    with pytest.raises(CheckpointRefused, match="damaged and cannot be kept"):
        savepoint_keep(checkpoint=row)


def test_retention_deletes_from_the_store(execution: Execution, name: str) -> None:
    rows = [stored(execution, name, batches) for batches in (2, 3, 4)]
    assert [one.checkpoint for one in checkpoints_retain(checkpoint=rows[2])] == [rows[0]]
    assert keys(name) == {key_of(row) for row in rows[1:]}
    assert checkpoint_delete(checkpoint=rows[1], deleted_by="olga") > 0
    assert keys(name) == {key_of(rows[2])}
    assert storage_named(name).verify(key_of(rows[2]), folder_of(rows[2])) == []


def test_what_each_takes_alone_is_what_deleting_it_gives_back(execution: Execution, store: Path) -> None:
    rows = [stored(execution, "file", batches) for batches in (2, 3)]
    whole = storage_named("file").size(key_of(rows[0]))
    checkpoints_retain(checkpoint=rows[1])
    first = Checkpoint.objects.get(pk=rows[0].pk).exclusive_bytes
    assert 0 < first < whole
    assert checkpoint_delete(checkpoint=rows[0], deleted_by="olga", reason="a test") - first < 3000, "but for the list of its contents"
    checkpoints_retain(checkpoint=rows[1])
    left = sum(path.stat().st_size for path in files_below(store) if path.name != "contents.json")
    assert Checkpoint.objects.get(pk=rows[1].pk).exclusive_bytes == left, "of what it shared it is the last"


def test_what_no_row_stands_for_goes_once_it_is_quiet_and_no_checkpoint_is_being_taken(execution: Execution, store: Path) -> None:
    lost, good = stored(execution, "file"), stored(execution, "file", 3)
    Checkpoint.objects.filter(pk=lost.pk).update(status="FAILED")
    (kept_good, young) = cleaned()
    assert (kept_good.checkpoint, young.checkpoint, young.action) == (good, None, "keep")
    assert young.reason.endswith("it goes once nothing of it has changed for an hour"), "it may be at work still"
    aged(store)
    pending = kept(execution)
    Checkpoint.objects.filter(pk=pending.pk).update(status="PENDING")
    assert [one.checkpoint for one in cleaned()] == [good]
    Checkpoint.objects.filter(pk=pending.pk).update(status="EXPIRED")
    (found,) = [one for one in cleaned(dry_run=True) if one.storage == "file" and one.checkpoint is None]
    assert (found.action, found.reason, found.shown) == ("delete", "its checkpoint failed or was deleted", f"file://{store}/{key_of(lost)}")
    assert found.bytes > 0
    cleaned()
    assert keys("file") == {key_of(good)}
    assert storage_named("file").verify(key_of(good), folder_of(good)) == []


def test_what_another_installation_has_in_the_store_is_told_and_left_alone(execution: Execution, store: Path) -> None:
    row = stored(execution, "file")
    foreign = store / "5d0f6c3e-0000-4000-8000-000000000001"
    (store / key_of(row).split("/")[0]).rename(foreign)
    aged(store)
    found = [one for one in cleaned() if one.checkpoint is None]
    assert [(one.action, one.storage) for one in found] == [("keep", "file")]
    assert files_below(foreign)


def test_a_store_that_is_not_set_up_any_more_is_said(execution: Execution, editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    row = stored(execution, "file")
    ended(execution)
    monkeypatch.setattr(settings, "CHECKPOINT_STORAGE_URLS", [])
    assert not_restorable(row).startswith('no store "file" is set up here')
    assert send(editor, "GET", f"/api/checkpoints/{row.pk}")["storage"] == "file"
    assert checkpoint_delete(checkpoint=row, deleted_by="olga", reason="a test") == 0


def test_a_name_decides_the_store_and_one_that_cannot_be_falls_back() -> None:
    assert storage_chosen("file", stateful=True).storage.name == "file"
    for name, stateful, words in [
        ("attic", False, 'no store "attic"'),
        ("database", True, "takes positions only"),
        ("s3", False, "no store"),
    ]:
        chosen = storage_chosen(name, stateful=stateful)
        assert (chosen.storage.name, chosen.storage.is_local) == ("local", True)
        assert chosen.warning.startswith("checkpoints stay on the local disk: ")
        assert words in chosen.warning
    assert storage_chosen("database", stateful=False).warning == ""
    with pytest.raises(StorageUnfit):
        storage_named("attic")


def test_an_execution_that_fell_back_says_so_on_its_page_until_its_next_attempt(execution: Execution, editor: Client) -> None:
    def told() -> str:
        return str(send(editor, "GET", f"/api/executions/{execution.execution_id}")["checkpoint_storage_warning"])

    assert told() == ""
    words = storage_chosen("attic", stateful=False).warning
    event_record(execution_id=execution.execution_id, kind="notice", reason=words, detail={"checkpoint_storage": "local"})
    event_record(execution_id=execution.execution_id, kind="notice", reason="something else")
    assert told() == words
    Execution.objects.filter(pk=execution.pk).update(attempt=2)
    assert told() == ""


@pytest.mark.parametrize(("chosen", "told"), [("attic", ["checkpoint.storage"]), ("file", []), ("local", [])])
def test_the_editor_warns_of_a_store_that_cannot_be(chosen: str, told: list[str]) -> None:
    _, _, problems = document_read(document_with(name="numbers", checkpoint_storage=chosen))
    found = [one for one in problems if one.pointer == "/settings/checkpoint_storage"]
    assert [one.code for one in found] == told
    assert {one.severity for one in found} <= {"warning"}


def test_rows_from_before_are_on_the_local_disk(execution: Execution) -> None:
    assert kept(execution).storage == "local"
    assert not CheckpointData.objects.exists()


def test_the_newest_stays_while_the_next_is_being_taken(execution: Execution) -> None:
    older, newest = stored(execution, "file"), stored(execution, "file", 3)
    pending = checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="INTERVAL", storage="file")
    with pytest.raises(CheckpointRefused, match=r"the next checkpoint is being taken, and may share files with checkpoint 2: wait for it"):
        checkpoint_delete(checkpoint=newest, deleted_by="olga", reason="too large")
    checkpoint_delete(checkpoint=older, deleted_by="olga")
    checkpoint_fail(row=pending.pk, reason="the store was full", phases={})
    checkpoint_delete(checkpoint=newest, deleted_by="olga", reason="too large")
