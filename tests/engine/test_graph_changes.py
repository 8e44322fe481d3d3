"""What may be changed of a graph that goes on from a checkpoint: told from the graphs alone."""

import json
import re
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from jobs.engine.change_words import SENTENCES
from jobs.engine.compiler import PlanInvalid, settings_resolve
from jobs.engine.graph_changes import Compatibility, changes_classify
from jobs.engine.graph_shape import GraphShape, graph_shape
from tests.engine.graphs import COLLECT, REGISTRY, document, files, keep, numbers, windows

Nodes = dict[str, Any]
Change = Callable[[Nodes], Any]


def kafka(topic: str = "orders", **config: Any) -> tuple[str, dict[str, Any]]:
    columns = [{"name": "id", "type": "long"}, {"name": "time", "type": "timestamp"}]
    return "source.kafka", {"connection": "main", "topic": topic, "columns": columns, **config}


def sums(function: str = "sum", **config: Any) -> tuple[str, dict[str, Any]]:
    return "flow.aggregate", {"group_by": ["kind"], "aggregates": [{"name": "n", "function": function, "column": "id"}], **config}


def distinct(*keys: str, **config: Any) -> tuple[str, dict[str, Any]]:
    return "flow.deduplicate", {"keys": list(keys), "time_column": "time", **config}


def joined(**config: Any) -> tuple[str, dict[str, Any]]:
    return "flow.join", {"keys": [{"left": "id", "right": "id"}], "left_time": "time", "right_time": "time", **config}


def columns(**expressions: str) -> tuple[str, dict[str, Any]]:
    return "flow.compute_columns", {"columns": [{"name": name, "expression": text} for name, text in expressions.items()]}


def shape(nodes: Nodes, edges: str, *, parameters: dict[str, Any] | None = None, **given: Any) -> GraphShape:
    read = document(nodes, edges, **{"type": "STREAMING", **given})
    return graph_shape(read, parameters=parameters or {}, settings=settings_resolve(read, {}), registry=REGISTRY)


def told(before: GraphShape, after: GraphShape) -> dict[str, str]:
    """Node → code of what became of it, without those that go on as they are."""
    return {change.node_id: change.code for change in changes_classify(before, after).changes if change.code != "same"}


#: Named by shape: its nodes and edges.
SHAPES: dict[str, tuple[Nodes, str]] = {
    "aggregated": (
        {"orders": kafka(), "key": columns(kind="id % 3"), "per": sums(), "big": keep("n > 1"), "out": COLLECT},
        "orders>key, key>per, per>big, big>out",
    ),
    "windowed": ({"orders": kafka(), "per": windows(), "out": COLLECT}, "orders>per, per>out"),
    "distinct": ({"orders": kafka(), "once": distinct("id"), "out": COLLECT}, "orders>once, once>out"),
    "joined": (
        {"a": kafka(), "b": kafka("paid"), "both": joined(), "out": COLLECT},
        "a>both.left, b>both.right, both>out",
    ),
    "plain": (
        {"orders": kafka(), "some": keep("id > 1"), "more": columns(twice="id * 2"), "out": files("out")},
        "orders>some, some>more, more>out",
    ),
    "united": ({"a": kafka(), "b": kafka("paid"), "all": ("flow.union", {}), "out": COLLECT}, "a>all, b>all, all>out"),
}


def changed(name: str, **nodes: Any) -> GraphShape:
    found, edges = SHAPES[name]
    return shape(found | nodes, edges)


def original(name: str) -> GraphShape:
    return shape(*SHAPES[name])


@pytest.mark.parametrize("name", SHAPES)
def test_a_graph_that_is_drawn_anew_is_the_same(name: str) -> None:
    nodes, edges = SHAPES[name]
    read = document(nodes, edges, type="STREAMING")
    moved = read.model_copy(update={"title": "Other", "description": "words"})
    renamed = {node_id: node.model_copy(update={"name": f"Now {node_id}"}) for node_id, node in moved.nodes.items()}
    after = graph_shape(moved.model_copy(update={"nodes": renamed}), parameters={}, settings=settings_resolve(moved, {}), registry=REGISTRY)
    found = changes_classify(original(name), after)
    assert {change.verdict for change in found.changes} == {"same"}
    assert {change.node_id for change in found.changes} == set(nodes)
    assert found.in_place
    assert not found.obstacles()


