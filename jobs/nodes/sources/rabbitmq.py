"""Reads messages from a RabbitMQ queue."""

from __future__ import annotations

import time
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import NodeContext, NodeError
from jobs.nodes.connections.rabbitmq_client import rabbitmq_channel, rabbitmq_silent
from jobs.nodes.form import connection_field, hints
from jobs.nodes.intake import Intake
from jobs.nodes.payload import PAYLOAD_FIELDS, MessageColumns
from jobs.nodes.rabbitmq.queue_kind import look_refuse, stream_refuse
from jobs.nodes.rabbitmq.told import headers_told, reading_act, text_told
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.spool import Message, Spooled
from jobs.nodes.spool_source import PACE_FIELDS, SAMPLED, SpoolConfig, SpoolSource

if TYPE_CHECKING:
    from pika.adapters.blocking_connection import BlockingChannel

#: A bounded run that was promised more messages than come ends after so long, where the queue has none left: somebody else reads them.
_IDLE_SECONDS = 10.0
#: And after so long where it has, but sends none.
_SILENT_SECONDS = 120.0
#: A broker waits half an hour for an acknowledgement as it comes; then it takes the messages back, and a quorum queue counts a failure.
_HELD_SECONDS = 600.0


class RabbitMQPlace(base.Config):
    connection: str = connection_field("rabbitmq")
    queue: str = Field(
        min_length=1, max_length=255, description="The queue to read, classic or quorum; it must exist.", examples=["orders"]
    )
    drop_repeats: bool = Field(
        False,
        description="Drop a message whose message id came within a week before; needs senders that give each message one of its own.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
    prefetch: int = Field(
        2_000,
        ge=1,
        le=65_535,
        description="Most messages that the broker sends ahead of their being kept.",
        examples=[2_000],
        json_schema_extra=hints(advanced=True),
    )


class RabbitMQConfig(SpoolConfig, RabbitMQPlace):
    pass


class RabbitMQSource(SpoolSource[RabbitMQConfig]):
    """Reads messages from a RabbitMQ queue, as JSON, CSV, Avro, text or bytes.

    Unbounded; in an import or a query bounded by what waits in the queue at the start. At least once: a message is acknowledged when it
    is on disk; after a failure between the two it comes again, and is dropped where message ids tell it. Samples are taken from what was
    received, else from a classic queue, whose messages go back; a quorum queue would count that against them.
    """

    type = "source.rabbitmq"
    title = "RabbitMQ"
    icon = "mailbox"
    Config = RabbitMQConfig
    connection_kinds = ("rabbitmq",)
    guarantee: ClassVar[str] = "at least once"
    summary_template = "{queue} · {format}"
    pace_fields: ClassVar[frozenset[str]] = PACE_FIELDS | {"prefetch"}
    row_fields: ClassVar[frozenset[str]] = PAYLOAD_FIELDS | {"drop_repeats"}
    message_columns: ClassVar[MessageColumns] = {
        "rabbitmq_position": ("bigint", "position"),
        "rabbitmq_received": ("timestamp", "received"),
        "rabbitmq_routing_key": ("string", "key"),
        "rabbitmq_headers": ("map<string, string>", "headers"),
    }

    def place(self, config: RabbitMQConfig) -> str:
        return f"{config.connection}/{config.queue}"

    def waits_for(self, context: NodeContext[RabbitMQConfig]) -> str:
        """Also while the broker is tried again; why stands in brackets then."""
        name = context.config.connection
        if silent := rabbitmq_silent(context.connection(name)):
            return silent
        why = RetryNote.of(context.work_dir).reason(reading_act(name))
        return f"rabbitmq {name} ({why})" if why else ""

    def receive(self, context: NodeContext[RabbitMQConfig], stopping: Event) -> None:
        connection = context.connection(context.config.connection)
        act = reading_act(connection.name)
        with rabbitmq_channel(connection, act) as (line, channel), Intake(context) as intake:
            stream_refuse(line, context.config.queue, act)
            consumer = _Consumer(channel, context.config, intake)
            while not stopping.is_set() and not (context.bounded and consumer.has_all()):
                line.process_data_events(time_limit=intake.pause())
                consumer.keep()
            consumer.settle()

    def newest(self, context: NodeContext[RabbitMQConfig]) -> list[Spooled]:
        """Of what was received, else a look into the queue, whose messages go back to their place; a quorum queue refuses it."""
        return super().newest(context) or _peeked(context)


class _Consumer:
    """The messages that arrived on a channel and are not acknowledged yet, in order."""

    def __init__(self, channel: BlockingChannel, config: RabbitMQConfig, intake: Intake) -> None:
        self._channel, self._queue, self._drop_repeats = channel, config.queue, config.drop_repeats
        self._intake = intake
        self._tags: list[int] = []
        self._arrived: list[Message] = []
        self._times: list[float] = []
        self._act = reading_act(config.connection)
        self._left: int = channel.queue_declare(config.queue, passive=True).method.message_count
        self._arrived_at = time.monotonic()
        channel.basic_qos(prefetch_count=config.prefetch)
        channel.add_on_cancel_callback(self._cancelled)
        self._consumer = self._consume()

    def has_all(self) -> bool:
        """Whether everything that was in the queue at the start is kept, or nobody sends the rest."""
        idle = time.monotonic() - self._arrived_at
        if self._left <= 0 or self._arrived or idle <= _IDLE_SECONDS:
            return self._left <= 0
        return idle > _SILENT_SECONDS or not self._channel.queue_declare(self._queue, passive=True).method.message_count

    def keep(self) -> None:
        """Keep what there is room for. What the broker has waited for too long is kept beyond that, and no more is let come meanwhile."""
        is_late = bool(self._times) and time.monotonic() - self._times[0] > _HELD_SECONDS
        if is_late and self._consumer:
            self._channel.basic_cancel(self._consumer)
            self._consumer = ""
        self._acknowledge(self._intake.keep(self._arrived, beyond=is_late))
        if not self._consumer and not self._arrived and self._intake.has_room():
            self._consumer = self._consume()

    def settle(self) -> None:
        """What is on the disk is acknowledged before the channel closes."""
        self._acknowledge(self._intake.settle())

    def _acknowledge(self, done: int) -> None:
        if done:
            self._channel.basic_ack(self._tags[done - 1], multiple=True)
            del self._tags[:done], self._arrived[:done], self._times[:done]
            self._left -= done

    def _consume(self) -> str:
        return str(self._channel.basic_consume(self._queue, self._arrive))

    def _arrive(self, channel: Any, method: Any, properties: Any, body: bytes) -> None:
        told = headers_told(method, properties)
        message_id = told.get("message_id", "") if self._drop_repeats else ""
        self._tags.append(method.delivery_tag)
        self._arrived.append(Message(body, key=text_told(method.routing_key), headers=told, id=message_id[:300]))
        self._arrived_at = time.monotonic()
        self._times.append(self._arrived_at)

    def _cancelled(self, method: Any) -> None:
        raise NodeError(f"{self._act}: the broker ended the reading of {self._queue}; it may have been deleted")


def _peeked(context: NodeContext[RabbitMQConfig]) -> list[Spooled]:
    connection = context.connection(context.config.connection)
    found: list[Spooled] = []
    act = reading_act(connection.name)
    with rabbitmq_channel(connection, act) as (line, channel):
        look_refuse(stream_refuse(line, context.config.queue, act), context.config.queue, act)
        while len(found) < SAMPLED:
            method, properties, body = channel.basic_get(context.config.queue)
            if method is None:
                break
            found.append(Spooled(len(found) + 1, time.time(), text_told(method.routing_key), headers_told(method, properties), body))
    return found  # closing the line gives them back
