"""What of a stream's state is said while it is drawn: what cannot be, and what grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.engine.grouping import is_whole, sends_again
from jobs.engine.steps import LATE, Steps
from jobs.nodes.base import Flow, NodeContext, NodeError, NodeType, Sink
from jobs.nodes.event_time import HandsOnTime, TakesTimeOver
from jobs.nodes.groups import GroupsRows, PicksRows, ReplacesByKeys
from jobs.nodes.windows import WindowFlow

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


def cautions_of(node_type: NodeType[Any], context: NodeContext[Any], arriving: Sequence[StructType]) -> list[Problem]:
    """Warnings of a node that holds otherwise. `arriving`: the columns of each of its inputs."""
    return [
        Problem(
            severity="warning",
            code=caution.code,
            node_id=context.node_id,
            pointer=pointer_of(("nodes", context.node_id, *(("config", *caution.field.split("/")) if caution.field else ()))),
            message=f'"{context.node_name}": {caution.message}',
        )
        for caution in node_type.cautions(replace(context, bounded=context.bounded or context.beside), arriving)
    ]


def caution_of_updates(steps: Steps, node_id: str, columns: Sequence[str]) -> list[Problem]:
    """Warnings of a stream's sink in which the changes of a group would stand side by side, or groups take each other's place or stay."""
    node_type, step = steps.types[node_id], steps.by_id[node_id]
    if isinstance(node_type, Sink) and node_type.replaces(step.config):
        keys = node_type.keys_of(step.config) if isinstance(node_type, ReplacesByKeys) else ()
        return [*(_caution_of_keys(steps, node_id, keys, columns) if keys else ()), *_caution_of_picking(steps, node_id)]
    if not (isinstance(node_type, Sink) and node_type.accumulates):
        return []
    if not (other := _before(steps, node_id, sends_again)):
        return []
    message = (
        f'"{step.name}": "{other}" before it sends a group again each time it changes, and here each change becomes one more row; '
        "write into a table by key, or let a window emit on close"
    )
    return [Problem(severity="warning", code="updates.appended", node_id=node_id, pointer=pointer_of(("nodes", node_id)), message=message)]


def _caution_of_keys(steps: Steps, node_id: str, keys: Sequence[str], columns: Sequence[str]) -> list[Problem]:
    """`columns`: those that come to the sink; a group's column that is called otherwise there is looked for no further."""
    there, taken = {name.lower() for name in columns}, {name.lower() for name in keys}
    others = steps.upstream((node_id,)) if steps.plan.job_type == "STREAMING" else ()
    for other in others:
        flow, step = steps.types[other], steps.by_id[other]
        groups = flow.groups_of(step.config) if isinstance(flow, GroupsRows) else ()
        left_out = [name for name in groups if name.lower() not in taken]
        if left_out and all(name.lower() in there for name in groups):
            message = (
                f'"{steps.by_id[node_id].name}": "{step.name}" before it groups by {", ".join(groups)}, and the keys leave out '
                f"{', '.join(left_out)}: of groups that differ in nothing else only the last one stays; name them among the keys"
            )
            pointer = pointer_of(("nodes", node_id, "config", "keys"))
            return [Problem(severity="warning", code="keys.incomplete", node_id=node_id, pointer=pointer, message=message)]
    return []


def _caution_of_picking(steps: Steps, node_id: str) -> list[Problem]:
    """Nothing tells a sink that a group does not come any more: what it wrote of it stays."""
    for other in steps.upstream((node_id,)) if _is_of_stream(steps, node_id) else ():
        node_type, step = steps.types[other], steps.by_id[other]
        if not (isinstance(node_type, PicksRows) and node_type.picks(step.config)):
            continue
        if again := next((steps.by_id[one].name for one in steps.upstream((other,)) if sends_again(steps, one)), ""):
            message = (
                f'"{steps.by_id[node_id].name}": "{again}" before it sends a group again each time it changes, and "{step.name}" looks at '
                "it each time: one that no longer comes here stays as it was written; write all groups, and pick where they are read"
            )
            return [
                Problem(severity="warning", code="updates.picked", node_id=node_id, pointer=pointer_of(("nodes", node_id)), message=message)
            ]
    return []


def caution_of_all_at_once(steps: Steps, node_id: str) -> list[Problem]:
    """A warning of a source that is to go on behind what was read, in a job that reads everything at once and keeps no position."""
    step = steps.by_id[node_id]
    if not getattr(step.config, "incremental", False) or not is_whole(steps):
        return []
    message = (
        f'"{step.name}": a node of this job has to see all rows at once, so each run reads all of them anew and none goes on behind what '
        "was read before; let a job without that node copy what is new, and this one read the copy"
    )
    pointer = pointer_of(("nodes", node_id, "config", "incremental"))
    return [Problem(severity="warning", code="incremental.whole", node_id=node_id, pointer=pointer, message=message)]


def refuse_state_behind_updates(steps: Steps, node_id: str) -> None:
    """NodeError where a stream's node with state would take each new value of a group for one more row.

    Spark lets some of these start, and their numbers are wrong.
    """
    if steps.is_stateful(node_id) and (other := _before(steps, node_id, sends_again)):
        raise NodeError(
            f'it keeps state, and "{other}" before it sends a group again each time it changes: each change would '
            "count as one more row; put it before, or group by a Window aggregate that emits on close",
            permanent=True,
            kind="user",
        )


