"""Single messages of queues, by which a topic is known again."""

from __future__ import annotations

from hashlib import sha256

from jobs.nodes.known_messages import Mark
from jobs.nodes.rocketmq.client import RocketMq
from jobs.nodes.rocketmq.line import Away, Refused
from jobs.nodes.rocketmq.messages import Message, properties_of
from jobs.nodes.rocketmq.positions import Offsets
from jobs.nodes.rocketmq.pulling import Lost, Pull, Wanted
from jobs.nodes.rocketmq.route import Queue

#: The property by which RocketMQ's own clients number what they send.
_SENT_AS = "UNIQ_KEY"


def queue_marks(client: RocketMq, wanted: Wanted, offsets: Offsets) -> dict[Queue, Mark | None]:
    """The message at the offset of each queue, whatever its tag; None where the queue ends before it.

    Left out are queues that are not there now, and those whose message is not there any more. `wanted` names no tags.
    """
    route = client.route(wanted.topic)
    found: dict[Queue, Mark | None] = {}
    for queue, offset in offsets.items():
        if queue in route.readable:
            try:
                found[queue] = _mark_at(client, route.addresses[queue.broker], wanted, queue, offset)
            except Lost as lost:
                if lost.following <= lost.at:
                    found[queue] = None
    return found


def _mark_at(client: RocketMq, address: str, wanted: Wanted, queue: Queue, offset: int) -> Mark:
    is_whole = False
    try:
        parts = list(Pull(client.line(address), wanted, queue.number, offset + 1).parts(offset))
        is_whole = True
    except Refused as refused:
        raise client.refusal(refused) from None
    except Away as away:
        raise client.away(str(away)) from None
    finally:
        if not is_whole:  # an answer may still be on its way on this line
            client.drop(address)
    (message,) = (one for messages, _ in parts for one in messages)
    return Mark(message.offset, _digest(message))


def _digest(message: Message) -> str:
    """Of what the sender wrote."""
    told = f"{message.born} {properties_of(message.properties).get(_SENT_AS, '')}\n"
    return sha256(told.encode() + message.value).hexdigest()
