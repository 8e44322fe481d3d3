"""What sinks do beside their batches, in a run."""

import pytest

from jobs.engine.failure import ExecutionFailure
from jobs.engine.runner import Run
from tests.engine.graphs import REGISTRY, Bench, Heard, document, keep, numbers
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(200)]


def test_rows_that_wait_appear_in_time_though_nothing_more_comes(bench: Bench) -> None:
    sink = ("sink.file", {"path": "out", "roll_seconds": 1})
    run = Run(bench.spark, bench.plan(document({"gen": numbers(30, 10), "out": sink}, "gen>out", type="STREAMING")), Heard().report)
    run.start()

    def rows() -> int:
        return bench.spark.read.schema("id long").parquet(str(bench.files / "out")).count() if (bench.files / "out").is_dir() else 0

    wait_until(lambda: rows() == 30, seconds=60, what="all rows, while the stream is idle")
    run.stop()
    assert run.wait(30) == "stopped"
    assert rows() == 30


@pytest.mark.parametrize("job_type", ["BATCH_ROLLER", "SQL_TASK"])
def test_rows_that_wait_appear_at_the_end(bench: Bench, job_type: str) -> None:
    sink = ("sink.file", {"path": "out", "roll_megabytes": 1000})
    run, _ = bench.run(bench.plan(document({"gen": numbers(30, 10), "out": sink}, "gen>out", type=job_type)))
    assert run.wait(60) == "completed"
    assert bench.spark.read.parquet(str(bench.files / "out")).count() == 30
    assert len(list((bench.files / "out").glob("*.parquet"))) == 1


@pytest.mark.parametrize("job_type", ["STREAMING", "BATCH_ROLLER"])
def test_rows_that_wait_appear_at_a_bad_end_too(bench: Bench, job_type: str) -> None:
    """The batches before the one that failed count; nobody may ever start the job again."""
    nodes = {
        "gen": numbers(None, 10) if job_type == "STREAMING" else numbers(100, 10),
        "breaks": keep("if(id = 45, raise_error('45 is bad'), true)"),
        "out": ("sink.file", {"path": "out", "roll_megabytes": 1000}),
    }
    run, _ = bench.run(bench.plan(document(nodes, "gen>breaks, breaks>out", type=job_type)))
    with pytest.raises(ExecutionFailure, match="45 is bad"):
        run.wait(60)
    written = bench.spark.read.parquet(str(bench.files / "out"))
    assert sorted(row.id for row in written.collect()) == list(range(40))


def test_what_goes_wrong_beside_the_batches_names_the_sink(bench: Bench) -> None:
    """Another process made files of the folder unreadable."""
    sink = ("sink.file", {"path": "out", "roll_megabytes": 1000})
    plan = bench.plan(document({"gen": numbers(None, 10), "out": sink}, "gen>out", type="STREAMING"))
    heard = Heard()
    run = Run(bench.spark, plan, heard.report, registry=REGISTRY)
    run.start()
    waiting = bench.files / "out" / ".pipeline" / plan.job_uid / "out" / "gathered"
    wait_until(lambda: len(list(waiting.glob("*.parquet"))) > 1, seconds=60, what="rows that wait")
    for file in waiting.glob("*.parquet"):
        file.write_bytes(b"broken")
    run.stop()
    with pytest.raises(ExecutionFailure) as failed:
        run.wait(60)
    assert (failed.value.node_id, failed.value.permanent) == ("out", False)
    assert "rows that wait in" in failed.value.message
