"""Graphs that go on from the position of another, on a real Spark: the numbers of those that fit, and of those that are refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from checkpoints.cut import cut_restore, query_cut
from checkpoints.spark_folder import last_committed
from jobs.dag.document import DagDocument
from jobs.engine.graph_changes import Compatibility, changes_classify
from jobs.engine.graph_shape import GraphShape
from jobs.engine.grouping import query_folder
from jobs.engine.plan import Plan
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, keep, numbers, windows
from tests.engine.nodes import CollectSink

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]
HALF, ALL, BATCH = 200, 400, 50

Nodes = dict[str, Any]


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    return Bench(spark, tmp_path)


def kinds(expression: str = "id % 3") -> tuple[str, dict[str, Any]]:
    return "flow.compute_columns", {"columns": [{"name": "kind", "expression": expression}]}


def totals(function: str = "sum") -> tuple[str, dict[str, Any]]:
    return "flow.aggregate", {"group_by": ["kind"], "aggregates": [{"name": "n", "function": function, "column": "id"}]}


def drawn(nodes: Nodes, edges: str, rows: int = ALL) -> DagDocument:
    return document({"gen": numbers(rows, BATCH), **nodes}, edges, type="STREAMING")


def compared(before: Plan, after: Plan) -> Compatibility:
    return changes_classify(GraphShape(before, REGISTRY), GraphShape(after, REGISTRY))


def gone_on(bench: Bench, first: DagDocument, second: DagDocument) -> tuple[Plan, Plan, Compatibility]:
    """Half of the rows through the one graph, the rest through the other in a new generation, whatever is said of the two."""
    before, after = bench.plan(first), bench.plan(second)
    bench.drained(before, HALF)
    found = compared(before, after)
    for new, old in found.queries.items():
        live, cut = before.locations.live / query_folder(old), bench.root / "cuts" / before.generation / new
        query_cut(live, last_committed(live), cut, real_copy=False)
        cut_restore(cut, after.locations.live / query_folder(new))
    bench.drained(after, ALL - HALF)
    return before, after, found


def written(plan: Plan, sink: str = "out") -> dict[int, list[Any]]:
    return CollectSink.rows.get(plan.generation + sink, {})


def newest(*plans: Plan, sink: str = "out") -> dict[Any, Any]:
    """What a table would hold that takes the newest row of each group."""
    rows = [row for plan in plans for _, rows in sorted(written(plan, sink).items()) for row in rows]
    return {tuple(row)[:-1]: row.n for row in rows}


def ids(*plans: Plan, sink: str = "out") -> list[int]:
    return sorted(row.id for plan in plans for rows in written(plan, sink).values() for row in rows)


def grouped(
    function: Callable[[list[int]], int] = sum,
    kind: Callable[[int], int] = lambda id: id % 3,
    kept: Callable[[int], bool] = lambda id: True,
) -> dict[Any, int]:
    """What an aggregate over all rows from the beginning comes to."""
    chosen = [one for one in range(ALL) if kept(one)]
    return {(key,): function([one for one in chosen if kind(one) == key]) for key in range(3)}


def windowed(minutes: int) -> Callable[[Bench], dict[Any, int]]:
    def counted(bench: Bench) -> dict[Any, int]:
        plan = bench.plan(drawn(WINDOWED | {"per": windows(f"{minutes} min")}, "gen>per, per>out"))
        bench.drained(plan, ALL)
        return newest(plan)

    return counted


AGGREGATED: Nodes = {"kind": kinds(), "per": totals(), "out": COLLECT}
WINDOWED: Nodes = {"per": windows("1 min"), "out": COLLECT}
LINE = "gen>kind, kind>per, per>out"
FILTERED = "gen>few, few>kind, kind>per, per>out"
WRONG = [
    pytest.param(AGGREGATED, LINE, {"per": totals("max")}, LINE, lambda bench: grouped(max), id="another aggregate"),
    pytest.param(
        AGGREGATED,
        LINE,
        {"kind": kinds("(id * 2) % 3")},
        LINE,
        lambda bench: grouped(kind=lambda id: id * 2 % 3),
        id="another key expression",
        marks=pytest.mark.faults,
    ),
    pytest.param(WINDOWED, "gen>per, per>out", {"per": windows("2 min")}, "gen>per, per>out", windowed(2), id="another window"),
    pytest.param(
        AGGREGATED,
        LINE,
        {"few": keep("id % 2 = 0")},
        FILTERED,
        lambda bench: grouped(kept=lambda id: id % 2 == 0),
        id="a filter before an aggregate",
    ),
]


@pytest.mark.parametrize(("nodes", "edges", "change", "new_edges", "right"), WRONG)
def test_what_spark_takes_with_wrong_numbers_is_refused(
    bench: Bench, nodes: Nodes, edges: str, change: Nodes, new_edges: str, right: Callable[[Bench], dict[Any, int]]
) -> None:
    first, second, found = gone_on(bench, drawn(nodes, edges, HALF), drawn(nodes | change, new_edges))
    assert newest(first, second) != right(bench), "Spark gave right numbers: there would be nothing to refuse"
    assert [one.node_id for one in found.obstacles(allow_non_restored_state=True)] == ["per"]


def test_two_sources_that_changed_places_are_refused(bench: Bench) -> None:
    """Of files: each would go on in the other's files as if it had read so many of them."""
    for name in ("a", "b"):
        (bench.files / name).mkdir()
    table = [{"name": "id", "type": "long"}]

    def reading(one: str, other: str) -> DagDocument:
        nodes = {
            node_id: ("source.file", {"path": path, "format": "csv", "columns": table}) for node_id, path in (("x", one), ("y", other))
        }
        return document({**nodes, "all": ("flow.union", {}), "out": COLLECT}, "x>all, y>all, all>out", type="STREAMING")

    found = compared(bench.plan(reading("a", "b")), bench.plan(reading("b", "a")))
    assert {one.node_id: one.code for one in found.obstacles()} == {"x": "source.place", "y": "source.place"}


