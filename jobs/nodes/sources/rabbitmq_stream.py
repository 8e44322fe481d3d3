"""Reads messages from a RabbitMQ stream."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from jobs.nodes.backlog import Backlog, Place, ReadsLog
from jobs.nodes.backpressure import Backpressure
from jobs.nodes.base import NodeContext, NodeError, Source
from jobs.nodes.connections.rabbitmq_client import rabbitmq_silent
from jobs.nodes.hand_positions import HandPositions, NumberPart
from jobs.nodes.known_messages import NOTE, KnownMessages, Mark, RemembersMessages
from jobs.nodes.node_error import reworded
from jobs.nodes.patience import SETTLING_SECONDS, Patience
from jobs.nodes.payload import PAYLOAD_FIELDS, MessageColumns, payload_empty, payload_read, payload_schema
from jobs.nodes.plainly import sign_in_fault
from jobs.nodes.rabbitmq.stream_line import StreamLine
from jobs.nodes.rabbitmq.stream_reading import StreamRange, StreamReading, lost_words
from jobs.nodes.rabbitmq.told import sent_digest
from jobs.nodes.sources.rabbitmq_stream_config import RabbitMQStreamConfig
from jobs.nodes.unread_columns import TellsUnreadFields

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: By what the reader calls them.
_METADATA: MessageColumns = {
    "rabbitmq_offset": ("bigint", "offset"),
    "rabbitmq_routing_key": ("string", "key"),
    "rabbitmq_exchange": ("string", "exchange"),
    "rabbitmq_time": ("timestamp", "sent"),
    "rabbitmq_headers": ("map<string, string>", "headers"),
}
_SAMPLED = 200


class RabbitMQStreamSource(ReadsLog, RemembersMessages, TellsUnreadFields, Source[RabbitMQStreamConfig]):
    """Reads messages from a RabbitMQ stream, as JSON, CSV, Avro, text or bytes.

    Unbounded; in an import or a query bounded by the newest message at the start. Exactly once: each message is read by its offset,
    once in a generation, but for those that DROP or LATEST skips. The broker is 3.10 or later, and hands no messages out over AMQP
    that their sender compressed together.
    """

    type = "source.rabbitmq_stream"
    title = "RabbitMQ stream"
    icon = "logs"
    Config = RabbitMQStreamConfig
    connection_kinds = ("rabbitmq",)
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    rejects_rows: ClassVar[bool] = True
    summary_template = "{stream} · {format}"
    pace_fields: ClassVar[frozenset[str]] = frozenset(
        {"start", "start_time", "start_offset", "max_records_per_trigger", "backpressure", "max_backlog", "lost_messages"}
    )
    row_fields: ClassVar[frozenset[str]] = PAYLOAD_FIELDS
    hand_positions: ClassVar[HandPositions | None] = NumberPart("offset")

    def plain_fault(self, context: NodeContext[RabbitMQStreamConfig]) -> str:
        return sign_in_fault(context)

    def waits_for(self, context: NodeContext[RabbitMQStreamConfig]) -> str:
        return rabbitmq_silent(context.connection(context.config.connection))

    def resumes(self, config: RabbitMQStreamConfig) -> bool:
        return True

    def read(self, spark: SparkSession, context: NodeContext[RabbitMQStreamConfig]) -> DataFrame:
        config = context.config
        if not context.schema_only or not config.columns:
            with StreamLine(context.connection(config.connection), config.stream) as line:
                line.look()
        if context.mode == "stream" and not context.schema_only:
            self.log_check(context)
        kept = context.work_dir / "sampled_schema.json" if context.mode == "stream" and not context.schema_only else None
        schema = payload_schema(spark, config, lambda: _newest(context), kept)
        metadata = _METADATA if config.metadata else {}
        if context.schema_only:
            return payload_empty(spark, schema, metadata, config)
        self.taken = schema.names
        return payload_read(_messages(spark, context), schema, metadata, config, plainly=context.for_script)

    def check_input(self, position: Any, context: NodeContext[RabbitMQStreamConfig]) -> None:
        config, at = context.config, int(position["offset"])
        if config.lost_messages == "go_on":
            return
        with StreamLine(context.connection(config.connection), config.stream) as line:
            look = line.look("first")
            if look.newest < at:  # as a broker may say that just began
                time.sleep(SETTLING_SECONDS)
                look = line.look("first")
            begin = look.first or 0
            if not begin <= at <= look.newest:
                raise lost_words(line.act, config.stream, at, begin if begin > at else look.newest)
        self.known_messages(context).check()

    def known_messages(self, context: NodeContext[RabbitMQStreamConfig]) -> KnownMessages:
        connection, stream = context.connection(context.config.connection), context.config.stream

        def look(offsets: Mapping[str, int]) -> dict[str, Mark | None]:
            with StreamLine(connection, stream) as line:
                found = {name: line.at(offset) for name, offset in offsets.items()}
            return {name: Mark(one.offset, sent_digest(one.value, one.properties)) if one else None for name, one in found.items()}

        return KnownMessages(context.work_dir / NOTE, "stream", stream, look)

    def newest_texts(self, context: NodeContext[RabbitMQStreamConfig]) -> list[str]:
        return _newest(context)

    def backlog(self, context: NodeContext[RabbitMQStreamConfig]) -> Backlog | None:
        config, connection = context.config, context.connection(context.config.connection)

        def ends(places: Collection[Place]) -> dict[Place, int]:
            with StreamLine(connection, config.stream) as line:
                return {("offset",): line.look().newest}

        return Backlog(ends, Backpressure(config.backpressure, config.max_backlog)) if config.backpressure != "BUFFER" else None


def _messages(spark: SparkSession, context: NodeContext[RabbitMQStreamConfig]) -> DataFrame:
    """With the column value, and those that _METADATA names."""
    from jobs.nodes.readers.rabbitmq_streams import RabbitMQStreams
    from jobs.nodes.readers.replayed import messages_of

    return messages_of(spark, context, RabbitMQStreams, context.config.connection)


def _newest(context: NodeContext[RabbitMQStreamConfig]) -> list[str]:
    """Values of some of the newest messages as text."""
    config = context.config
    with StreamLine(context.connection(config.connection), config.stream) as line:
        begin = line.look("first")
        first = max(begin.newest - _SAMPLED, begin.first or 0)
        reading = StreamReading(line, config.stream, skips=True, patience=Patience(0))
        try:
            parts = reading.messages(StreamRange(first, begin.newest))
            return [one.value.decode("utf-8", "replace") for part in parts for one in part]
        except NodeError as error:
            raise reworded(error, f"looking at the newest messages: {error.message}", "") from error
