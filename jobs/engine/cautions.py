"""What of a stream's state is said while it is drawn: what cannot be, and what grows."""

from __future__ import annotations

from typing import Any

from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.engine.grouping import sends_again
from jobs.engine.steps import Steps
from jobs.nodes.base import Flow, NodeContext, NodeError, NodeType


def cautions_of(node_type: NodeType[Any], context: NodeContext[Any]) -> list[Problem]:
    """Warnings of a node that holds otherwise."""
    found = node_type.cautions(context) if isinstance(node_type, Flow) else ()
    return [
        Problem(
            severity="warning",
            code="state.grows",
            node_id=context.node_id,
            pointer=pointer_of(("nodes", context.node_id, "config", caution.field)),
            message=f'"{context.node_name}": {caution.message}',
        )
        for caution in found
    ]


def refuse_state_behind_updates(steps: Steps, node_id: str) -> None:
    """NodeError where a stream's node with state would take each new value of a group for one more row.

    Spark lets some of these start, and their numbers are wrong.
    """
    if steps.plan.job_type != "STREAMING" or not steps.is_stateful(node_id):
        return
    for other in steps.upstream((node_id,)):
        if other != node_id and sends_again(steps, other):
            raise NodeError(
                f'it keeps state, and "{steps.by_id[other].name}" before it sends a group again each time it changes: each change would '
                "count as one more row; put it before, or group by a Window aggregate that emits on close",
                permanent=True,
                kind="user",
            )
