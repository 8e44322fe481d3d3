"""A worker and its broker: after whatever happens to Redis, tasks are taken again."""

import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from jobs.models import Worker as WorkerRow
from scripts.ports import free_port
from tests.driver.flow import Flow
from tests.driver.worker import ROOT, Worker
from tests.servers.redis import RedisServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.server, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(300)]
DRIVERLESS: dict[str, Any] = {"SHARED_DRIVERS": 0, "DEDICATED_DRIVERS": 0}


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(port=free_port(), folder=tmp_path / "redis") as server:
        yield server


def last_task() -> datetime | None:
    return WorkerRow.objects.filter(name="w1@test").values_list("task_time", flat=True).first()


def tasks_taken(what: str, seconds: float = 60) -> None:
    """Returns once two canaries more have run."""
    for _ in range(2):
        before = last_task()
        wait_until(lambda before=before: last_task() not in (None, before), seconds=seconds, what=f"a task {what}")  # type: ignore[misc]


def test_tasks_are_taken_again_after_redis_was_killed_or_flushed(database_url: str, tmp_path: Path, redis: RedisServer) -> None:
    # It tries again after 2, 4, 6 s and so on, and the client of Redis within each try: the term is shorter than all of them together, and
    # longer than the last, during which Redis is back and beat sends tasks already.
    settings = {"WORKER_SILENT_SECONDS": 30, **DRIVERLESS}
    with Worker(database_url=database_url, data=tmp_path, ready=False, REDIS_URL=redis.url, **settings) as worker:
        tasks_taken("at the start")
        redis.kill()
        killed = time.monotonic()
        # Without Redis there is nothing to take: it waits instead of ending itself.
        wait_until(lambda: time.monotonic() - killed > 38 and "Trying again in" in worker.output, seconds=90, what="a try to connect")
        redis.__enter__()
        tasks_taken("after Redis was killed")
        for _ in range(3):
            redis.flush()
        tasks_taken("after Redis was flushed")
        assert worker.process.poll() is None
    assert not WorkerRow.objects.exists()


@pytest.mark.faults
def test_connections_that_went_silent_are_opened_anew(database_url: str, tmp_path: Path, redis: RedisServer) -> None:
    with Flow(redis.port) as flow:
        url = f"redis://127.0.0.1:{flow.port}/0"
        with Worker(database_url=database_url, data=tmp_path, ready=False, REDIS_URL=url, **DRIVERLESS) as worker:
            tasks_taken("at the start")
            assert flow.freeze() > 0
            tasks_taken("after every connection went silent", seconds=120)
            assert worker.process.poll() is None


def test_a_worker_that_takes_no_tasks_while_beat_sends_some_ends_itself(database_url: str, tmp_path: Path, redis: RedisServer) -> None:
    settings = {"WORKER_SILENT_SECONDS": 6, "STOP_GRACE_SECONDS": 1, **DRIVERLESS}
    with Worker(database_url=database_url, data=tmp_path, ready=False, REDIS_URL=redis.url, **settings) as worker:
        tasks_taken("at the start")
        # The main process goes on, and yet takes nothing: it no longer listens to its queue.
        command = [sys.executable, "-m", "celery", "-A", "pipeline_web", "control", "cancel_consumer", "pipeline"]
        subprocess.run(command, cwd=ROOT, env=worker.environment, check=True, capture_output=True, timeout=60)
        assert worker.process.wait(timeout=90) is not None
        assert "took no tasks for 6 s" in worker.output