FRESH = [
    pytest.param("aggregated", {"per": sums("max")}, {"per": "state.settings"}, id="another aggregate of one type"),
    pytest.param("aggregated", {"key": columns(kind="id % 4")}, {"key": "rows", "per": "state.above"}, id="another key expression"),
    pytest.param("aggregated", {"per": sums(group_by=["id"])}, {"per": "state.settings"}, id="other keys"),
    pytest.param("windowed", {"per": windows("5 min")}, {"per": "state.settings"}, id="another window size"),
    pytest.param("windowed", {"per": windows(emit="close")}, {"per": "state.settings"}, id="another way to send"),
    pytest.param("windowed", {"per": windows("5 min", late="2 h")}, {"per": "state.settings"}, id="another window size, and later rows"),
    pytest.param("distinct", {"once": distinct("id", "time")}, {"once": "state.settings"}, id="other keys of what is distinct"),
    pytest.param("distinct", {"once": distinct("id", within="1 d")}, {"once": "state.settings"}, id="another time to remember"),
    pytest.param("joined", {"both": joined(keys=[{"left": "id", "right": "time"}])}, {"both": "state.settings"}, id="other keys of a join"),
    pytest.param("joined", {"both": joined(after="2 h")}, {"both": "state.settings"}, id="another span of a join"),
    pytest.param(
        "aggregated", {"orders": kafka(format="csv")}, {"orders": "rows", "per": "state.above"}, id="messages read in another format"
    ),
    pytest.param("plain", {"orders": kafka("returns")}, {"orders": "source.place"}, id="another topic"),
    pytest.param(
        "joined",
        {"a": kafka("paid"), "b": kafka()},
        {"a": "source.place", "b": "source.place", "both": "state.above"},
        id="sources that changed places",
    ),
    pytest.param("united", {"a": kafka("paid"), "b": kafka()}, {"a": "source.place", "b": "source.place"}, id="the same without state"),
    pytest.param("plain", {"orders": numbers()}, {"orders": "source.type"}, id="a source of another type"),
]


@pytest.mark.parametrize(("name", "nodes", "codes"), FRESH)
def test_what_spark_would_take_with_wrong_numbers_needs_a_fresh_start(name: str, nodes: Nodes, codes: dict[str, str]) -> None:
    assert told(original(name), changed(name, **nodes)) == codes
    found = changes_classify(original(name), changed(name, **nodes))
    assert found.obstacles(allow_non_restored_state=True)
    assert all(len(change.message) > 20 for change in found.obstacles())


@pytest.mark.parametrize(
    ("before", "after", "moved"),
    [
        pytest.param({}, {"order": "name"}, "order", id="copied from now on"),
        pytest.param({"order": "name"}, {}, "order", id="copied no more"),
        pytest.param({"connection": "lake"}, {"connection": "lake", "order": "name"}, "", id="copied in any order"),
        pytest.param({"connection": "lake"}, {"connection": "lake", "subfolders": True}, "subfolders", id="copies under other names"),
        pytest.param({"order": "name", "subfolders": True}, {"order": "name"}, "subfolders", id="the same by name"),
        pytest.param({"order": "name"}, {"subfolders": True}, "order", id="copied no more, from all folders"),
        pytest.param({}, {"subfolders": True}, "", id="read where they are"),
    ],
)
def test_files_that_spark_would_know_by_another_path_need_a_fresh_start(before: dict[str, Any], after: dict[str, Any], moved: str) -> None:
    def watched(config: dict[str, Any]) -> GraphShape:
        listed = {"path": "in", "columns": [{"name": "id", "type": "long"}]}
        return shape({"src": ("source.file", listed | config), "out": COLLECT}, "src>out")

    obstacles = changes_classify(watched(before), watched(after)).obstacles()
    assert [(change.code, change.facts["fields"]) for change in obstacles] == ([("source.place", moved)] if moved else [])


