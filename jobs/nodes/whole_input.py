"""What flows share that must see the last row before they can say anything: on a stream it never comes."""

from __future__ import annotations

from typing import Any

from jobs.nodes.base import NodeContext, NodeError


def require_end(context: NodeContext[Any], act: str, instead: str) -> None:
    """NodeError unless the input ends. `act`: "sorting needs …"; `instead`: what a stream may do."""
    if not (context.bounded or context.beside):
        raise NodeError(f"{act}, and a stream has no last row: {instead}, or make the job a paged import", permanent=True, kind="user")
