"""Rows that a sink's target refuses, on their way through the sink's errors port."""

from typing import Any

import pytest

from jobs.engine.events import RowsRejected
from jobs.engine.failure import ExecutionFailure
from jobs.engine.script.program import script_write
from jobs.engine.validation import Analysis, analyse
from jobs.nodes.base import Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, keep, numbers, windows
from tests.engine.nodes import CollectSink, RefusingSink

pytestmark = pytest.mark.spark

REFUSES: tuple[str, dict[str, Any]] = ("sink.refuses", {})
THREES = list(range(3, 100, 10))


def ids(plan: Any, sink: str) -> list[int]:
    return sorted(row.id for rows in CollectSink.rows[plan.generation + sink].values() for row in rows)


@pytest.mark.each_once
@pytest.mark.parametrize("policy", ["dead_letter", "fail", "drop"])
@pytest.mark.parametrize("job_type", ["STREAMING", "BATCH_ROLLER", "SQL_TASK"])
def test_refused_rows_go_on_with_their_reason_through_flows_to_other_sinks(bench: Bench, job_type: str, policy: str) -> None:
    nodes = {"gen": numbers(100, 50), "table": REFUSES, "some": keep("id > 10"), "bad": COLLECT, "all": COLLECT}
    edges = "gen>table, table.errors>some, some>bad, table.errors>all"
    plan = bench.plan(document(nodes, edges, type=job_type, settings={"rejected_rows": policy}))
    if job_type == "STREAMING":
        heard = bench.drained(plan, 100)
    else:
        run, heard = bench.run(plan)
        assert run.wait(90) == "completed"
    assert (ids(plan, "bad"), ids(plan, "all")) == (THREES[1:], THREES)
    rows = [row for rows in CollectSink.rows[plan.generation + "all"].values() for row in rows]
    assert {row.rejected_reason for row in rows} == {f"no {number} wanted" for number in THREES}
    assert CollectSink.began[plan.generation + "all"].names[-1] == "rejected_reason"
    assert all(row.time is not None for row in rows)
    assert sorted(RefusingSink.took[plan.generation]) == [number for number in range(100) if number not in THREES]
    assert (heard.rows_in(), heard.rows("table"), heard.rows("table", "rejected")) == (100, 90, 10)
    assert [heard.rows("some", what) for what in ("rows_in", "rows_out")] == [10, 9]
    assert (heard.rows("bad"), heard.rows("all")) == (9, 10)
    assert heard.of(RowsRejected) == []


def test_what_no_port_leads_on_still_ends_the_job_where_it_shall(bench: Bench) -> None:
    nodes = {"gen": numbers(100, 50), "table": REFUSES, "other": REFUSES, "bad": COLLECT}
    run, _ = bench.run(bench.plan(document(nodes, "gen>table, gen>other, table.errors>bad", settings={"rejected_rows": "fail"})))
    with pytest.raises(ExecutionFailure, match="connect the errors port") as failed:
        run.wait(60)
    assert failed.value.node_id == "other"


def test_a_batch_that_is_begun_again_has_the_refused_rows_of_the_attempt_that_wrote_it(bench: Bench) -> None:
    """The table has the batch, the sink behind it failed: the next attempt must not lose what the table refused."""
    nodes = {"gen": numbers(100, 50), "table": REFUSES, "bad": COLLECT, "breaks": ("sink.fail", {"how": "disk"})}
    edges = "gen>table, table.errors>breaks, table.errors>bad"
    first = bench.plan(document(nodes, edges))
    run, heard = bench.run(first)
    with pytest.raises(ExecutionFailure):
        run.wait(60)
    whole = document({**nodes, "breaks": COLLECT}, edges)
    again = bench.plan(whole, generation=first.generation, attempt=2)
    run, after = bench.run(again)
    assert run.wait(60) == "completed"
    assert ids(again, "breaks") == [number for number in THREES if number > 50]
    assert ids(again, "bad") == THREES
    told = {**heard.batches(), **after.batches()}
    assert sum(batch.nodes["table"].rejected for batch in told.values()) == 10
    assert sum(batch.nodes["table"].rows_out or 0 for batch in told.values()) == 90
    assert sorted(RefusingSink.took[first.generation]) == [number for number in range(100) if number not in THREES]
    assert [folder.name for folder in (again.locations.work / "table" / "rejected").iterdir()] == ["1"]


