"""Rows that go on at a pace: never faster, whatever the job is and however many tasks it has, and no stop waits for it."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from jobs.engine.preview import preview
from jobs.engine.validation import analyse
from jobs.nodes.base import Limits
from jobs.nodes.flows.rate_limit import Paced
from tests.engine.graphs import COLLECT, REGISTRY, Bench, Heard, document, files, numbers, windows

pytestmark = pytest.mark.spark

Shape = tuple[str, dict[str, float]]


def paced(rows_per_second: float) -> Shape:
    return "flow.rate_limit", {"rows_per_second": rows_per_second}


def files_read() -> tuple[str, dict[str, Any]]:
    return "source.file", {"path": "in", "format": "csv", "columns": [{"name": "id", "type": "long"}]}


def test_no_row_leaves_before_its_turn_and_none_is_lost() -> None:
    now = [100.0]
    gone: list[tuple[float, int]] = []

    def sleep(seconds: float) -> None:
        now[0] += seconds

    def batches() -> Iterator[pa.RecordBatch]:
        for first in (0, 700, 1000):
            now[0] += 0.3  # what makes the rows takes its time too
            yield pa.RecordBatch.from_pydict({"id": list(range(first, first + 700 if first != 700 else 1000))})

    for part in Paced(250, clock=lambda: now[0], sleep=sleep).run(batches()):
        gone.append((now[0], part.num_rows))
    rows = [sum(number for _, number in gone[: place + 1]) for place in range(len(gone))]
    assert rows[-1] == 1700
    assert all(count <= 250 * (moment - 100.0) + 1e-6 for count, (moment, _) in zip(rows, gone, strict=True))
    assert max(number for _, number in gone) == 25, "rows go on evenly, not in heaps"


def test_rows_that_came_late_do_not_go_on_in_a_heap() -> None:
    now = [100.0]
    gone: list[float] = []

    def sleep(seconds: float) -> None:
        now[0] += seconds

    def batches() -> Iterator[pa.RecordBatch]:
        for first in (0, 100):
            now[0] += 60
            yield pa.RecordBatch.from_pydict({"id": list(range(first, first + 100))})

    for part in Paced(50, clock=lambda: now[0], sleep=sleep).run(batches()):
        gone += [now[0]] * part.num_rows
    assert len(gone) == 200
    assert max(sum(moment <= other < moment + 1 for other in gone) for moment in gone) <= 55


def kept_pace(heard: Heard, rows_per_second: float) -> bool:
    """Every batch took at least as long as its rows at that pace."""
    assert heard.committed()
    return all(batch.durations_ms["addBatch"] >= 1000 * batch.rows_in / rows_per_second for batch in heard.committed())


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK"])
def test_a_batch_takes_no_less_than_its_rows_at_the_pace(bench: Bench, kind: str) -> None:
    nodes = {"gen": numbers(200, 100), "many": ("flow.repartition", {"partitions": 4}), "slow": paced(25), "out": files("out")}
    heard = bench.completed(document(nodes, "gen>many, many>slow, slow>out", type=kind))
    assert kept_pace(heard, 25)
    assert sorted(row.id for row in bench.parquet("out")) == list(range(200))
    assert (heard.rows("slow", "rows_in"), heard.rows("slow")) == (200, 200)


def test_a_stream_keeps_the_pace_over_its_batches(bench: Bench) -> None:
    nodes = {"gen": numbers(None, per_second=5000, batch=100), "slow": paced(25), "out": COLLECT}
    assert kept_pace(bench.drained(bench.plan(document(nodes, "gen>slow, slow>out", type="STREAMING")), 200), 25)


STAMPED = ("flow.python", {"code": "import time\n\n\ndef process(row):\n    row['value'] = time.time()\n    return row\n"})


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "STREAMING"])
def test_those_behind_get_the_rows_as_they_go_on(bench: Bench, kind: str) -> None:
    # The rows of the first seconds wait for the Python behind them to begin, which takes a while where processors are few.
    nodes = {"gen": numbers(100, 100), "slow": paced(16), "stamp": STAMPED, "out": files("out")}
    read = document(nodes, "gen>slow, slow>stamp, stamp>out", type=kind)
    bench.drained(bench.plan(read), 100) if kind == "STREAMING" else bench.completed(read)
    times = sorted(row.value for row in bench.parquet("out"))
    assert times[-1] - times[0] > 1, "the rows of six seconds, not all at their end"


def test_several_sinks_get_all_rows_and_the_pace_holds(bench: Bench) -> None:
    nodes = {"gen": numbers(100, 100), "slow": paced(25), "a": files("a"), "b": files("b")}
    heard = bench.completed(document(nodes, "gen>slow, slow>a, slow>b"))
    assert kept_pace(heard, 25)
    assert (heard.rows("a"), heard.rows("b")) == (100, 100)


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK", "STREAMING"])
def test_a_batch_that_would_take_hours_is_cut(bench: Bench, kind: str) -> None:
    nodes = {"gen": numbers(1000, 1000), "slow": paced(0.05), "out": files("out")}
    run, _ = bench.run(bench.plan(document(nodes, "gen>slow, slow>out", type=kind)))
    tracker = bench.spark.sparkContext.statusTracker()
    deadline = time.monotonic() + 60
    while not tracker.getActiveStageIds():
        assert time.monotonic() < deadline, "no batch began"
        threading.Event().wait(0.05)
    run.interrupt()
    assert run.wait(60) == "stopped"
    assert not run.hanging


def test_a_preview_does_not_wait(bench: Bench) -> None:
    nodes = {"gen": numbers(1000), "slow": paced(0.001), "out": COLLECT}
    looked = preview(bench.spark, document(nodes, "gen>slow, slow>out"), "slow", rows=5, connections={}, limits=Limits(), registry=REGISTRY)
    assert [row["id"] for row in looked["out"]["rows"]] == [0, 1, 2, 3, 4]


def test_a_pace_that_two_queries_would_keep_each_is_refused(bench: Bench) -> None:
    nodes = {"gen": numbers(None, per_second=10), "slow": paced(5), "a": windows(), "b": windows("5 min"), "x": COLLECT, "y": COLLECT}
    read = document(nodes, "gen>slow, slow>a, slow>b, a>x, b>y", type="STREAMING")
    found = analyse(bench.spark, read, connections={}, limits=Limits(), parameters={}, registry=REGISTRY).problems
    assert [problem.node_id for problem in found] == ["slow"]
    assert "it would do its work several times for each row" in found[0].message
