"""Numbers and other values of several types that a union or a key brings together: what is told of them while a job is drawn."""

from collections.abc import Callable
from typing import Any

import pytest

from jobs.dag.problems import Problem
from jobs.engine.validation import analyse
from jobs.nodes.base import Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, keep, numbers
from tests.engine.nodes import CollectSink

pytestmark = pytest.mark.spark

Told = Callable[..., list[Problem]]
WHOLE, FRACTION = "CAST(id AS decimal(38,0))", "CAST(id + 0.4 AS decimal(38,18))"
UNION: tuple[str, dict[str, Any]] = ("flow.union", {})


def computed(**given: str) -> tuple[str, dict[str, Any]]:
    return "flow.compute_columns", {"columns": [{"name": name, "expression": text} for name, text in given.items()]}


def meeting(one: str, other: str, meet: tuple[str, dict[str, Any]]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Two inputs of three rows, each with a column that meets that of the other: x in both, or y and a number n where keys meet."""
    second = computed(x=other) if meet == UNION else computed(y=other, n="id")
    return {"a": numbers(3), "b": numbers(3), "one": computed(x=one), "other": second, "meet": meet, "out": COLLECT}


def keyed(kind: str, *names: str) -> tuple[str, dict[str, Any]]:
    """`names`: keys of the same name in both inputs, before x and y."""
    keys = [*({"left": name} for name in names), {"left": "x", "right": "y"}]
    return kind, {"keys": keys, **({"columns": ["n"]} if kind == "flow.lookup" else {})}


EDGES = {
    "flow.union": "a>one, b>other, one>meet, other>meet, meet>out",
    # The second input is drawn first: which edge leads where is told by its port alone.
    "flow.join": "a>one, b>other, other>meet.right, one>meet.left, meet>out",
    "flow.lookup": "a>one, b>other, other>meet.table, one>meet, meet>out",
}


@pytest.fixture
def told(bench: Bench) -> Told:
    def found(one: str, other: str, meet: tuple[str, dict[str, Any]]) -> list[Problem]:
        drawn = document(meeting(one, other, meet), EDGES[meet[0]], type="SQL_TASK")
        return analyse(bench.spark, drawn, connections={}, limits=Limits(), parameters={}, registry=REGISTRY).problems

    return found


def test_digits_that_a_union_rounds_away_are_warned_of(told: Told) -> None:
    (problem,) = told(WHOLE, FRACTION, UNION)
    assert (problem.severity, problem.code, problem.pointer) == ("warning", "numbers.rounded", "/nodes/meet")
    assert problem.message == (
        '"Meet": the column x is decimal(38,0), decimal(38,18) in the inputs: together it is decimal(38,0), which keeps 0 digits behind '
        "the point and rounds the rest; cast one of them to fewer digits before"
    )
    (problem,) = told("array(id)", "array(CAST(id AS decimal(38,30)))", UNION)
    assert "the column x.element is bigint, decimal(38,30) in the inputs: together it is decimal(38,18)" in problem.message
    assert told("id", FRACTION, UNION) == []


@pytest.mark.parametrize("kind", ["flow.join", "flow.lookup"])
def test_keys_that_match_though_they_differ_are_warned_of(told: Told, kind: str) -> None:
    (problem,) = told(WHOLE, FRACTION, keyed(kind, "key"))
    assert (problem.severity, problem.code, problem.pointer) == ("warning", "numbers.rounded", "/nodes/meet/config/keys/1/right")
    assert problem.message == (
        '"Meet": x is decimal(38,0) and y is decimal(38,18): their numbers are compared as decimal(38,0), which keeps 0 digits behind '
        "the point and rounds the rest, so keys that differ may match; cast one of them to fewer digits before"
    )
    (problem,) = told("id", "id / 2", keyed(kind, "key"))
    assert problem.pointer == "/nodes/meet/config/keys/1/right"
    assert "x is bigint and y is double: their numbers are compared as floating point, which keeps about 15 digits" in problem.message
    assert told("CAST(id AS int)", "id / 2", keyed(kind, "key")) == []


@pytest.mark.parametrize("kind", ["flow.join", "flow.lookup"])
def test_keys_that_never_mean_the_same_are_refused_at_their_field(told: Told, kind: str) -> None:
    (problem,) = told("id", "current_timestamp()", keyed(kind, "key"))
    assert (problem.severity, problem.pointer) == ("error", "/nodes/meet/config/keys/1/right")
    assert problem.message == '"Meet": x is bigint and y is timestamp: these never mean the same; cast one of them before'
    (problem,) = told("array(id)", "array('1')", keyed(kind, "key"))
    assert "x is array<bigint> and y is array<string>: these never mean the same" in problem.message
    assert told("current_date()", "current_timestamp()", keyed(kind, "key")) == []


@pytest.mark.parametrize("kind", ["flow.join", "flow.lookup"])
@pytest.mark.parametrize(
    ("one", "other", "field"), [("map(1, id)", "map(1, id)", "left"), ("named_struct('m', id)", "named_struct('m', map(1, id))", "right")]
)
def test_maps_as_keys_are_refused_at_their_field(told: Told, kind: str, one: str, other: str, field: str) -> None:
    (problem,) = told(one, other, keyed(kind, "key"))
    assert (problem.severity, problem.pointer) == ("error", f"/nodes/meet/config/keys/1/{field}")
    assert "maps and variants cannot be compared: take another column" in problem.message


@pytest.mark.parametrize("kind", ["flow.join", "flow.lookup"])
def test_a_key_that_is_no_number_matches_itself(bench: Bench, kind: str) -> None:
    """As NaN = NaN holds in Spark, also of a column that is NaN in each row and a table that is kept."""
    nodes = meeting("double('NaN')", "if(id = 1, double('NaN'), double(id))", keyed(kind))
    plan = bench.plan(document(nodes, EDGES[kind]))
    run, _ = bench.run(plan)
    assert run.wait(90) == "completed"
    assert [row.n for batch in CollectSink.rows[plan.generation + "out"].values() for row in batch] == [1, 1, 1]


def test_what_is_no_number_passes_a_filter_over_rows_that_are_kept(bench: Bench) -> None:
    """NaN is more than any number, and Spark's note of the numbers that it keeps for both sinks leaves it out."""
    odd = computed(x="if(id = 1, double('NaN'), double(id))")
    nodes = {"a": numbers(3), "odd": odd, "big": keep("x > 5"), "all": COLLECT, "out": COLLECT}
    plan = bench.plan(document(nodes, "a>odd, odd>all, odd>big, big>out"))
    run, _ = bench.run(plan)
    assert run.wait(90) == "completed"
    assert [row.id for batch in CollectSink.rows[plan.generation + "out"].values() for row in batch] == [1]
