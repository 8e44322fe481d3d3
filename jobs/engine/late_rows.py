"""Rows that a stream left out because they came too late, as its stateful operators count them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.engine.counts import Seen
from jobs.engine.steps import Steps
from jobs.nodes.base import Flow

_METRIC = "numRowsDroppedByWatermark"
#: Of the two operators of a session window it is the one that leaves nothing out.
_BESIDE = "SessionWindowStateStoreSave"
#: Stands before a node's id in the name under which a streaming plan shows what arrives there.
ARRIVING = "arriving_"


def stateful_nodes(steps: Steps, frontier: str) -> tuple[str, ...]:
    """The nodes of a streaming plan that keep state, as often as they stand in it, in the order in which Spark lists their operators:

    each before those that it reads. "" for one of several inputs of a query: its text says which of them comes first.
    """
    found = (frontier,) if steps.is_stateful(frontier) else ()
    above = [stateful_nodes(steps, arrow.source) for arrow in steps.arriving_by_port(frontier)]
    node_type = steps.types[frontier]
    unordered = isinstance(node_type, Flow) and node_type.reads_names and sum(map(bool, above)) > 1
    return (*found, *("" if unordered else node_id for nodes in above for node_id in nodes))


def with_late_rows(seen: Mapping[str, Seen], execution: Any, stateful: tuple[str, ...]) -> dict[str, Seen]:
    """`seen` in a batch, with what came too late for each of the `stateful` nodes; a node with several operators of Spark has none.

    A node that groups sees the late rows of a group put together within each task: those count as one. A row of windows that slide is
    there once for each, and counts for each that has closed.
    """
    operators = list(stateful_operators(execution.executedPlan())) if stateful else []
    told = dict(seen)
    for node_id, operator in zip(stateful, operators, strict=False) if len(stateful) == len(operators) else ():
        if node_id in told:
            told[node_id] = replace(told[node_id], late=told[node_id].late + rows_dropped(operator))
    return told


def marked(frame: DataFrame, node_id: str) -> DataFrame:
    """What arrives at the node in a streaming plan, so that it is found there with all its columns."""
    row = F.struct(*(F.col(f"`{name.replace('`', '``')}`") for name in frame.columns))
    return frame.observe(ARRIVING + node_id, F.max_by(row, F.lit(1)).isNull().alias("none"))


def rows_dropped(operator: Any) -> int:
    return int(operator.metrics().apply(_METRIC).value())


def stateful_operators(plan: Any) -> Iterator[Any]:
    """Spark's physical operators that keep state and tell what came too late, each before those that it reads."""
    if plan.metrics().contains(_METRIC) and plan.nodeName() != _BESIDE:
        yield plan
    children = plan.children()
    for index in range(children.size()):
        yield from stateful_operators(children.apply(index))
