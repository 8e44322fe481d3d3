"""Of which kind a queue is: streams have a source of their own, and quorum queues count what is done to their messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from jobs.nodes.base import NodeError
from jobs.nodes.connections.rabbitmq_client import stream_channel_close
from jobs.nodes.rabbitmq.told import OFFSET_HEADER

if TYPE_CHECKING:
    from pika import BlockingConnection

_PRECONDITION_FAILED = 406
#: From this version on a broker is known to refuse an offset for any other kind of queue.
_TELLING = (3, 10)


QueueKind = Literal["classic", "quorum", "stream", ""]


def stream_refuse(line: BlockingConnection, queue: str, act: str) -> QueueKind:
    """NodeError where `queue` is a stream; else its kind, "" where the broker is too old to tell. Moves no message."""
    kind = _kind_of(line, queue) if _tells(line) else ""
    if kind == "stream":
        words = f"{act}: {queue} is a stream; read it with the source for RabbitMQ streams (source.rabbitmq_stream)"
        raise NodeError(words, permanent=True, kind="user", field="queue")
    return kind


def look_refuse(kind: QueueKind, queue: str, act: str) -> None:
    """NodeError where each look at a message brings it nearer to being thrown away."""
    if kind == "quorum":
        words = (
            f"{act}: {queue} is a quorum queue, for which a look at a message counts as a failed delivery, and RabbitMQ allows few; "
            "list the columns, and give sample rows by hand, or let the job receive some messages first"
        )
        raise NodeError(words, permanent=True, kind="user", field="queue")


def is_other_kind(error: BaseException) -> bool:
    """Whether the broker refused to read a queue from an offset because it is no stream."""
    return getattr(error, "reply_code", 0) == _PRECONDITION_FAILED and OFFSET_HEADER in getattr(error, "reply_text", "")


def other_kind_words(queue: str, act: str) -> NodeError:
    words = f"{act}: {queue} is no stream but a classic or quorum queue; read it with the source for RabbitMQ queues (source.rabbitmq)"
    return NodeError(words, permanent=True, kind="user", field="stream")


def _kind_of(line: BlockingConnection, queue: str) -> QueueKind:
    from pika.exceptions import ChannelClosedByBroker

    channel = line.channel()
    try:
        channel.basic_qos(prefetch_count=1)
        channel.basic_consume(queue, lambda *delivery: None, arguments={OFFSET_HEADER: "next"})
    except ChannelClosedByBroker as error:
        if is_other_kind(error):
            return "quorum" if "quorum" in error.reply_text.rpartition(" type ")[2] else "classic"
        raise
    stream_channel_close(channel)
    return "stream"


def _tells(line: BlockingConnection) -> bool:
    told: dict[str, Any] = line._impl.server_properties or {}
    version = re.match(r"(\d+)\.(\d+)", str(told.get("version", "")))
    return told.get("product") == "RabbitMQ" and version is not None and (int(version[1]), int(version[2])) >= _TELLING
