"""What groups and windows compute: what is refused while a job is drawn, and what a stream gives over several batches."""

from typing import Any

import pytest

from jobs.dag.problems import Problem
from jobs.engine.validation import analyse
from jobs.nodes.base import Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, numbers, windows
from tests.engine.nodes import CollectSink
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

#: A column of each type that counts here, called by it.
TYPED = {
    "text": "string(value)",
    "flag": "value > 1",
    "day": "date '2026-01-01'",
    "lasted": "interval '1' hour",
    "price": "cast(value as decimal(10, 2))",
    "half": "value / 2",
    "pairs": "map('a', value)",
    "nothing": "null",
}


def drawn(bench: Bench, node: tuple[str, dict[str, Any]], **given: Any) -> list[Problem]:
    """The problems of a job with `node`, to which the generator's columns and those of `TYPED` come."""
    columns = {"columns": [{"name": name, "expression": text} for name, text in TYPED.items()]}
    nodes = {"gen": numbers(), "typed": ("flow.compute_columns", columns), "per": node, "out": COLLECT}
    read = document(nodes, "gen>typed, typed>per, per>out", **given)
    limits = Limits(file_roots=(bench.files,), data_dir=bench.root)
    return analyse(bench.spark, read, connections={}, limits=limits, parameters={}, registry=REGISTRY).problems


def of_two(function: str, column: str) -> list[dict[str, str]]:
    return [{"name": "n"}, {"name": "x", "function": function, "column": column}]


@pytest.mark.parametrize("node_type", ["flow.aggregate", "flow.window_aggregate"])
def test_a_sum_of_what_is_no_number_is_refused_on_its_row(bench: Bench, node_type: str) -> None:
    more = {"time_column": "time"} if node_type == "flow.window_aggregate" else {}
    (problem,) = drawn(bench, (node_type, {**more, "aggregates": of_two("sum", "text")}))
    assert (problem.severity, problem.code, problem.pointer) == ("error", "node.refused", "/nodes/per/config/aggregates/1/column")
    assert problem.message == '"Per": sum needs numbers, and the column text is string: cast it before with Select fields'


@pytest.mark.parametrize(
    ("function", "columns", "refused"),
    [
        ("sum", "price half value lasted nothing", "text flag day time"),
        ("avg", "price half value lasted nothing", "text flag day time"),
        ("stddev", "price half value nothing", "text flag day time lasted"),
        ("p95", "price half value lasted day time nothing", "text flag"),
        ("percentile", "price half value lasted day time nothing", "text flag"),
        ("max", "price half text flag day time lasted", "pairs"),
        ("count", "text flag pairs", ""),
        ("count_distinct_exact", "price half text flag day time lasted nothing", "pairs"),
    ],
)
def test_a_function_takes_the_types_that_it_can_do_something_with(bench: Bench, function: str, columns: str, refused: str) -> None:
    rows = [{"name": f"x{name}", "function": function, "column": name} for name in columns.split()]
    assert drawn(bench, ("flow.aggregate", {"aggregates": rows})) == []
    for name in refused.split():
        (problem,) = drawn(bench, ("flow.aggregate", {"aggregates": of_two(function, name)}))
        assert problem.pointer == "/nodes/per/config/aggregates/1/column", name


def test_a_missing_column_is_told_on_its_row(bench: Bench) -> None:
    (problem,) = drawn(bench, windows(aggregates=of_two("sum", "vlaue")))
    assert problem.pointer == "/nodes/per/config/aggregates/1/column"
    assert problem.message.startswith('"Per": there is no column vlaue; did you mean value? The columns are id, time')


def test_a_published_job_that_sums_numbers_written_as_text_goes_on(bench: Bench) -> None:
    """It is told when it is drawn again: Spark sums such text, and a job that runs is not ended by a new version of the product."""
    nodes = {
        "gen": numbers(10),
        "text": ("flow.compute_columns", {"columns": [{"name": "text", "expression": "string(id)"}]}),
        "per": ("flow.aggregate", {"aggregates": [{"name": "s", "function": "sum", "column": "text"}]}),
        "out": ("sink.file", {"path": "out", "format": "parquet"}),
    }
    bench.completed(document(nodes, "gen>text, text>per, per>out"))
    assert [row.s for row in bench.parquet("out")] == [45.0]


def test_any_percentile_comes_out(bench: Bench) -> None:
    shares = {"p0": 0, "p50": None, "p999": 99.9, "p100": 100}
    rows = [
        {"name": name, "function": "percentile", "column": "id"} | ({} if share is None else {"percentile": share})
        for name, share in shares.items()
    ]
    out = ("sink.file", {"path": "out", "format": "parquet"})
    nodes = {"gen": numbers(1000), "per": ("flow.aggregate", {"aggregates": rows}), "out": out}
    bench.completed(document(nodes, "gen>per, per>out"))
    assert [row.asDict() for row in bench.parquet("out")] == [{"p0": 0, "p50": 499, "p999": 998, "p100": 999}]


