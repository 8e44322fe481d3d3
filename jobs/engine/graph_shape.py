"""A graph as its checkpoints know it: queries with their sources and their state, and a signature of every node."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from jobs.dag.document import DagDocument
from jobs.dag.problems import Problem
from jobs.engine.compiler import PlanInvalid, plan_compile
from jobs.engine.grouping import is_whole, query_plans
from jobs.engine.plan import Locations, Plan, Settings, Step
from jobs.engine.steps import Steps, occurrence_above
from jobs.nodes.base import Flow, Limits
from jobs.nodes.registry import REGISTRY, NodeRegistry

#: Each branch reads its sources for itself: a source above some branches that meet and part again is read once for each way.
_MOST_READINGS = 1000
_TOO_OFTEN = f"its branches part and meet so often that sources would be read more than {_MOST_READINGS:,} times in one query"
_NOWHERE = Locations(live=Path("live"), work=Path("work"))


@dataclass(frozen=True)
class QueryShape:
    """One query. `sources`: what Spark calls each source → its node. `state`: stateful nodes in Spark's order, one an operator."""

    key: str
    sinks: tuple[str, ...]
    sources: Mapping[str, str]
    state: tuple[str, ...]
    #: Edge that leaves a node which several branches read → (that node, the node it leads to, its input).
    forks: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)

    def names_of(self, node_id: str) -> frozenset[str]:
        """What Spark calls one source in this query: several names where it reads it several times."""
        return frozenset(name for name, source in self.sources.items() if source == node_id)


@dataclass(frozen=True)
class GraphShape:
    """What can be told of a plan without Spark. `registry` is that of its node types."""

    plan: Plan
    registry: NodeRegistry = REGISTRY

    @cached_property
    def steps(self) -> Steps:
        return Steps(self.plan, self.registry)

    @cached_property
    def is_whole(self) -> bool:
        """It reads everything at once: it has no queries, and keeps no position."""
        return is_whole(self.steps)

    @cached_property
    def queries(self) -> tuple[QueryShape, ...]:
        return () if self.is_whole else tuple(self._queries())

    @cached_property
    def signatures(self) -> Mapping[str, str]:
        """Node → a hash of all that decides about what is kept: its settings but those of pace and patience, and everything above it."""
        found: dict[str, str] = {}
        for step in self.plan.steps:
            node_type = self.steps.types[step.node_id]
            named = isinstance(node_type, Flow) and node_type.reads_names
            inputs = [
                [port, [[found[source], out, self.steps.by_id[source].name if named else ""] for source, out in upstreams]]
                for port, upstreams in sorted(step.inputs.items())
            ]
            own_id = step.node_id if step.node_id in self.steps.sources else ""  # Spark knows sources by their ids, and nothing else
            lasting = {field: value for field, value in self.deciding(step.node_id).items() if field not in node_type.patience_fields}
            text = json.dumps([step.type, own_id, lasting, inputs], sort_keys=True)
            found[step.node_id] = hashlib.sha256(text.encode()).hexdigest()
        return found

    def step(self, node_id: str) -> Step:
        return self.steps.by_id[node_id]

    def config(self, node_id: str) -> dict[str, Any]:
        """A node's settings, defaults and parameters filled in, as JSON data."""
        return self.step(node_id).config.model_dump(mode="json")

    def deciding(self, node_id: str) -> dict[str, Any]:
        """Those settings without the ones of pace; a person's code is given the job's parameters too."""
        node_type = self.steps.types[node_id]
        found = {field: value for field, value in self.config(node_id).items() if field not in node_type.pace_fields}
        return found | {"job_parameters": dict(self.plan.parameters)} if node_type.runs_user_code else found

    def state_signature(self, query: QueryShape) -> tuple[str, ...]:
        """Equal where Spark finds in each operator's place the state that this query would have made."""
        return tuple(self.signatures[node_id] for node_id in query.state)

    def _queries(self) -> Iterator[QueryShape]:
        for plan in query_plans(self.steps):
            forks = self.steps.forks(plan.streaming)
            sources: dict[str, str] = {}
            state = tuple(self._walked(plan.frontier, forks, "", sources))
            leaving = {arrow.edge_id: (arrow.source, arrow.target, arrow.input) for arrow in self.steps.arrows if arrow.source in forks}
            yield QueryShape(plan.key, plan.sinks, sources, state, leaving)

    def _walked(self, node_id: str, forks: frozenset[str], occurrence: str, sources: dict[str, str]) -> Iterator[str]:
        """The stateful nodes at and above a node, in the order of Spark's plan; its sources go into `sources`."""
        if node_id in self.steps.sources:
            sources[node_id + occurrence] = node_id
            if len(sources) > _MOST_READINGS:
                raise PlanInvalid([Problem(code="graph.readings", node_id=node_id, message=_TOO_OFTEN)])
        if self.steps.is_stateful(node_id):
            yield node_id
        for arrow in self.steps.arriving_by_port(node_id):
            yield from self._walked(arrow.source, forks, occurrence_above(arrow, forks, occurrence), sources)


def graph_shape(
    document: DagDocument, *, parameters: Mapping[str, Any], settings: Settings, registry: NodeRegistry = REGISTRY
) -> GraphShape:
    """The shape of `document` with these values. PlanInvalid where it cannot run as it stands."""
    plan = plan_compile(
        document,
        job_uid="",
        generation="",
        attempt=0,
        fresh=True,
        parameters=parameters,
        settings=settings,
        connections={},
        locations=_NOWHERE,
        limits=Limits(),
        registry=registry,
    )
    shape = GraphShape(plan, registry)
    _ = shape.queries  # walked here, so that a graph that is too much for that is refused here
    return shape
