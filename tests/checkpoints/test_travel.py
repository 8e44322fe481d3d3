"""Checkpoints that go out as an archive and come in again: whole, checked, and to whom they may."""

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import AsyncClient, Client

from checkpoints.models import Checkpoint
from checkpoints.orphans import orphans
from checkpoints.restorable import positions_restorable
from checkpoints.retention import Scope
from checkpoints.storages import folder_of
from checkpoints.verification import checkpoint_verify
from jobs.models import AuditEntry, Execution, Job, Role
from jobs.selectors.installation import largest_upload
from tests.checkpoints.archives import Parts, exported, imported, parts_of
from tests.checkpoints.kept import execution_row, kept
from tests.checkpoints.test_checkpoint_api import ended, member, send
from tests.services.job_rows import document_with, job_row, version_add

pytestmark = pytest.mark.django_db


@pytest.fixture
def job() -> Job:
    return job_row()


@pytest.fixture
def checkpoint(job: Job) -> Checkpoint:
    execution = execution_row(job)
    found = kept(execution, label="before the sale")
    ended(execution)
    return found


@pytest.fixture
def editor(job: Job) -> Client:
    return member("eda", Role.EDITOR)


@pytest.fixture
def archive(checkpoint: Checkpoint, editor: Client) -> bytes:
    return exported(editor, checkpoint.pk)


@pytest.fixture
def target(job: Job) -> Job:
    return job_row("letters")


def left_behind(job: Job) -> list[Path]:
    """Every file below the job's folder."""
    place = Path(settings.CHECKPOINT_ROOT) / str(job.job_uid)
    return [path for path in place.rglob("*") if path.is_file()] if place.exists() else []


def test_what_is_exported_arrives_as_a_savepoint_of_its_own(archive: bytes, checkpoint: Checkpoint, target: Job, editor: Client) -> None:
    found = imported(editor, "letters", archive)
    assert (found["job_name"], found["status"], found["is_savepoint"], found["restorable"]) == ("letters", "COMPLETED", True, True)
    assert found["label"] == "before the sale"
    assert found["state_data"] == checkpoint.state_data
    assert found["execution_id"] != checkpoint.execution_id
    assert found["generation"] != str(checkpoint.generation)
    assert (found["source"]["way"], found["source"]["job_name"], found["source"]["by"]) == ("ARCHIVE", "numbers", "eda")
    assert found["source"]["execution_id"] == checkpoint.execution_id
    assert datetime.fromisoformat(found["source"]["taken"]) == checkpoint.create_time
    assert found["duration_ms"] is None, "it took no time here"
    row = Checkpoint.objects.select_related("execution__job").get(pk=found["id"])
    assert checkpoint_verify(folder_of(row)) == []
    assert (row.file_count, row.exclusive_bytes) == (checkpoint.file_count, row.storage_size_bytes)
    assert AuditEntry.objects.filter(action="checkpoint imported", object_id=str(row.pk), actor="eda").count() == 1
    assert AuditEntry.objects.filter(action="checkpoint exported", object_id=str(checkpoint.pk)).count() == 1


def test_the_record_of_a_run_elsewhere_is_no_run_of_the_job(archive: bytes, target: Job, editor: Client) -> None:
    found = imported(editor, "letters", archive)
    assert send(editor, "GET", "/api/executions?job_name=letters")["results"] == []
    send(editor, "GET", f"/api/executions/{found['execution_id']}", expected=404)
    assert [one["job_name"] for one in send(editor, "GET", "/api/jobs?status=REGISTERED")["results"]] == ["letters"]
    assert [one["id"] for one in send(editor, "GET", "/api/checkpoints?job=letters")["results"]] == [found["id"]]


def test_a_job_that_does_the_same_goes_on_as_it_is(archive: bytes, target: Job, editor: Client) -> None:
    found = imported(editor, "letters", archive)
    precheck = send(editor, "GET", f"/api/checkpoints/{found['id']}/precheck")
    assert (precheck["ok"], precheck["version"], precheck["own_version"]) == (True, 1, 1)
    assert {change["verdict"] for change in precheck["changes"]} == {"same"}
    assert 'It starts version 1; it was taken of version 1 of "numbers"' in [check["message"] for check in precheck["checks"]]
    started = send(editor, "POST", f"/api/checkpoints/{found['id']}/restore", {}, expected=202)
    assert Execution.objects.get(execution_id=started["execution_id"]).restored_from_checkpoint_id == found["id"]


