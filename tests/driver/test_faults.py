"""What breaks under running streams: Redis, the database, a sink that hangs. Nothing is lost, nothing is written twice."""

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from jobs.models import Driver, Event, Execution, Job
from jobs.nodes.registry import NodeRegistry
from jobs.services.executions import execution_stop
from jobs.services.jobs import job_create
from scripts.ports import free_port
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.redis import RedisServer
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.one_database,
    pytest.mark.timeout(400),
]

Build = Callable[..., Job]
Start = Callable[..., Execution]
Written = Callable[..., list[int]]


def more_rows(written: Written, table: str = "numbers", rows: int = 50) -> None:
    before = len(written(table))
    wait_until(lambda: len(written(table)) > before + rows, seconds=150, what="more rows")


def test_streams_do_not_notice_that_redis_is_flushed_or_killed(
    database_url: str, data: Path, user: User, numbers_job: Build, start: Start, written: Written
) -> None:
    redis = RedisServer(port=free_port(), folder=data / "redis")
    with redis, Worker(database_url=database_url, data=data, REDIS_URL=redis.url):
        executions = {name: start(numbers_job(name)) for name in ("one", "other")}
        for name in executions:
            more_rows(written, name)
        attempts = [execution.attempt for execution in Execution.objects.order_by("id")]
        redis.flush()
        more_rows(written, "one")
        redis.kill()
        more_rows(written, "one")
        paused = execution_stop(execution=executions["other"], user=user)  # no wake-up reaches the driver: it looks by itself
        status_reached(paused, "PAUSED", seconds=60)
        redis.__enter__()
        redis.flush()
        more_rows(written, "one")
        assert [execution.attempt for execution in Execution.objects.order_by("id")] == attempts
        status_reached(execution_stop(execution=executions["one"], user=user), "PAUSED", seconds=60)
    for name in executions:
        assert written(name) == list(range(len(written(name))))


def test_a_database_locked_for_twice_the_lease_ends_the_attempt_before_its_lease_and_another_goes_on(
    database_url: str, data: Path, user: User, numbers_job: Build, start: Start, written: Written
) -> None:
    with Worker(database_url=database_url, data=data) as worker:
        execution = start(numbers_job())
        more_rows(written)
        with sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, timeout=20) as blocker:
            blocker.execute("BEGIN IMMEDIATE")
            locked, rows_at_end_of_lease = time.monotonic(), None
            while time.monotonic() - locked < 12:
                if rows_at_end_of_lease is None and time.monotonic() - locked > 6:
                    rows_at_end_of_lease = len(written())
                time.sleep(0.1)
            rows = len(written())
            blocker.execute("ROLLBACK")
        assert rows == rows_at_end_of_lease  # nothing was written without a lease
        more_rows(written)
        execution.refresh_from_db()
        assert execution.attempt > 1
        status_reached(execution_stop(execution=execution, user=user), "PAUSED", seconds=60)
        assert worker.process.poll() is None
    assert written() == list(range(len(written())))


PLUGIN = '''
"""A sink that hangs outside Spark while a file says so."""
import pathlib, time
from jobs.nodes import base

class NoConfig(base.Config):
    flag: str

class HangingSink(base.Sink[NoConfig]):
    """Hangs."""
    type = "sink.hanging"
    title = "Hang"
    icon = "clock"
    Config = NoConfig

    def write(self, frame, batch, context):
        pathlib.Path(context.config.flag + ".reached").touch()
        while pathlib.Path(context.config.flag).exists():
            time.sleep(0.1)
        return base.Written(rows=frame.count())
'''


@pytest.fixture
def hanging(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sink as an installed package of somebody else; the file that makes it hang."""
    installed = data / "site"
    (installed / "hanging-1.0.dist-info").mkdir(parents=True)
    (installed / "hanging_sink.py").write_text(PLUGIN)
    (installed / "hanging-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: hanging\nVersion: 1.0\n")
    points = "[pipeline_web.nodes]\nsink.hanging = hanging_sink:HangingSink\n"
    (installed / "hanging-1.0.dist-info" / "entry_points.txt").write_text(points)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.syspath_prepend(str(installed))
    monkeypatch.setattr("jobs.services.jobs.REGISTRY", NodeRegistry())
    return data / "hang"


def hanging_job(user: User, flag: Path) -> Job:
    nodes = {
        "numbers": {"type": "source.generator", "type_version": 1, "name": "Numbers", "config": {"rows_per_second": 10}},
        "out": {"type": "sink.hanging", "type_version": 1, "name": "Out", "config": {"flag": str(flag)}},
    }
    edges = {"e1": {"from": ["numbers", "out"], "to": ["out", "in"]}}
    raw: dict[str, Any] = {"schema_version": 1, "name": "hangs", "type": "STREAMING", "nodes": nodes, "edges": edges}
    return job_create(user=user, document=json.loads(json.dumps(raw)))


def test_a_stop_ends_although_a_sink_hangs_and_the_other_stream_is_handed_over(
    database_url: str, data: Path, user: User, numbers_job: Build, start: Start, written: Written, hanging: Path
) -> None:
    hanging.touch()
    with Worker(database_url=database_url, data=data) as worker:
        [driver] = worker.drivers()
        stuck, other = start(hanging_job(user, hanging)), start(numbers_job())
        more_rows(written)
        status_reached(stuck, "RUNNING", seconds=60)
        wait_until(hanging.with_name("hang.reached").exists, seconds=60, what="a batch that hangs")
        execution_stop(execution=stuck, user=user)
        status_reached(stuck, "PAUSED", seconds=90)
        wait_until(lambda: worker.drivers() not in ([], [driver]), seconds=120, what="another driver")
        more_rows(written)
        other.refresh_from_db()
        assert (other.retry_count, other.attempt) == (0, 2)
        assert Event.objects.filter(execution=other, reason__startswith="handover").exists()
        assert stuck.events.get(to_status="PAUSED").reason.startswith("by force")
        assert "could not be interrupted" in Driver.objects.get(pid=driver).end_reason
        status_reached(execution_stop(execution=other, user=user), "PAUSED", seconds=60)
    assert written() == list(range(len(written())))
