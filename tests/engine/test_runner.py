"""Runs on a real Spark: every row counted once, stops at boundaries, goes on where it stopped."""

import threading

import pytest

from jobs.engine import turns
from jobs.engine.events import BatchWritten, QueryStarted
from jobs.engine.failure import ExecutionFailure
from jobs.engine.query import StreamQuery
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, files, keep, numbers, windows
from tests.engine.nodes import CollectSink, HangingSink

pytestmark = pytest.mark.spark


def test_a_linear_roller_writes_every_row_once_and_completes(bench: Bench) -> None:
    heard = bench.completed(document({"gen": numbers(1000, 300), "even": keep("id % 2 = 0"), "out": files("out")}, "gen>even, even>out"))
    assert sorted(row.id for row in bench.parquet("out")) == list(range(0, 1000, 2))
    assert [event.batch_id for event in heard.committed()] == [0, 1, 2, 3]
    assert (heard.rows_in(), heard.rows("even", "rows_in"), heard.rows("even"), heard.rows("out")) == (1000, 1000, 500, 500)


def test_counts_are_reported_before_the_batch_is_committed(bench: Bench) -> None:
    heard = bench.completed(document({"gen": numbers(500, 250), "out": COLLECT}, "gen>out"))
    kinds = [(type(event).__name__, event.batch_id) for event in heard.events if hasattr(event, "batch_id")]
    assert kinds.index(("BatchWritten", 0)) < kinds.index(("BatchCommitted", 0))
    assert heard.committed()[0].nodes == heard.batches()[("out", 0)].nodes


def test_a_committed_batch_tells_its_offsets_by_node(bench: Bench) -> None:
    heard = bench.completed(document({"gen": numbers(500, 250), "out": COLLECT}, "gen>out"))
    source = heard.committed()[-1].sources["gen"]
    assert (source["start"]["next"], source["end"]["next"], source["rows"]) == (250, 500, 250)
    assert heard.committed()[-1].behind == {"gen": 0}


def test_a_fan_out_shares_one_query_and_reads_the_source_once(bench: Bench) -> None:
    nodes = {"gen": numbers(1000, 500), "low": keep("id < 100"), "odd": keep("id % 2 = 1"), "a": files("a"), "b": COLLECT}
    heard = bench.completed(document(nodes, "gen>low, gen>odd, low>a, odd>b"))
    assert {event.query for event in heard.of(QueryStarted)} == {"a+b"}
    assert (heard.rows_in(), heard.rows("low"), heard.rows("odd"), heard.rows("a"), heard.rows("b")) == (1000, 100, 500, 100, 500)
    assert len(bench.parquet("a")) == 100


def test_a_query_beside_another_sink_reads_the_source_once(bench: Bench) -> None:
    nodes = {"gen": numbers(1000, 500), "asked": ("flow.sql", {"query": "SELECT id FROM gen"}), "a": files("a"), "b": COLLECT}
    heard = bench.completed(document(nodes, "gen>a, gen>asked, asked>b"))
    assert (heard.rows_in(), heard.rows("asked"), heard.rows("a"), heard.rows("b")) == (1000, 1000, 1000, 1000)


def test_a_stateless_diamond_reads_its_source_once(bench: Bench) -> None:
    nodes = {"gen": numbers(1000, 500), "low": keep("id < 100"), "odd": keep("id % 2 = 1"), "both": ("flow.union", {}), "out": COLLECT}
    heard = bench.completed(document(nodes, "gen>low, gen>odd, low>both, odd>both, both>out"))
    assert (heard.rows_in(), heard.rows("both", "rows_in"), heard.rows("out")) == (1000, 600, 600)


def test_a_stateful_diamond_reads_its_source_per_way_and_counts_it_once(bench: Bench) -> None:
    nodes = {"gen": numbers(600, 300), "minutes": windows("1 min"), "fives": windows("5 min"), "both": ("flow.union", {}), "out": COLLECT}
    plan = bench.plan(document(nodes, "gen>minutes, gen>fives, minutes>both, fives>both, both>out", type="STREAMING"))
    assert bench.drained(plan, 600).rows_in() == 600
    latest: dict[object, int] = {}
    for rows in CollectSink.rows[plan.generation + "out"].values():
        latest |= {(row.window_start, row.window_end): row.n for row in rows}
    assert sorted(latest.values()) == [60] * 10 + [300] * 2


def test_sinks_behind_different_stateful_nodes_get_queries_of_their_own(bench: Bench) -> None:
    nodes = {"gen": numbers(600, 300), "minutes": windows("1 min"), "fives": windows("5 min"), "a": COLLECT, "b": COLLECT, "c": COLLECT}
    heard = bench.drained(bench.plan(document(nodes, "gen>minutes, gen>fives, minutes>a, fives>b, gen>c", type="STREAMING")), 600)
    assert {event.query for event in heard.of(QueryStarted)} == {"a", "b", "c"}
    assert (heard.rows_in(), heard.rows("gen")) == (600, 600)