def test_its_own_document_decides_whether_another_graph_fits(archive: bytes, editor: Client, job: Job) -> None:
    document = document_with(name="sums")
    document["nodes"]["per"] = {"type": "flow.aggregate", "name": "Per value", "config": {"group_by": ["value"]}}
    document["edges"] = {"e1": {"from": ["numbers", "out"], "to": ["per", "in"]}, "e2": {"from": ["per", "out"], "to": ["out", "in"]}}
    version_add(job_row("sums"), document)
    found = imported(editor, "sums", archive)
    precheck = send(editor, "GET", f"/api/checkpoints/{found['id']}/precheck?version=2")
    assert not precheck["ok"]
    assert [change["code"] for change in precheck["changes"] if change["node_id"] == "per"] == ["state.added"]
    error = send(editor, "POST", f"/api/checkpoints/{found['id']}/restore", {"version": 2}, expected=422)["error"]
    assert error["problems"][0]["node_id"] == "per"
    assert send(editor, "GET", f"/api/checkpoints/{found['id']}/precheck")["version"] == 1


def test_what_was_imported_can_be_exported_again(archive: bytes, target: Job, editor: Client) -> None:
    found = imported(editor, "letters", archive)
    again = parts_of(exported(editor, found["id"]))
    assert again.facts["files"] == parts_of(archive).facts["files"]
    assert again.facts["document"] == parts_of(archive).facts["document"]


def test_the_same_archive_twice_gives_two(archive: bytes, target: Job, editor: Client) -> None:
    first, second = imported(editor, "letters", archive), imported(editor, "letters", archive)
    assert folder_of(Checkpoint.objects.get(pk=first["id"])) != folder_of(Checkpoint.objects.get(pk=second["id"]))


async def told_asynchronously(user: User, path: str) -> bytes:
    client = AsyncClient()
    await client.aforce_login(user)
    answer = await client.get(path)
    return b"".join([chunk async for chunk in answer.streaming_content])  # type: ignore[attr-defined]


@pytest.mark.django_db(transaction=True)
def test_an_asynchronous_server_sends_it_a_block_at_a_time(checkpoint: Checkpoint, editor: Client) -> None:
    from asgiref.sync import async_to_sync

    found = async_to_sync(told_asynchronously)(User.objects.get(username="eda"), f"/api/checkpoints/{checkpoint.pk}/archive")
    assert found == exported(editor, checkpoint.pk)


# ── who may ──────────────────────────────────────────────────────────────────
def test_who_may_export_and_import(archive: bytes, checkpoint: Checkpoint, target: Job) -> None:
    viewer, operator, stranger = member("vera", Role.VIEWER), member("olga", Role.OPERATOR), member("sam", Role.ADMIN, "elsewhere")
    path = f"/api/checkpoints/{checkpoint.pk}/archive"
    send(viewer, "GET", path, expected=403)
    send(stranger, "GET", path, expected=404)
    exported(operator, checkpoint.pk)
    imported(viewer, "letters", archive, expected=403)
    imported(operator, "letters", archive, expected=403)
    imported(stranger, "letters", archive, expected=404)
    assert left_behind(target) == []


def test_a_form_from_another_site_imports_nothing(archive: bytes, target: Job, editor: Client) -> None:
    careful = Client(enforce_csrf_checks=True, headers={"accept": "application/json"})
    careful.force_login(User.objects.get(username="eda"))
    imported(careful, "letters", archive, expected=403)


# ── from another job ─────────────────────────────────────────────────────────
def test_a_checkpoint_of_another_job_is_copied_and_can_be_restored(checkpoint: Checkpoint, target: Job, editor: Client) -> None:
    path = "/api/jobs/letters/checkpoints/import"
    found = send(editor, "POST", path, {"checkpoint": checkpoint.pk}, expected=201)
    assert (found["source"]["way"], found["source"]["checkpoint"]) == ("COPY", checkpoint.pk)
    source = folder_of(checkpoint)
    copy = folder_of(Checkpoint.objects.select_related("execution__job").get(pk=found["id"]))
    assert not {path.stat().st_ino for path in copy.rglob("*")} & {path.stat().st_ino for path in source.rglob("*")}
    send(editor, "POST", f"/api/checkpoints/{found['id']}/restore", {}, expected=202)
    send(editor, "POST", "/api/jobs/numbers/checkpoints/import", {"checkpoint": checkpoint.pk}, expected=409)


