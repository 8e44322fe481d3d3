"""Python of a job's own in real drivers: what goes wrong in it harms nobody else."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from jobs import queue
from jobs.models import Execution, Job
from jobs.services.jobs import job_create
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.one_database,
    pytest.mark.timeout(400),
]

LOUD = "def process(row):\n    if row['id'] == 1:\n        for _ in range(1000):\n            print('x' * 1_000_000)\n    return row\n"
ENDLESS = "def process(row):\n    while True:\n        pass\n    return row\n"


def through(job: Job, code: str) -> dict[str, Any]:
    """The job's document with Python between source and sink."""
    document: dict[str, Any] = json.loads(job.dag_definition)
    document["nodes"]["own"] = {"type": "flow.python", "type_version": 1, "name": "Own", "config": {"code": code}}
    document["edges"] = {"e1": {"from": ["numbers", "out"], "to": ["own", "in"]}, "e2": {"from": ["own", "out"], "to": ["out", "in"]}}
    return document


def test_an_endless_preview_ends_the_next_are_answered_and_a_gigabyte_of_prints_stays_short(
    database_url: str,
    data: Path,
    user: User,
    numbers_job: Callable[..., Job],
    start: Callable[..., Execution],
    written: Callable[..., list[int]],
) -> None:
    plain = numbers_job(job_type="BATCH_ROLLER", source={"total_rows": 60, "rows_per_batch": 60})
    loud = job_create(user=user, document={**through(plain, LOUD), "name": "loud"})
    execution = start(loud)

    def looked(code: str) -> dict[str, Any]:
        question = {"document": through(plain, code), "project_id": plain.project_id, "node_id": "own", "rows": 5, "parameters": {}}
        found = queue.interactive_call("preview", question, timeout=200)
        assert code == ENDLESS or not found["problems"], found["problems"][0]["message"]
        return found

    with (
        Worker(database_url=database_url, data=data, ready=False, SHARED_DRIVERS=0, INTERACTIVE_DRIVERS=1, PREVIEW_CODE_SECONDS=8),
        ThreadPoolExecutor(2) as people,
    ):
        assert len(looked("def process(row):\n    return row\n")["out"]["out"]["rows"]) == 5
        stuck = people.submit(looked, ENDLESS)
        assert len(people.submit(looked, "def process(row):\n    return [row, row]\n").result()["out"]["out"]["rows"]) == 5
        (problem,) = stuck.result()["problems"]
        assert problem["message"].startswith('"Own": its Python did not end within 8 s and was stopped')
        assert len(looked("def process(row):\n    return row['id'] > 2\n")["out"]["out"]["rows"]) == 2
        assert status_reached(execution, "COMPLETED", "FAILED", seconds=250).status == "COMPLETED"
        assert execution.driver is not None
        assert execution.driver.kind == "DEDICATED"
    assert written() == list(range(60))
    files = [path for path in (data / "logs").rglob("*") if path.is_file()]
    assert any("printed: xxx" in path.read_text(errors="replace") for path in files)
    assert sum(path.stat().st_size for path in files) < 1_000_000


def answered(question: dict[str, Any]) -> bool:
    """Whether a driver is there that answers; the one that ends may still have heard the question."""
    try:
        return len(queue.interactive_call("preview", question, timeout=40)["out"]["out"]["rows"]) == 5
    except (queue.InteractiveFailed, queue.InteractiveUnavailable):
        return False


@pytest.mark.faults
def test_a_preview_that_spark_ends_by_is_told_as_that(database_url: str, data: Path, user: User, numbers_job: Callable[..., Job]) -> None:
    """An error for want of memory in a task ends the JVM."""
    plain = numbers_job(job_type="BATCH_ROLLER", source={"total_rows": 60, "rows_per_batch": 60})
    document = through(plain, "")
    sql = "SELECT length(repeat('x', CAST(2000000000 + id AS int))) AS n FROM Numbers"
    document["nodes"]["own"] |= {"type": "flow.sql", "config": {"query": sql}}
    with Worker(database_url=database_url, data=data, ready=False, SHARED_DRIVERS=0, INTERACTIVE_DRIVERS=1):
        question = {"document": document, "project_id": plain.project_id, "node_id": "own", "rows": 5, "parameters": {}}
        with pytest.raises(queue.InteractiveFailed, match="Spark ended while it worked on this"):
            queue.interactive_call("preview", question, timeout=200)
        document["nodes"]["own"]["config"] = {"query": "SELECT 1 AS n FROM Numbers"}
        wait_until(lambda: answered(question), seconds=200, what="another driver")
