"""What a node type makes of the texts in which Spark hands over why its system failed."""

from __future__ import annotations

from typing import Any

from jobs.nodes.node_error import NodeError


class ToldFailures:
    """Of most types nothing is known beside what they raise themselves."""

    @classmethod
    def failure_words(cls, text: str, connection: str) -> NodeError | None:
        """What Spark says of this node's system, in words; None if `text` is about something else. `connection` is its name or ""."""
        return None

    @classmethod
    def failure_names(cls, text: str, config: Any) -> bool:
        """Whether `text`, which is about such a system, names what this node reads or writes there, such as its topic."""
        return False
