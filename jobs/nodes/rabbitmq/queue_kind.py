"""Whether a queue is a stream; each kind has a source of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import NodeError
from jobs.nodes.connections.rabbitmq_client import stream_channel_close
from jobs.nodes.rabbitmq.told import OFFSET_HEADER

if TYPE_CHECKING:
    from pika import BlockingConnection

_PRECONDITION_FAILED = 406
#: From this version on a broker is known to refuse an offset for any other kind of queue.
_TELLING = (3, 10)


def stream_refuse(line: BlockingConnection, queue: str, act: str) -> None:
    """NodeError where `queue` is a stream. Moves no message."""
    if _tells(line) and _is_stream(line, queue):
        words = f"{act}: {queue} is a stream; read it with the source for RabbitMQ streams (source.rabbitmq_stream)"
        raise NodeError(words, permanent=True, kind="user", field="queue")


def is_other_kind(error: BaseException) -> bool:
    """Whether the broker refused to read a queue from an offset because it is no stream."""
    return getattr(error, "reply_code", 0) == _PRECONDITION_FAILED and OFFSET_HEADER in getattr(error, "reply_text", "")


def other_kind_words(queue: str, act: str) -> NodeError:
    words = f"{act}: {queue} is no stream but a classic or quorum queue; read it with the source for RabbitMQ queues (source.rabbitmq)"
    return NodeError(words, permanent=True, kind="user", field="stream")


def _is_stream(line: BlockingConnection, queue: str) -> bool:
    from pika.exceptions import ChannelClosedByBroker

    channel = line.channel()
    try:
        channel.basic_qos(prefetch_count=1)
        channel.basic_consume(queue, lambda *delivery: None, arguments={OFFSET_HEADER: "next"})
    except ChannelClosedByBroker as error:
        if is_other_kind(error):
            return False
        raise
    stream_channel_close(channel)
    return True


def _tells(line: BlockingConnection) -> bool:
    told: dict[str, Any] = line._impl.server_properties or {}
    version = re.match(r"(\d+)\.(\d+)", str(told.get("version", "")))
    return told.get("product") == "RabbitMQ" and version is not None and (int(version[1]), int(version[2])) >= _TELLING
