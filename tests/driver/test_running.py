"""Executions in real driver processes: run, stopped and resumed, killed and taken over."""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from django.contrib.auth.models import User
from django.db import connection

from checkpoints.models import Checkpoint
from jobs.models import Event, Execution, Job, MetricSample
from jobs.services.executions import checkpoint_request, execution_resume, execution_stop
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.postgres_alone,
    pytest.mark.timeout(600),
]

Build = Callable[..., Job]
Start = Callable[..., Execution]
Written = Callable[..., list[int]]


def more_than(rows: int, written: Written) -> None:
    wait_until(lambda: len(written()) > rows, seconds=150, what=f"more than {rows} rows")


def test_a_bounded_job_completes_with_its_counts(worker: Worker, numbers_job: Build, start: Start, written: Written, data: Path) -> None:
    execution = start(numbers_job(job_type="BATCH_ROLLER", source={"total_rows": 120, "rows_per_batch": 50}))
    ended = status_reached(execution, "COMPLETED", "FAILED")
    assert (ended.status, ended.error_message) == ("COMPLETED", "")
    assert written() == list(range(120))
    assert (ended.processed_records, ended.written_records, ended.failed_records) == (120, 120, 0)
    kinds = list(Event.objects.filter(execution=ended).order_by("seq").values_list("kind", flat=True))
    assert kinds == ["triggered", "claimed", "started", "completed"]
    assert list((data / "logs" / ended.execution_id).iterdir())


def test_an_execution_that_runs_holds_no_connection_to_the_database(
    worker: Worker, numbers_job: Build, start: Start, written: Written, database_url: str
) -> None:
    """Of SQLite, whose files stay open for a while, nothing is asked."""
    (driver,) = worker.drivers()
    begun = [start(numbers_job(f"numbers-{number}", checkpoint_interval="1s")) for number in range(3)]
    for number in range(3):
        wait_until(lambda: len(written(f"numbers_{number}")) > 100, seconds=150, what="rows")  # noqa: B023
    wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED").count() > 3, seconds=60, what="checkpoints")
    if connection.vendor == "postgresql":
        most = 1 + PROCESS_CONNECTIONS
        wait_until(lambda: connections_of(driver, database_url) < most, seconds=30, what=f"fewer than {most} connections")
    assert {status_reached(execution, "RUNNING").status for execution in begun} == {"RUNNING"}


#: Of a driver itself: the look for work, the leases, and the writer of counts.
PROCESS_CONNECTIONS = 3


def connections_of(pid: int, database_url: str) -> int:
    port = urlsplit(database_url).port
    lines = psutil.Process(pid).net_connections(kind="tcp")
    return sum(line.status == psutil.CONN_ESTABLISHED and bool(line.raddr) and line.raddr.port == port for line in lines)


def test_stop_resume_and_kill_lose_and_repeat_nothing(
    worker: Worker, numbers_job: Build, start: Start, written: Written, user: User
) -> None:
    execution = start(numbers_job())
    generation = execution.generation
    more_than(100, written)
    execution_stop(execution=execution, user=user)
    stopped = status_reached(execution, "PAUSED")
    rows = written()
    assert rows == list(range(len(rows)))
    assert stopped.written_records == len(rows)

    execution_resume(execution=stopped, user=user)
    more_than(len(rows) + 100, written)
    resumed = status_reached(execution, "RUNNING")
    os.kill(worker.drivers()[0], signal.SIGKILL)
    before = resumed.attempt
    wait_until(lambda: Execution.objects.get(pk=execution.pk).attempt > before, seconds=150, what="another attempt")
    seen = len(written())
    more_than(seen + 100, written)
    taken = status_reached(execution, "RUNNING")
    assert (taken.generation, taken.attempt) == (generation, before + 1)

    execution_stop(execution=execution, user=user)
    ended = status_reached(execution, "PAUSED")
    rows = written()
    assert rows == list(range(len(rows)))
    assert ended.written_records == len(rows)
    kinds = set(Event.objects.filter(execution=ended).values_list("kind", flat=True))
    assert {"checkpoint_pending", "checkpoint_completed", "stop_requested", "lease_lost"} <= kinds
    assert MetricSample.objects.filter(execution=ended, rows_out__gt=0).exists()
    assert Event.objects.filter(execution=ended, kind="lease_lost", reason__contains="SIGKILL").exists()


def test_a_live_folder_that_vanished_is_replaced_by_the_newest_checkpoint(
    worker: Worker, numbers_job: Build, start: Start, written: Written, user: User, data: Path
) -> None:
    execution = start(numbers_job(checkpoint_interval="0s"))
    more_than(50, written)
    checkpoint_request(execution=status_reached(execution, "RUNNING"), user=user, savepoint=True, label="safe")
    wait_until(lambda: bool(Checkpoint.objects.filter(status="COMPLETED", is_savepoint=True)), seconds=100, what="the savepoint")
    execution_stop(execution=execution, user=user)
    stopped = status_reached(execution, "PAUSED")
    before, generation = len(written()), stopped.generation
    assert Checkpoint.objects.filter(origin="STOP", status="COMPLETED").exists()

    shutil.rmtree(data / "checkpoints" / str(stopped.job.job_uid) / str(generation))
    execution_resume(execution=stopped, user=user)
    more_than(before + 50, written)
    execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
    ended = status_reached(execution, "PAUSED")
    assert ended.generation != generation
    assert written() == list(range(len(written())))
    assert "its folder is gone" in Event.objects.get(execution=ended, kind="notice").reason
