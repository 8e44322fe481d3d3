"""What can be told of a stream in real time from its document alone: whether it may, its queries, and what a change of mind means."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from jobs.dag.document import DagDocument
from jobs.dag.graph import structure_problems
from jobs.engine import real_time
from jobs.engine.failure import AtNode
from jobs.engine.graph_changes import changes_classify
from jobs.engine.graph_shape import GraphShape
from jobs.engine.grouping import query_plans
from jobs.engine.real_time import TaskSlots
from jobs.engine.steps import Steps
from jobs.nodes.base import Flow, NodeContext, NodeError
from jobs.nodes.registry import NODE_TYPES, NodeRegistry
from jobs.nodes.sources.generator import GeneratorConfig, GeneratorSource
from tests.engine.graphs import REGISTRY, Bench, document, keep, numbers, windows
from tests.engine.test_graph_changes import Nodes, columns, distinct, kafka, shape

WAYS: tuple[Nodes, str] = (
    {
        "in": kafka(),
        "some": keep("id > 1"),
        "a": ("sink.kafka", {"connection": "main", "topic": "a"}),
        "b": ("sink.kafka", {"connection": "main", "topic": "b"}),
    },
    "in>some, some>a, some>b",
)
LINE: tuple[Nodes, str] = ({"in": kafka(), "some": keep("id > 1"), "a": WAYS[0]["a"]}, "in>some, some>a")


def drawn(nodes: Nodes, edges: str, *, type: str = "STREAMING", **settings: Any) -> DagDocument:
    return document(nodes, edges, type=type, settings={"trigger": "real_time", "trigger_interval": "5s", **settings})


def told(read: DagDocument) -> list[tuple[str, str]]:
    """(node or pointer, message) of what stands in the way of real time."""
    found = structure_problems(read, REGISTRY.catalogue())
    return [(problem.node_id or problem.pointer, problem.message) for problem in found if problem.code.startswith("real_time.")]


def in_real_time(nodes: Nodes, edges: str) -> GraphShape:
    return shape(nodes, edges, settings={"trigger": "real_time", "trigger_interval": "5s"})


def test_a_line_from_kafka_to_kafka_may() -> None:
    assert told(drawn(*LINE)) == []


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (windows(), "it keeps something from one batch to the next"),
        (distinct("id"), "it keeps something from one batch to the next"),
        (("flow.sql", {"query": "select id, count(*) from input group by id"}), "it keeps something from one batch to the next"),
        (("flow.python", {"code": "def row(r): return r", "columns": [{"name": "id", "type": "long"}]}), "it works on whole batches"),
        (("flow.repartition", {"partitions": 2}), "it works on whole batches"),
    ],
)
def test_a_flow_that_needs_batches_is_named(node: Any, reason: str) -> None:
    nodes, edges = LINE
    sentence = f'"Some" cannot run in real time: {reason}; change that, or let rows be written in batches'
    assert told(drawn({**nodes, "some": node}, edges)) == [("some", sentence)]


def test_a_source_and_a_sink_that_take_batches_are_named() -> None:
    nodes, edges = LINE
    other: Nodes = {**nodes, "in": ("source.generator", {}), "a": ("sink.print", {})}
    assert [node for node, _ in told(drawn(other, edges))] == ["in", "a"]


def test_a_backlog_that_is_looked_at_between_batches_is_named() -> None:
    nodes, edges = LINE
    ((node, message),) = told(drawn({**nodes, "in": kafka(backpressure="LATEST", max_backlog=5)}, edges))
    assert (node, "its backpressure is LATEST" in message) == ("in", True)


def test_only_a_stream_can_and_its_batches_have_a_least_length() -> None:
    assert told(drawn(*LINE, type="BATCH_ROLLER")) == [
        ("/settings/trigger", "only a stream can run in real time: let rows be written in batches")
    ]
    ((pointer, message),) = told(drawn(*LINE, trigger_interval="4999ms"))
    assert (pointer, "at least 5s" in message) == ("/settings/trigger_interval", True)


def test_without_the_setting_nothing_is_said() -> None:
    nodes, edges = LINE
    assert told(document({**nodes, "some": windows()}, edges, type="STREAMING")) == []


def test_each_sink_has_its_query() -> None:
    assert {query.key for query in shape(*WAYS).queries} == {"a+b"}
    assert {query.key for query in in_real_time(*WAYS).queries} == {"a", "b"}


def test_a_line_goes_on_in_the_same_generation_one_way_and_back() -> None:
    for before, after in ((shape(*LINE), in_real_time(*LINE)), (in_real_time(*LINE), shape(*LINE))):
        found = changes_classify(before, after)
        assert (found.obstacles(), found.warnings, found.in_place) == ((), (), True)


def test_sinks_that_shared_a_query_go_on_from_a_checkpoint_each_with_a_copy_of_it() -> None:
    found = changes_classify(shape(*WAYS), in_real_time(*WAYS))
    assert (found.obstacles(), found.queries, found.in_place) == ((), {"a": "a+b", "b": "a+b"}, False)


def test_a_source_that_batches_read_once_and_real_time_once_a_way_begins_anew() -> None:
    nodes: Nodes = {**LINE[0], "more": columns(twice="id * 2"), "all": ("flow.union", {"missing_columns": True})}
    edges = "in>some, in>more, some>all, more>all, all>a"
    found = changes_classify(shape(nodes, edges), in_real_time(nodes, edges))
    assert [(change.node_id, change.code) for change in found.obstacles()] == [("in", "source.edges")]


class BlinkingSource(GeneratorSource):
    """Tells how many tasks read it, unless its system is away."""

    type = "source.blinking"
    tasks: ClassVar[int | None] = None

    def real_time_tasks(self, context: NodeContext[GeneratorConfig]) -> int:
        if self.tasks is None:
            raise NodeError("no broker answers")
        return self.tasks


def test_a_system_that_blinks_ends_no_stream_and_is_named_where_one_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_time, "_LOOK_SECONDS", 0.0)
    registry = NodeRegistry({**NODE_TYPES, "source.blinking": f"{__name__}:BlinkingSource"})
    spark: Any = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=2))
    nodes: Nodes = {"in": numbers(), "out": LINE[0]["a"]}
    plan = Bench(spark, tmp_path).plan(document(nodes, "in>out", type="STREAMING"))
    steps = Steps(
        replace(plan, steps=tuple(replace(step, type="source.blinking") if not step.inputs else step for step in plan.steps)), registry
    )
    with pytest.raises(AtNode) as refused:
        TaskSlots(steps, query_plans(steps), spark)
    assert refused.value.node_id == "in"
    monkeypatch.setattr(BlinkingSource, "tasks", 2)
    slots = TaskSlots(steps, query_plans(steps), spark)
    monkeypatch.setattr(BlinkingSource, "tasks", None)
    slots.check()
    monkeypatch.setattr(BlinkingSource, "tasks", 3)
    with pytest.raises(AtNode, match="at least 3 here"):
        slots.check()


def test_no_flow_that_can_keeps_state_or_acts() -> None:
    able = [REGISTRY.get(name) for name in NODE_TYPES if (kind := REGISTRY.get(name)) and kind.real_time]
    assert {kind.type for kind in able if kind} >= {"source.kafka", "sink.kafka", "flow.filter_rows"}
    assert not [kind for kind in able if kind and issubclass(kind, Flow) and (kind.acts or kind.computes_once or kind.runs_user_code)]