def computed(**columns: str) -> tuple[str, dict[str, Any]]:
    return "flow.compute_columns", {"columns": [{"name": name, "expression": text} for name, text in columns.items()]}


EXACT = [{"name": "exact", "function": "count_distinct_exact", "column": "word"}]


def test_different_values_are_counted_exactly_over_the_batches_of_a_stream(bench: Bench) -> None:
    columns = computed(kind="id % 2", word="if(id % 10 = 0, null, concat('w', id % 1000))", at="timestamp_seconds(id div 1000 * 60)")
    per_minute = windows(time_column="at", aggregates=EXACT)
    nodes = {
        "gen": numbers(2000, batch=500),
        "words": columns,
        "per": ("flow.aggregate", {"group_by": ["kind"], "aggregates": EXACT}),
        "out": COLLECT,
        "minutes": per_minute,
        "windows": COLLECT,
    }
    plan = bench.plan(document(nodes, "gen>words, words>per, per>out, words>minutes, minutes>windows", type="STREAMING"))
    run, _ = bench.run(plan)

    def last(sink: str, key: str) -> dict[Any, int]:
        rows = [row for batch in list(CollectSink.rows[plan.generation + sink].values()) for row in batch]
        return {row[key]: row.exact for row in sorted(rows, key=lambda row: row.exact)}

    def told() -> tuple[dict[Any, int], list[int]]:
        return last("out", "kind"), list(last("windows", "window_start").values())

    wait_until(lambda: told() == ({0: 400, 1: 500}, [900, 900]), seconds=60, what="the exact counts of all rows")
    run.stop()
    assert run.wait(30) == "stopped"


@pytest.mark.parametrize("kind", ["tumbling", "sliding", "session"])
def test_different_values_are_counted_exactly_in_a_job_that_ends(bench: Bench, kind: str) -> None:
    more: dict[str, Any] = {"group_by": ["kind"], "kind": kind, "slide": "1 h"}
    aggregates = [*EXACT, {"name": "n"}, {"name": "keys", "function": "count_distinct_exact", "column": "key"}]
    nodes = {
        "gen": numbers(2000),
        "words": computed(kind="id % 2", word="if(id % 10 = 0, null, concat('w', id % 1000))", key="id % 4"),
        "per": windows("1 h", "close", **more, aggregates=aggregates),
        "out": ("sink.file", {"path": "out", "format": "parquet"}),
        "all": ("flow.aggregate", {"aggregates": aggregates}),
        "sums": ("sink.file", {"path": "sums", "format": "parquet"}),
    }
    bench.completed(document(nodes, "gen>words, words>per, per>out, words>all, all>sums"))
    assert sorted((row.kind, row.exact, row.n, row["keys"]) for row in bench.parquet("out")) == [(0, 400, 1000, 2), (1, 500, 1000, 2)]
    assert [(row.exact, row.n, row["keys"]) for row in bench.parquet("sums")] == [(900, 2000, 4)]


def test_a_stream_that_keeps_every_value_is_told(bench: Bench) -> None:
    exact = [{"name": "x", "function": "count_distinct_exact", "column": "text"}]
    (problem,) = drawn(bench, ("flow.aggregate", {"aggregates": exact}), type="STREAMING")
    assert (problem.severity, problem.pointer) == ("warning", "/nodes/per/config/aggregates")
    assert "keeps every different value of text for ever" in problem.message
    assert drawn(bench, windows(aggregates=exact), type="STREAMING") == []


def test_the_first_and_the_last_hold_over_the_batches_of_a_stream(bench: Bench) -> None:
    """Times go up and down from one batch to the next: the first comes in the middle, the last in the third batch of eight."""
    edges = [{"name": name, "function": name, "column": "word"} for name in ("first", "last")]
    nodes = {
        "gen": numbers(800, batch=100),
        "at": computed(kind="id % 2", at="timestamp_seconds(id * 7 % 800 div 2)", word="concat('w', id)"),
        "per": ("flow.aggregate", {"group_by": ["kind"], "time_column": "at", "aggregates": [{"name": "n"}, *edges]}),
        "out": COLLECT,
    }
    plan = bench.plan(document(nodes, "gen>at, at>per, per>out", type="STREAMING"))
    bench.drained(plan, 800)
    rows = sorted((row for batch in CollectSink.rows[plan.generation + "out"].values() for row in batch), key=lambda row: row.n)
    by_time = sorted(range(800), key=lambda number: (number * 7 % 800 // 2, f"w{number}"))
    of_kind = {kind: [f"w{number}" for number in by_time if number % 2 == kind] for kind in (0, 1)}
    assert {row.kind: (row.n, row.first, row.last) for row in rows} == {kind: (400, ids[0], ids[-1]) for kind, ids in of_kind.items()}


def test_the_first_of_what_has_no_order_of_its_own_goes_by_time_alone(bench: Bench) -> None:
    first = [{"name": "x", "function": "first", "column": "pairs"}]
    assert drawn(bench, ("flow.aggregate", {"time_column": "time", "aggregates": first})) == []