def test_copying_needs_the_role_in_both_projects(checkpoint: Checkpoint) -> None:
    both = member("bo", Role.VIEWER)
    user = User.objects.get(username="bo")
    member_of(user, Role.OPERATOR, "elsewhere")
    theirs = job_row("theirs")
    Job.objects.filter(pk=theirs.pk).update(project=project("elsewhere"))
    send(both, "POST", "/api/jobs/theirs/checkpoints/import", {"checkpoint": checkpoint.pk}, expected=403)
    stranger = member("sam", Role.ADMIN, "elsewhere")
    send(stranger, "POST", "/api/jobs/theirs/checkpoints/import", {"checkpoint": checkpoint.pk}, expected=404)
    member_of(user, Role.OPERATOR, "default")
    send(both, "POST", "/api/jobs/theirs/checkpoints/import", {"checkpoint": checkpoint.pk}, expected=201)


def project(slug: str) -> Any:
    from jobs.models import Project

    return Project.objects.get_or_create(slug=slug, defaults={"title": slug})[0]


def member_of(user: User, role: Role, slug: str) -> None:
    from jobs.models import ProjectMember

    ProjectMember.objects.update_or_create(project=project(slug), user=user, defaults={"role": role})


def test_a_damaged_checkpoint_neither_goes_out_nor_over(checkpoint: Checkpoint, target: Job, editor: Client) -> None:
    path = folder_of(checkpoint) / "out" / "offsets" / "1"
    damaged = bytearray(path.read_bytes())
    damaged[-2] ^= 1
    path.unlink()
    path.write_bytes(damaged)
    assert "offsets/1 is damaged" in send(editor, "GET", f"/api/checkpoints/{checkpoint.pk}/archive", expected=409)["error"]["message"]
    error = send(editor, "POST", "/api/jobs/letters/checkpoints/import", {"checkpoint": checkpoint.pk}, expected=409)["error"]
    assert "offsets/1 is damaged" in error["message"]
    assert left_behind(target) == []


@pytest.mark.parametrize(
    ("node_type", "config", "code"),
    [
        ("source.mqtt", {"connection": "broker", "topics": "a/b"}, "source.buffer"),
        ("source.file", {"path": "in", "format": "text", "order": "name"}, "source.copies"),
    ],
)
def test_a_position_in_another_jobs_buffer_or_copies_is_refused(editor: Client, node_type: str, config: dict[str, Any], code: str) -> None:
    document = document_with(name="hooks")
    document["nodes"]["numbers"] = {"type": node_type, "name": "Numbers", "config": config}
    first, second = version_add(job_row("hooks"), document), version_add(job_row("other"), document | {"name": "other"})
    execution = execution_row(first)
    Execution.objects.filter(pk=execution.pk).update(version=2)
    taken = kept(Execution.objects.get(pk=execution.pk))
    ended(execution)
    found = send(editor, "POST", f"/api/jobs/{second.job_name}/checkpoints/import", {"checkpoint": taken.pk}, expected=201)
    precheck = send(editor, "GET", f"/api/checkpoints/{found['id']}/precheck?version=2")
    assert ("numbers", code) in [(change["node_id"], change["code"]) for change in precheck["changes"]]
    assert not precheck["ok"]
    send(editor, "POST", f"/api/checkpoints/{found['id']}/restore", {"version": 2}, expected=422)
    # It stays a position of the other job, however often it travels.
    again = imported(editor, second.job_name, exported(editor, found["id"]), expected=201)
    assert again["source"]["job_name"] == "hooks"
    send(editor, "POST", f"/api/checkpoints/{again['id']}/restore", {"version": 2}, expected=422)
    assert positions_restorable(job_uid=str(second.job_uid)) == []


# ── bad archives ─────────────────────────────────────────────────────────────
def flipped(content: bytes) -> bytes:
    return content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]


def evil_plan(parts: Parts) -> None:
    """A plan behind the checkpoint's batch, announced everywhere but in the cut's own list."""
    parts.file("out/offsets/2", b'v2\n{"batchWatermarkMs":0}\nnumbers:{"next":1000}')


def bomb(parts: Parts) -> None:
    parts.facts["files"]["out/state/0/0/1.changelog"] = {"bytes": 1 << 50, "sha256": "0" * 64}


def many(parts: Parts) -> None:
    parts.facts["files"] |= {f"out/state/0/0/{number}.delta": {"bytes": 0, "sha256": "0" * 64} for number in range(300)}


def future(parts: Parts) -> None:
    parts.facts["versions"]["spark"] = "99.1.0"


