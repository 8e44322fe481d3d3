"""Rows that a stream left out because they came too late, as its stateful operators count them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.engine.counts import Seen
from jobs.engine.steps import Steps
from jobs.nodes.columns import column

_METRIC = "numRowsDroppedByWatermark"
#: Of the two operators of a session window it is the one that leaves nothing out.
_BESIDE = "SessionWindowStateStoreSave"
#: Stands before a node's id in the name under which a streaming plan shows what arrives there.
ARRIVING = "arriving_"
#: Stands before a node's id and one of its inputs in the name under which a streaming plan counts rows without a time.
_TIMELESS = "timeless_"
_WATERMARK = "EventTimeWatermark"


def stateful_nodes(steps: Steps, frontier: str) -> tuple[str, ...]:
    """The nodes of a streaming plan that keep state, as often as they stand in it, in the order in which Spark lists their operators:

    each before those that it reads.
    """
    found = (frontier,) if steps.is_stateful(frontier) else ()
    above = [stateful_nodes(steps, arrow.source) for arrow in steps.arriving(frontier)]
    return (*found, *(node_id for nodes in above for node_id in nodes))


def with_late_rows(seen: Mapping[str, Seen], execution: Any, stateful: tuple[str, ...]) -> dict[str, Seen]:
    """`seen` in a batch, with what came too late, or without a time, for each of the `stateful` nodes; a node with several operators of
    Spark has none.

    A node that groups sees the late rows of a group put together within each task: those count as one.
    """
    operators = list(stateful_operators(execution.executedPlan())) if stateful else []
    told = dict(seen)
    for node_id, operator in zip(stateful, operators, strict=False) if len(stateful) == len(operators) else ():
        if node_id in told:
            own = told[node_id]
            told[node_id] = replace(own, late=own.late + rows_dropped(operator), timeless=own.timeless + rows_without_time(operator))
    for node_id, rows in timeless_rows(execution) if stateful else ():
        if node_id in told:
            told[node_id] = replace(told[node_id], timeless=told[node_id].timeless + rows)
    return told


def timeless_counted(frame: DataFrame, node_id: str, port: str, time: str) -> DataFrame:
    """What arrives at the node's input in a streaming plan; how many of its rows have no `time` is seen in each batch."""
    return frame.observe(f"{_TIMELESS}{node_id}.{port}", F.count_if(column(time).isNull()).alias("rows"))


def timeless_rows(execution: Any) -> Iterator[tuple[str, int]]:
    """Nodes, and how many rows without a time came to one of their inputs."""
    observed = execution.observedMetrics()
    names = observed.keysIterator()
    while names.hasNext():
        name = str(names.next())
        if name.startswith(_TIMELESS):
            yield name.removeprefix(_TIMELESS).partition(".")[0], int(observed.apply(name).getLong(0))


def marked(frame: DataFrame, node_id: str) -> DataFrame:
    """What arrives at the node in a streaming plan, so that it is found there with all its columns."""
    row = F.struct(*(F.col(f"`{name.replace('`', '``')}`") for name in frame.columns))
    return frame.observe(ARRIVING + node_id, F.max_by(row, F.lit(1)).isNull().alias("none"))


def rows_dropped(operator: Any) -> int:
    return int(operator.metrics().apply(_METRIC).value())


def rows_without_time(operator: Any) -> int:
    """Rows that do not reach a stateful operator because they have no time: what passed the watermark before it, less what passed the
    filter that stands between the two. Both are Spark's own counts and cost nothing.

    None where Spark has put another filter together with that one.
    """
    passed = None
    while not operator.children().isEmpty():
        operator = operator.children().head()
        name = operator.nodeName()
        if name == "Filter":
            passed = _output_rows(operator) if operator.condition().nodeName() == "IsNotNull" else None
        elif name == _WATERMARK:
            return 0 if passed is None else max(0, int(operator.eventTimeStats().value().count()) - passed)
        elif operator.metrics().contains(_METRIC):
            return 0
    return 0


def _output_rows(operator: Any) -> int:
    return int(operator.metrics().apply("numOutputRows").value())


def stateful_operators(plan: Any) -> Iterator[Any]:
    """Spark's physical operators that keep state and tell what came too late, each before those that it reads."""
    if plan.metrics().contains(_METRIC) and plan.nodeName() != _BESIDE:
        yield plan
    children = plan.children()
    for index in range(children.size()):
        yield from stateful_operators(children.apply(index))
