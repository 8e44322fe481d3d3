"""Workers that stop and die, and what becomes of their drivers and executions."""

import contextlib
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from jobs import queue
from jobs.driver.child import is_driver
from jobs.models import Driver, Event, Execution, Job
from jobs.services.executions import execution_stop
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


def secrets_in(pid: int) -> list[str]:
    names = [line.partition("=")[0] for line in Path(f"/proc/{pid}/environ").read_text().split("\0")]
    return [name for name in names if name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ENCRYPTION_KEYS")]


def test_a_stopping_worker_hands_over_and_a_killed_one_leaves_no_driver(
    database_url: str,
    data: Path,
    user: User,
    numbers_job: Callable[..., Job],
    start: Callable[..., Execution],
    written: Callable[..., list[int]],
) -> None:
    with Worker(database_url=database_url, data=data, name="first", CLAIM_POLL_SECONDS=60) as first:
        assert secrets_in(first.drivers()[0]) == []
        execution = start(numbers_job())
        for _ in range(5):
            queue.wake()
        status_reached(execution, "INITIALIZING", "RUNNING", seconds=20)  # by the wake-up: polling would take a minute
        wait_until(lambda: len(written()) > 50, seconds=150, what="rows")
        first.stop()
    handed = status_reached(execution, "SCHEDULED")
    assert (handed.retry_count, handed.attempt) == (0, 1)
    assert Event.objects.filter(execution=handed, kind="claimed").count() == 1
    assert written() == list(range(len(written())))

    before = len(written())
    with Worker(database_url=database_url, data=data, name="second") as second:
        wait_until(lambda: len(written()) > before + 50, seconds=150, what="more rows")
        pids = list(Driver.objects.filter(worker="second@test").values_list("pid", flat=True))
        second.stop(signal.SIGKILL)
        wait_until(lambda: not any(is_driver(pid) for pid in pids), seconds=60, what="the end of the drivers")
        wait_until(lambda: not second.processes(), seconds=20, what="the end of its pool and its beat")
    assert written() == list(range(len(written())))


def test_a_job_gets_a_driver_of_its_own_and_the_editor_gets_answers(
    database_url: str,
    data: Path,
    user: User,
    numbers_job: Callable[..., Job],
    start: Callable[..., Execution],
    written: Callable[..., list[int]],
) -> None:
    job = numbers_job(job_type="BATCH_ROLLER", source={"total_rows": 60, "rows_per_batch": 50}, isolation="dedicated")
    execution = start(job)
    with Worker(database_url=database_url, data=data, ready=False, SHARED_DRIVERS=0, INTERACTIVE_DRIVERS=1):
        document = json.loads(job.dag_definition)
        document["nodes"]["out"]["config"]["table"] = "elsewhere"
        question = {"document": document, "project_id": job.project_id, "parameters": {}}
        found = queue.interactive_call("validate", question, timeout=150)
        assert found["problems"] == []
        assert [column["name"] for column in found["schemas"]["numbers"]["out"]] == ["id", "time", "key", "value"]
        looked = queue.interactive_call("preview", {**question, "node_id": "numbers", "rows": 5}, timeout=100)
        assert [row[0] for row in looked["out"]["out"]["rows"]] == [0, 1, 2, 3, 4]
        document["tests"] = [{"name": "one", "given": {"numbers": [{"id": 7}]}, "expect": {"out": [{"id": 7}]}, "only_columns": True}]
        tested = queue.interactive_call("test", {**question, "seconds": 90, "test": "one"}, timeout=100)
        assert [(result["status"], result["message"]) for result in tested["results"]] == [("passed", "")]
        assert status_reached(execution, "COMPLETED", "FAILED").status == "COMPLETED"
        dedicated = Driver.objects.filter(kind="DEDICATED")
        assert dedicated.exists()
        wait_until(lambda: not dedicated.exclude(status="GONE").exists(), seconds=60, what="the end of the dedicated driver")
    assert written() == list(range(60))
    assert written("elsewhere") == []


def jvm_of(pid: int) -> int:
    """The JVM that a driver started."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
            if name == "java" and int(rest.split()[1]) == pid:
                return int(path.parent.name)
    raise LookupError(f"driver {pid} has no JVM")


def test_a_frozen_driver_and_a_dead_jvm_are_taken_over_without_a_row_twice(
    database_url: str,
    data: Path,
    user: User,
    numbers_job: Callable[..., Job],
    start: Callable[..., Execution],
    written: Callable[..., list[int]],
) -> None:
    def holder() -> Execution:
        return Execution.objects.select_related("driver").get(pk=execution.pk)

    def taken_over(before: Execution) -> Execution:
        wait_until(lambda: holder().attempt > before.attempt, seconds=150, what="another attempt")
        rows = len(written())
        wait_until(lambda: len(written()) > rows + 50, seconds=150, what="more rows")
        return holder()

    with Worker(database_url=database_url, data=data, SHARED_DRIVERS=2):
        wait_until(lambda: Driver.objects.filter(status="READY").count() == 2, seconds=150, what="two drivers")
        execution = start(numbers_job())
        wait_until(lambda: len(written()) > 50, seconds=150, what="rows")
        first = holder()
        assert first.driver is not None
        os.kill(first.driver.pid, signal.SIGSTOP)
        second = taken_over(first)
        assert second.driver_id != first.driver_id
        with contextlib.suppress(ProcessLookupError):  # the supervisor may have ended it by now
            os.kill(first.driver.pid, signal.SIGCONT)
        assert second.driver is not None
        os.kill(jvm_of(second.driver.pid), signal.SIGKILL)
        third = taken_over(second)
        assert third.generation == first.generation
        execution_stop(execution=third, user=user)
        ended = status_reached(execution, "PAUSED")
    assert written() == list(range(len(written())))
    assert ended.written_records == len(written())
