"""Rows that a stream left out because they came too late, as its stateful operators count them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from jobs.engine.counts import Seen
from jobs.engine.steps import Steps

_METRIC = "numRowsDroppedByWatermark"


def stateful_nodes(steps: Steps, frontier: str) -> tuple[str, ...]:
    """The nodes of a streaming plan that keep state, as often as they stand in it, in the order in which Spark lists their operators:

    each before those that it reads.
    """
    found = (frontier,) if steps.is_stateful(frontier) else ()
    above = [stateful_nodes(steps, arrow.source) for arrow in steps.arriving(frontier)]
    return (*found, *(node_id for nodes in above for node_id in nodes))


def with_late_rows(seen: Mapping[str, Seen], execution: Any, stateful: tuple[str, ...]) -> dict[str, Seen]:
    """`seen` in a batch, with what came too late for each of the `stateful` nodes; a node with several operators of Spark has none.

    A node that groups sees the rows of a group put together within each task: those count as one.
    """
    late = [int(operator.metrics().apply(_METRIC).value()) for operator in _operators(execution.executedPlan())] if stateful else []
    told = dict(seen)
    for node_id, rows in zip(stateful, late, strict=False) if len(stateful) == len(late) else ():
        if rows and node_id in told:
            told[node_id] = replace(told[node_id], late=told[node_id].late + rows)
    return told


def _operators(plan: Any) -> Iterator[Any]:
    if plan.metrics().contains(_METRIC):
        yield plan
    children = plan.children()
    for index in range(children.size()):
        yield from _operators(children.apply(index))