def test_a_filter_before_an_aggregate_is_named() -> None:
    nodes, _ = SHAPES["aggregated"]
    after = shape(nodes | {"few": keep("id < 9")}, "orders>few, few>key, key>per, per>big, big>out")
    (obstacle,) = changes_classify(original("aggregated"), after).obstacles()
    assert (obstacle.node_id, obstacle.code) == ("per", "state.above")
    assert '"Few"' in obstacle.message
    back = changes_classify(after, original("aggregated"))
    assert [change.node_id for change in back.obstacles()] == ["per"]
    assert '"Few"' in back.obstacles()[0].message
    assert {change.node_id: change.code for change in back.changes}["few"] == "removed"


def test_a_stateful_node_put_in_or_taken_out_is_refused() -> None:
    with_state = shape({"orders": kafka(), "once": distinct("id"), "out": COLLECT}, "orders>once, once>out")
    without = shape({"orders": kafka(), "out": COLLECT}, "orders>out")
    assert told(without, with_state)["once"] == "state.added"
    assert told(with_state, without)["once"] == "state.removed"


def test_two_stateful_nodes_that_change_places_are_refused() -> None:
    nodes = {"orders": kafka(), "one": distinct("id"), "two": distinct("id", "time"), "out": COLLECT}
    found = changes_classify(shape(nodes, "orders>one, one>two, two>out"), shape(nodes, "orders>two, two>one, one>out"))
    assert {change.node_id for change in found.obstacles()} == {"one", "two"}


def test_branches_with_state_that_change_their_order_are_refused() -> None:
    """Spark numbers its operators by their place: each branch would go on with the other's state."""
    nodes = {"a": kafka(), "b": kafka("paid"), "one": distinct("id"), "two": distinct("id"), "all": ("flow.union", {}), "out": COLLECT}
    before = shape(nodes, "a>one, b>two, one>all, two>all, all>out")
    after = shape(nodes, "a>one, b>two, two>all, one>all, all>out")
    assert {change.code for change in changes_classify(before, after).obstacles()} == {"state.order"}


COMPATIBLE = [
    pytest.param("aggregated", {"big": keep("n > 2")}, {"big": "rows"}, id="a filter behind the aggregate"),
    pytest.param("plain", {"more": columns(twice="id * 2", half="id / 2")}, {"more": "rows"}, id="a new column"),
    pytest.param("plain", {"some": keep("id > 2")}, {"some": "rows"}, id="a filter without state"),
    pytest.param("windowed", {"per": windows(late="2 h")}, {"per": "rows"}, id="later rows are taken into a window"),
    pytest.param("plain", {"out": files("elsewhere")}, {"out": "sink.rows"}, id="another path"),
    pytest.param("plain", {"out": COLLECT}, {"out": "sink.type"}, id="a sink of another type"),
    pytest.param("plain", {"orders": kafka(format="text", columns=[])}, {"orders": "rows"}, id="another format without state"),
]


@pytest.mark.parametrize(("name", "nodes", "codes"), COMPATIBLE)
def test_what_leaves_all_state_right_may_change_with_a_warning(name: str, nodes: Nodes, codes: dict[str, str]) -> None:
    found = changes_classify(original(name), changed(name, **nodes))
    assert {change.node_id: change.code for change in found.changes if change.code != "same"} == codes
    assert {change.verdict for change in found.warnings} == {"compatible_with_warning"}
    assert not found.obstacles()
    assert found.in_place


@pytest.mark.parametrize("name", ["aggregated", "plain"])
def test_how_fast_is_read_changes_nothing(name: str) -> None:
    found = changes_classify(original(name), changed(name, orders=kafka(max_records_per_trigger=7, group_id="g", start="latest")))
    assert [(change.node_id, change.verdict) for change in found.changes if change.code != "same"] == [("orders", "compatible")]
    assert "max records per trigger" in next(change.message for change in found.changes if change.code == "pace")


def test_a_flow_whose_id_changed_is_the_same() -> None:
    nodes, _ = SHAPES["aggregated"]
    other = {"summed" if node_id == "per" else node_id: node for node_id, node in nodes.items()}
    found = changes_classify(original("aggregated"), shape(other, "orders>key, key>summed, summed>big, big>out"))
    assert {change.verdict for change in found.changes} == {"same"}
    assert next(change for change in found.changes if change.node_id == "summed").facts == {"before": "per", "after": "summed"}