def test_a_filter_behind_an_aggregate_goes_on_with_its_state(bench: Bench) -> None:
    after = drawn(AGGREGATED | {"big": keep("n > 10")}, "gen>kind, kind>per, per>big, big>out")
    first, second, found = gone_on(bench, drawn(AGGREGATED, LINE, HALF), after)
    assert not found.obstacles()
    assert min(written(second)) == HALF // BATCH
    assert newest(first, second) == grouped()


def test_a_new_column_behind_a_stateless_source_goes_on_row_by_row(bench: Bench) -> None:
    first, second, found = gone_on(
        bench, drawn({"out": COLLECT}, "gen>out", HALF), drawn({"kind": kinds(), "out": COLLECT}, "gen>kind, kind>out")
    )
    assert not found.obstacles()
    assert ids(first, second) == list(range(ALL))
    assert {row.kind for rows in written(second).values() for row in rows} == {0, 1, 2}


def test_a_sink_more_goes_on_from_the_same_position_under_another_name(bench: Bench) -> None:
    more = drawn({"out": COLLECT, "too": COLLECT}, "gen>out, gen>too")
    first, second, found = gone_on(bench, drawn({"out": COLLECT}, "gen>out", HALF), more)
    assert found.queries == {"out+too": "out"}
    assert ids(first, second) == list(range(ALL))
    assert ids(second, sink="too") == list(range(HALF, ALL))


def test_a_sink_and_a_stateful_node_of_other_ids_go_on(bench: Bench) -> None:
    after = drawn({"kind": kinds(), "summed": totals(), "store": COLLECT}, "gen>kind, kind>summed, summed>store")
    first, second, found = gone_on(bench, drawn(AGGREGATED, LINE, HALF), after)
    assert found.queries == {"store": "out"}
    assert newest(first) | newest(second, sink="store") == grouped()


def test_a_source_more_is_read_from_its_start_and_the_other_goes_on(bench: Bench) -> None:
    both = document(
        {"gen": numbers(HALF, BATCH), "new": numbers(HALF, BATCH), "all": ("flow.union", {}), "out": COLLECT},
        "gen>all, new>all, all>out",
        type="STREAMING",
    )
    alone = drawn({"all": ("flow.union", {}), "out": COLLECT}, "gen>all, all>out", HALF)
    first, second, found = gone_on(bench, alone, both)
    assert not found.obstacles()
    assert ids(first) == list(range(HALF))
    assert ids(second) == list(range(HALF))


def test_a_source_less_leaves_the_other_where_it_was(bench: Bench) -> None:
    union: Nodes = {"all": ("flow.union", {}), "out": COLLECT}
    both = document(
        {"gen": numbers(HALF // 2, BATCH), "old": numbers(HALF // 2, BATCH), **union}, "gen>all, old>all, all>out", type="STREAMING"
    )
    first, second, found = gone_on(bench, both, drawn(union, "gen>all, all>out", HALF // 2 + ALL - HALF))
    assert not found.obstacles()
    assert ids(first) == sorted([*range(HALF // 2)] * 2)
    assert ids(second) == list(range(HALF // 2, HALF // 2 + ALL - HALF))


def test_in_one_generation_the_live_folder_itself_goes_on(bench: Bench) -> None:
    """With the number of its state's parts, whatever the parallelism is by now."""
    before = bench.plan(drawn(AGGREGATED, LINE, HALF))
    nodes = {"gen": numbers(ALL, BATCH), **AGGREGATED, "big": keep("n > 10")}
    changed = document(nodes, "gen>kind, kind>per, per>big, big>out", type="STREAMING", settings={"parallelism": 7})
    after = bench.plan(changed, generation=before.generation, attempt=2)
    found = compared(before, after)
    assert (found.in_place, found.obstacles()) == (True, ())
    assert {change.code for change in found.warnings} == {"settings.parallelism", "added", "inputs"}
    bench.drained(before, HALF)
    bench.drained(after, ALL - HALF)
    assert newest(after) == grouped()
