"""Checkpoints in a real S3, in real drivers: restored where nothing else is left, and failing while the store is away."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from checkpoints.cleaning import checkpoints_clean
from checkpoints.models import Checkpoint
from checkpoints.retention import Scope
from checkpoints.storages import key_of, storage_of
from jobs.models import Event, Execution, Job
from jobs.services.executions import checkpoint_request, execution_cancel, execution_restore, execution_stop
from tests.checkpoints.test_checkpoint_api import signed_in
from tests.driver.conftest import status_reached
from tests.driver.flow import Flow
from tests.driver.test_travel import counted, installed, made, next_number, rows
from tests.driver.worker import Worker
from tests.servers.s3 import KEY_ID, SECRET_KEY, S3Server
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.one_database,
    pytest.mark.timeout(600),
]

Start = Callable[..., Execution]


@pytest.fixture
def own_s3() -> Iterator[S3Server]:
    """A store that may be killed."""
    with S3Server() as server:
        server.bucket_create("safe")
        yield server


def stored_in(port: int) -> dict[str, Any]:
    """The variables of an installation that keeps its checkpoints there."""
    return {
        "CHECKPOINT_STORAGE": "s3",
        "CHECKPOINT_STORAGE_URL": "s3://safe/checkpoints",
        "CHECKPOINT_STORAGE_KEY": KEY_ID,
        "CHECKPOINT_STORAGE_SECRET": SECRET_KEY,
        "CHECKPOINT_STORAGE_ENDPOINT": f"http://127.0.0.1:{port}",
    }


@pytest.fixture
def stored(own_s3: S3Server, settings: Any) -> dict[str, Any]:
    """This process looks into that store too."""
    return used(settings, stored_in(own_s3.port))


def used(settings: Any, variables: dict[str, Any]) -> dict[str, Any]:
    """By this process too."""
    settings.CHECKPOINT_STORAGE_URLS = [variables["CHECKPOINT_STORAGE_URL"]]
    for name in ("STORAGE", "STORAGE_KEY", "STORAGE_SECRET", "STORAGE_ENDPOINT"):
        setattr(settings, f"CHECKPOINT_{name}", variables[f"CHECKPOINT_{name}"])
    return variables


def test_jobs_with_and_without_state_go_on_on_another_machine_with_an_empty_disk(
    database_url: str, user: User, start: Start, stored: dict[str, Any], own_s3: S3Server, tmp_path: Path, settings: Any
) -> None:
    target = tmp_path / "target.sqlite3"
    installed(settings, tmp_path / "here")
    with Worker(database_url=database_url, data=tmp_path / "here", FILE_ROOTS=tmp_path, STORAGE_HOST="here", **stored):
        executions = [start(made(user, name, target, stateful=name == "sums")) for name in ("lines", "sums")]
        wait_until(lambda: len(rows(target, "SELECT id FROM lines")) > 100 and counted(target, "sums")[0] > 100, seconds=150, what="rows")
        for execution in executions:
            checkpoint_request(execution=status_reached(execution, "RUNNING"), user=user)
        wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED").count() == 2, seconds=60, what="two checkpoints")
        for execution in executions:
            execution_cancel(execution=execution, user=user)
            status_reached(execution, "CANCELLED")
    taken = {name: Checkpoint.objects.get(execution__job_name=name, origin="MANUAL") for name in ("lines", "sums")}
    assert {row.storage for row in taken.values()} == {"s3"}
    assert all(row.storage_path == f"s3://safe/checkpoints/{key_of(row)}" for row in taken.values())
    assert all(row.phases["upload"] > 0 for row in taken.values())
    shutil.rmtree(tmp_path / "here")

    installed(settings, tmp_path / "there")
    client = signed_in(user)
    with Worker(database_url=database_url, data=tmp_path / "there", name="w2", FILE_ROOTS=tmp_path, STORAGE_HOST="there", **stored):
        before = len(rows(target, "SELECT id FROM lines"))
        for row in taken.values():
            found = client.get(f"/api/checkpoints/{row.pk}/precheck").json()
            assert found["ok"], found["checks"]
            execution_restore(checkpoint=row, user=user)
        wait_until(lambda: len(rows(target, "SELECT id FROM lines")) > before + 100, seconds=150, what="rows of the stateless job")
        begun = next_number(taken["sums"])
        wait_until(lambda: counted(target, "sums")[1] > begun + 500, seconds=150, what="rows of the stateful job")
        for execution in Execution.objects.filter(triggered_by="RESTORE"):
            execution_cancel(execution=status_reached(execution, "RUNNING"), user=user)
            status_reached(execution, "CANCELLED")
    found_there = sorted({row[0] for row in rows(target, "SELECT id FROM lines")})
    assert found_there == list(range(len(found_there)))
    total, newest = counted(target, "sums")
    assert total == newest + 1, "what the state held on the other machine is part of every sum"
    for row in taken.values():
        storage_of(row).delete(key_of(row))
    left = Checkpoint.objects.filter(status="COMPLETED", storage="s3").exclude(pk__in=[row.pk for row in taken.values()])
    assert all(storage_of(row).verify(key_of(row), tmp_path / "scratch") == [] for row in left)


def test_a_store_that_is_away_fails_checkpoints_and_never_the_stream(
    database_url: str,
    user: User,
    start: Start,
    numbers_job: Callable[..., Job],
    own_s3: S3Server,
    written: Callable[..., list[int]],
    data: Path,
) -> None:
    def completed() -> int:
        return Checkpoint.objects.filter(status="COMPLETED").count()

    def fails(words: str) -> None:
        failed = Checkpoint.objects.filter(status="FAILED", failure_reason__startswith=words)
        try:
            wait_until(failed.exists, seconds=120, what=f"a checkpoint that fails: {words}")
        except TimeoutError as error:
            told = Checkpoint.objects.order_by("-checkpoint_id").values_list("checkpoint_id", "status", "failure_reason")[:10]
            raise TimeoutError("\n".join([str(error), *map(str, told)])) from None

    def more_after(number: int) -> None:
        wait_until(lambda: completed() > number, seconds=120, what="a checkpoint again")

    with Flow(own_s3.port) as flow, Worker(database_url=database_url, data=data, **stored_in(flow.port)):
        execution = start(numbers_job(checkpoint_interval="1s", checkpoint_timeout="8s", checkpoint_storage="s3"))
        more_after(1)
        own_s3.kill()
        fails("uploading: s3: ")
        rows_then = len(written())
        wait_until(lambda: len(written()) > rows_then + 100, seconds=60, what="rows without checkpoints")
        assert status_reached(execution, "RUNNING")
        own_s3.start()
        more_after(completed())
        flow.freeze(for_good=True)
        fails("uploading: it took longer than 8 s")
        rows_then = len(written())
        wait_until(lambda: len(written()) > rows_then + 100, seconds=60, what="rows beside a silent store")
        execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
        stopped = status_reached(execution, "PAUSED")
    assert stopped.processed_records == len(written())
    assert written() == list(range(len(written())))
    assert SECRET_KEY not in str(list(Event.objects.values_list("reason", "detail")))
    assert not list(data.glob("checkpoints/*/checkpoints/*/[0-9]*")), "nothing stays on the local disk"


@pytest.mark.faults
def test_a_driver_killed_while_it_uploads_leaves_no_checkpoint_that_looks_whole(
    database_url: str,
    user: User,
    start: Start,
    numbers_job: Callable[..., Job],
    own_s3: S3Server,
    written: Callable[..., list[int]],
    settings: Any,
    tmp_path: Path,
) -> None:
    data = tmp_path / "here"
    installed(settings, data)
    with Flow(own_s3.port) as flow:
        variables = used(settings, stored_in(flow.port))
        with Worker(database_url=database_url, data=data, FILE_ROOTS=tmp_path, **variables) as worker:
            execution = start(numbers_job(checkpoint_interval="1s", checkpoint_timeout="5 min"))
            wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED").count() > 1, seconds=150, what="two checkpoints")
            flow.hold(rb"PUT \S*/contents\.json")
            assert flow.held.wait(120), "the list of contents is sent last"
            cut_off = Checkpoint.objects.get(status="PENDING")
            os.kill(worker.drivers()[0], signal.SIGKILL)
            flow.thaw()
            wait_until(lambda: Checkpoint.objects.get(pk=cut_off.pk).status == "FAILED", seconds=120, what="its failure")
            later = Checkpoint.objects.filter(status="COMPLETED", checkpoint_id__gt=cut_off.checkpoint_id)
            wait_until(later.exists, seconds=150, what="the next checkpoint")
            execution_cancel(execution=status_reached(execution, "RUNNING"), user=user)
            assert status_reached(execution, "CANCELLED").attempt == 2
        assert written() == list(range(len(written())))

        cut_off.refresh_from_db()
        assert cut_off.failure_reason in ("it was never finished", "the attempt that took it ended first")
        storage, key = storage_of(cut_off), key_of(cut_off)
        assert storage.verify(key, tmp_path / "scratch") == [f"it is not there: {storage.place(key)}"]
        assert key in {one.key for one in storage.list_stored()}, "what was sent takes room"

        aged(own_s3.folder / "data", data / "checkpoints")
        went = checkpoints_clean(scope=Scope(), dry_run=False, deleted_by="olga")
        reasons = {(one.storage, one.key): one.reason for one in went if one.action == "delete"}
        assert reasons["s3", key] == "its checkpoint failed or was deleted"
        assert key not in {one.key for one in storage.list_stored()}
        assert not list(data.glob("checkpoints/*/checkpoints/*/[0-9]*")), "nothing of it stays on the local disk"
        for row in Checkpoint.objects.filter(status="COMPLETED"):
            assert storage.verify(key_of(row), tmp_path / "scratch") == []


def aged(*folders: Path) -> None:
    """Everything below was last changed two hours ago."""
    for folder in folders:
        for path in folder.rglob("*"):
            os.utime(path, (time.time() - 7200,) * 2)


@pytest.mark.faults
def test_a_store_that_is_not_there_is_told_and_the_local_disk_taken(
    database_url: str, user: User, start: Start, numbers_job: Callable[..., Job], data: Path
) -> None:
    with Worker(database_url=database_url, data=data):
        execution = start(numbers_job(checkpoint_interval="1s", checkpoint_storage="attic"))
        other = start(numbers_job("kept", checkpoint_interval="1s", checkpoint_storage="database"))
        wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED", storage="local").count() > 0, seconds=150, what="a checkpoint")
        wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED", storage="database").count() > 0, seconds=60, what="one as a row")
        notices = Event.objects.filter(execution=execution, kind="notice").values_list("reason", flat=True)
        assert [one.startswith('checkpoints stay on the local disk: no store "attic" is set up here') for one in notices] == [True]
        execution_cancel(execution=status_reached(execution, "RUNNING"), user=user)
        execution_cancel(execution=status_reached(other, "RUNNING"), user=user)
        status_reached(execution, "CANCELLED")
        status_reached(other, "CANCELLED")
        begun = len(written_in(data))
        row = Checkpoint.objects.filter(storage="database", status="COMPLETED").latest("checkpoint_id")
        again = execution_restore(checkpoint=row, user=user)
        wait_until(lambda: len(written_in(data)) > begun + 100, seconds=150, what="rows behind the checkpoint")
        execution_cancel(execution=status_reached(again, "RUNNING"), user=user)
        status_reached(again, "CANCELLED")
    found = sorted(set(written_in(data)))
    assert found == list(range(len(found)))


def written_in(data: Path) -> list[int]:
    return [row[0] for row in rows(data / "target.sqlite3", "SELECT id FROM kept ORDER BY id")]