def refuse_mixed_modes(steps: Steps, node_id: str) -> None:
    """NodeError where windows that a stream sends once, as they close, meet groups that it sends again: a query does one or the other.

    Spark sends such windows again, too, as far as they are filled.
    """
    ways = _ways_into(steps, node_id)
    closing = next((other for way in ways for other in way if _sends_on_close(steps, other)), "")
    again = next((other for way in ways for other in way if sends_again(steps, other)), "")
    if closing and again and not any({closing, again} <= set(way) for way in ways):
        once, each = steps.by_id[closing].name, steps.by_id[again].name
        raise NodeError(
            f'"{once}" sends each window once, when it closes, and "{each}" sends a group again each time it changes, and one query '
            "cannot do both: let both do the same, or give each a sink of its own",
            permanent=True,
            kind="user",
        )


def caution_of_times(steps: Steps, node_id: str) -> list[Problem]:
    """A warning where rows of several sources, with an event time each, meet: a query has one, the slowest."""
    ways = [way for way in _ways_into(steps, node_id) if any(_sets_watermark(steps, other) for other in way)]
    if len(ways) < 2 or set(ways[0]) & set(ways[1]):
        return []
    first, second = (next(steps.by_id[other].name for other in way if _sets_watermark(steps, other)) for way in ways[:2])
    step = steps.by_id[node_id]
    message = (
        f'"{step.name}": "{first}" and "{second}" before it go by event time, which goes on with the slower of the two: what one of them '
        "holds is let go only as rows of the other come; where one may fall silent, give each a sink of its own"
    )
    return [Problem(severity="warning", code="times.meet", node_id=node_id, pointer=pointer_of(("nodes", node_id)), message=message)]


def _ways_into(steps: Steps, node_id: str) -> list[tuple[str, ...]]:
    """For each edge into a stream's node, all that comes by it."""
    return [steps.upstream((arrow.source,)) for arrow in steps.arriving(node_id)] if _is_of_stream(steps, node_id) else []


def _sends_on_close(steps: Steps, node_id: str) -> bool:
    node_type = steps.types[node_id]
    return isinstance(node_type, WindowFlow) and node_type.output_mode(steps.by_id[node_id].config) == "append"


def refuse_second_watermark(steps: Steps, node_id: str) -> None:
    """NodeError where a stream would have two event times on one way: Spark ends such a query at its start, or leaves rows out."""
    if not _sets_watermark(steps, node_id) or _goes_by_time_before(steps, node_id):
        return
    if other := _before(steps, node_id, _sets_watermark):
        raise NodeError(
            f'it goes by event time, and so does "{other}" before it: a stream has one event time on its way; let '
            "one of the two go without, or write in between and read that in another job",
            permanent=True,
            kind="user",
        )


def _goes_by_time_before(steps: Steps, node_id: str) -> bool:
    """Whether it goes by the very time that each node before it goes by and hands on. What that takes for late has left by then."""
    node_type = steps.types[node_id]
    times = node_type.times_taken_over(steps.by_id[node_id].config) if isinstance(node_type, TakesTimeOver) else {}
    if not times or steps.leads_late_on(node_id):
        return False
    return all(
        _time_handed_on(steps, other) == times.get(arrow.input, "").lower()
        for arrow in steps.arriving(node_id)
        for other in steps.upstream((arrow.source,))
        if _sets_watermark(steps, other)
    )


def _time_handed_on(steps: Steps, node_id: str) -> str:
    node_type = steps.types[node_id]
    return node_type.time_handed_on(steps.by_id[node_id].config).lower() if isinstance(node_type, HandsOnTime) else ""


def _before(steps: Steps, node_id: str, holds: Callable[[Steps, str], bool]) -> str:
    """The name of a node of which it holds, before this one in a stream; "" where there is none."""
    reached = steps.upstream((node_id,)) if _is_of_stream(steps, node_id) else ()
    # Rows that came too late go on as they came.
    others = {arrow.source for arrow in steps.arrows if arrow.target in reached and arrow.port != LATE}
    return next((steps.by_id[other].name for other in reached if other in others and holds(steps, other)), "")


def _is_of_stream(steps: Steps, node_id: str) -> bool:
    """Whether rows come to it without end; what stands beside a stream is read whole."""
    return steps.plan.job_type == "STREAMING" and node_id not in steps.beside


def _sets_watermark(steps: Steps, node_id: str) -> bool:
    node_type = steps.types[node_id]
    return isinstance(node_type, Flow) and node_type.sets_watermark(steps.by_id[node_id].config)


def refuse_memory(steps: Steps, node_id: str) -> None:
    """NodeError where a stream keeps state in memory and the node's is in RocksDB only."""
    node_type = steps.types[node_id]
    kept = steps.plan.settings.state_store
    if _is_of_stream(steps, node_id) and isinstance(node_type, Flow) and node_type.needs_rocksdb and kept != "rocksdb":
        message = f"its state is kept in RocksDB, and the job's settings keep state in {kept}: set the state store to rocksdb"
        raise NodeError(message, permanent=True, kind="user")
