"""Rows a node rejects: to the errors port, kept, or dropped, and counted each way."""

from typing import Any

import pytest

from jobs.engine.events import RowsRejected
from jobs.engine.failure import ExecutionFailure
from tests.engine.graphs import COLLECT, Bench, document, files, numbers, windows
from tests.engine.nodes import CollectSink, RefusingSink

pytestmark = pytest.mark.spark

REJECTS = ("flow.rejects", {"condition": "id % 10 = 3"})


def nodes(**more: Any) -> Any:
    return {"gen": numbers(1000, 500), "check": REJECTS, "out": COLLECT, **more}


@pytest.mark.parametrize("job_type", ["BATCH_ROLLER", "SQL_TASK"])
def test_dead_letters_are_counted_in_full_and_kept_as_a_sample(bench: Bench, job_type: str) -> None:
    heard = bench.completed(document(nodes(), "gen>check, check>out", type=job_type))
    assert (heard.rows("check", "rows_in"), heard.rows("check"), heard.rows("check", "rejected"), heard.rows("out")) == (
        1000,
        900,
        100,
        900,
    )
    told = heard.of(RowsRejected)
    assert sum(event.total for event in told) == 100
    assert all(event.node_id == "check" for event in told)
    row = told[0].rows[0]
    assert row["reason"].startswith("bad id ")
    assert f'"id":{row["reason"].removeprefix("bad id ")},' in row["row"]


def test_the_sample_is_bounded_and_the_total_is_not(bench: Bench) -> None:
    heard = bench.completed(document({**nodes(), "check": ("flow.rejects", {"condition": "true"})}, "gen>check, check>out"))
    assert [(event.total, len(event.rows)) for event in heard.of(RowsRejected)] == [(500, 100), (500, 100)]
    assert heard.rows("out") == 0


def test_dropped_rows_are_counted_and_not_kept(bench: Bench) -> None:
    heard = bench.completed(document(nodes(), "gen>check, check>out", settings={"rejected_rows": "drop"}))
    assert heard.of(RowsRejected) == []
    assert (heard.rows("check", "rejected"), heard.rows("out")) == (100, 900)
    assert sum(batch.rejected for batch in heard.batches().values()) == 100


def test_a_connected_errors_port_gets_the_rows_with_their_reason(bench: Bench) -> None:
    plan = bench.plan(document(nodes(bad=COLLECT), "gen>check, check>out, check.errors>bad"))
    run, heard = bench.run(plan)
    assert run.wait(60) == "completed"
    assert heard.of(RowsRejected) == []
    assert (heard.rows_in(), heard.rows("out"), heard.rows("bad", "rows_in")) == (1000, 900, 100)
    rows = CollectSink.rows[plan.generation + "bad"][0]
    assert {row.rejected_reason for row in rows} == {f"bad id {number}" for number in range(3, 500, 10)}


def test_a_row_that_is_rejected_twice_has_the_reason_of_the_second_time(bench: Bench) -> None:
    nodes = {"gen": numbers(100, 50), "check": REJECTS, "again": ("flow.rejects", {"condition": "id < 40"}), "out": COLLECT, "bad": COLLECT}
    plan = bench.plan(document(nodes, "gen>check, check.errors>again, again>out, again.errors>bad"))
    run, _ = bench.run(plan)
    assert run.wait(60) == "completed"
    found = [row for rows in CollectSink.rows[plan.generation + "bad"].values() for row in rows]
    assert sorted((row.id, row.rejected_reason) for row in found) == [(number, f"bad id {number}") for number in (3, 13, 23, 33)]


@pytest.mark.parametrize("job_type", ["BATCH_ROLLER", "STREAMING"])
def test_rows_rejected_above_a_stateful_node_are_kept_too(bench: Bench, job_type: str) -> None:
    read = document(nodes(minutes=windows()), "gen>check, check>minutes, minutes>out", type=job_type)
    heard = bench.drained(bench.plan(read), 1000) if job_type == "STREAMING" else bench.completed(read)
    assert sum(event.total for event in heard.of(RowsRejected)) == 100
    assert heard.rows("minutes", "rows_in") == 900


def test_a_file_with_broken_rows_goes_on_with_the_good_ones(bench: Bench) -> None:
    (bench.files / "orders.csv").write_text("id,amount\n1,10\ntwo,20\n3,30\n4\n")
    source = ("source.file", {"path": "orders.csv", "columns": [{"name": "id", "type": "long"}, {"name": "amount", "type": "double"}]})
    heard = bench.completed(document({"csv": source, "out": COLLECT}, "csv>out"))
    assert (heard.rows_in(), heard.rows("out"), heard.rows("csv", "rejected")) == (4, 2, 2)


def test_a_json_row_that_does_not_fit_is_kept_as_it_came_and_the_column_is_named(bench: Bench) -> None:
    bad = '{"id": "7", "amount": "much", "note": null}'
    (bench.files / "in.json").write_text('{"id": 1, "amount": 2.5, "note": "a"}\n' + bad + "\n")
    columns = [{"name": "id", "type": "long"}, {"name": "amount", "type": "double"}, {"name": "note", "type": "string"}]
    source = ("source.file", {"path": "in.json", "format": "json", "columns": columns})
    heard = bench.completed(document({"json": source, "out": COLLECT}, "json>out"))
    (row,) = heard.of(RowsRejected)[0].rows
    assert row["row"] == bad
    assert row["reason"].startswith("the row does not fit the columns: ")
    assert "amount" in row["reason"]
    assert "note" not in row["reason"]