@pytest.mark.parametrize("emit", ["close", "update"])
def test_a_window_in_a_job_that_ends_sees_all_rows_and_sends_each_group_once(bench: Bench, emit: str) -> None:
    plan = bench.plan(document({"gen": numbers(600, 100), "minutes": windows("1 min", emit), "out": COLLECT}, "gen>minutes, minutes>out"))
    run, heard = bench.run(plan)
    assert run.wait(60) == "completed"
    (rows,) = CollectSink.rows[plan.generation + "out"].values()
    assert [row.n for row in rows] == [60] * 10
    assert heard.rows_in() == 600


def test_two_sources_are_told_apart_by_name(bench: Bench) -> None:
    nodes = {"zebra": numbers(100, 50), "ant": numbers(300, 100), "both": ("flow.union", {}), "out": COLLECT}
    heard = bench.completed(document(nodes, "zebra>both, ant>both, both>out"))
    ends = {node_id: max(event.sources[node_id]["end"]["next"] for event in heard.committed()) for node_id in ("zebra", "ant")}
    assert ends == {"zebra": 100, "ant": 300}
    assert heard.rows_in() == 400


def test_a_print_sink_alone_still_counts_every_row(bench: Bench) -> None:
    heard = bench.completed(document({"gen": numbers(1000, 500), "show": ("sink.print", {"rows": 1})}, "gen>show"))
    assert (heard.rows_in(), heard.rows("show")) == (1000, 1000)


@pytest.mark.parametrize("job_type", ["BATCH_ROLLER", "SQL_TASK"])
def test_a_sink_that_writes_nothing_computes_and_counts_every_row(bench: Bench, job_type: str) -> None:
    nodes = {"gen": numbers(1000, 500), "odd": keep("id % 2 = 1"), "out": ("sink.none", {})}
    heard = bench.completed(document(nodes, "gen>odd, odd>out", type=job_type))
    assert (heard.rows_in(), heard.rows("odd"), heard.rows("out"), heard.rows("out", "rejected")) == (1000, 500, 500, 0)


def test_a_value_that_cannot_be_computed_is_met_although_nothing_is_written(bench: Bench) -> None:
    broken = ("flow.compute_columns", {"columns": [{"name": "broken", "expression": "raise_error('no such value')"}]})
    with pytest.raises(ExecutionFailure, match="no such value"):
        bench.completed(document({"gen": numbers(10, 10), "bad": broken, "out": ("sink.none", {})}, "gen>bad, bad>out"))


def test_a_sql_task_without_a_position_is_one_whole_batch(bench: Bench) -> None:
    nodes = {"gen": numbers(1000), "odd": keep("id % 2 = 1"), "out": files("out"), "low": keep("id < 10"), "show": ("sink.print", {})}
    heard = bench.completed(document(nodes, "gen>odd, odd>out, gen>low, low>show", type="SQL_TASK"))
    assert [event.batch_id for event in heard.committed()] == [0]
    assert (heard.rows_in(), heard.rows("out"), heard.rows("show")) == (1000, 500, 10)
    assert len(bench.parquet("out")) == 500


def test_a_whole_batch_that_was_written_is_not_written_again(bench: Bench) -> None:
    read = document({"gen": numbers(1000), "out": files("out")}, "gen>out", type="SQL_TASK")
    plan = bench.plan(read)
    bench.run(plan)[0].wait(60)
    heard = bench.completed(read, generation=plan.generation, attempt=2)
    assert len(bench.parquet("out")) == 1000
    assert heard.rows_in() == 1000


def test_a_stop_ends_behind_the_batch_and_a_new_attempt_goes_on_there(bench: Bench) -> None:
    read = document({"gen": numbers(None, 100), "out": files("out")}, "gen>out", type="STREAMING")
    plan = bench.plan(read)
    run, heard = bench.run(plan)
    heard.wait_for(BatchWritten, 2)
    run.stop()
    assert run.wait(30) == "stopped"
    assert not run.hanging
    first = {event.batch_id for event in heard.committed()}
    assert first == {event.batch_id for event in heard.of(BatchWritten)}, "what was written is committed"
    run, heard = bench.run(bench.plan(read, generation=plan.generation, attempt=2))
    assert heard.wait_for(QueryStarted)[0].resumed_batch == max(first)
    heard.wait_for(BatchWritten, 2)
    run.stop()
    assert run.wait(30) == "stopped"
    ids = sorted(row.id for row in bench.parquet("out"))
    assert ids == list(range(len(ids)))


def test_an_interrupt_ends_within_seconds_although_a_sink_hangs(bench: Bench) -> None:
    HangingSink.hanging.clear()
    HangingSink.let_go.clear()
    run, _ = bench.run(bench.plan(document({"gen": numbers(10, 10), "out": ("sink.hang", {})}, "gen>out")))
    assert HangingSink.hanging.wait(30)
    run.stop()
    assert run.wait(1) is None, "a stop waits for the batch"
    run.interrupt()
    assert run.wait(15) == "stopped"
    assert run.hanging
    HangingSink.let_go.set()