def test_a_source_whose_id_changed_would_be_read_again() -> None:
    after = shape({"other": kafka(), "out": COLLECT}, "other>out")
    before = shape({"orders": kafka(), "out": COLLECT}, "orders>out")
    (obstacle,) = changes_classify(before, after).obstacles()
    assert obstacle.node_id == "other"
    assert obstacle.code in ("source.id", "source.none")


def test_a_sink_whose_id_changed_goes_on_under_its_new_name_in_a_new_generation_only() -> None:
    before = shape({"orders": kafka(), "out": files("a")}, "orders>out")
    found = changes_classify(before, shape({"orders": kafka(), "store": files("a")}, "orders>store"))
    assert {change.node_id: change.code for change in found.changes} == {"orders": "same", "store": "sink.id"}
    assert found.queries == {"store": "out"}
    assert not found.in_place


def test_a_sink_more_gets_rows_from_here_on_and_a_sink_less_none() -> None:
    one = shape({"orders": kafka(), "out": files("a")}, "orders>out")
    two = shape({"orders": kafka(), "out": files("a"), "too": files("b")}, "orders>out, orders>too")
    more, less = changes_classify(one, two), changes_classify(two, one)
    assert told(one, two) == {"too": "sink.added"}
    assert (more.queries, more.in_place, more.obstacles()) == ({"out+too": "out"}, False, ())
    assert told(two, one) == {"too": "sink.removed"}
    assert (less.queries, less.in_place, less.obstacles()) == ({"out": "out+too"}, False, ())


def test_a_sink_with_a_query_of_its_own_is_filled_from_the_start() -> None:
    one = shape({"orders": kafka(), "out": files("a")}, "orders>out")
    two = shape({"orders": kafka(), "out": files("a"), "per": windows(), "sums": COLLECT}, "orders>out, orders>per, per>sums")
    found = changes_classify(one, two)
    assert told(one, two) == {"per": "added", "sums": "sink.filled"}
    assert (found.queries, found.in_place, found.obstacles()) == ({"out": "out"}, True, ())


def test_state_without_a_reader_is_left_behind_only_where_that_is_allowed() -> None:
    one = shape({"orders": kafka(), "out": files("a")}, "orders>out")
    two = shape({"orders": kafka(), "out": files("a"), "per": windows(), "sums": COLLECT}, "orders>out, orders>per, per>sums")
    found = changes_classify(two, one)
    assert told(two, one) == {"per": "state.dropped", "sums": "sink.removed"}
    assert [change.node_id for change in found.obstacles()] == ["per"]
    assert not found.obstacles(allow_non_restored_state=True)
    assert not found.in_place


def test_two_queries_do_not_become_one() -> None:
    nodes = {"orders": kafka(), "per": windows(), "a": COLLECT, "b": COLLECT}
    apart = shape(nodes, "orders>per, per>a, orders>b")
    together = shape(nodes, "orders>per, per>a, per>b")
    assert {change.code for change in changes_classify(apart, together).obstacles()} == {"sink.merged"}


def test_other_sinks_and_sources_leave_nothing_to_go_on_from() -> None:
    one = shape({"orders": kafka(), "out": files("a")}, "orders>out")
    assert told(one, shape({"orders": kafka(), "new": files("b")}, "orders>new"))["new"] == "sink.anew"
    assert told(one, shape({"other": kafka("z"), "out": files("a")}, "other>out"))["other"] == "source.none"


def test_a_source_may_come_and_go_where_nothing_is_kept() -> None:
    two = original("united")
    one = shape({"a": kafka(), "all": ("flow.union", {}), "out": COLLECT}, "a>all, all>out")
    assert told(one, two) == {"b": "source.added", "all": "inputs"}
    assert told(two, one) == {"b": "source.removed", "all": "inputs"}
    assert not changes_classify(two, one).obstacles()


