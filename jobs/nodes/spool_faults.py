"""What is said where a spool does not have the messages that come next."""

from __future__ import annotations

from jobs.nodes.base import NodeError
from jobs.nodes.spool import Spool


def spool_check(spool: Spool, after: int) -> None:
    """NodeError where messages behind position `after` cannot be read any more. Makes no spool where there is none."""
    newest = spool.newest() if spool.path.exists() else 0
    if newest < after:
        raise spool_of_another(after, newest)
    if newest and (gone := spool.lacking(after)):
        raise spool_trimmed(f"messages {gone[0]} to {gone[1]} are not kept any more")


def spool_of_another(after: int, newest: int) -> NodeError:
    """Numbers of messages go up: what ends before the position was made anew, or is an older copy."""
    return NodeError(
        f"the messages that this machine received end at number {newest}, the checkpoint stands at {after}: they are not those that it was "
        "made with; put spool back into DATA_DIR as it was, or start from the beginning, which reads what was received since",
        permanent=True,
        kind="user",
    )


def spool_trimmed(which: str) -> NodeError:
    """`which`: a sentence that says which messages are not there."""
    return NodeError(
        f'{which}: of messages that were read, as many stay as "Max kept" says; go back to a newer checkpoint, or start from the '
        "beginning, which reads what is still there",
        permanent=True,
        kind="user",
        field="max_kept",
    )
