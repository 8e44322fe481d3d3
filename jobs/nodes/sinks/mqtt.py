"""Writes rows as messages to topics of an MQTT broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, Sink, Written
from jobs.nodes.columns import empty_frame
from jobs.nodes.connections.mqtt_client import MqttSettings, mqtt_silent
from jobs.nodes.form import ColumnName, connection_field, hints
from jobs.nodes.formats import FORMATS
from jobs.nodes.guarantees import Guarantee
from jobs.nodes.roll_back import Hindrance
from jobs.nodes.sinks.messages import (
    MESSAGE_ID,
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


class MqttSinkConfig(base.Config):
    connection: str = connection_field("mqtt")
    topic: str = Field(
        "",
        max_length=5000,
        pattern=r"^[^+#\x00\r\n]*$",
        description="The topic to write to.",
        examples=["plant/alarms"],
        json_schema_extra=hints(allowed="a topic's name without + and #"),
    )
    topic_column: OptionalColumn = Field(
        "",
        description="The column that holds each message's topic, instead of one for all.",
        examples=["topic"],
        json_schema_extra=hints("column", advanced=True),
    )
    format: MessageFormatName = message_format_field()
    value_column: OptionalColumn = value_column_field()
    qos: Literal[0, 1, 2] = Field(
        1,
        description="How the broker takes a message: 0 without a word, 1 and 2 confirmed.",
        examples=[1],
        json_schema_extra=hints(advanced=True),
    )
    retain: bool = Field(
        False,
        description="The broker keeps the last message of each topic for readers that come later.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
    id_columns: tuple[ColumnName, ...] = id_columns_field(f"user property {MESSAGE_ID}")

    @model_validator(mode="after")
    def _has_a_topic(self) -> MqttSinkConfig:
        if bool(self.topic) == bool(self.topic_column):
            raise ValueError("give either a topic or the column that holds it")
        return self


class MqttSink(Sink[MqttSinkConfig]):
    """Writes each row as a message to a topic of an MQTT 5 broker.

    Bounded and unbounded input. At least once with quality of service 1 and 2: after a failure the messages of the last batch may come
    again; name the columns that tell them apart, and readers can drop repeats by a property. At most once a try with 0.
    """

    type = "sink.mqtt"
    title = "MQTT"
    icon = "antenna"
    Config = MqttSinkConfig
    connection_kinds = ("mqtt",)
    guarantee: ClassVar[str] = "at least once"
    rejects_rows: ClassVar[bool] = True
    stays: ClassVar[Hindrance] = "sent"
    summary_template = "{topic}{topic_column}"

    def guarantee_of(self, config: MqttSinkConfig) -> Guarantee:
        """With quality of service 0 a message may be lost on its way, and a batch that is tried again sends it again."""
        return "no guarantee" if config.qos == 0 else super().guarantee_of(config)

    def waits_for(self, context: NodeContext[MqttSinkConfig]) -> str:
        return mqtt_silent(context.connection(context.config.connection))

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[MqttSinkConfig]) -> None:
        self.check(spark, schema, context)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[MqttSinkConfig]) -> None:
        """Nothing is asked of the broker: topics come to be when they are written to."""
        _messages(empty_frame(spark, schema), context)
        context.connection(context.config.connection)

    def write_plainly(self, frame: DataFrame, context: NodeContext[MqttSinkConfig]) -> tuple[DataFrame, str]:
        from jobs.nodes.sinks.mqtt_plain import MqttPublishing

        config, connection = context.config, context.connection(context.config.connection)
        typed = MqttSettings.model_validate(connection.config)
        has_user = typed.sign_in == "password"
        publishing = MqttPublishing(
            host=typed.host,
            port=typed.port,
            topic=config.topic,
            qos=config.qos,
            retain=config.retain,
            is_text=FORMATS.is_text(config.format),
            user=typed.user if has_user else "",
            password=connection.secrets.get("password", "") if has_user else "",
            tls=typed.tls,
            certificate_authority=typed.certificate_authority,
            stops_at_rejected=context.fails_at_rejected,
        )
        _messages(frame, context).foreachPartition(publishing.publish)
        return frame, ""

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[MqttSinkConfig]) -> Written:
        from jobs.nodes.sinks.mqtt_publishing import MqttSender
        from jobs.nodes.sinks.task_tally import sent_by_tasks

        config = context.config
        connection = context.connection(config.connection)
        sender = MqttSender(config, connection, context.node_id, _act(connection.name), batch.fails_at_rejected, batch.rejections)
        return sent_by_tasks(_messages(frame, context, keeps_rows=batch.rejections is not None), sender)


def _messages(frame: DataFrame, context: NodeContext[MqttSinkConfig], *, keeps_rows: bool = False) -> DataFrame:
    config = context.config
    return message_rows(frame, context, _act(config.connection), route=(config.topic_column, "topic_column"), keeps_rows=keeps_rows)


def _act(connection: str) -> str:
    return f'writing to mqtt "{connection}"'