def test_a_source_that_was_taken_out_does_not_come_back_under_its_id() -> None:
    """Spark's folder still holds what it kept of the first one."""
    one = shape({"a": kafka(), "all": ("flow.union", {}), "out": COLLECT}, "a>all, all>out")
    found = changes_classify(one, original("united"), read_earlier={"a", "b"})
    assert [(change.node_id, change.code) for change in found.obstacles()] == [("b", "source.again")]


def test_a_source_that_is_read_twice_keeps_its_edges() -> None:
    nodes = {"orders": kafka(), "some": keep("id > 1"), "both": joined(), "out": COLLECT}
    before = shape(nodes, "orders>both.left, orders>some, some>both.right, both>out")
    after = shape(nodes, "some>both.right, orders>both.left, orders>some, both>out")
    assert told(before, before) == {}
    assert told(before, after)["orders"] in ("source.edges", "source.none")


def test_edges_of_a_source_that_is_read_twice_are_not_exchanged() -> None:
    nodes = {"orders": kafka(), "some": keep("id > 1"), "both": joined(), "out": COLLECT}
    before = shape(nodes, "orders>both.left, orders>some, some>both.right, both>out")
    assert told(before, shape(nodes, "orders>some, orders>both.left, some>both.right, both>out")) == {"orders": "source.edges"}


def test_branches_that_part_and_meet_too_often_are_refused_and_not_walked() -> None:
    nodes: Nodes = {"n0": kafka(), "per": windows(), "out": COLLECT}
    edges = []
    for number in range(1, 41):
        nodes |= {f"n{number}": ("flow.union", {}), f"k{number}": keep("id > 1")}
        edges += [f"n{number - 1}>n{number}", f"n{number - 1}>k{number}", f"k{number}>n{number}"]
    with pytest.raises(PlanInvalid, match="more than 1,000 times"):
        shape(nodes, ", ".join([*edges, "n40>per", "per>out"]))


def test_names_matter_where_a_query_is_written_over_them() -> None:
    nodes = {"orders": kafka(), "per": ("flow.sql", {"query": "select id, count(*) n from orders group by id"}), "out": COLLECT}
    before = document(nodes, "orders>per, per>out", type="STREAMING")
    renamed = before.model_copy(update={"nodes": before.nodes | {"orders": before.nodes["orders"].model_copy(update={"name": "Returns"})}})
    settings = settings_resolve(before, {})
    shapes = [graph_shape(one, parameters={}, settings=settings, registry=REGISTRY) for one in (before, renamed)]
    assert told(*shapes) == {"per": "state.above"}


SETTINGS = [
    pytest.param("windowed", {"state_store": "memory"}, "settings.state_store", "needs_fresh_start", id="state store"),
    pytest.param("windowed", {"time_zone": "Asia/Tokyo"}, "settings.time_zone", "needs_fresh_start", id="time zone"),
    pytest.param("windowed", {"parallelism": 7}, "settings.parallelism", "compatible_with_warning", id="parallelism"),
    pytest.param("plain", {"time_zone": "Asia/Tokyo"}, "settings.zone_of_rows", "compatible_with_warning", id="time zone of rows"),
    pytest.param("plain", {"rejected_rows": "fail"}, "settings.rejected_rows", "compatible_with_warning", id="rejected rows"),
    pytest.param("plain", {"state_store": "memory"}, None, "same", id="a store that nothing is kept in"),
    pytest.param("plain", {"parallelism": 7, "max_retry_times": 1}, None, "same", id="parallelism without state"),
]


@pytest.mark.parametrize(("name", "settings", "code", "verdict"), SETTINGS)
def test_settings_count_where_they_decide(name: str, settings: dict[str, Any], code: str | None, verdict: str) -> None:
    nodes, edges = SHAPES[name]
    found = changes_classify(original(name), shape(nodes, edges, settings=settings))
    assert [(change.code, change.verdict) for change in found.changes if not change.node_id] == ([(code, verdict)] if code else [])


