"""A stream of numbered rows into HBase, in real drivers, while HBase and the drivers are killed."""

import os
import signal
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User

from jobs.models import Connection, Event, Execution, Job, Project
from jobs.nodes.connections.hbase_client import HbaseLine
from jobs.services.executions import execution_stop
from jobs.services.jobs import job_create
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.hbase import HbaseServer
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.faults,
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.one_database,
    pytest.mark.timeout(600),
]


@pytest.fixture
def own_hbase() -> Iterator[HbaseServer]:
    """One that may be killed, with a table that keeps what is written over."""
    from happybase.connection import ColumnDescriptor

    with HbaseServer() as server:
        with HbaseLine(server.settings, "making") as line:
            line.call("createTable", b"numbers", [ColumnDescriptor(name=b"cf:", maxVersions=10)])
        yield server


@pytest.fixture
def job(user: User, own_hbase: HbaseServer) -> Job:
    project = Project.objects.get(slug="default")
    Connection.objects.create(project=project, name="main", kind="hbase", config=dict(own_hbase.settings.config))
    source = {"total_rows": None, "rows_per_second": 100, "rows_per_batch": 50}
    sink = {"connection": "main", "table": "numbers", "row_key": "id", "family": "cf"}
    document = {
        "schema_version": 1,
        "name": "numbers",
        "type": "STREAMING",
        "nodes": {
            "numbers": {"type": "source.generator", "type_version": 1, "name": "Numbers", "config": source},
            "out": {"type": "sink.hbase", "type_version": 1, "name": "Out", "config": sink},
        },
        "edges": {"e1": {"from": ["numbers", "out"], "to": ["out", "in"]}},
        "settings": {"trigger_interval": "200ms", "retry_interval": "500ms", "parallelism": 1, "checkpoint_interval": "2s"},
    }
    return job_create(user=user, document=document)


def versions(server: HbaseServer) -> dict[int, int]:
    """Number → how many versions of its cell there are."""
    with HbaseLine(server.settings, "looking") as line:
        scan = line.call("scannerOpen", b"numbers", b"", [b"cf:id"], {})
        keys: list[bytes] = []
        while rows := line.call("scannerGetList", scan, 1000):
            keys += [row.row for row in rows]
        line.call("scannerClose", scan)
        return {int(key): len(line.call("getVer", b"numbers", key, b"cf:id", 10, {})) for key in keys}


def test_a_killed_hbase_and_killed_drivers_lose_nothing_and_write_nothing_twice(
    worker: Worker, own_hbase: HbaseServer, job: Job, start: Callable[..., Execution], user: User
) -> None:
    def more_rows() -> None:
        before = len(versions(own_hbase))
        wait_until(lambda: len(versions(own_hbase)) > before + 100, seconds=150, what="more rows", every=0.5)

    execution = start(job)
    more_rows()
    own_hbase.kill()
    wait_until(lambda: Execution.objects.get(pk=execution.pk).waiting_for == "hbase main", seconds=60, what="that it waits is shown")
    own_hbase.start()
    more_rows()
    wait_until(lambda: Execution.objects.get(pk=execution.pk).waiting_for == "", seconds=60, what="that it goes on is shown")
    for _ in range(2):
        os.kill(worker.drivers()[0], signal.SIGKILL)
        more_rows()
    execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
    ended = status_reached(execution, "PAUSED")
    there = versions(own_hbase)
    assert sorted(there) == list(range(len(there)))
    assert set(there.values()) == {1}
    assert (ended.processed_records, ended.failed_records) == (len(there), 0)
    assert {"waiting", "answers"} <= set(Event.objects.filter(execution=ended).values_list("kind", flat=True))
