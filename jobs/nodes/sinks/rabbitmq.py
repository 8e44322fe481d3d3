"""Writes rows as messages to a RabbitMQ exchange."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import Batch, Caution, NodeContext, NodeError, Sink, Written
from jobs.nodes.columns import empty_frame
from jobs.nodes.config_refused import ConfigRefused
from jobs.nodes.connections.rabbitmq_client import RabbitMQSettings, rabbitmq_channel, rabbitmq_silent
from jobs.nodes.form import ColumnName, connection_field, hints
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.roll_back import Hindrance
from jobs.nodes.sinks.messages import (
    MessageFormatName,
    OptionalColumn,
    id_columns_field,
    message_format_field,
    message_rows,
    value_column_field,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_NO_TARGET = (
    "no message can arrive: the default exchange takes the routing key for a queue's name, and there is none; give an exchange, a routing "
    "key or the column that holds it"
)
_CONTENT_TYPES = {"json": "application/json", "text": "text/plain"}


def content_type(message_format: str) -> str:
    return _CONTENT_TYPES.get(message_format, "application/octet-stream")


class RabbitMQSinkConfig(base.Config):
    connection: str = connection_field("rabbitmq")
    exchange: str = Field(
        "",
        max_length=255,
        description="The exchange to write to, which must exist; empty is the default one, where the routing key is a queue's name.",
        examples=["orders"],
    )
    routing_key: str = Field("", max_length=255, description="The routing key of every message.", examples=["orders.new"])
    routing_key_column: OptionalColumn = Field(
        "",
        description="The column that holds each message's routing key; a row without a value there takes the one above.",
        examples=["country"],
        json_schema_extra=hints("column", advanced=True),
    )
    format: MessageFormatName = message_format_field()
    value_column: OptionalColumn = value_column_field()
    id_columns: tuple[ColumnName, ...] = id_columns_field("property message_id")
    mandatory: bool = Field(
        True,
        description=(
            "A message that reaches no queue is a rejected row where the key comes from a column, else the target is missing and the "
            "batch fails. Without this the broker drops it without a word."
        ),
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
    persistent: bool = Field(
        True,
        description="Messages in durable queues outlive a restart of the broker.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )

    @property
    def has_target(self) -> bool:
        return bool(self.exchange or self.routing_key or self.routing_key_column)

    @model_validator(mode="after")
    def _arrives(self) -> RabbitMQSinkConfig:
        if self.mandatory and not self.has_target:  # else the broker drops all without a word, and such a job has run
            raise ConfigRefused(_NO_TARGET, "routing_key")
        return self


class RabbitMQSink(Sink[RabbitMQSinkConfig]):
    """Writes each row as a message to a RabbitMQ exchange, confirmed by the broker.

    Bounded and unbounded input. At least once: after a failure the messages of the last batch may come again; so may those under way,
    up to 1,000 a task, when a line breaks or a message of no more than 64 KiB is too large for the broker. Of those that a full queue
    refuses none comes twice, unless another queue took it. Name the columns that tell messages apart, and readers can drop repeats by
    message_id.
    """

    type = "sink.rabbitmq"
    title = "RabbitMQ"
    icon = "mailbox"
    Config = RabbitMQSinkConfig
    connection_kinds = ("rabbitmq",)
    guarantee: ClassVar[str] = "at least once"
    rejects_rows: ClassVar[bool] = True
    stays: ClassVar[Hindrance] = "sent"
    summary_template = "{exchange} {routing_key}{routing_key_column}"

    def waits_for(self, context: NodeContext[RabbitMQSinkConfig]) -> str:
        """Also while messages are sent again; why stands in brackets then."""
        if silent := self.needs_to_begin(context):
            return silent
        words = RetryNote.of(context.work_dir).words()
        return f"rabbitmq {context.config.connection} ({words})" if words else ""

    def needs_to_begin(self, context: NodeContext[RabbitMQSinkConfig]) -> str:
        return rabbitmq_silent(context.connection(context.config.connection))

    def cautions(self, context: NodeContext[RabbitMQSinkConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        config = context.config
        if not config.has_target:
            return [Caution("routing_key", _NO_TARGET, "target.missing")]
        if config.routing_key and config.routing_key_column:
            column = config.routing_key_column
            message = (
                f"only rows without a value in {column} take it, the others have their key there; empty one of the two if that is wrong"
            )
            return [Caution("routing_key", message, "key.beside")]
        return ()

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[RabbitMQSinkConfig]) -> None:
        self.check(spark, schema, context)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[RabbitMQSinkConfig]) -> None:
        config = context.config
        _messages(empty_frame(spark, schema), context)
        connection = context.connection(config.connection)
        try:
            with rabbitmq_channel(connection, _act(connection.name)) as (_, channel):
                if config.exchange:
                    channel.exchange_declare(config.exchange, passive=True)
                elif config.routing_key and not config.routing_key_column:
                    channel.queue_declare(config.routing_key, passive=True)
        except NodeError as error:
            if error.field == "queue":  # the default exchange takes a queue's name for the routing key
                error.field = "routing_key"
            raise

    def write_plainly(self, frame: DataFrame, context: NodeContext[RabbitMQSinkConfig]) -> tuple[DataFrame, str]:
        from jobs.nodes.sinks.rabbitmq_plain import RabbitMQPublishing

        config, connection = context.config, context.connection(context.config.connection)
        typed = RabbitMQSettings.model_validate(connection.config)
        publishing = RabbitMQPublishing(
            host=typed.host,
            port=typed.port,
            virtual_host=typed.virtual_host,
            user=typed.user,
            password=connection.secrets.get("password", ""),
            exchange=config.exchange,
            routing_key=config.routing_key,
            content_type=content_type(config.format),
            is_persistent=config.persistent,
            is_mandatory=config.mandatory,
            has_own_keys=bool(config.routing_key_column),
            tls=typed.tls,
            certificate_authority=typed.certificate_authority,
            stops_at_rejected=context.fails_at_rejected,
        )
        _messages(frame, context).foreachPartition(publishing.publish)
        return frame, ""

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[RabbitMQSinkConfig]) -> Written:
        from jobs.nodes.sinks.rabbitmq_publishing import RabbitMQSender
        from jobs.nodes.sinks.task_tally import sent_by_tasks

        config = context.config
        connection = context.connection(config.connection)
        sender = RabbitMQSender(
            config,
            connection,
            context.node_id,
            _act(connection.name),
            batch.fails_at_rejected,
            batch.rejections,
            RetryNote.of(context.work_dir),
        )
        return sent_by_tasks(_messages(frame, context, keeps_rows=batch.rejections is not None), sender)


def _messages(frame: DataFrame, context: NodeContext[RabbitMQSinkConfig], *, keeps_rows: bool = False) -> DataFrame:
    """With the columns value (bytes), id and route."""
    config = context.config
    return message_rows(
        frame, context, _act(config.connection), route=(config.routing_key_column, "routing_key_column"), keeps_rows=keeps_rows
    )


def _act(connection: str) -> str:
    return f'writing to rabbitmq "{connection}"'
