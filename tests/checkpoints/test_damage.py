"""Damage to any file of a checkpoint, in any role: it is named, nothing starts from it, and it reaches every checkpoint that shares it."""

import errno
import logging
import re
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from pyspark.sql import SparkSession

from checkpoints.cut import CutDamaged
from checkpoints.deletion import checkpoint_delete
from checkpoints.job_cut import JobCut, JobQuery, Phases, RunFacts
from checkpoints.ledger import Ticket
from checkpoints.manifest import ManifestDamaged
from checkpoints.models import Checkpoint
from checkpoints.selectors import not_restorable
from checkpoints.storage import checkpoint_restore
from checkpoints.storages import folder_of
from checkpoints.threads import Pulse, no_pulse
from checkpoints.verification import checkpoint_verify
from jobs.driver.planning import execution_locations
from jobs.driver.position import plan_with_position
from jobs.engine.failure import ExecutionFailure
from jobs.models import Execution, ExecutionStatus, QueryProgress, Role
from jobs.nodes.durable_text import text_place
from jobs.services.metrics import QueryCounts, Reported, batches_written, query_kept, reported_write
from tests.checkpoints.kept import execution_row, kept, live_of
from tests.checkpoints.streams import Stream, windows
from tests.checkpoints.test_checkpoint_api import ended, member, send
from tests.checkpoints.test_cut import flip, truncate
from tests.services.job_rows import job_row

DAMAGES = pytest.mark.parametrize("damage", [truncate, flip, Path.unlink], ids=["truncated", "flipped", "removed"])
#: What a file of a checkpoint is, by its path.
ROLES = {
    "the checkpoint's manifest": r"manifest\.json",
    "a query's manifest": r"out/manifest\.json",
    "metadata": r"out/metadata",
    "offsets": r"out/offsets/\d+",
    "commits": r"out/commits/\d+",
    "a source's log": r"out/sources/.+/[^./][^/]*",
    "state: schema": r"out/state/(.+/)?_(metadata|stateSchema)/(.+/)?[^./]([^/]*(?<!\.crc))?",
    "state: changes": r"out/state/.+\.(changelog|delta)",
    "state: snapshot": r"out/state/.+\.(zip|snapshot)",
    "state: shared table": r"out/state/.+\.sst",
    "a checksum": r"out/(.+/)?[^/]+\.crc",
}
_LOGS = {"the checkpoint's manifest", "a query's manifest", "metadata", "offsets", "commits", "a source's log", "a checksum"}
#: Kind of query → the roles that its files have at least; when a snapshot is made beside changes is Spark's to say.
KINDS = {
    "plain": _LOGS,
    "memory": _LOGS | {"state: schema", "state: changes"},
    "rocksdb": _LOGS | {"state: schema", "state: changes"},
    "snapshots": _LOGS | {"state: schema", "state: snapshot", "state: shared table"},
}
BATCHES = 11


