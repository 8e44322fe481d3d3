"""Which sinks share a query, and where in it the stream ends and each batch's fan-out begins."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass
from typing import Literal

from jobs.dag.sql_places import sql_bare
from jobs.engine.steps import LATE, Steps
from jobs.nodes.base import Flow
from jobs.nodes.config_texts import texts_in
from jobs.nodes.form import sql_fields
from jobs.nodes.kept_references import KeepsReferences

_LONGEST_FOLDER = 150
#: A function of SQL over the rows beside one.
_NEIGHBOURS = re.compile(r"(?:\)|\bnulls)\s*over\b", re.IGNORECASE)


@dataclass(frozen=True)
class QueryPlan:
    """One Spark query.

    `frontier`: the common node, the last one inside the streaming plan; all behind it is stateless and runs on each batch.
    `streaming`: the frontier and all above it. `counted`: nodes whose rows this query tells; a node in several queries is told by
    the first, though each counts it, to know what reaches its sinks. `repeated`: sources that the streaming plan must read once per
    occurrence.
    """

    sinks: tuple[str, ...]
    frontier: str
    streaming: tuple[str, ...]
    nodes: tuple[str, ...]
    output_mode: Literal["append", "update"]
    repeated: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        return query_key(self.sinks)


def query_key(sinks: tuple[str, ...]) -> str:
    """The name of a query: its sinks' ids, sorted, joined by "+"."""
    return "+".join(sorted(sinks))


def query_folder(key: str) -> str:
    """`key` as the name of a folder: ids hold no "-", so no two keys meet; a very long one is cut and hashed."""
    name = key.replace("+", "-")
    if len(name) <= _LONGEST_FOLDER:
        return name
    return f"{name[:100]}-{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def is_whole(steps: Steps) -> bool:
    """A bounded job is one batch if nothing in it has a position, or if a node has to see all rows before it can say anything.

    A window, say, would keep back what it holds when the input ends, or send each group again and again on the way there.
    So it is where a source cannot stop in steps where it is to. Such a job has no queries, and so no checkpoints.
    """
    if steps.plan.job_type == "STREAMING":
        return False
    sources = [(steps.source(node_id), steps.by_id[node_id].config) for node_id in steps.sources]
    if any(source.goes_whole(config) for source, config in sources):
        return True
    resumes = steps.plan.job_type == "BATCH_ROLLER" or any(source.resumes(config) for source, config in sources)
    return not resumes or any(steps.is_stateful(step.node_id) or _looks_aside(steps, step.node_id) for step in steps.plan.steps)


def _looks_aside(steps: Steps, node_id: str) -> bool:
    """Whether an expression of the node looks at a row's neighbours, which may stand in another batch."""
    node_type, config = steps.types[node_id], steps.by_id[node_id].config
    if not isinstance(node_type, Flow):
        return False
    expressions = config.model_dump(mode="json", include=set(sql_fields(type(config))))
    return any(_NEIGHBOURS.search(sql_bare(text)) for _, text in texts_in(expressions))


def query_plans(steps: Steps) -> tuple[QueryPlan, ...]:
    """As few queries as the graph allows, in the order of their keys. In real time each sink has one, as Spark writes it itself."""
    groups: list[tuple[str, ...]] = []
    for sinks in _inseparable(steps):
        for index, group in enumerate(() if steps.plan.is_real_time else groups):
            if _stateful_above(steps, sinks) == _stateful_above(steps, group) and _frontier(steps, (*group, *sinks)) is not None:
                groups[index] = (*group, *sinks)
                break
        else:
            groups.append(sinks)
    counted: set[str] = set()
    plans = []
    for group in sorted(groups, key=query_key):
        plan = _query_plan(steps, group, frozenset(counted))
        counted |= plan.counted
        plans.append(plan)
    return tuple(plans)


def _inseparable(steps: Steps) -> list[tuple[str, ...]]:
    """Sinks that one query has to write: each with those that get what it rejects."""
    together: list[set[str]] = []
    for sink in sorted(steps.sinks):
        family = {sink, *steps.sinks_above(sink)}
        met = [group for group in together if group & family]
        together = [group for group in together if group not in met] + [family.union(*met)]
    return sorted(tuple(sorted(group)) for group in together)


def splits(steps: Steps, sink: str) -> bool:
    """Whether rows come to `sink`, from the errors ports of others, that no one query can bring."""
    sinks = next(group for group in _inseparable(steps) if sink in group)
    return len(sinks) > 1 and _frontier(steps, sinks) is None


