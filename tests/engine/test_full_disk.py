"""A disk that is full, under the live folder or under a sink: told as that, and once there is room no row is missing or twice."""

import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jobs.dag.document import DagDocument
from jobs.engine.events import BatchCommitted
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Locations, Plan
from jobs.nodes.base import ConnectionSettings
from tests.engine.graphs import Bench, document, files, numbers

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]

BALLAST = "ballast"
Plans = Callable[[int], Plan]


@pytest.fixture
def small(bench: Bench) -> Iterator[Path]:
    """A disk of two mebibytes within the bench's files."""
    folder = bench.files / "small"
    folder.mkdir(parents=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], check=False, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> None:
    with (disk / BALLAST).open("wb", buffering=0) as ballast:
        for size in (65_536, 4096, 512, 1):
            try:
                while ballast.write(b"x" * size) == size:
                    pass
            except OSError:
                continue
    assert os.statvfs(disk).f_bavail == 0


def killed_by_the_full_disk(bench: Bench, plan: Plan) -> ExecutionFailure:
    with pytest.raises(ExecutionFailure) as caught:
        bench.run(plan)[0].wait(90)
    return caught.value


def played(bench: Bench, disk: Path, plan: Plans) -> list[ExecutionFailure]:
    """Three batches, a full disk, another try on it, room again, the rest."""
    run, heard = bench.run(plan(1))
    heard.wait_for(BatchCommitted, 3, 100)
    fill(disk)
    with pytest.raises(ExecutionFailure) as first:
        run.wait(90)
    again = killed_by_the_full_disk(bench, plan(2))
    (disk / BALLAST).unlink()
    bench.drained(plan(3), 150)
    return [first.value, again]


def streaming(out: tuple[str, dict[str, Any]]) -> DagDocument:
    return document({"gen": numbers(None, 50, 100), "out": out}, "gen>out", type="STREAMING")


def assert_told(failures: list[ExecutionFailure]) -> None:
    for failure in failures:
        assert "the disk is full" in failure.message
        assert failure.message.endswith("; free some space, then start again: it goes on where it was")
        assert (failure.kind, failure.permanent) == ("external", False)


def test_under_the_live_folder(bench: Bench, small: Path) -> None:
    locations = Locations(live=small / "live", work=bench.root / "work")
    job = streaming(files("out"))
    failures = played(bench, small, lambda attempt: replace(bench.plan(job, generation="g", attempt=attempt), locations=locations))
    assert_told(failures)
    rows = sorted(row.id for row in bench.parquet("out"))
    assert rows == list(range(len(rows)))


def test_under_a_file_sink(bench: Bench, small: Path) -> None:
    job = streaming(files("small/out"))
    failures = played(bench, small, lambda attempt: bench.plan(job, generation="g", attempt=attempt))
    assert_told(failures)
    assert {failure.node_id for failure in failures} == {"out"}
    rows = sorted(row.id for row in bench.parquet("small/out"))
    assert rows == list(range(len(rows)))


def test_under_a_sqlite_table(bench: Bench, small: Path) -> None:
    job = streaming(("sink.jdbc", {"connection": "db", "table": "numbers", "mode": "append"}))
    connection = ConnectionSettings("db", "sqlite", {"path": str(small / "numbers.sqlite")})
    plan: Plans = lambda attempt: replace(bench.plan(job, generation="g", attempt=attempt), connections={"db": connection})  # noqa: E731
    failures = played(bench, small, plan)
    assert_told(failures)
    assert {failure.node_id for failure in failures} == {"out"}
    with sqlite3.connect(small / "numbers.sqlite") as database:
        rows = [row[0] for row in database.execute("SELECT id FROM numbers ORDER BY id")]
    assert rows == list(range(len(rows)))
