"""One checkpoint with what became of it: its watermark, its files, what started from it, what deleted it and why."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from checkpoints.models import Checkpoint
from checkpoints.services import checkpoint_begin, checkpoint_complete
from checkpoints.storages import folder_of
from jobs.models import AuditEntry, Execution, JobVersion, Role
from jobs.reporting import RowLedger
from jobs.services.executions import execution_generation_renew
from tests.checkpoints.archives import exported, imported
from tests.checkpoints.kept import cut_of, execution_row, kept, live_of, spark_folder, stored
from tests.checkpoints.test_checkpoint_api import ended, member, send
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db

WATERMARK = 1_767_225_600_000


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "root")
    monkeypatch.setattr(settings, "CHECKPOINT_STORAGE_URLS", [f"file://{tmp_path}/store"])
    return tmp_path / "store"


@pytest.fixture
def execution() -> Execution:
    return execution_row(job_row())


@pytest.fixture
def operator(execution: Execution) -> Client:
    return member("olga", Role.OPERATOR)


def detail(client: Client, checkpoint: Checkpoint) -> Any:
    return send(client, "GET", f"/api/checkpoints/{checkpoint.pk}")


def with_watermark(execution: Execution, batch: int, told: int) -> None:
    live = spark_folder(live_of(execution) / "out", batch + 1)
    metadata = {"batchWatermarkMs": told, "batchTimestampMs": told + 5, "conf": {}}
    (live / "offsets" / str(batch)).write_text(f'v2\n{json.dumps(metadata)}\nnumbers:{{"next":{(batch + 1) * 10}}}')


def test_each_query_tells_its_files_its_bytes_and_the_watermark_of_its_batch(execution: Execution, operator: Client) -> None:
    with_watermark(execution, 1, WATERMARK)
    with_watermark(execution, 2, WATERMARK + 60_000)
    first, second = kept(execution, batches=2), kept(execution, batches=3)
    query = detail(operator, first)["queries"]["out"]
    assert query["watermark_ms"] == WATERMARK
    assert query["files"] == first.file_count
    assert 0 < query["bytes"] < first.storage_size_bytes
    assert detail(operator, second)["queries"]["out"]["watermark_ms"] == WATERMARK + 60_000


def test_what_is_brought_here_tells_them_too(execution: Execution) -> None:
    editor = member("eda", Role.EDITOR)
    with_watermark(execution, 1, WATERMARK)
    origin = kept(execution)
    job_row("letters")
    brought = imported(editor, "letters", exported(editor, origin.pk))
    assert brought["queries"] == detail(editor, origin)["queries"]


def test_a_row_of_older_days_is_shown_without_them(execution: Execution, operator: Client) -> None:
    checkpoint = kept(execution)
    Checkpoint.objects.filter(pk=checkpoint.pk).update(queries={"out": {"batch_id": 1, "sinks": ["out"]}})
    old = {"batch_id": 1, "sinks": ["out"], "files": None, "bytes": None, "watermark_ms": None}
    assert detail(operator, checkpoint)["queries"] == {"out": old}


def test_offsets_without_a_watermark_hinder_no_checkpoint(execution: Execution) -> None:
    live = spark_folder(live_of(execution) / "out", 2)
    (live / "offsets" / "1").write_text('v2\n{}\nnumbers:{"next":20}')
    begun = checkpoint_begin(execution_id=execution.execution_id, attempt=1, origin="INTERVAL")
    assert checkpoint_complete(row=begun.pk, result=cut_of(execution, begun, 2)).queries["out"]["watermark_ms"] is None


def test_it_names_what_started_from_it_and_each_restore_is_in_the_audit_trail(execution: Execution, operator: Client) -> None:
    checkpoint, other = kept(execution), kept(execution)
    ended(execution)
    path = f"/api/checkpoints/{checkpoint.pk}/restore"
    first = send(operator, "POST", path, {}, expected=202)["execution_id"]
    ended(Execution.objects.get(execution_id=first))
    second = send(operator, "POST", path, {"roll_back": True}, expected=202)["execution_id"]
    shown = detail(operator, checkpoint)
    assert [one["execution_id"] for one in shown["restored_by"]] == [second, first]
    assert {(one["created_by"], one["version"], one["in_place"]) for one in shown["restored_by"]} == {("olga", 1, False)}
    assert shown["restored_by_more"] == 0
    assert detail(operator, other)["restored_by"] == []
    entries = AuditEntry.objects.filter(action="checkpoint restored", actor="olga", object_id=str(checkpoint.pk)).order_by("id")
    assert [(one.detail["started"], one.detail["roll_back"]) for one in entries] == [(first, False), (second, True)]
    assert entries[0].project == execution.job.project
    assert entries[0].detail["checkpoint_id"] == checkpoint.checkpoint_id


def test_it_tells_the_names_of_its_nodes_and_none_where_its_version_is_gone(execution: Execution, operator: Client) -> None:
    checkpoint, other = kept(execution), kept(execution)
    names = {"numbers": "Numbers", "out": "Out"}
    assert detail(operator, checkpoint)["node_names"] == names
    assert send(operator, "GET", f"/api/checkpoints/{checkpoint.pk}/compare/{other.pk}")["node_names"] == names
    JobVersion.objects.filter(job=execution.job).delete()
    assert detail(operator, checkpoint)["node_names"] == {}


def test_a_restore_that_is_refused_leaves_no_trace(execution: Execution, operator: Client) -> None:
    checkpoint = kept(execution)
    send(operator, "POST", f"/api/checkpoints/{checkpoint.pk}/restore", {}, expected=409)
    assert not AuditEntry.objects.filter(action="checkpoint restored").exists()


def test_an_attempt_that_fell_back_to_it_is_told_apart(execution: Execution, operator: Client) -> None:
    checkpoint = kept(execution)
    execution_generation_renew(execution=execution, checkpoint=checkpoint, actor="driver", reason="offsets/3 is missing")
    (restore,) = detail(operator, checkpoint)["restored_by"]
    assert (restore["execution_id"], restore["in_place"]) == (execution.execution_id, True)


def test_what_started_from_it_stays_told_when_that_fell_back_to_its_own(execution: Execution, operator: Client) -> None:
    origin = kept(execution)
    ended(execution)
    name = send(operator, "POST", f"/api/checkpoints/{origin.pk}/restore", {}, expected=202)["execution_id"]
    Execution.objects.filter(execution_id=name).update(status="RUNNING", attempt=1)
    restored = Execution.objects.get(execution_id=name)
    own = kept(restored)
    execution_generation_renew(execution=restored, checkpoint=own, actor="driver", reason="offsets/3 is missing")
    assert [(one["execution_id"], one["in_place"]) for one in detail(operator, own)["restored_by"]] == [(name, True)]
    assert [(one["execution_id"], one["in_place"]) for one in detail(operator, origin)["restored_by"]] == [(name, False)]


@pytest.mark.django_db(transaction=True)
def test_a_deleted_one_tells_which_rule_took_it_and_offers_the_nearest_good_one(
    execution: Execution, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "CHECKPOINTS_KEPT", 1)
    ledger = RowLedger(execution_id=execution.execution_id, attempt=1, actor="driver")
    rows = []
    for batches in (2, 3):
        ticket = ledger.begin(origin="INTERVAL", requested_by="", savepoint=False, label="")
        row = Checkpoint.objects.get(pk=ticket.row)
        ledger.complete(ticket, cut_of(execution, row, batches))
        rows.append(row)
    gone, left = rows
    shown = detail(operator, gone)
    assert (shown["status"], shown["deleted_by"], shown["delete_reason"]) == ("EXPIRED", "retention", "older than the newest 1")
    assert shown["nearest_good"]["id"] == left.pk
    good = detail(operator, left)
    assert (good["nearest_good"], good["delete_reason"]) == (None, "")


def test_a_damaged_one_offers_the_nearest_good_one(execution: Execution, operator: Client) -> None:
    good, damaged = kept(execution, 2), kept(execution, 3)
    Checkpoint.objects.filter(pk=damaged.pk).update(failure_reason="it is damaged: out/offsets/2 is missing")
    assert detail(operator, damaged)["nearest_good"]["checkpoint_id"] == good.checkpoint_id


@pytest.mark.parametrize("storage", ["local", "file", "database"])
def test_files_are_listed_from_the_manifest_wherever_they_lie(execution: Execution, operator: Client, storage: str) -> None:
    checkpoint = kept(execution) if storage == "local" else stored(execution, storage)
    path = f"/api/checkpoints/{checkpoint.pk}/files"
    found = send(operator, "GET", path)
    paths = [one["path"] for one in found["results"]]
    assert paths == sorted(paths)
    assert {"manifest.json", "out/manifest.json", "out/metadata", "out/offsets/1", "out/commits/1"} <= set(paths)
    assert (found["count"], found["bytes"]) == (len(paths), sum(one["bytes"] for one in found["results"]))
    live = (live_of(execution) / "out" / "offsets" / "1").read_bytes()
    told = next(one for one in found["results"] if one["path"] == "out/offsets/1")
    assert (told["bytes"], told["sha256"]) == (len(live), hashlib.sha256(live).hexdigest())
    pages = [send(operator, "GET", f"{path}?rows=2&offset={offset}")["results"] for offset in range(0, found["count"], 2)]
    assert [one["path"] for page in pages for one in page] == paths
    only = send(operator, "GET", f"{path}?q=OFFSETS/")
    assert [one["path"] for one in only["results"]] == ["out/offsets/0", "out/offsets/1"]
    assert only["count"] == 2


def test_files_that_are_gone_are_told_so(execution: Execution, operator: Client, store: Path) -> None:
    def refused(checkpoint: Checkpoint) -> tuple[str, str]:
        error = send(operator, "GET", f"/api/checkpoints/{checkpoint.pk}/files", expected=409)["error"]
        return error["code"], error["message"]

    lost, damaged, far, deleted = kept(execution), kept(execution), stored(execution, "file"), kept(execution)
    shutil.rmtree(folder_of(lost))
    assert refused(lost) == ("checkpoint.files", "checkpoint 1 has no files to list: its files are not there")
    (folder_of(damaged) / "manifest.json").write_text("{")
    assert refused(damaged)[0] == "checkpoint.damaged"
    shutil.rmtree(store)
    assert refused(far)[0] in ("checkpoint.damaged", "checkpoint.storage")
    Checkpoint.objects.filter(pk=deleted.pk).update(status="EXPIRED")
    assert refused(deleted) == ("checkpoint.files", "checkpoint 4 has no files to list: its files were deleted")


def test_nobody_else_sees_the_files(execution: Execution) -> None:
    stranger = member("sam", Role.ADMIN, "elsewhere")
    send(stranger, "GET", f"/api/checkpoints/{kept(execution).pk}/files", expected=404)


def test_every_operation_on_checkpoints_says_what_it_does() -> None:
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    said = {
        f"{method} {path}": operation.get("description", "")
        for path, operations in paths.items()
        if "checkpoint" in path or "savepoint" in path
        for method, operation in operations.items()
    }
    assert len(said) > 15
    assert [where for where, words in said.items() if not words or words.startswith("A view of the API")] == []
    assert len(set(said.values())) == len(said)