def test_a_refusing_sink_behind_a_refusing_sink(bench: Bench) -> None:
    nodes = {
        "gen": numbers(100, 50),
        "z": REFUSES,
        "tens": ("flow.compute_columns", {"columns": [{"name": "id", "expression": "id div 10"}]}),
        "a": REFUSES,
        "bad": COLLECT,
    }
    plan = bench.plan(document(nodes, "gen>z, z.errors>tens, tens>a, a.errors>bad", type="STREAMING"))
    heard = bench.drained(plan, 100)
    assert ids(plan, "bad") == [3]
    row = CollectSink.rows[plan.generation + "bad"][0][0]
    assert (row.id, row.rejected_reason) == (3, "no 3 wanted")
    assert CollectSink.began[plan.generation + "bad"].names.count("rejected_reason") == 1
    assert (heard.rows("a"), heard.rows("a", "rejected")) == (9, 1)


def test_rows_that_a_flow_and_a_sink_refuse_meet_in_one_place(bench: Bench) -> None:
    nodes = {
        "gen": numbers(100, 50),
        "check": ("flow.rejects", {"condition": "id % 10 = 5"}),
        "table": REFUSES,
        "both": ("flow.union", {}),
        "bad": COLLECT,
    }
    edges = "gen>check, check>table, check.errors>both, table.errors>both, both>bad"
    plan = bench.plan(document(nodes, edges, type="STREAMING"))
    heard = bench.drained(plan, 100)
    assert ids(plan, "bad") == sorted([*THREES, *range(5, 100, 10)])
    assert heard.rows("bad") == 20


def analysed(bench: Bench, nodes: Any, edges: str, job_type: str = "STREAMING") -> Analysis:
    read = document(nodes, edges, type=job_type)
    limits = Limits(file_roots=(bench.files,), data_dir=bench.root)
    return analyse(bench.spark, read, connections={}, limits=limits, parameters={}, registry=REGISTRY)


def test_the_port_has_the_columns_that_arrive_and_a_reason(bench: Bench) -> None:
    found = analysed(bench, {"gen": numbers(), "table": REFUSES, "bad": COLLECT}, "gen>table, table.errors>bad")
    assert found.problems == []
    into = [column["name"] for column in found.schemas["table"]["in"]]
    assert [column["name"] for column in found.schemas["table"]["errors"]] == [*into, "rejected_reason"]
    assert found.schemas["bad"]["in"] == found.schemas["table"]["errors"]


@pytest.mark.parametrize(
    ("flow", "edges", "words"),
    [
        (windows(), "gen>table, table.errors>flow, flow>bad", 'keeps state, and what "Table" rejects is known only within a batch'),
        (
            ("flow.rate_limit", {"rows_per_second": 10}),
            "gen>table, table.errors>flow, flow>bad",
            "it does its work before any sink is written",
        ),
        (
            ("flow.lookup", {"keys": [{"left": "id"}]}),
            "gen>table, gen>flow, table.errors>flow.table, flow>bad",
            'reads what "Table" rejects as a table beside the stream',
        ),
    ],
)
def test_what_cannot_stand_there_is_told_on_the_node(bench: Bench, flow: Any, edges: str, words: str) -> None:
    found = analysed(bench, {"gen": numbers(), "table": REFUSES, "flow": flow, "bad": COLLECT}, edges)
    assert [(problem.node_id, words in problem.message) for problem in found.problems if problem.severity == "error"] == [("flow", True)], (
        found.problems
    )


@pytest.mark.parametrize("column", ["map(id, 1)", "array(named_struct('m', map('a', map(id, 1))))"])
def test_a_mapping_by_numbers_cannot_be_led_on(bench: Bench, column: str) -> None:
    nodes = {"gen": numbers(), "maps": ("flow.compute_columns", {"columns": [{"name": "m", "expression": column}]}), "table": REFUSES}
    assert analysed(bench, nodes, "gen>maps, maps>table").problems == []
    (problem,) = analysed(bench, {**nodes, "bad": COLLECT}, "gen>maps, maps>table, table.errors>bad").problems
    assert (problem.node_id, "cannot lead on m, a mapping whose keys are no texts" in problem.message) == ("table", True)


def test_refused_rows_of_two_queries_cannot_meet(bench: Bench) -> None:
    nodes = {"one": numbers(), "two": numbers(), "a": REFUSES, "b": REFUSES, "both": ("flow.union", {}), "bad": COLLECT}
    found = analysed(bench, nodes, "one>a, two>b, a.errors>both, b.errors>both, both>bad")
    assert [problem.node_id for problem in found.problems] == ["bad"]
    assert "give each of them a sink of its own" in found.problems[0].message


def test_a_script_says_that_it_cannot(bench: Bench) -> None:
    read = document({"gen": numbers(), "table": REFUSES, "bad": COLLECT}, "gen>table, table.errors>bad")
    script = script_write(bench.spark, read, connections={}, limits=Limits(), parameters={}, registry=REGISTRY)
    assert [(problem.node_id, "what it rejects goes on" in problem.message) for problem in script.problems] == [("table", True)]
