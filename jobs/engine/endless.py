"""What is read whole must have an end."""

from __future__ import annotations

from jobs.engine.steps import Steps


def refuse_endless_table(steps: Steps, node_id: str) -> None:
    """NodeError where a source that never ends is only looked things up in: such a table would be empty for ever.

    Of a source that nothing reads yet nobody knows what it is for.
    """
    if node_id in steps.beside and any(arrow.source == node_id for arrow in steps.arrows):
        steps.source(node_id).check_end(steps.by_id[node_id].config)
