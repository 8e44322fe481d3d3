"""Which sinks share a query and where their batches begin: told from the graph alone."""

from pathlib import Path
from typing import Any

import pytest

from jobs.engine.compiler import plan_compile
from jobs.engine.grouping import QueryPlan, is_whole, query_folder, query_plans
from jobs.engine.plan import Locations, Settings
from jobs.engine.steps import Steps
from jobs.nodes.base import Limits
from tests.engine.graphs import COLLECT, REGISTRY, document, keep, numbers, windows

PASS = keep("true")


def steps_of(drawn: Any) -> Steps:
    plan = plan_compile(
        drawn,
        job_uid="uid",
        generation="generation",
        attempt=1,
        fresh=True,
        parameters={},
        settings=Settings(),
        connections={},
        locations=Locations(Path("live"), Path("work")),
        limits=Limits(),
        registry=REGISTRY,
    )
    return Steps(plan, REGISTRY)


def plans(nodes: dict[str, Any], edges: str) -> dict[str, QueryPlan]:
    return {query.key: query for query in query_plans(steps_of(document(nodes, edges)))}


def test_a_line_streams_up_to_its_last_flow() -> None:
    found = plans({"gen": numbers(), "a": PASS, "b": PASS, "out": COLLECT}, "gen>a, a>b, b>out")
    assert {key: query.frontier for key, query in found.items()} == {"out": "b"}
    assert found["out"].streaming == ("gen", "a", "b")


def test_a_fan_out_splits_behind_its_common_node() -> None:
    found = plans({"gen": numbers(), "a": PASS, "x": PASS, "one": COLLECT, "two": COLLECT}, "gen>a, a>x, x>two, a>one")
    assert {key: query.frontier for key, query in found.items()} == {"one+two": "a"}


def test_a_stateless_diamond_runs_on_the_batch() -> None:
    found = plans(
        {"gen": numbers(), "a": PASS, "b": PASS, "both": ("flow.union", {}), "out": COLLECT}, "gen>a, gen>b, a>both, b>both, both>out"
    )
    assert found["out"].frontier == "gen"
    assert found["out"].repeated == frozenset()


def test_a_stateful_diamond_reads_its_source_per_way() -> None:
    found = plans(
        {"gen": numbers(), "a": windows(), "b": windows(), "both": ("flow.union", {}), "out": COLLECT},
        "gen>a, gen>b, a>both, b>both, both>out",
    )
    assert (found["out"].frontier, found["out"].repeated) == ("both", frozenset({"gen"}))


def test_sinks_behind_one_stateful_node_share_its_query() -> None:
    found = plans({"gen": numbers(), "win": windows(), "x": PASS, "one": COLLECT, "two": COLLECT}, "gen>win, win>x, x>one, win>two")
    assert {key: (query.frontier, query.output_mode) for key, query in found.items()} == {"one+two": ("win", "update")}


def test_a_stateful_branch_and_a_plain_one_get_queries_of_their_own_and_count_shared_nodes_once() -> None:
    found = plans({"gen": numbers(), "a": PASS, "win": windows(), "one": COLLECT, "two": COLLECT}, "gen>a, a>win, win>two, a>one")
    assert set(found) == {"one", "two"}
    assert found["one"].counted == {"gen", "a", "one"}
    assert found["two"].counted == {"win", "two"}
    assert (found["one"].output_mode, found["two"].output_mode) == ("append", "update")


def test_the_good_and_the_rejected_rows_of_a_node_share_a_query() -> None:
    nodes = {"gen": numbers(), "check": ("flow.rejects", {"condition": "true"}), "good": COLLECT, "bad": COLLECT}
    found = plans(nodes, "gen>check, check>good, check.errors>bad")
    assert {key: query.frontier for key, query in found.items()} == {"bad+good": "check"}


def test_separate_lines_are_separate_queries() -> None:
    found = plans({"g1": numbers(), "g2": numbers(), "a": COLLECT, "b": COLLECT}, "g1>a, g2>b")
    assert {key: query.frontier for key, query in found.items()} == {"a": "g1", "b": "g2"}


def test_a_sink_that_joins_another_source_does_not_drag_the_first_sink_along() -> None:
    found = plans(
        {"g1": numbers(), "g2": numbers(), "both": ("flow.union", {}), "a": COLLECT, "b": COLLECT}, "g1>a, g1>both, g2>both, both>b"
    )
    assert {key: query.frontier for key, query in found.items()} == {"a": "g1", "b": "both"}
    assert found["b"].counted == {"g2", "both", "b"}


@pytest.mark.parametrize(("key", "folder"), [("out", "out"), ("a+b_2", "a-b_2")])
def test_a_key_becomes_a_folder_name(key: str, folder: str) -> None:
    assert query_folder(key) == folder


def test_a_very_long_key_is_cut_and_stays_its_own() -> None:
    one, two = ("+".join(f"sink_{number}_{'x' * 50}" for number in range(count)) for count in (9, 10))
    assert len(query_folder(one)) <= 150
    assert query_folder(one) != query_folder(two)


@pytest.mark.parametrize("job_type", ["BATCH_ROLLER", "SQL_TASK"])
def test_what_ends_at_given_messages_is_read_whole_by_an_import_too(job_type: str) -> None:
    """Steps would go on to the newest message."""
    kafka: dict[str, Any] = {"connection": "main", "topic": "orders", "format": "text"}
    ends = [{}, {"end": "time", "end_time": "2026-02-28"}, {"end": "offsets", "end_offsets": '{"orders": {"0": 5}}'}]
    drawn = [document({"k": ("source.kafka", kafka | end), "out": COLLECT}, "k>out", type=job_type) for end in ends]
    assert [is_whole(steps_of(one)) for one in drawn] == [False, True, True]


ASIDE = ("flow.compute_columns", {"columns": [{"name": "n", "expression": "count(*) /* by (day) */ OVER (PARTITION BY id)"}]})
TEXTS: list[Any] = [
    ("flow.format", {"format": "text", "template": "Total (EUR) over ${id}"}),
    ("flow.compute_columns", {"columns": [{"name": "told", "expression": "concat('(EUR) over ', id)"}]}),
    ("flow.script", {"script": "# Orders (of a day) over the limit\nkeep if id > 1 # (EUR) over"}),
    ("flow.python", {"code": "def process(row):\n    # all (orders) over the limit\n    return row\n"}),
]


@pytest.mark.parametrize(("flow", "whole"), [(ASIDE, True), *((flow, False) for flow in TEXTS)])
def test_only_an_expression_over_other_rows_makes_one_batch_of_an_import(flow: Any, whole: bool) -> None:
    drawn = document({"gen": numbers(), "flow": flow, "out": COLLECT}, "gen>flow, flow>out", type="BATCH_ROLLER")
    assert is_whole(steps_of(drawn)) is whole
