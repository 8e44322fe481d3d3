"""Ranges of queues, read to their end: a broker that goes away is waited for, what was deleted is an error or skipped, as chosen."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from jobs.nodes.base import NodeError
from jobs.nodes.patience import SETTLING_SECONDS, Patience
from jobs.nodes.rocketmq.client import RocketMq, RocketmqAway
from jobs.nodes.rocketmq.line import Away, Refused
from jobs.nodes.rocketmq.messages import Message
from jobs.nodes.rocketmq.positions import QueueRange
from jobs.nodes.rocketmq.pulling import Lost, Pull, Wanted
from jobs.nodes.rocketmq.refusals import is_passing

logger = logging.getLogger(__name__)


class QueueReading:
    """Reads ranges for one task. `skips`: go on behind messages that are lost."""

    def __init__(self, client: RocketMq, wanted: Wanted, *, skips: bool, patience: Patience | None = None) -> None:
        self._client = client
        self._wanted = wanted
        self._skips = skips
        self._patience = patience or Patience()

    def messages(self, one: QueueRange) -> Iterator[Sequence[Message]]:
        """All messages of the range in order, in parts."""
        at = one.first
        while at < one.last:
            try:
                for messages, following in self._parts(one, at):
                    at = following
                    self._patience.succeeded()
                    yield messages
            except Lost as lost:
                if lost.following > lost.at or self._patience.is_over(SETTLING_SECONDS):
                    at = self._behind(one, lost)
                else:
                    self._patience.pause()
            except (Away, RocketmqAway, Refused) as error:
                self._give_up_or_not(error)
                self._patience.pause()

    def _parts(self, one: QueueRange, at: int) -> Iterator[tuple[Sequence[Message], int]]:
        """One try."""
        address = self._client.route(self._wanted.topic).addresses.get(one.queue.broker)
        if address is None:
            raise Away(f"broker {one.queue.broker} is not known to the name server")
        is_whole = False
        try:
            yield from Pull(self._client.line(address), self._wanted, one.queue.number, one.last).parts(at)
            is_whole = True
        finally:
            if not is_whole:  # answers may still be on their way on this line
                self._client.drop(address)

    def _behind(self, one: QueueRange, lost: Lost) -> int:
        """Where to go on; NodeError unless lost messages are skipped."""
        if not self._skips:
            raise lost_words(self._client.name, one, lost.at, lost.following)
        logger.warning("%s of %s: went on from %d to %d", one.queue, self._wanted.topic, lost.at, lost.following)
        return lost.following if lost.following > lost.at else one.last

    def _give_up_or_not(self, error: Away | RocketmqAway | Refused) -> None:
        is_over = self._patience.is_over()
        if isinstance(error, Refused) and (is_over or not is_passing(error.code)):
            raise self._client.refusal(error) from None
        if is_over:
            raise error if isinstance(error, RocketmqAway) else self._client.away(str(error)) from None


def lost_words(name: str, one: QueueRange, at: int, following: int) -> NodeError:
    """Messages of the range are not there, and what to do."""
    told = f"there is none before {following:,}" if following > at else f"the queue ends at {following:,}"
    remedy = 'set "Lost messages" to go on with what is left, or start from the beginning'
    return NodeError(
        f'rocketmq "{name}": messages of {one.queue} from {at:,} on were deleted before they were read, or the topic was made anew '
        f"({told}); {remedy}",
        permanent=True,
        field="lost_messages",
    )