@pytest.fixture(scope="module")
def left(
    spark: SparkSession, left_behind: Callable[[str], Stream], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, Path], Path]:
    """A copy of what a query left in a live folder: of each kind, or of one whose every batch made a snapshot of its state."""
    whole: list[Stream] = []

    def copied(kind: str, target: Path) -> Path:
        if kind == "snapshots" and not whole:
            conf = {"spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "false"}
            made = Stream(spark, tmp_path_factory.mktemp(kind), windows, conf=conf)
            made.feed(BATCHES)
            whole.append(made.drained())
        live = (whole[0] if kind == "snapshots" else left_behind(kind)).live
        return Path(shutil.copytree(live, target / "out", ignore=shutil.ignore_patterns("*.tmp", ".*.tmp.crc")))

    return copied


def role_of(name: str) -> str:
    found = [role for role, pattern in ROLES.items() if re.fullmatch(pattern, name)]
    assert len(found) == 1, f"{name} has no role of its own: {found}"
    return found[0]


def taken(live: Path, target: Path, batch: int, *, savepoint: bool) -> Path:
    facts = RunFacts("execution", "5d0f6c3e-0000-4000-8000-000000000001", "numbers", "STREAMING", 1, str(uuid.uuid4()), 1)
    ticket = Ticket(1, target, 1)
    JobCut(facts).take(ticket, {"out": JobQuery(live, ("out",))}, {"out": batch}, Phases(60), savepoint=savepoint)
    return target


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", KINDS)
@DAMAGES
def test_damage_to_any_file_of_a_checkpoint_is_named_and_nothing_starts_from_it(
    left: Callable[[str, Path], Path], tmp_path: Path, kind: str, damage: Callable[[Path], None]
) -> None:
    live = left(kind, tmp_path / "live")
    checkpoint = taken(live, tmp_path / "checkpoint", 10, savepoint=True)
    roles: dict[str, list[Path]] = {}
    for path in sorted(path for path in checkpoint.rglob("*") if path.is_file() and path.stat().st_size):
        roles.setdefault(role_of(str(path.relative_to(checkpoint))), []).append(path)
    assert set(roles) >= KINDS[kind]
    for role, paths in roles.items():
        for number, path in enumerate(paths):
            before = path.read_bytes()
            damage(path)
            (problem,) = checkpoint_verify(checkpoint)
            assert path.name in problem, f"{role}: {path} was damaged, and nobody saw it"
            if number == 0:  # a restore writes all files through: one of each role will do
                with pytest.raises((CutDamaged, ManifestDamaged)):
                    checkpoint_restore(checkpoint, tmp_path / "again")
                assert not (tmp_path / "again").exists()
            path.write_bytes(before)
    assert checkpoint_verify(checkpoint) == []


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", KINDS)
def test_damage_to_a_file_that_checkpoints_share_reaches_them_and_no_savepoint(
    left: Callable[[str, Path], Path], tmp_path: Path, kind: str
) -> None:
    live = left(kind, tmp_path / "live")
    linked = [taken(live, tmp_path / f"linked{batch}", batch, savepoint=False) for batch in (9, 10)]
    copied = [taken(live, tmp_path / f"copied{batch}", batch, savepoint=True) for batch in (9, 10)]
    inodes = {path.stat().st_ino: path for path in linked[0].rglob("*") if path.is_file() and path.stat().st_size}
    shared = [(inodes[path.stat().st_ino], path) for path in linked[1].rglob("*") if path.is_file() and path.stat().st_ino in inodes]
    roles = {role_of(str(path.relative_to(linked[1]))) for _, path in shared}
    assert roles >= {"offsets", "commits"}
    assert "metadata" not in roles
    for first, _ in shared:
        before = first.read_bytes()
        raw = bytearray(before)
        raw[len(raw) // 2] ^= 1
        with first.open("r+b") as file:  # in place: the damage is done to the file, whatever its names
            file.write(raw)
        assert [len(checkpoint_verify(folder)) for folder in (*linked, *copied)] == [1, 1, 0, 0], first
        with first.open("r+b") as file:
            file.write(before)
    assert [checkpoint_verify(folder) for folder in (*linked, *copied)] == [[], [], [], []]


# ── what becomes of the job ───────────────────────────────────────────────


@pytest.fixture
def execution(db: None) -> Execution:
    return execution_row(job_row())


def in_place(path: Path) -> None:
    """Turns a bit of the file, whatever its names."""
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    with path.open("r+b") as file:
        file.write(raw)


def begun(execution: Execution, pulse: Pulse = no_pulse) -> Any:
    Execution.objects.filter(pk=execution.pk).update(status=ExecutionStatus.INITIALIZING)
    row = Execution.objects.select_related("job").get(pk=execution.pk)
    return plan_with_position(row, actor="d", log=logging.getLogger("test"), pulse=pulse)


def live_damaged(execution: Execution) -> None:
    """By another file under its name: checkpoints link the one that was there."""
    path = live_of(execution) / "out" / "metadata"
    path.unlink()
    path.write_text("{}")


def fresh(checkpoint: Checkpoint) -> Checkpoint:
    return Checkpoint.objects.select_related("execution__job").get(pk=checkpoint.pk)


def shown(client: Client, checkpoint: Checkpoint) -> tuple[bool, str]:
    found = send(client, "GET", f"/api/checkpoints/{checkpoint.pk}")
    return found["restorable"], found["restorable_reason"]


def test_a_look_at_one_marks_all_that_share_the_damaged_file_and_a_savepoint_stays_good(execution: Execution) -> None:
    client = member("olga", Role.OPERATOR)
    first, savepoint, second = kept(execution, 2), kept(execution, 2, savepoint=True), kept(execution, 3)
    ended(execution)
    in_place(folder_of(second) / "out/offsets/1")
    assert not send(client, "GET", f"/api/checkpoints/{second.pk}/precheck")["ok"]
    words = "it is damaged: out/offsets/1 is damaged: its checksum does not fit"
    assert [shown(client, one) for one in (first, second, savepoint)] == [(False, words), (False, words), (True, "")]
    assert not_restorable(fresh(first)) == words
    error = send(client, "POST", f"/api/checkpoints/{first.pk}/restore", {}, expected=422)["error"]
    assert words in error["message"]
    told = list(execution.events.filter(kind="notice").values_list("reason", flat=True))
    assert sorted(told) == [f"checkpoint {number} cannot be restored: {words}" for number in (1, 3)]

    in_place(folder_of(second) / "out/offsets/1")
    assert send(client, "GET", f"/api/checkpoints/{first.pk}/precheck")["ok"]
    assert [shown(client, one) for one in (first, second)] == [(True, ""), (True, "")], "what is whole again can be restored again"


def test_damage_to_the_query_s_id_in_the_live_folder_reaches_no_checkpoint_so_the_newest_is_gone_on_from(execution: Execution) -> None:
    rows = [kept(execution, 2), kept(execution, 3)]
    with (live_of(execution) / "out" / "metadata").open("r+b") as file:  # in place: whatever links it is damaged too
        file.write(b"X")
    assert [checkpoint_verify(folder_of(row)) for row in rows] == [[], []]
    begun(execution)
    execution.refresh_from_db()
    assert execution.restored_from_checkpoint_id == rows[1].pk
    assert [fresh(row).failure_reason for row in rows] == ["", ""]


class Enough(Exception):
    pass


def test_what_sources_remember_goes_along_into_the_generation_that_goes_on(execution: Execution, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    kept(execution, 3)
    remembered = execution_locations(execution).work / "numbers" / "topic_ids.json"
    text_place(remembered, '{"orders": "id"}')
    live_damaged(execution)
    begun(execution)
    execution.refresh_from_db()
    now = execution_locations(execution).work / "numbers" / "topic_ids.json"
    assert (now != remembered, now.read_text()) == (True, '{"orders": "id"}')


def test_a_stop_ends_a_restore_and_leaves_nothing_half_done(execution: Execution) -> None:
    row = kept(execution, 2)
    Execution.objects.filter(pk=execution.pk).update(restored_from_checkpoint_id=row.pk, generation=uuid.uuid4())
    execution.refresh_from_db()
    calls: list[int] = []

    def asked() -> None:
        calls.append(1)
        if len(calls) > 1:
            raise Enough

    with pytest.raises(Enough):
        begun(execution, asked)
    assert [path.name for path in live_of(execution).parent.iterdir() if execution.generation.hex in path.name.replace("-", "")] == []
    assert (begun(execution).locations.live / "out" / "commits" / "1").exists()


def test_a_full_disk_is_waited_for_and_marks_nothing(execution: Execution, monkeypatch: pytest.MonkeyPatch) -> None:
    row = kept(execution, 2)
    Execution.objects.filter(pk=execution.pk).update(restored_from_checkpoint_id=row.pk, generation=uuid.uuid4())
    execution.refresh_from_db()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "out/state")

    monkeypatch.setattr("checkpoints.storage.cut_restore", full)
    with pytest.raises(ExecutionFailure, match=r"cannot be put in place \(out/state\): No space left on device") as told:
        begun(execution)
    assert (told.value.kind, told.value.permanent) == ("external", False)
    assert fresh(row).failure_reason == ""


def test_a_disk_that_is_not_mounted_is_waited_for_and_marks_nothing(
    execution: Execution, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    row = kept(execution, 3)
    QueryProgress.objects.create(execution=execution, query="out", batch_id=2, base={}, latest={})
    (tmp_path / "mountpoint").mkdir()
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "mountpoint")
    for origin in (None, row.pk):
        Execution.objects.filter(pk=execution.pk).update(restored_from_checkpoint_id=origin, generation=uuid.uuid4())
        execution.refresh_from_db()
        with pytest.raises(ExecutionFailure, match=r"is its disk mounted\?") as told:
            begun(execution)
        assert (told.value.kind, told.value.permanent) == ("external", False)
        QueryProgress.objects.all().delete()
    assert fresh(row).failure_reason == ""


def test_a_look_while_the_disk_is_not_mounted_marks_nothing(execution: Execution, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    client, row = member("olga", Role.OPERATOR), kept(execution)
    ended(execution)
    (tmp_path / "mountpoint").mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "mountpoint")
        checks = send(client, "GET", f"/api/checkpoints/{row.pk}/precheck")["checks"]
        assert "is its disk mounted?" in next(one["message"] for one in checks if one["name"] == "files")
        error = send(client, "POST", f"/api/checkpoints/{row.pk}/restore", {}, expected=422)["error"]
        assert "is its disk mounted?" in error["message"]
    assert shown(client, row) == (True, "")
    assert execution.events.filter(kind="notice").count() == 0


@pytest.mark.parametrize("name", ["checkpoints.verification.file_digest", "checkpoints.manifest.Path.read_bytes"])
def test_what_the_disk_does_not_give_now_is_no_damage(execution: Execution, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    client, row = member("olga", Role.OPERATOR), kept(execution)
    ended(execution)

    def stale(*_: Any, **__: Any) -> None:
        raise OSError(errno.ESTALE, "Stale file handle")

    with monkeypatch.context() as patched:
        patched.setattr(name, stale)
        checks = send(client, "GET", f"/api/checkpoints/{row.pk}/precheck")["checks"]
    (message,) = (one["message"] for one in checks if one["name"] == "files")
    assert message.startswith("It cannot be read now: ")
    assert "Stale file handle" in message
    assert shown(client, row) == (True, "")


def test_a_folder_that_is_gone_is_no_fresh_start_once_its_first_batch_was_written(execution: Execution) -> None:
    """The targets hold what that batch wrote, and would take its next one for a repeat."""
    QueryProgress.objects.create(execution=execution, query="out", batch_id=0, base={}, latest={})
    with pytest.raises(ExecutionFailure, match=r"its folder is gone.* start it from the beginning"):
        begun(execution)


def test_what_was_written_behind_a_restored_position_is_not_planned_anew(execution: Execution) -> None:
    """The targets have a batch that a folder put in place once more would not know."""
    row = kept(execution, 2)
    Execution.objects.filter(pk=execution.pk).update(restored_from_checkpoint_id=row.pk, generation=uuid.uuid4())
    execution.refresh_from_db()
    QueryProgress.objects.create(execution=execution, query="out", batch_id=2, base={}, latest={})
    generation = execution.generation
    begun(execution)
    execution.refresh_from_db()
    assert execution.generation != generation
    (told,) = execution.events.filter(kind="notice").values_list("reason", flat=True)
    assert "its folder is gone" in told


@pytest.mark.parametrize("origin_is", ["there", "gone"])
def test_what_has_gone_on_since_its_restore_goes_on_from_its_own_checkpoints(execution: Execution, origin_is: str) -> None:
    origin = kept(execution, 2)
    ended(execution)
    restored = execution_row(execution.job, restored_from_checkpoint_id=origin.pk)
    begun(restored)
    own = kept(restored, 4)
    if origin_is == "gone":
        checkpoint_delete(checkpoint=origin, deleted_by="olga", reason="old")
    shutil.rmtree(live_of(restored))
    generation = restored.generation
    plan = begun(restored)
    restored.refresh_from_db()
    assert (restored.restored_from_checkpoint_id, restored.generation == generation) == (own.pk, False)
    assert (plan.locations.live / "out" / "commits" / "3").exists()


def test_a_fall_back_that_was_interrupted_is_finished_by_the_next_attempt(execution: Execution, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the generation before wrote says nothing of the new one."""
    row = kept(execution, 3)
    QueryProgress.objects.create(execution=execution, query="out", batch_id=3, base={}, latest={})
    shutil.rmtree(live_of(execution))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "out/state")

    with monkeypatch.context() as patched:
        patched.setattr("checkpoints.storage.cut_restore", full)
        with pytest.raises(ExecutionFailure, match="No space left on device"):
            begun(execution)
    execution.refresh_from_db()
    generation = execution.generation
    begun(execution)
    execution.refresh_from_db()
    assert (execution.restored_from_checkpoint_id, execution.generation) == (row.pk, generation)


def test_an_execution_may_fall_back_again_and_again_however_many_sinks_a_query_has(execution: Execution) -> None:
    kept(execution, 3)
    query = "s" * 200
    for _ in range(3):
        QueryProgress.objects.create(execution=execution, query=query, batch_id=2, base={}, latest={})
        assert batches_written(generation=execution.generation) == {query: 2}
        shutil.rmtree(live_of(execution))
        begun(execution)
        execution.refresh_from_db()
        assert batches_written(generation=execution.generation) == {}


def test_a_query_of_many_sinks_is_found_by_what_its_rows_call_it(execution: Execution) -> None:
    key = "+".join(f"a_sink_with_a_rather_long_name_{number}" for number in range(20))
    longest = QueryProgress._meta.get_field("query").max_length or 0
    assert len(query_kept(key)) <= longest < len(key)
    execution.attempt = 1
    execution.save()
    report = Reported(execution.execution_id, 1, str(execution.generation), queries={key: QueryCounts(key, 4, {}, {})})
    assert reported_write(batch=[report]) == {execution.execution_id: execution.seq}
    assert batches_written(generation=execution.generation) == {query_kept(key): 4}


@DAMAGES
@pytest.mark.parametrize("name", ["manifest.json", "out/manifest.json", "out/offsets/2", "out/commits/2"])
def test_the_newest_is_damaged_so_the_one_before_is_used_and_that_is_said(
    execution: Execution, name: str, damage: Callable[[Path], None]
) -> None:
    good, newest = kept(execution, 2), kept(execution, 3)
    damage(folder_of(newest) / name)
    live_damaged(execution)
    plan = begun(execution)
    execution.refresh_from_db()
    assert execution.restored_from_checkpoint_id == good.pk
    assert sorted(path.name for path in (plan.locations.live / "out" / "commits").iterdir()) == ["0", "1"]
    assert name.rsplit("/", 1)[-1] in fresh(newest).failure_reason
    assert shown(member("olga", Role.OPERATOR), newest)[0] is False
    (told,) = execution.events.filter(kind="notice").values_list("reason", flat=True)
    assert "going on from checkpoint 1" in told
    assert "checkpoint 2 is damaged too: " in told


def test_behind_a_fall_back_the_checkpoints_from_before_it_are_still_gone_back_to(execution: Execution) -> None:
    earlier = [kept(execution, batches) for batches in (2, 3)]
    for _ in range(2):  # what the first fall-back began has a checkpoint of its own, which is damaged; the second has none
        live_damaged(execution)
        begun(execution)
        execution.refresh_from_db()
        assert execution.restored_from_checkpoint_id == earlier[-1].pk
        if execution.checkpoints.count() == len(earlier):
            in_place(folder_of(kept(execution, 4, savepoint=True)) / "out/offsets/3")
    in_place(folder_of(earlier.pop()) / "out/offsets/2")
    live_damaged(execution)
    begun(execution)
    execution.refresh_from_db()
    assert execution.restored_from_checkpoint_id == earlier[-1].pk


def test_behind_a_restore_the_fall_back_goes_no_further_than_its_origin(execution: Execution) -> None:
    older, origin, _ = kept(execution, 2), kept(execution, 3), kept(execution, 4)
    ended(execution)
    restored = execution_row(execution.job, status=ExecutionStatus.INITIALIZING, restored_from_checkpoint_id=origin.pk)
    begun(restored)
    live_damaged(restored)
    begun(restored)
    restored.refresh_from_db()
    assert restored.restored_from_checkpoint_id == origin.pk, "the one behind it counts rows that the restore took back"
    in_place(folder_of(origin) / "out/metadata")
    live_damaged(restored)
    begun(restored)
    restored.refresh_from_db()
    assert restored.restored_from_checkpoint_id == older.pk


def test_where_none_is_good_the_execution_stops_with_a_choice_and_begins_nothing(execution: Execution) -> None:
    kept(execution, 2)
    newest = kept(execution, 3)
    for name in ("offsets/1", "commits/1"):
        in_place(folder_of(newest) / "out" / name)
    live_damaged(execution)
    with pytest.raises(ExecutionFailure, match="none of its checkpoints is whole") as failure:
        begun(execution)
    assert failure.value.permanent
    assert "restore a checkpoint of an earlier execution, import one, or start it from the beginning" in failure.value.message
    assert all(f"checkpoint {number} is damaged too" in failure.value.message for number in (1, 2))
    execution.refresh_from_db()
    assert execution.restored_from_checkpoint_id is None
    assert (live_of(execution) / "out" / "metadata").read_text() == "{}", "the live folder stays as it was found"


def test_a_restore_that_meets_damage_stops_and_marks_it(execution: Execution) -> None:
    """The file was damaged after the restore was confirmed."""
    client = member("olga", Role.OPERATOR)
    checkpoint = kept(execution, 2)
    ended(execution)
    started = send(client, "POST", f"/api/checkpoints/{checkpoint.pk}/restore", {}, expected=202)
    in_place(folder_of(checkpoint) / "out/commits/1")
    again = Execution.objects.get(execution_id=started["execution_id"])
    with pytest.raises(ExecutionFailure, match="choose an earlier one") as failure:
        begun(again)
    assert failure.value.permanent
    assert not live_of(again).exists()
    assert "out/commits/1 is damaged" in fresh(checkpoint).failure_reason
