"""A bounded job over a growing table, in real drivers: each start goes on where the one before ended."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from jobs.models import Connection, Execution, Job, Project
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker

pytestmark = [
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.one_database,
    pytest.mark.timeout(300),
]


def test_each_start_of_an_incremental_job_reads_what_is_new_and_writes_it_once(
    worker: Worker, data: Path, numbers_job: Callable[..., Job], start: Callable[..., Execution], written: Callable[..., list[int]]
) -> None:
    def grow(first: int, last: int) -> None:
        with closing(sqlite3.connect(data / "orders.sqlite3")) as orders:
            orders.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY)")
            orders.executemany("INSERT INTO orders VALUES (?)", [(number,) for number in range(first, last)])
            orders.commit()

    def run() -> Execution:
        ended = status_reached(start(job), "COMPLETED", "FAILED")
        assert (ended.status, ended.error_message) == ("COMPLETED", "")
        return ended

    grow(0, 250)
    project = Project.objects.get(slug="default")
    Connection.objects.create(project=project, name="orders", kind="sqlite", config={"path": str(data / "orders.sqlite3")})
    source = {"connection": "orders", "table": "orders", "key_column": "id", "rows_per_batch": 100, "partitions": 2, "incremental": True}
    job = numbers_job(job_type="BATCH_ROLLER", source_type="source.jdbc", source=source)
    first = run()
    assert written() == list(range(250))
    grow(250, 400)
    second = run()
    nothing_new = run()
    assert written() == list(range(400))
    assert [one.processed_records for one in (first, second, nothing_new)] == [250, 150, 0]
    assert len({one.generation for one in (first, second, nothing_new)}) == 1