REFUSES: Any = ("sink.refuses", {})


@pytest.mark.parametrize("job_type", ["BATCH_ROLLER", "SQL_TASK"])
def test_rows_that_a_sinks_target_rejects_are_counted_and_kept_at_the_sink(bench: Bench, job_type: str) -> None:
    plan = bench.plan(document({"gen": numbers(100, 50), "out": REFUSES}, "gen>out", type=job_type))
    run, heard = bench.run(plan)
    assert run.wait(60) == "completed"
    assert (heard.rows("out", "rows_in"), heard.rows("out"), heard.rows("out", "rejected")) == (100, 90, 10)
    assert sum(batch.rejected for batch in heard.batches().values()) == 10
    told = heard.of(RowsRejected)
    assert sum(event.total for event in told) == 10
    assert told[0].node_id == "out"
    assert told[0].rows[0] == {"reason": "no 3 wanted", "row": '{"id":3}'}
    assert len(RefusingSink.took[plan.generation]) == 90


def test_rows_that_a_sinks_target_rejects_may_be_dropped(bench: Bench) -> None:
    read = document({"gen": numbers(100, 50), "out": REFUSES}, "gen>out", settings={"rejected_rows": "drop"})
    heard = bench.completed(read)
    assert heard.of(RowsRejected) == []
    assert (heard.rows("out"), heard.rows("out", "rejected")) == (90, 10)


@pytest.mark.parametrize("job_type", ["BATCH_ROLLER", "SQL_TASK"])
def test_a_row_that_a_sinks_target_rejects_may_fail_the_job(bench: Bench, job_type: str) -> None:
    read = document({"gen": numbers(100, 50), "out": REFUSES}, "gen>out", type=job_type, settings={"rejected_rows": "fail"})
    run, heard = bench.run(bench.plan(read))
    with pytest.raises(ExecutionFailure) as caught:
        run.wait(60)
    assert caught.value.message == (
        '"Out": a row was rejected: no 3 wanted; mend the data, connect the errors port, or let the job drop or keep rejected rows'
    )
    assert (caught.value.node_id, caught.value.kind, caught.value.permanent) == ("out", "user", True)
    assert heard.batches() == {}


@pytest.mark.parametrize("job_type", ["BATCH_ROLLER", "SQL_TASK"])
def test_a_job_fails_although_none_of_the_rows_that_several_sinks_read_is_good(bench: Bench, job_type: str) -> None:
    nodes = {"gen": numbers(20, 20), "bad": ("flow.rejects", {"condition": "id >= 0"}), "a": files("a"), "b": files("b")}
    run, _ = bench.run(bench.plan(document(nodes, "gen>bad, bad>a, bad>b", type=job_type, settings={"rejected_rows": "fail"})))
    with pytest.raises(ExecutionFailure, match="a row was rejected: bad id"):
        run.wait(90)


ORDERS = (
    "source.file",
    {"path": "in.json", "format": "json", "columns": [{"name": "id", "type": "long"}, {"name": "amount", "type": "double"}]},
)
BEHIND: list[Any] = [
    ("flow.filter_rows", {"condition": "amount > 100"}),
    ("flow.script", {"script": "keep if amount > 100"}),
    ("flow.sql", {"query": "SELECT * FROM input WHERE amount > 100"}),
]


@pytest.mark.parametrize("behind", BEHIND, ids=["filter", "script", "query"])
@pytest.mark.parametrize("job_type", ["BATCH_ROLLER", "SQL_TASK"])
def test_a_job_fails_although_a_filter_behind_would_not_let_the_rejected_row_through(bench: Bench, job_type: str, behind: Any) -> None:
    """Its columns are empty: Spark would look at the filter's first, and no further."""
    (bench.files / "in.json").write_text('{"id": 1, "amount": "much"}\n{"id": 2, "amount": 200.0}\n')
    nodes = {"json": ORDERS, "large": behind, "out": COLLECT}
    run, heard = bench.run(bench.plan(document(nodes, "json>large, large>out", type=job_type, settings={"rejected_rows": "fail"})))
    with pytest.raises(ExecutionFailure, match="a row was rejected: the row does not fit the columns: amount should be double") as caught:
        run.wait(60)
    assert caught.value.node_id == "json"
    assert heard.committed() == []


@pytest.mark.parametrize("kind", ["flow.rejects", "flow.parse"])
def test_a_job_fails_although_no_row_that_is_kept_with_the_rejected_one_passes_a_filter_behind(bench: Bench, kind: str) -> None:
    """Of rows that are kept for two readers Spark passes over parts in which none fits the filter."""
    parse = ("flow.parse", {"column": "t", "columns": [{"name": "n", "type": "long"}], "keep": "all"})
    nodes = {
        "gen": numbers(100, 100),
        "text": ("flow.compute_columns", {"columns": [{"name": "t", "expression": "if(id = 3, 'three', concat('{\"n\":', id, '}'))"}]}),
        "check": REJECTS if kind == "flow.rejects" else parse,
        "few": ("flow.filter_rows", {"condition": "id > 1000"}),
        "more": ("flow.filter_rows", {"condition": "id > 2000"}),
        "a": files("a"),
        "b": files("b"),
    }
    edges = "gen>text, text>check, check>few, check>more, few>a, more>b"
    run, heard = bench.run(bench.plan(document(nodes, edges, type="SQL_TASK", settings={"rejected_rows": "fail"})))
    with pytest.raises(ExecutionFailure, match="a row was rejected: ") as caught:
        run.wait(90)
    assert caught.value.node_id == "check"
    assert heard.committed() == []