def frontier_port(steps: Steps, plan: QueryPlan) -> str | None:
    """The one port of the frontier that is read; None when it is the good and the rejected rows. What comes too late is read beside."""
    read = _read_of(steps, plan.frontier, plan.nodes)
    return (read or {"out"}).pop() if len(read) < 2 else None


def _read_of(steps: Steps, node_id: str, nodes: Container[str]) -> set[str]:
    """The ports of `node_id` that any of `nodes` reads, but the one for late rows."""
    read = {arrow.port for arrow in steps.arrows if arrow.source == node_id and arrow.target in nodes and not arrow.reference}
    return read - {LATE} if steps.has_late_port(node_id) else read


def _query_plan(steps: Steps, sinks: tuple[str, ...], counted_before: frozenset[str]) -> QueryPlan:
    frontier = (None if steps.plan.is_real_time else _frontier(steps, sinks)) or _last_before(steps, sinks[0])
    nodes = steps.upstream(sinks)
    streaming = steps.upstream((frontier,))
    return QueryPlan(
        sinks=tuple(sorted(sinks)),
        frontier=frontier,
        streaming=streaming,
        nodes=nodes,
        output_mode="update" if any(sends_again(steps, node_id) for node_id in streaming) else "append",
        repeated=frozenset(_read_repeatedly(steps, frontier)),
        counted=frozenset(nodes) - counted_before,
    )


def _last_before(steps: Steps, sink: str) -> str:
    return steps.arriving(sink)[0].source


def _stateful_above(steps: Steps, sinks: tuple[str, ...]) -> frozenset[str]:
    return frozenset(node_id for node_id in steps.upstream(sinks) if steps.is_stateful(node_id))


def sends_again(steps: Steps, node_id: str) -> bool:
    """Whether a stream gets a row of this node anew each time it changes."""
    node_type = steps.types[node_id]
    return isinstance(node_type, Flow) and steps.is_stateful(node_id) and node_type.output_mode(steps.by_id[node_id].config) == "update"


def _frontier(steps: Steps, sinks: tuple[str, ...]) -> str | None:
    """The last node through which every row of all `sinks` comes, with nothing stateful behind it and no source read twice above it.

    What a flow keeps between batches can be read again only behind it, and what acts on another system is carried out there whatever is
    read of it: such flows are left out of the streaming plan where they can be.
    """
    nodes = steps.upstream(sinks)
    outside = {node_id for node_id in nodes if isinstance(steps.types[node_id], KeepsReferences) or steps.acts(node_id)}
    return (outside and _last_common(steps, sinks, nodes, outside)) or _last_common(steps, sinks, nodes, set())


def _last_common(steps: Steps, sinks: tuple[str, ...], nodes: tuple[str, ...], without: set[str]) -> str | None:
    for node_id in reversed(nodes):
        if not _all_pass(steps, nodes, node_id) or not _one_frame(steps, nodes, node_id):
            continue
        above = steps.upstream((node_id,))
        if any(steps.leads_late_on(other) for other in above if other != node_id):
            continue  # what comes too late is known within a batch
        if (without | set(sinks)) & set(above):
            continue
        if any(steps.is_stateful(other) for other in nodes if other not in above):
            return None
        if not _read_repeatedly(steps, node_id):
            return node_id
    return None


def _all_pass(steps: Steps, nodes: tuple[str, ...], node_id: str) -> bool:
    """Whether no way leads from a source to a sink around `node_id`."""
    above = set(steps.upstream((node_id,)))
    behind = [other for other in nodes if other not in above]
    return all(arrow.source == node_id or arrow.source not in above for other in behind for arrow in steps.arriving(other)) and not any(
        other in steps.sources for other in behind
    )


def _one_frame(steps: Steps, nodes: tuple[str, ...], node_id: str) -> bool:
    """One frame holds all that is read of the node: one port, or the good and the rejected rows of a rejecting node."""
    ports = _read_of(steps, node_id, nodes)
    return len(ports) < 2 or (ports == {"out", "errors"} and steps.types[node_id].rejects_rows)


def _read_repeatedly(steps: Steps, frontier: str) -> set[str]:
    """Sources from which more than one way leads to `frontier`."""
    ways = ways_to(steps, frontier)
    return {node_id for node_id in steps.sources if ways[node_id] > 1}


def ways_to(steps: Steps, frontier: str) -> Counter[str]:
    """On how many ways the rows of each node come to `frontier`: so often a streaming plan computes them."""
    ways: Counter[str] = Counter({frontier: 1})
    for node_id in reversed(steps.upstream((frontier,))):
        for arrow in steps.arriving(node_id):
            ways[arrow.source] += ways[node_id]
    return ways
