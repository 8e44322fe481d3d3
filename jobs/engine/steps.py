"""The steps of a plan with their node types: what reads what, what keeps state, and the context each gets."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from jobs.engine.plan import Plan, Step
from jobs.nodes.base import Flow, NodeContext, NodeType, Sink, Source
from jobs.nodes.registry import REGISTRY, NodeRegistry

#: The port of a flow for rows that it leaves out of a stream as too late.
LATE = "late"


@dataclass(frozen=True)
class Arrow:
    """An edge as the engine walks it. `reference`: its rows are read whole beside the stream."""

    edge_id: str
    source: str
    port: str
    target: str
    input: str
    reference: bool


def occurrence_above(arrow: Arrow, forks: frozenset[str], occurrence: str) -> str:
    """What is added to the names of the sources above `arrow`, which stands in `occurrence` of its target: the edge, out of a fork."""
    return f"{occurrence}__{arrow.edge_id}" if arrow.source in forks else occurrence


@dataclass(frozen=True)
class Steps:
    """A plan's graph. Node ids are in topological order throughout."""

    plan: Plan
    registry: NodeRegistry = REGISTRY
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("pipeline.job"))

    @cached_property
    def by_id(self) -> Mapping[str, Step]:
        return {step.node_id: step for step in self.plan.steps}

    @cached_property
    def types(self) -> Mapping[str, NodeType[Any]]:
        """One instance of its node type per step, for the whole run."""
        return {step.node_id: self._instance(step) for step in self.plan.steps}

    def _instance(self, step: Step) -> NodeType[Any]:
        node_type = self.registry.get(step.type)
        if node_type is None:
            raise LookupError(f"node type {step.type} is not registered")
        return node_type()

    @cached_property
    def arrows(self) -> tuple[Arrow, ...]:
        return tuple(self._arrows())

    def _arrows(self) -> Iterator[Arrow]:
        for step in self.plan.steps:
            kinds = {port.name: port.kind for port in self.types[step.node_id].ports}
            for name, upstreams in step.inputs.items():
                edges = step.edges.get(name) or tuple(f"{name}{index}" for index in range(len(upstreams)))
                for edge_id, (source, port) in zip(edges, upstreams, strict=True):
                    yield Arrow(edge_id, source, port, step.node_id, name, kinds.get(name) == "reference")

    @cached_property
    def sinks(self) -> tuple[str, ...]:
        return tuple(node_id for node_id, node_type in self.types.items() if isinstance(node_type, Sink))

    @cached_property
    def sources(self) -> tuple[str, ...]:
        return tuple(node_id for node_id, node_type in self.types.items() if isinstance(node_type, Source))

    def source(self, node_id: str) -> Source[Any]:
        node_type = self.types[node_id]
        assert isinstance(node_type, Source)
        return node_type

    def sink(self, node_id: str) -> Sink[Any]:
        node_type = self.types[node_id]
        assert isinstance(node_type, Sink)
        return node_type

    def arriving(self, node_id: str, *, references: bool = False) -> tuple[Arrow, ...]:
        return tuple(arrow for arrow in self.arrows if arrow.target == node_id and (references or not arrow.reference))

    def arriving_by_port(self, node_id: str) -> tuple[Arrow, ...]:
        """In the order of the node's ports, and of the edges at each: as they stand in Spark's plan."""
        ports = [port.name for port in self.types[node_id].ports]
        return tuple(sorted(self.arriving(node_id), key=lambda arrow: ports.index(arrow.input) if arrow.input in ports else -1))

    def is_stateful(self, node_id: str) -> bool:
        node_type = self.types[node_id]
        return isinstance(node_type, Flow) and node_type.is_stateful(self.by_id[node_id].config)

    def acts(self, node_id: str) -> bool:
        """Whether the node acts on another system for each row."""
        node_type = self.types[node_id]
        return isinstance(node_type, Flow) and node_type.acts

    def tally_words(self, node_id: str, name: str) -> str:
        """What is counted under this name at the node, for the job's log."""
        node_type = self.types[node_id]
        return node_type.tally_words(self.by_id[node_id].config, name) if isinstance(node_type, Flow) else name

    def upstream(self, node_ids: tuple[str, ...]) -> tuple[str, ...]:
        """`node_ids` and all whose rows flow into them, references left out."""
        found: set[str] = set()
        waiting = list(node_ids)
        while waiting:
            node_id = waiting.pop()
            if node_id not in found:
                found.add(node_id)
                waiting.extend(arrow.source for arrow in self.arriving(node_id))
        return tuple(step.node_id for step in self.plan.steps if step.node_id in found)

    @cached_property
    def read_within(self) -> frozenset[str]:
        """Nodes whose rows a flow behind them reads within an expression of its own, such as a subquery."""
        reading = (
            node_id
            for node_id, step in self.by_id.items()
            if isinstance(flow := self.types[node_id], Flow) and flow.reads_within(step.config)
        )
        return frozenset(other for node_id in reading for other in self.upstream((node_id,)) if other != node_id)

    @cached_property
    def beside(self) -> frozenset[str]:
        """Nodes whose rows are only looked things up in, also where the job never ends; a source that nothing reads may be one."""
        found: set[str] = set()
        for step in reversed(self.plan.steps):
            leaving = [arrow for arrow in self.arrows if arrow.source == step.node_id]
            if (leaving or step.node_id in self.sources) and all(arrow.reference or arrow.target in found for arrow in leaving):
                found.add(step.node_id)
        return frozenset(found)

    def sinks_above(self, node_id: str) -> tuple[str, ...]:
        """Sinks whose rejected rows flow into it."""
        return tuple(other for other in self.upstream((node_id,)) if other != node_id and other in self.sinks)

    def leads_errors_on(self, node_id: str) -> bool:
        """Whether something reads what the node rejects."""
        return "errors" in self.by_id[node_id].outputs_used

    def has_late_port(self, node_id: str) -> bool:
        node_type = self.types[node_id]
        return isinstance(node_type, Flow) and node_type.tells_late_rows

    def leads_late_on(self, node_id: str) -> bool:
        """Whether something reads what comes too late for the node."""
        return self.has_late_port(node_id) and LATE in self.by_id[node_id].outputs_used

    def forks(self, within: tuple[str, ...]) -> frozenset[str]:
        """Nodes that several of `within` read. Spark refuses one source twice in a query: each edge out of such a node reads anew."""
        leaving = Counter(arrow.source for arrow in self.arrows if not arrow.reference and arrow.target in within)
        return frozenset(node_id for node_id, edges in leaving.items() if edges > 1)

    def context(self, node_id: str, mode: Literal["stream", "batch"], *, schema_only: bool = False) -> NodeContext[Any]:
        step, plan = self.by_id[node_id], self.plan
        return NodeContext(
            node_id=node_id,
            node_name=step.name,
            config=step.config,
            job_type=plan.job_type,
            job_uid=plan.job_uid,
            generation=plan.generation,
            attempt=plan.attempt,
            mode=mode,
            bounded=plan.job_type != "STREAMING",
            beside=node_id in self.beside,
            schema_only=schema_only,
            real_time=plan.is_real_time and mode == "stream",
            connections=plan.connections,
            limits=plan.limits,
            work_dir=plan.locations.work / node_id,
            live_dir=plan.locations.live,
            time_zone=plan.settings.time_zone,
            is_run=plan.is_run and not schema_only,
            clock_ms=plan.time_of(0),
            code_seconds=plan.code_seconds,
            for_script=plan.for_script,
            fails_at_rejected=plan.settings.rejected_rows == "fail" and not self.leads_errors_on(node_id),
            rejected_are_read=self.leads_errors_on(node_id) or not (plan.is_run or plan.for_script),
            parameters=plan.parameters,
            input_names={port: tuple(self.by_id[source].name for source, _ in upstreams) for port, upstreams in step.inputs.items()},
            input_ports={port: tuple(leaving for _, leaving in upstreams) for port, upstreams in step.inputs.items()},
            log=lambda message: self.logger.info(message, extra={"node_id": node_id}),
        )
