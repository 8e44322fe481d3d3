"""Numbered rows into a Delta table and on from it, in real drivers that are killed; then back to a checkpoint."""

import json
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from pyarrow.parquet import read_table

from checkpoints.models import Checkpoint
from jobs.models import Execution, Job
from jobs.services.executions import checkpoint_request, execution_cancel, execution_restore, execution_stop
from jobs.services.jobs import job_create
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
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
def filling_job(user: User) -> Job:
    """A hundred rows a second into the table `numbers`."""
    nodes = {
        "gen": {"type": "source.generator", "name": "Gen", "config": {"total_rows": None, "rows_per_second": 100, "rows_per_batch": 50}},
        "out": {"type": "sink.delta", "name": "Table", "config": {"path": "numbers"}},
    }
    document = {
        "schema_version": 1,
        "name": "fill",
        "type": "STREAMING",
        "nodes": {name: node | {"type_version": 1} for name, node in nodes.items()},
        "edges": {"e1": {"from": ["gen", "out"], "to": ["out", "in"]}},
        "settings": {"trigger_interval": "200ms", "retry_interval": "500ms", "parallelism": 1},
    }
    return job_create(user=user, document=json.loads(json.dumps(document)))


def test_killed_drivers_lose_and_double_nothing_and_a_checkpoint_is_gone_back_to(
    worker: Worker,
    data: Path,
    filling_job: Job,
    numbers_job: Callable[..., Job],
    start: Callable[..., Execution],
    written: Callable[..., list[int]],
    user: User,
    settings: Any,
) -> None:
    settings.CHECKPOINT_ROOT = data / "checkpoints"  # where the worker has it

    def more_rows() -> None:
        before = len(written())
        wait_until(lambda: len(written()) > before + 50, seconds=150, what="more rows")

    def in_table() -> list[int]:
        logs = (log.read_text().splitlines() for log in (data / "numbers" / "_delta_log").glob("*.json"))
        files = [action["add"]["path"] for lines in logs for action in map(json.loads, lines) if "add" in action]
        return sorted(number for file in files for number in read_table(data / "numbers" / file).column("id").to_pylist())

    def rows_of(execution: Execution) -> list[int]:
        """What the execution's own generation has written, once it has written something."""

        def found() -> list[int]:
            with sqlite3.connect(data / "target.sqlite3", timeout=20) as target:
                asked = "SELECT id FROM numbers WHERE _generation = ? ORDER BY id"
                return [row[0] for row in target.execute(asked, (str(execution.generation),))]

        wait_until(lambda: bool(found()), seconds=60, what="rows of a generation")
        return found()

    filling = start(filling_job)
    wait_until(lambda: len(list((data / "numbers" / "_delta_log").glob("*.json"))) > 3, seconds=150, what="a table with rows")
    reading = start(numbers_job(source_type="source.delta", source={"path": "numbers"}, checkpoint_interval="0s"))
    more_rows()
    checkpoint_request(execution=status_reached(reading, "RUNNING"), user=user)
    wait_until(lambda: Checkpoint.objects.filter(execution=reading, status="COMPLETED").exists(), seconds=60, what="a checkpoint")
    os.kill(worker.drivers()[0], signal.SIGKILL)
    more_rows()
    execution_stop(execution=status_reached(filling, "RUNNING"), user=user)
    assert status_reached(filling, "PAUSED").attempt > 1
    rows = in_table()
    assert rows == list(range(len(rows)))
    wait_until(lambda: len(written()) >= len(rows), seconds=60, what=f"all {len(rows)} rows")
    execution_cancel(execution=status_reached(reading, "RUNNING"), user=user)
    status_reached(reading, "CANCELLED")
    assert written() == rows
    checkpoint = Checkpoint.objects.filter(execution=reading, status="COMPLETED").earliest("pk")
    restored = execution_restore(checkpoint=checkpoint, user=user)
    status_reached(restored, "RUNNING")
    first = min(rows_of(restored))
    assert 0 < first < len(rows)
    wait_until(lambda: len(rows_of(restored)) >= len(rows) - first, seconds=60, what="the rows behind the checkpoint again")
    execution_stop(execution=restored, user=user)
    status_reached(restored, "PAUSED")
    assert rows_of(restored) == list(range(first, len(rows)))