def test_a_stop_before_the_start_is_a_stop(bench: Bench) -> None:
    from jobs.engine.runner import Run

    plan = bench.plan(document({"gen": numbers(None, 10), "out": COLLECT}, "gen>out", type="STREAMING"))
    run = Run(bench.spark, plan, lambda event: None, registry=REGISTRY)
    run.stop()
    run.start()
    assert run.wait(30) == "stopped"


def test_a_stream_without_rows_lets_another_start(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_MOST_SECONDS", 600.0)
    monkeypatch.setattr(turns, "_PLACES", place := threading.BoundedSemaphore(1))
    (bench.files / "incoming").mkdir()
    source = ("source.file", {"path": "incoming", "columns": [{"name": "id", "type": "long"}]})
    run, heard = bench.run(bench.plan(document({"gen": source, "out": COLLECT}, "gen>out", type="STREAMING")))
    heard.wait_for(QueryStarted)
    assert place.acquire(timeout=30)
    run.stop()
    assert run.wait(30) == "stopped"


def test_a_stop_that_comes_while_a_stream_without_rows_starts_is_a_stop(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    launch = StreamQuery._launch

    def stopped_and_launched(query: StreamQuery) -> None:
        run.stop()
        for thread in threading.enumerate():
            if thread.name == f"stop {query.key}":
                thread.join(1)
        launch(query)

    monkeypatch.setattr(StreamQuery, "_launch", stopped_and_launched)
    (bench.files / "incoming").mkdir()
    source = ("source.file", {"path": "incoming", "columns": [{"name": "id", "type": "long"}]})
    run, _ = bench.run(bench.plan(document({"gen": source, "out": COLLECT}, "gen>out", type="STREAMING")))
    assert run.wait(30) == "stopped"


def test_a_batch_is_told_when_it_is_written_and_again_when_spark_committed_it(bench: Bench) -> None:
    heard = bench.completed(document({"gen": numbers(300, 100), "out": COLLECT}, "gen>out"))
    assert [event.batch_id for event in heard.of(BatchWritten)] == [0, 1, 2]
    assert [event.batch_id for event in heard.committed()] == [0, 1, 2]
    assert [event.sources["gen"]["end"]["next"] for event in heard.committed()] == [100, 200, 300]


def test_a_reporter_that_raises_changes_nothing(bench: Bench) -> None:
    from jobs.engine.runner import Run

    def broken(event: object) -> None:
        raise RuntimeError("the database is away")

    plan = bench.plan(document({"gen": numbers(100, 50), "out": files("out")}, "gen>out"))
    run = Run(bench.spark, plan, broken)
    run.start()
    assert run.wait(60) == "completed"
    assert len(bench.parquet("out")) == 100


def test_a_window_resumed_after_a_stop_gives_what_an_unbroken_run_gives(bench: Bench) -> None:
    nodes = {"gen": numbers(900, 90), "minutes": windows("1 min"), "out": COLLECT}
    read = document(nodes, "gen>minutes, minutes>out", type="STREAMING")
    reference, plan = bench.plan(read), bench.plan(read)
    bench.drained(reference, 900)
    bench.drained(plan, 270)
    bench.drained(bench.plan(read, generation=plan.generation, attempt=2), 90)
    reached = sum(_windows(plan.generation).values())
    if reached < 900:
        bench.drained(bench.plan(read, generation=plan.generation, attempt=3), 900 - reached)
    assert _windows(plan.generation) == _windows(reference.generation)
    assert sum(_windows(plan.generation).values()) == 900


def test_state_and_watermark_are_told_with_the_batch(bench: Bench) -> None:
    read = document({"gen": numbers(900, 300), "minutes": windows("1 min"), "out": COLLECT}, "gen>minutes, minutes>out", type="STREAMING")
    last = bench.drained(bench.plan(read), 900).committed()[-1]
    assert last.watermark.startswith("2025-01-01T00:")
    assert last.operators[0]["node_id"] == "minutes"
    assert last.operators[0]["rows"] > 0


def _windows(generation: str) -> dict[object, int]:
    latest: dict[object, int] = {}
    for rows in CollectSink.rows[generation + "out"].values():
        latest |= {row.window_start: row.n for row in rows}
    return latest


@pytest.mark.parametrize("shape", ["gen>out"])
def test_a_stream_that_ends_unasked_has_failed(bench: Bench, shape: str) -> None:
    plan = bench.plan(document({"gen": numbers(None, 10), "out": COLLECT}, shape, type="STREAMING"))
    run, heard = bench.run(plan)
    heard.wait_for(BatchWritten)
    query = run._queries[0]._query  # type: ignore[union-attr]
    assert query is not None
    query.stop()
    with pytest.raises(ExecutionFailure, match="ended without being asked"):
        run.wait(30)
