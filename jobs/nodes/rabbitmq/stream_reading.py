"""Ranges of a RabbitMQ stream, read to their end: a broker that goes away is waited for, what is lost is an error or skipped, as chosen."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jobs.nodes.base import NodeError
from jobs.nodes.connections.rabbitmq_client import RabbitMQAway
from jobs.nodes.patience import SETTLING_SECONDS, Patience
from jobs.nodes.rabbitmq.stream_line import Consumer, Delivered, StreamLine

logger = logging.getLogger(__name__)

#: Fewer messages are not worth a task of their own.
_FEW = 5_000
_AHEAD = 1_000
_LISTEN_SECONDS = 0.5
#: After so long without a message it is asked whether there are any.
_SILENT_SECONDS = 5.0


@dataclass(frozen=True)
class StreamRange:
    """Messages from offset `first` to before `last`."""

    first: int
    last: int


class Lost(Exception):
    """There is no message from `at` on, and none before `following`; at the stream's end that is not behind `at`."""

    def __init__(self, at: int, following: int) -> None:
        super().__init__(at, following)
        self.at = at
        self.following = following


class StreamReading:
    """Reads ranges for one task. `skips`: go on behind messages that are lost."""

    def __init__(self, line: StreamLine, stream: str, *, skips: bool, patience: Patience | None = None) -> None:
        self._line = line
        self._stream = stream
        self._skips = skips
        self._patience = patience or Patience()

    def messages(self, one: StreamRange) -> Iterator[Sequence[Delivered]]:
        """All messages of the range in order, in parts. That the newest of them was there is known."""
        at = one.first
        while at < one.last:
            try:
                with self._line.consumer(at, _AHEAD) as consumer:
                    for messages, following in self._parts(consumer, at, one.last):
                        at = following
                        self._patience.succeeded()
                        yield messages
            except Lost as lost:
                if lost.following > lost.at or self._patience.is_over(SETTLING_SECONDS):
                    at = self._behind(lost, one.last)
                else:
                    self._patience.pause()
            except NodeError as error:
                if error.permanent or self._patience.is_over():
                    raise
                self._patience.pause()

    def _parts(self, consumer: Consumer, at: int, last: int) -> Iterator[tuple[Sequence[Delivered], int]]:
        """One try."""
        heard = time.monotonic()
        while at < last:
            taken = [one for one in consumer.take(_LISTEN_SECONDS) if one.offset >= at]
            if taken:
                at = self._whole(taken, at)
                yield [one for one in taken if one.offset < last], min(at, last)
                heard = time.monotonic()
            elif time.monotonic() - heard > _SILENT_SECONDS:
                self._ask(at, last)

    def _whole(self, taken: Sequence[Delivered], at: int) -> int:
        """The offset behind those taken; Lost where some that were stored before them are missing."""
        if taken[-1].offset - at + 1 != len(taken):
            for one in taken:
                if one.offset > at:
                    self._check_gap(at)
                at = one.offset + 1
        return taken[-1].offset + 1

    def _check_gap(self, at: int) -> None:
        """Between messages that are there no offset was a message's; before the oldest nobody can know."""
        oldest = self._line.look("first").first
        if oldest is not None and oldest > at:
            raise Lost(at, oldest)

    def _ask(self, at: int, last: int) -> None:
        newest = self._line.look().newest
        if newest < last:
            raise Lost(at, newest)
        raise RabbitMQAway(f"{self._line.act}: the broker sends no message of {self._stream} from {at:,} on, and has some")

    def _behind(self, lost: Lost, last: int) -> int:
        """Where to go on; NodeError unless lost messages are skipped."""
        if not self._skips:
            raise lost_words(self._line.act, self._stream, lost.at, lost.following)
        logger.warning("%s: went on from %d to %d", self._stream, lost.at, lost.following)
        return lost.following if lost.following > lost.at else last


def lost_words(act: str, stream: str, at: int, following: int) -> NodeError:
    """Messages of the stream are not there, and what to do."""
    told = f"there is none before {following:,}" if following > at else f"the stream ends at {following:,}"
    remedy = 'set "Lost messages" to go on with what is left, or start from the beginning'
    return NodeError(
        f"{act}: messages of {stream} from {at:,} on were deleted before they were read, or the stream was made anew ({told}); {remedy}",
        permanent=True,
        field="lost_messages",
    )


def shared_out(start: int, end: int, tasks: int) -> list[StreamRange]:
    """What lies between, cut into about `tasks` parts of equal size, fewer when they are small.

    An end before the start is that of a stream made anew, which is read from its beginning.
    """
    begin = start if start <= end else 0
    size = max(-(-(end - begin) // max(1, tasks)), _FEW)
    return [StreamRange(first, min(first + size, end)) for first in range(begin, end, size)]
