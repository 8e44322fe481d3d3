"""A restore that rolls sinks back, with a real worker: asked over REST, done before the first batch, told with counts."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from checkpoints.models import Checkpoint
from jobs.models import Execution, Job
from jobs.services.executions import checkpoint_request, execution_cancel
from jobs.services.jobs import job_create
from tests.checkpoints.test_checkpoint_api import send, signed_in
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.one_database,
    pytest.mark.timeout(580),
]


def into_files_too(plain: Job, folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = {**json.loads(plain.dag_definition), "name": "both"}
    document["nodes"]["lake"] = {"type": "sink.file", "name": "Lake", "config": {"path": str(folder), "format": "json"}}
    gathering = {"path": str(folder.with_name("wide")), "format": "json", "roll_seconds": 600}
    document["nodes"]["wide"] = {"type": "sink.file", "name": "Wide", "config": gathering}
    document["nodes"]["shown"] = {"type": "sink.print", "name": "Shown", "config": {}}
    document["edges"] |= {f"to_{sink}": {"from": ["numbers", "out"], "to": [sink, "in"]} for sink in ("lake", "shown", "wide")}
    return document


def test_a_restore_that_rolls_back_leaves_every_row_once(
    worker: Worker, user: User, data: Path, numbers_job: Callable[..., Job], start: Callable[..., Execution], settings: Any
) -> None:
    settings.CHECKPOINT_ROOT, settings.FILE_ROOTS = data / "checkpoints", (data,)  # where the worker has them

    def in_table(generation: Any = None) -> list[int]:
        which = "" if generation is None else f"WHERE _generation = '{generation}'"
        with sqlite3.connect(data / "target.sqlite3", timeout=20) as target:
            try:
                return [row[0] for row in target.execute(f"SELECT id FROM numbers {which} ORDER BY id")]
            except sqlite3.OperationalError:
                return []

    def in_files(folder: str = "lake") -> list[int]:
        lines = (line for file in (data / folder).glob("*.json") for line in file.read_text().splitlines())
        return sorted(json.loads(line)["id"] for line in lines)

    def more(execution: Execution, rows: int) -> None:
        wanted = len(in_table(execution.generation)) + rows
        wait_until(lambda: len(in_table(execution.generation)) >= wanted, seconds=200, what=f"{wanted} rows")

    def end(execution: Execution) -> None:
        execution_cancel(execution=status_reached(execution, "RUNNING"), user=user)
        status_reached(execution, "CANCELLED")

    execution = start(job_create(user=user, document=into_files_too(numbers_job(), data / "lake")))
    more(execution, 100)
    checkpoint_request(execution=status_reached(execution, "RUNNING"), user=user)
    wait_until(lambda: Checkpoint.objects.filter(execution=execution, status="COMPLETED").exists(), seconds=60, what="a checkpoint")
    more(execution, 200)
    end(execution)
    checkpoint = Checkpoint.objects.filter(execution=execution, status="COMPLETED").earliest("pk")
    upto = checkpoint.queries["lake+out+shown+wide"]["batch_id"]
    before = len(in_table())

    client = signed_in(user)
    views = send(client, "GET", f"/api/checkpoints/{checkpoint.pk}/precheck")["roll_backs"]
    assert {view["node_id"]: view["way"] for view in views} == {"lake": "removed", "out": "removed", "shown": "repeated", "wide": "removed"}
    assert in_files("wide") == in_files(), "what waited appeared with the stop"
    assert len(list((data / "wide").glob("*.json"))) == 2, "the checkpoint parts it"
    started = send(client, "POST", f"/api/checkpoints/{checkpoint.pk}/restore", {"roll_back": True}, expected=202)
    again = Execution.objects.get(execution_id=started["execution_id"])
    more(again, 100)
    end(again)

    rows = in_table()
    assert rows == in_files() == in_files("wide") == list(range(len(rows)))
    with sqlite3.connect(data / "target.sqlite3", timeout=20) as target:
        (kept,) = target.execute("SELECT count(*) FROM numbers WHERE _generation = ?", (str(execution.generation),)).fetchone()
        assert target.execute("SELECT max(_batch) FROM numbers WHERE _generation = ?", (str(execution.generation),)).fetchone() == (upto,)
    told = {event.node_id: event for event in again.events.filter(kind="notice") if "roll_back" in event.detail}
    assert {node: event.detail["roll_back"] for node, event in told.items()} == {
        "lake": "removed",
        "out": "removed",
        "shown": "repeated",
        "wide": "removed",
    }
    assert told["out"].detail["count"] == before - kept > 0
    assert told["out"].reason == f'"Out" was rolled back: {before - kept:,} rows written behind the checkpoint were removed'
    (lake,) = [view for view in views if view["node_id"] == "lake"]
    assert told["lake"].detail["count"] == lake["count"] > 0