BAD: list[tuple[str, Callable[[Parts], None], str]] = [
    ("a step out", lambda parts: parts.file("../../evil", b"x", announced=False), "leads out of the folder"),
    ("an absolute path", lambda parts: parts.file("/tmp/evil", b"x", announced=False), "leads out of the folder"),
    ("a step out that is announced", lambda parts: parts.file("out/../../evil", b"x"), "no path below the folder"),
    ("a symbolic link", lambda parts: parts.special("out/offsets/9", tarfile.SYMTYPE, "/etc/passwd"), "is a link to '/etc/passwd'"),
    ("a hard link", lambda parts: parts.special("out/offsets/9", tarfile.LNKTYPE, "archive.json"), "is a link to"),
    ("a device", lambda parts: parts.special("out/null", tarfile.CHRTYPE), "is a device"),
    ("a pipe", lambda parts: parts.special("out/pipe", tarfile.FIFOTYPE), "is a device, a pipe"),
    ("a folder", lambda parts: parts.special("out/more", tarfile.DIRTYPE), "is a folder"),
    ("the same name twice", lambda parts: parts.file("out/metadata", b"{}", announced=False), "'out/metadata' is in it twice"),
    ("a second list", lambda parts: parts.file("archive.json", b"{}", announced=False), "archive.json is in it twice"),
    ("a file that was not announced", lambda parts: parts.file("out/more", b"x", announced=False), "is not in its list"),
    ("a file that no list of the checkpoint has", lambda parts: parts.file("out/more", b"x"), "out/more is in one of its lists"),
    ("a plan behind the batch", evil_plan, "out/offsets/2 is in one of its lists"),
    ("a missing file", lambda parts: parts.without("out/commits/1"), "out/commits/1 is missing"),
    ("a wrong checksum", lambda parts: parts.changed("out/offsets/1", flipped, announced=False), "out/offsets/1 is damaged"),
    ("a wrong size", lambda parts: parts.changed("out/offsets/1", lambda old: old + b"x", announced=False), "bytes instead of"),
    ("a damaged file with a right checksum", lambda parts: parts.changed("out/offsets/1", flipped), "out/offsets/1"),
    ("a damaged manifest", lambda parts: parts.changed("out/manifest.json", flipped), "manifest.json"),
    ("a file that says it is a petabyte", bomb, "unpacked it has 1,125,899,9"),
    ("too many files", many, "at most 200 are taken"),
    ("a version that cannot be read", lambda parts: parts.facts["document"].clear(), "document of the version"),
    ("a number that cannot be kept", lambda parts: parts.facts["checkpoint"].update(number=2**40), "checkpoint.number"),
    ("a text that cannot be kept", lambda parts: parts.facts["checkpoint"].update(label="a\0b"), "cannot be kept"),
    ("another form", lambda parts: parts.facts.update(format=2), "format"),
    ("a later Spark", future, "written by Spark 99.1.0"),
    ("a header with a number that is none", lambda parts: parts.header({"GNU.sparse.size": "abc"}), "cannot be read as a tar archive"),
    ("positions that are none", lambda parts: parts.facts["checkpoint"]["state_data"].update(sources=[1]), "no positions by node"),
    ("a sink that is no name", lambda parts: parts.manifest(sinks=[1]), "manifest.json is not what one says: sinks.0"),
    ("half a batch", lambda parts: parts.manifest(batch_id=1.5), "manifest.json is not what one says: batch_id"),
    ("settings of no run", lambda parts: parts.facts["run"].update(resolved={"parallelism": "many"}), "settings that it ran with"),
]


@pytest.mark.parametrize(("change", "words"), [pytest.param(change, words, id=name) for name, change, words in BAD])
def test_a_bad_archive_is_refused_with_what_is_wrong_and_leaves_nothing(
    archive: bytes, target: Job, editor: Client, settings: Any, change: Callable[[Parts], None], words: str
) -> None:
    settings.CHECKPOINT_ARCHIVE_FILES = 200
    before, descriptors = Checkpoint.objects.count(), len(os.listdir("/proc/self/fd"))
    parts = parts_of(archive)
    change(parts)
    error = imported(editor, "letters", parts.bytes, expected=422)["error"]
    assert error["code"] == "archive.refused"
    assert words in error["message"], error["message"]
    assert left_behind(target) == []
    assert Checkpoint.objects.count() == before
    assert not Execution.with_imported.filter(job=target).exists()
    assert not Path("/tmp/evil").exists()
    assert len(os.listdir("/proc/self/fd")) <= descriptors