def test_a_parameter_counts_where_it_is_used() -> None:
    nodes = {"orders": kafka(), "some": keep("id > ${floor}"), "per": windows(), "out": COLLECT}
    given: dict[str, Any] = {"parameters": {"floor": {"type": "integer", "default": 0}, "other": {"type": "integer", "default": 0}}}

    def valued(**values: int) -> GraphShape:
        read = document(nodes, "orders>some, some>per, per>out", type="STREAMING", **given)
        return graph_shape(read, parameters=values, settings=settings_resolve(read, {}), registry=REGISTRY)

    assert told(valued(floor=1), valued(floor=1, other=5)) == {}
    assert told(valued(floor=1), valued(floor=2)) == {"some": "rows", "per": "state.above"}


def test_a_persons_code_is_given_all_parameters() -> None:
    own = ("flow.python", {"code": "def process(row):\n    return row['id'] > parameters['floor']\n"})
    nodes = {"orders": kafka(), "own": own, "per": windows(), "out": COLLECT}

    def valued(floor: int) -> GraphShape:
        read = document(nodes, "orders>own, own>per, per>out", type="STREAMING", parameters={"floor": {"type": "integer", "default": 0}})
        return graph_shape(read, parameters={"floor": floor}, settings=settings_resolve(read, {}), registry=REGISTRY)

    assert told(valued(1), valued(1)) == {}
    assert told(valued(1), valued(2)) == {"own": "rows", "per": "state.above"}


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"keys": ["value"]}, "keys"),
        ({"state": [{"name": "count", "type": "int"}]}, "state"),
        ({"columns": [{"name": "count", "type": "int"}]}, "columns"),
        ({"code": "def process(key, rows, state, timers): pass"}, "code"),
        ({"time": "processing"}, "time"),
    ],
)
def test_state_of_a_persons_code_is_bound_to_what_made_it(changed: dict[str, Any], what: str) -> None:
    def kept(**config: Any) -> GraphShape:
        nodes = {"orders": kafka(), "own": ("flow.stateful", {"keys": ["key"], **config}), "out": COLLECT}
        return shape(nodes, "orders>own, own>out")

    assert told(kept(), kept()) == {}
    (change,) = changes_classify(kept(), kept(**changed)).obstacles()
    assert (change.node_id, change.code, change.facts) == ("own", "state.settings", {"fields": what})


def test_what_is_read_whole_begins_anew_when_it_changes() -> None:
    nodes = {"gen": numbers(), "per": sums(group_by=["id"]), "out": COLLECT}
    whole = shape(nodes, "gen>per, per>out", type="BATCH_ROLLER")
    assert told(whole, whole) == {}
    assert told(whole, shape(nodes | {"per": sums("max", group_by=["id"])}, "gen>per, per>out", type="BATCH_ROLLER"))[""] == "whole.changed"
    paged = shape({"gen": numbers(), "out": COLLECT}, "gen>out", type="BATCH_ROLLER")
    assert told(paged, whole)[""] == "whole.other"
    assert told(whole, paged)[""] == "whole.other"
    assert told(paged, shape({"gen": numbers(), "out": COLLECT}, "gen>out"))[""] == "settings.job_type"


def test_the_reference_of_a_lookup_is_no_position() -> None:
    def looked(path: str) -> GraphShape:
        table = ("source.file", {"path": path, "format": "csv", "columns": [{"name": "id", "type": "long"}]})
        lookup = ("flow.lookup", {"keys": [{"left": "id", "right": "id"}], "columns": []})
        return shape({"orders": kafka(), "table": table, "with": lookup, "out": COLLECT}, "orders>with, table>with.table, with>out")

    found: Compatibility = changes_classify(looked("a.csv"), looked("b.csv"))
    assert not found.obstacles()
    assert {change.node_id: change.code for change in found.changes if change.code != "same"} == {"table": "rows"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_browser_has_words_for_every_change(language: str) -> None:
    """In English the very same, so that the two cannot come apart."""
    place = Path(__file__).resolve().parents[2] / "frontend/src/shared/checkpoints/changes/locales" / f"{language}.json"
    found = json.loads(place.read_text(encoding="utf-8"))["of"]
    for code, (_, sentence) in SENTENCES.items():
        words = reduce(lambda words, part: words[part], code.split("."), found)
        if language == "en":
            assert words == sentence.replace("{", "{{").replace("}", "}}")
        assert set(re.findall(r"\{\{(\w+)\}\}", words)) == set(re.findall(r"\{(\w+)\}", sentence)), code
