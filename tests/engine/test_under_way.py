"""A batch that lasts is told of while it is written, with the tasks of Spark that are done; a short one is not."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.engine.events import BatchUnderWay
from jobs.engine.under_way import TOLD_SECONDS
from tests.engine.graphs import COLLECT, Bench, document, files, numbers

ODD = ("flow.filter_rows", {"condition": "id % 2 = 1"})

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK", "STREAMING"])
def test_a_batch_that_lasts_is_told_with_its_tasks(bench: Bench, kind: str) -> None:
    nodes = {
        "gen": numbers(100, 100),
        "many": ("flow.repartition", {"partitions": 4}),
        "slow": ("flow.rate_limit", {"rows_per_second": 20}),
        "out": files("out"),
    }
    read = document(nodes, "gen>many, many>slow, slow>out", type=kind)
    heard = bench.drained(bench.plan(read), 100) if kind == "STREAMING" else bench.completed(read)
    told = heard.of(BatchUnderWay)
    assert {(event.query, event.batch_id) for event in told} == {("out", 0)}
    seconds = [event.seconds for event in told]
    assert seconds == sorted(seconds)
    assert seconds[0] >= 2
    assert any(0 <= event.done < event.tasks for event in told)
    assert [event.rows_in for event in told] == sorted(event.rows_in for event in told)
    assert told[-1].nodes["gen"].rows_out == told[-1].rows_in == 100  # in front of the repartition: read before the rows that are slow
    assert told[-1].nodes["out"].rows_out is None
    assert heard.rows("out") == 100


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK", "STREAMING"])
def test_rows_of_tasks_that_last_are_told_while_they_are_at_work(bench: Bench, kind: str) -> None:
    slow = {"gen": numbers(200, 200), "slow": ("flow.rate_limit", {"rows_per_second": 30}), "odd": ODD, "out": files("out")}
    read = document(slow, "gen>slow, slow>odd, odd>out", type=kind)
    heard = bench.drained(bench.plan(read), 200) if kind == "STREAMING" else bench.completed(read)
    told = [event for event in heard.of(BatchUnderWay) if event.done == 0]
    passed = [event.nodes["odd"].rows_out or 0 for event in told]
    assert passed == sorted(passed)
    assert 0 < max(passed, default=0) <= 100, [(event.seconds, event.tasks, event.nodes) for event in told]
    assert any(0 < (event.nodes["slow"].rows_out or 0) < event.rows_in == 200 for event in told), "the limit still holds some"
    assert heard.rows("out") == 100


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        pytest.param(("local[2]", "6"), id="on-a-machine-that-slept"),
        pytest.param(("local-cluster[1,2,1024]",), id="in-another-process", marks=pytest.mark.faults),
    ],
)
def test_rows_of_tasks_at_work_are_told(given: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.engine.slow_run", str(tmp_path), *given]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=110, check=False)
    told = re.search(r"^told (\d+)$", done.stdout, re.MULTILINE)
    assert told, done.stdout + done.stderr[-3000:]
    assert 0 < int(told[1]) <= 150
    assert "no recent heartbeats" not in done.stderr


def test_short_batches_are_not(bench: Bench) -> None:
    """Of the second run: the first batch in a cold Spark may last, and on a busy machine any."""
    short = document({"gen": numbers(500, 250), "out": COLLECT}, "gen>out")
    bench.completed(short)
    heard = bench.completed(short)
    lasted = {which for which, batch in heard.batches().items() if batch.seconds >= TOLD_SECONDS - 0.5}
    assert {(event.query, event.batch_id) for event in heard.of(BatchUnderWay)} <= lasted