@pytest.mark.parametrize("where", ["upload", "root"])
def test_where_nothing_can_be_written_the_import_says_so(
    archive: bytes, target: Job, editor: Client, settings: Any, tmp_path: Path, where: str
) -> None:
    (tmp_path / "file").touch()
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path / "file") if where == "upload" else None
    place = Path(settings.CHECKPOINT_ROOT) / str(target.job_uid)
    if where == "root":
        place.touch()
    error = imported(editor, target.job_name, archive, expected=409)["error"]
    assert (error["code"], error["message"].endswith(": Not a directory")) == ("checkpoint.storage", True), error
    if where == "root":
        place.unlink()
    assert left_behind(target) == []


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("archive.json", "{}")
    return out.getvalue()


def huge_header() -> bytes:
    """The header of a header that says it is 4 GiB long."""
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = tarfile.XHDTYPE, 1 << 32
    return entry.tobuf(tarfile.GNU_FORMAT) + bytes(10_240)


@pytest.mark.parametrize("sent", [b"", b"hello", zipped(), os.urandom(20_000), huge_header(), bytes(10_240)])
def test_what_is_no_archive_is_refused(sent: bytes, target: Job, editor: Client) -> None:
    error = imported(editor, "letters", sent, expected=422)["error"]
    assert "archive" in error["message"]
    assert left_behind(target) == []


def test_an_archive_that_was_cut_off_is_refused_wherever_that_was(archive: bytes, target: Job, editor: Client) -> None:
    whole = len(archive) - 1024  # what follows is its end, which nobody misses
    for length in range(512, whole, 512):
        error = imported(editor, "letters", archive[:length], expected=422)["error"]
        assert error["code"] == "archive.refused"
    assert left_behind(target) == []


def test_more_than_is_allowed_ends_the_upload(archive: bytes, target: Job, editor: Client, settings: Any) -> None:
    settings.CHECKPOINT_ARCHIVE_BYTES = 100
    assert "at most 100 are taken" in imported(editor, "letters", archive, expected=422)["error"]["message"]
    settings.CHECKPOINT_ARCHIVE_BYTES = -largest_upload() + 100 + 1000
    assert imported(editor, "letters", archive, expected=413)["error"]["code"] == "too_large"
    assert left_behind(target) == []


def test_without_a_file_nothing_happens(target: Job, editor: Client) -> None:
    answer = editor.post("/api/jobs/letters/checkpoints/import", {"other": "x"})
    assert (answer.status_code, "file" in answer.json()["error"]["message"]) == (400, True)
    send(editor, "POST", "/api/jobs/letters/checkpoints/import", {}, expected=422)
    send(editor, "POST", "/api/jobs/letters/checkpoints/import", {"checkpoint": 10**6}, expected=404)


def test_what_an_import_that_died_left_is_found(archive: bytes, target: Job, editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Path(settings.CHECKPOINT_ROOT) / str(target.job_uid) / "checkpoints"
    half, orphan = place / "11111111-1111-4111-8111-111111111111" / ".1.partial", place / "22222222-2222-4222-8222-222222222222" / "1"
    for folder in (half, orphan):
        (folder / "out").mkdir(parents=True)
        (folder / "out" / "metadata").write_text(json.dumps({}))
        for path in (folder, *folder.rglob("*")):
            os.utime(path, (1_700_000_000, 1_700_000_000))
    found = {decision.path: decision.action for decision in orphans(Scope(job_id=target.pk))}
    assert found == {half: "delete", orphan: "delete"}


def test_retention_leaves_what_was_imported(archive: bytes, target: Job, editor: Client) -> None:
    found = imported(editor, "letters", archive)
    row = Checkpoint.objects.get(pk=found["id"])
    path = folder_of(row)
    for folder in (path.parent, path, *path.rglob("*")):
        os.utime(folder, (1_700_000_000, 1_700_000_000))
    send(editor, "POST", "/api/checkpoints/cleanup", {"dry_run": False, "scope": {"job_name": "letters"}})
    row.refresh_from_db()
    assert (row.status, path.exists()) == ("COMPLETED", True)
    send(editor, "DELETE", f"/api/checkpoints/{row.pk}?reason=not+wanted", expected=204)
    assert not path.exists()
    assert send(editor, "GET", f"/api/checkpoints/{row.pk}")["delete_reason"] == "not wanted"
