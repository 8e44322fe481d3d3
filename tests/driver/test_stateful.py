"""A person's own state in real drivers that are killed, and gone back to: each row counts once."""

import json
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

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
    pytest.mark.timeout(580),
]

#: How many rows of its key a row has before it, and what they sum up to: a row lost or doubled in the state shows in each that follows.
CODE = """
def process(key, rows, state, timers):
    for row in sorted(rows, key=lambda row: row["id"]):
        seen, total = state.seen.get(0), state.sums.get(key, 0)
        yield {"id": row["id"], "seen": seen, "total": total}
        state.seen.set(seen + 1)
        state.sums.put(key, total + row["id"])
"""
OWN = {
    "keys": ["key"],
    "state": [{"name": "seen"}, {"name": "sums", "kind": "map", "key_type": "long", "type": "long"}],
    "columns": [{"name": "id", "type": "long"}, {"name": "seen", "type": "long"}, {"name": "total", "type": "long"}],
    "code": CODE,
}


def counting(plain: Job) -> dict[str, Any]:
    """The job's document with state between source and sink."""
    document: dict[str, Any] = {**json.loads(plain.dag_definition), "name": "counting"}
    key = {"columns": [{"name": "key", "expression": "id % 3"}]}
    document["nodes"]["key"] = {"type": "flow.compute_columns", "type_version": 1, "name": "Key", "config": key}
    document["nodes"]["own"] = {"type": "flow.stateful", "type_version": 1, "name": "Own", "config": OWN}
    line = ("numbers", "key", "own", "out")
    document["edges"] = {f"e{number}": {"from": [one, "out"], "to": [other, "in"]} for number, (one, other) in enumerate(pairwise(line))}
    return document


def expected(rows: int) -> list[tuple[int, int, int, int]]:
    seen: Counter[int] = Counter()
    total: Counter[int] = Counter()
    found = []
    for number in range(rows):
        key = number % 3
        found.append((key, number, seen[key], total[key]))
        seen[key] += 1
        total[key] += number
    return found


def test_state_lives_through_a_killed_driver_and_goes_back_with_a_checkpoint(
    worker: Worker, user: User, data: Path, numbers_job: Callable[..., Job], start: Callable[..., Execution], settings: Any
) -> None:
    settings.CHECKPOINT_ROOT = data / "checkpoints"  # where the worker has it

    def written(execution: Execution) -> list[tuple[int, int, int, int]]:
        """What the execution's own generation has written."""
        with sqlite3.connect(data / "target.sqlite3", timeout=20) as target:
            try:
                asked = "SELECT key, id, seen, total FROM numbers WHERE _generation = ? ORDER BY id"
                return list(target.execute(asked, (str(execution.generation),)))
            except sqlite3.OperationalError:
                return []

    def more(rows: int) -> None:
        wanted = len(written(execution)) + rows
        wait_until(lambda: len(written(execution)) >= wanted, seconds=200, what=f"{wanted} rows")

    execution = start(job_create(user=user, document=counting(numbers_job())))
    more(200)
    running = status_reached(execution, "RUNNING")
    checkpoint_request(execution=running, user=user)
    wait_until(lambda: Checkpoint.objects.filter(execution=execution, status="COMPLETED").exists(), seconds=60, what="a checkpoint")
    assert running.driver is not None
    assert running.driver.pid in worker.drivers("DEDICATED")
    os.kill(running.driver.pid, signal.SIGKILL)
    wait_until(lambda: Execution.objects.get(pk=execution.pk).attempt > running.attempt, seconds=150, what="another attempt")
    more(200)
    execution_cancel(execution=status_reached(execution, "RUNNING"), user=user)
    status_reached(execution, "CANCELLED")
    rows = written(execution)
    assert rows == expected(len(rows))

    checkpoint = Checkpoint.objects.filter(execution=execution, status="COMPLETED").earliest("pk")
    execution = execution_restore(checkpoint=checkpoint, user=user)
    more(200)
    execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
    status_reached(execution, "PAUSED")
    again = written(execution)
    first = again[0][1]
    assert 0 < first < len(rows)
    assert again == expected(first + len(again))[first:], "it goes on with the state that it had then"
