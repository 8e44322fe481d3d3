"""A line to one RabbitMQ stream over AMQP 0.9.1: where it begins and ends, and its messages from an offset on.

A broker tells no offsets but those of messages that it delivers. It delivers whole chunks, as they were stored, however little was asked
for. Offsets rise but are not dense: the broker's own notes take some.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.rabbitmq_client import RabbitMQAway, rabbitmq_error, rabbitmq_line, stream_channel_close
from jobs.nodes.node_error import reworded
from jobs.nodes.rabbitmq.queue_kind import is_other_kind, other_kind_words
from jobs.nodes.rabbitmq.told import OFFSET_HEADER, reading_act

if TYPE_CHECKING:
    from pika import BlockingConnection
    from pika.adapters.blocking_connection import BlockingChannel

Place = int | datetime | Literal["first", "last"]
#: A stream that delivers nothing from its last chunk through so many questions and answers, and for so long, is empty.
_EMPTY_ANSWERS, _EMPTY_SECONDS = 10, 1.0
_PAUSE_SECONDS = 0.05
_INTERNAL_ERROR = 541
#: So a node answers for a moment after it started.
_NO_REPLICA = "does not have a replica on the local node"


@dataclass(frozen=True)
class Delivered:
    """A message; `method` and `properties` as the client hands them over."""

    offset: int
    value: bytes
    method: Any
    properties: Any


@dataclass(frozen=True)
class Look:
    """`first`: offset of the first message at or behind the place looked at, None without one. `newest`: behind the newest message."""

    first: int | None
    newest: int


class StreamLine:
    """Opened when it is first needed, and anew after it broke. Whatever the broker refuses is a NodeError."""

    def __init__(self, connection: ConnectionSettings, stream: str) -> None:
        self._connection = connection
        self._stream = stream
        self._line: BlockingConnection | None = None
        self.act = reading_act(connection.name)

    def __enter__(self) -> StreamLine:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        from pika.exceptions import AMQPError

        line, self._line = self._line, None
        if line is not None:
            with suppress(AMQPError, OSError):
                line.close()

    def is_there(self) -> None:
        """NodeError where the stream does not exist, or the broker does not answer."""
        with self._told() as line, _channel(line) as channel:
            channel.queue_declare(self._stream, passive=True)

    def look(self, place: Place = "last") -> Look:
        """Both ends of what lies behind `place`. Moves nothing."""
        found, last = self._chunks(place)
        return Look(found[0].offset if found else None, last[-1].offset + 1 if last else 0)

    def at(self, offset: int) -> Delivered | None:
        """The first message at or behind `offset`, None without one. Moves nothing."""
        found, _ = self._chunks(offset)
        return next((one for one in found if one.offset >= offset), None)

    @contextmanager
    def consumer(self, offset: int, ahead: int) -> Iterator[Consumer]:
        """Messages from `offset` on. The broker sends about `ahead` of them before those before are taken."""
        with self._told() as line, _channel(line) as channel:
            channel.basic_qos(prefetch_count=ahead)
            ended: list[object] = []
            channel.add_on_cancel_callback(ended.append)
            yield Consumer(self, line, channel, self._consume(channel, offset), ended)

    def _chunks(self, place: Place) -> tuple[Sequence[Delivered], Sequence[Delivered]]:
        """The chunk at `place`, from there on, and the last one."""
        with self._told() as line, _channel(line) as channel:
            channel.basic_qos(prefetch_count=1)
            found = self._consume(channel, place)
            # Consumers of one channel are served in their order: with the last chunk here, that of the place is here as well.
            last = found if place == "last" else self._consume(channel, "last")
            _settle(line, channel, last)
        return found, last

    def _consume(self, channel: BlockingChannel, place: Place) -> list[Delivered]:
        """A list to which messages are added as they arrive."""
        arrived: list[Delivered] = []

        def arrive(_: Any, method: Any, properties: Any, body: bytes) -> None:
            arrived.append(Delivered(int(properties.headers[OFFSET_HEADER]), body, method, properties))

        channel.basic_consume(self._stream, arrive, arguments={OFFSET_HEADER: place})
        return arrived

    @contextmanager
    def _told(self) -> Iterator[BlockingConnection]:
        with self.translated():
            if self._line is None:
                self._line = rabbitmq_line(self._connection)
            yield self._line

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Errors of the client as NodeErrors; the line is closed then."""
        from pika.exceptions import AMQPError

        try:
            yield
        except (AMQPError, OSError) as error:
            self.close()
            raise self._words(error) from error

    def _words(self, error: BaseException) -> NodeError:
        if is_other_kind(error):
            return other_kind_words(self._stream, self.act)
        if getattr(error, "reply_code", 0) == _INTERNAL_ERROR:
            told = "those that their sender compressed together, or wrote as no AMQP messages, cannot be read over AMQP"
            return NodeError(f"{self.act}: the broker fails to deliver messages of {self._stream}; {told}")
        found = rabbitmq_error(error, self.act)
        if _NO_REPLICA in found.message:
            return RabbitMQAway(found.message)
        return reworded(found, found.message, "stream") if found.field == "queue" else found


class Consumer:
    """What arrives from a place on."""

    def __init__(
        self, owner: StreamLine, line: BlockingConnection, channel: BlockingChannel, arrived: list[Delivered], ended: list[object]
    ) -> None:
        self._owner = owner
        self._line = line
        self._channel = channel
        self._arrived = arrived
        self._ended = ended

    def take(self, seconds: float) -> list[Delivered]:
        """What came, after `seconds` at most. RabbitMQAway when the broker ended the reading, as when its stream moves or is deleted."""
        if not self._line.is_open:  # the client would say so in no way of its own
            raise RabbitMQAway(f"{self._owner.act}: the line to the broker broke")
        with self._owner.translated():
            self._line.process_data_events(time_limit=seconds)
            taken = list(self._arrived)
            self._arrived.clear()
            if taken:
                self._channel.basic_ack(taken[-1].method.delivery_tag, multiple=True)
        if self._ended and not taken:
            raise RabbitMQAway(f"{self._owner.act}: the broker ended the reading; the stream may have been deleted")
        return taken


@contextmanager
def _channel(line: BlockingConnection) -> Iterator[BlockingChannel]:
    from pika.exceptions import AMQPError

    channel = line.channel()
    try:
        yield channel
    finally:
        with suppress(AMQPError, OSError):
            stream_channel_close(channel)


def _settle(line: BlockingConnection, channel: BlockingChannel, arrived: list[Delivered]) -> None:
    """Until the chunk that is being delivered is here as a whole, or there is none."""
    since, answers = time.monotonic(), 0
    while True:
        has_begun = bool(arrived)
        channel.basic_qos(prefetch_count=1)  # the answer comes behind a chunk that began to arrive
        line.process_data_events(time_limit=0)
        answers += 1
        if has_begun or (answers > _EMPTY_ANSWERS and time.monotonic() - since > _EMPTY_SECONDS):
            return
        if not arrived:
            line.process_data_events(time_limit=_PAUSE_SECONDS)
