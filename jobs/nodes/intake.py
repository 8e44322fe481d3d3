"""Messages on their way from a broker into a source's spool; the broker is told only of those that are done with."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.nodes.backpressure import Backpressure
from jobs.nodes.base import NodeContext
from jobs.nodes.spool import Message, SpoolFull
from jobs.nodes.spool_source import SpoolConfigT, backpressure_of, spool_of

_NO_BOUND = Backpressure("BUFFER", 2**62)


class Intake:
    """One receiver's way in. A bounded run reads only after it has received, so nothing but the disk bounds what it takes."""

    def __init__(self, context: NodeContext[SpoolConfigT]) -> None:
        self._spool = spool_of(context)
        self._pressure = _NO_BOUND if context.bounded else backpressure_of(context.config)
        self._log = context.log
        self._told = ""

    def take(self, messages: Sequence[Message]) -> int:
        """How many of the first of `messages` are done with: on disk, known already, or dropped by choice. 0: hold them and ask again."""
        try:
            done = self._spool.take(messages, self._pressure).done
        except SpoolFull as full:
            self._tell(f"no more is taken: {full}")
            return 0
        self._tell("" if done else f"no more is taken: {self._pressure.buffer_size} messages wait to be read")
        return done

    def _tell(self, words: str) -> None:
        """A state is logged when it begins, and when it ends."""
        if words != self._told:
            self._log(words or "messages are taken again")
            self._told = words
