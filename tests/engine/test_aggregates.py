"""What groups and windows compute: what is refused while a job is drawn, and what a stream gives over several batches."""

from typing import Any

import pytest

from jobs.dag.problems import Problem
from jobs.engine.validation import analyse
from jobs.nodes.base import Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, numbers, windows

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
        ("max", "price half text flag day time lasted", "pairs"),
        ("count", "text flag pairs", ""),
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
    assert problem.message.startswith('"Per": there is no column vlaue; the columns are id, time')


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
