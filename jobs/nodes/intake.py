"""Messages on their way from a broker into a source's spool; the broker is told only of those that are done with."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from types import TracebackType

from jobs.nodes.backpressure import Backpressure
from jobs.nodes.base import NodeContext
from jobs.nodes.spool import Message, SpoolFull
from jobs.nodes.spool_source import SpoolConfigT, backpressure_of, spool_of

_NO_BOUND = Backpressure("BUFFER", 2**62)
#: What counts a message as dropped, whatever was in it.
_LEFT_OUT, _DROPS_ALL = Message(None), Backpressure("DROP", 0)
#: How long a receiver listens before it looks again: while messages are being written to the disk, while there is no room, and else.
_BUSY_SECONDS, _FULL_SECONDS, _IDLE_SECONDS = 0.005, 0.5, 0.2


class Intake:
    """One receiver's way in, open inside `with`. While some messages are written to the disk, the receiver hears others.

    A bounded run reads only after it has received, so nothing but the disk bounds what it takes.
    """

    def __init__(self, context: NodeContext[SpoolConfigT]) -> None:
        self._spool = spool_of(context)
        self._pressure = _NO_BOUND if context.bounded else backpressure_of(context.config)
        self._log = context.log
        self._told = ""
        self._underway: Future[int] | None = None
        self._full = False
        self._left_out = 0
        self._open = ExitStack()

    def __enter__(self) -> Intake:
        self._open.enter_context(self._spool.held_open())
        self._writer = self._open.enter_context(ThreadPoolExecutor(1, thread_name_prefix="keeping"))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open.close()

    def keep(self, arrived: Sequence[Message], *, beyond: bool = False) -> int:
        """Begin to keep `arrived`: what came and was not done with, in order. How many of the first of them are done with by now.

        Done with is what is on the disk, known already, or dropped by choice. `beyond` the size of the buffer only what must not wait.
        """
        if self._underway is not None and not self._underway.done():
            return 0
        was_underway, done = self._underway is not None, self.settle()
        if was_underway and self._full:  # not again before there was time for some room
            return done
        if left := arrived[done:]:
            self._underway = self._writer.submit(self._take, left, _NO_BOUND if beyond else self._pressure)
        return done

    def settle(self) -> int:
        """Wait for what is being kept; how many of the first messages that were handed over are done with."""
        if self._underway is None:
            return 0
        underway, self._underway = self._underway, None
        done = underway.result()
        self._full = not done
        self._count_left_out()
        return done

    def has_room(self) -> bool:
        """Whether a message that came now would be done with. Only while nothing is being written to the disk."""
        if not self._pressure.refuses:
            return True
        standing = self._spool.standing()
        return not (standing.overrun or standing.draining) and standing.waiting < self._pressure.buffer_size

    def leave_out(self, count: int) -> None:
        """So many messages came that nobody holds back and for which there was no room: they count as dropped."""
        self._left_out += count

    def pause(self) -> float:
        """How long, in seconds, the receiver may listen before it hands over again."""
        if self._underway is not None:  # what it keeps is to be told to the broker at once: what is not, comes again
            return _BUSY_SECONDS
        return _FULL_SECONDS if self._full else _IDLE_SECONDS

    def _take(self, messages: Sequence[Message], pressure: Backpressure) -> int:
        try:
            taken = self._spool.take(messages, pressure)
        except SpoolFull as full:
            self._tell(f"no more is taken: {full}")
            return 0
        self._tell("" if taken.done else f"no more is taken: {taken.refused}")
        return taken.done

    def _count_left_out(self) -> None:
        """While nothing else is being written: the line to the file is shared."""
        if self._left_out:
            with suppress(SpoolFull):
                self._spool.take([_LEFT_OUT] * self._left_out, _DROPS_ALL)
                self._left_out = 0

    def _tell(self, words: str) -> None:
        """A state is logged when it begins, and when it ends."""
        if words != self._told:
            self._log(words or "messages are taken again")
            self._told = words
