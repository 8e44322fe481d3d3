"""Which node of the one graph is which of the other, and which query goes on with whose folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from jobs.engine.graph_shape import GraphShape, QueryShape


@dataclass(frozen=True)
class Pairs:
    """`found`: new node → old node. A node whose id changed is known by its type and settings."""

    found: Mapping[str, str]
    #: Nodes of the one graph that the other has not.
    added: tuple[str, ...]
    removed: tuple[str, ...]

    def before_of(self, node_id: str) -> str | None:
        return self.found.get(node_id)

    def after_of(self, node_id: str) -> str | None:
        return self._turned.get(node_id)

    @cached_property
    def _turned(self) -> Mapping[str, str]:
        return {old: new for new, old in self.found.items()}


@dataclass(frozen=True)
class QueryMatch:
    """A new query and the old ones that wrote its sinks: none, the one that it goes on with, or several."""

    after: QueryShape
    before: tuple[QueryShape, ...]


def pairs_of(before: GraphShape, after: GraphShape) -> Pairs:
    """Nodes of one id, then those left over that are alike."""
    old = {step.node_id for step in before.plan.steps}
    found = {step.node_id: step.node_id for step in after.plan.steps if step.node_id in old}
    left = {node_id: _kind(before, node_id) for node_id in sorted(old - set(found))}
    for step in after.plan.steps:
        if step.node_id not in found:
            alike = next((node_id for node_id, kind in left.items() if kind == _kind(after, step.node_id)), None)
            if alike is not None:
                found[step.node_id] = alike
                del left[alike]
    added = tuple(step.node_id for step in after.plan.steps if step.node_id not in found)
    return Pairs(found, added, tuple(left))


def _kind(shape: GraphShape, node_id: str) -> str:
    return json.dumps([shape.step(node_id).type, shape.deciding(node_id)], sort_keys=True)


def queries_matched(before: GraphShape, after: GraphShape, pairs: Pairs) -> tuple[QueryMatch, ...]:
    """By their sinks: a query goes on with the folder of the one that wrote them before."""
    matches = []
    for query in after.queries:
        olds = {pairs.before_of(sink) for sink in query.sinks}
        matches.append(QueryMatch(query, tuple(one for one in before.queries if olds & set(one.sinks))))
    return tuple(matches)
