"""Files from one S3 folder into another, and then archived, in real drivers, while a driver is killed and the store goes away."""

import io
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.contrib.auth.models import User

from jobs.models import Connection, Event, Execution, Job, Project
from jobs.services.executions import execution_stop
from jobs.services.jobs import job_create
from jobs.services.secrets import secret_encrypt
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.s3 import SECRET_KEY, S3Server
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.one_database,
    pytest.mark.timeout(400),
]

ROWS_A_FILE = 20


@pytest.fixture
def own_s3() -> Iterator[S3Server]:
    """A store that may be killed."""
    with S3Server() as server:
        server.bucket_create("lake")
        yield server


@pytest.fixture
def worker(own_s3: S3Server, database_url: str, data: Path, user: User) -> Iterator[Worker]:
    """It may reach the store, whose address is a private one."""
    with Worker(database_url=database_url, data=data, HTTP_ALLOWED_HOSTS=f"127.0.0.1:{own_s3.port}") as running:
        yield running


def job_of(user: User, server: S3Server) -> Job:
    Connection.objects.create(
        project=Project.objects.get(slug="default"),
        name="lake",
        kind="s3",
        config=server.config | {"bucket": "lake"},
        secrets=secret_encrypt({"secret_key": SECRET_KEY}),
    )
    source = {"connection": "lake", "path": "in", "pattern": "*.csv", "columns": [{"name": "id", "type": "long"}]}
    afterwards = {"afterwards": "archive", "archive": "read"}
    nodes = {
        "incoming": ("source.file", source | afterwards | {"max_files_per_trigger": 5, "list_every_seconds": 0.5}),
        "out": ("sink.file", {"connection": "lake", "path": "out"}),
    }
    document = {
        "schema_version": 1,
        "name": "lake",
        "type": "STREAMING",
        "nodes": {name: {"type": kind, "type_version": 1, "name": name, "config": config} for name, (kind, config) in nodes.items()},
        "edges": {"e1": {"from": ["incoming", "out"], "to": ["out", "in"]}},
        "settings": {"trigger_interval": "200ms", "retry_interval": "500ms", "checkpoint_interval": "2s", "parallelism": 1},
    }
    return job_create(user=user, document=document)


@pytest.mark.faults
def test_numbered_rows_arrive_once_over_kills_of_the_driver_and_of_the_store(
    worker: Worker, own_s3: S3Server, user: User, start: Callable[..., Execution]
) -> None:
    files = own_s3.files()
    made = 0

    def make(count: int) -> None:
        nonlocal made
        for number in range(made, made + count):
            rows = "\n".join(str(row) for row in range(number * ROWS_A_FILE, (number + 1) * ROWS_A_FILE))
            files.pipe_file(f"lake/in/{number:05d}.csv", f"id\n{rows}\n".encode())
        made += count

    def written() -> list[int]:
        """This server lists a file that it is still taking too, by its name with a suffix."""
        names = [name for name in files.find("lake/out") if "/.pipeline/" not in name and name.endswith(".parquet")]
        parts = [pd.read_parquet(io.BytesIO(files.cat_file(name))) for name in names]
        return sorted(int(row) for part in parts for row in part["id"])

    def all_written() -> None:
        wait_until(lambda: written() == list(range(made * ROWS_A_FILE)), seconds=120, what=f"rows of {made} files, each once", every=1)

    make(40)
    execution = start(job_of(user, own_s3))
    wait_until(lambda: len(written()) > 5 * ROWS_A_FILE, seconds=120, what="some rows", every=0.1)
    os.kill(worker.drivers()[0], signal.SIGKILL)
    make(10)
    all_written()
    own_s3.kill()
    wait_until(lambda: waits(execution) == {"s3 lake"}, seconds=60, what="the history to say what it waits for")
    own_s3.start()
    make(10)
    all_written()
    execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
    stopped = status_reached(execution, "PAUSED")
    assert stopped.processed_records == made * ROWS_A_FILE
    archived, left = ({name.rsplit("/")[-1] for name in files.find(folder)} for folder in ("lake/read", "lake/in"))
    assert archived, "what the oldest checkpoint has read is put away"
    assert sorted(archived | left) == [f"{number:05d}.csv" for number in range(made)]
    assert not [name for name in files.find("lake/out/.pipeline") if "/aside/" in name]


@pytest.mark.faults
def test_a_stop_does_not_wait_for_a_store_that_is_away(
    worker: Worker, own_s3: S3Server, user: User, start: Callable[..., Execution]
) -> None:
    own_s3.files().pipe_file("lake/in/first.csv", b"id\n1\n")
    execution = start(job_of(user, own_s3))
    reached = status_reached(execution, "RUNNING")
    for number in range(50):
        own_s3.files().pipe_file(f"lake/in/{number}.csv", f"id\n{number}\n".encode())
    wait_until(lambda: Execution.objects.get(pk=reached.pk).processed_records > 5, seconds=60, what="some rows", every=0.1)
    own_s3.kill()
    wait_until(lambda: waits(execution) == {"s3 lake"}, seconds=60, what="the history to say what it waits for")
    asked = time.monotonic()
    execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
    status_reached(execution, "PAUSED")
    assert time.monotonic() - asked < 15


def waits(execution: Execution) -> set[Any]:
    return set(Event.objects.filter(execution=execution, kind="waiting").values_list("reason", flat=True))
