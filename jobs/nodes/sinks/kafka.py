"""Writes rows as messages to a Kafka topic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, NodeError, Sink, Written
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.connections.kafka_reach import kafka_failure, kafka_silent
from jobs.nodes.connections.kafka_settings import kafka_spark_options
from jobs.nodes.form import ColumnName, connection_field, hints
from jobs.nodes.formats import format_hinders_real_time
from jobs.nodes.roll_back import Hindrance
from jobs.nodes.sinks.messages import (
    MESSAGE_ID,
    MessageFormatName,
    OptionalColumn,
    id_columns_field,
    message_format_field,
    message_id,
    message_value,
    text_column,
    value_column_field,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import StructType


class KafkaSinkConfig(base.Config):
    connection: str = connection_field("kafka")
    topic: str = Field(
        max_length=249,
        pattern=r"^[A-Za-z0-9._-]+$",
        description="The topic to write to; it must exist.",
        examples=["orders-clean"],
        json_schema_extra=hints(allowed="a topic's name: letters, digits, dots, hyphens and underscores"),
    )
    format: MessageFormatName = message_format_field()
    value_column: OptionalColumn = value_column_field()
    key_column: OptionalColumn = Field(
        "",
        description="The column that becomes the message's key: equal keys go to one partition, in order. Empty for none.",
        examples=["id"],
        json_schema_extra=hints("column"),
    )
    id_columns: tuple[ColumnName, ...] = id_columns_field(f"header {MESSAGE_ID}")


class KafkaSink(Sink[KafkaSinkConfig]):
    """Writes each row as a message to a Kafka topic.

    Bounded and unbounded input. At least once: after a failure the messages of the last batch may come again; name the columns
    that tell them apart, and readers can drop repeats by a header.
    """

    type = "sink.kafka"
    title = "Kafka"
    icon = "topology-star-3"
    Config = KafkaSinkConfig
    connection_kinds = ("kafka",)
    guarantee: ClassVar[str] = "at least once"
    real_time: ClassVar[bool] = True
    stays: ClassVar[Hindrance] = "sent"
    summary_template = "{topic} · {format}"

    def hinders_real_time(self, config: KafkaSinkConfig) -> str:
        return format_hinders_real_time(config.format) or super().hinders_real_time(config)

    def waits_for(self, context: NodeContext[KafkaSinkConfig]) -> str:
        return kafka_silent(context.connection(context.config.connection))

    @classmethod
    def failure_words(cls, text: str, connection: str) -> NodeError | None:
        return kafka_failure(text, f'writing kafka "{connection}"')

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[KafkaSinkConfig]) -> None:
        self.check(spark, schema, context)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[KafkaSinkConfig]) -> None:
        _message(spark.createDataFrame([], schema), context)
        connection = context.connection(context.config.connection)
        if not KafkaAdmin(connection).partitions(context.config.topic):
            raise NodeError(
                f'writing to kafka "{connection.name}": topic {context.config.topic} does not exist; create it, or correct the name',
                kind="user",
                field="topic",
            )

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[KafkaSinkConfig]) -> Written:
        self.write_plainly(frame, context)
        return Written(rows=batch.rows)

    def failed_stream(self, text: str, config: KafkaSinkConfig) -> bool:
        """Kafka's client names the topic that it writes to."""
        topic = re.escape(config.topic)
        told = (
            rf"Topic {topic} not present in metadata|record\(s\) for {topic}-\d+|access topics: \[{topic}\]|bytes when serialized which is"
        )
        return re.search(told, text) is not None

    def write_plainly(self, frame: DataFrame, context: NodeContext[KafkaSinkConfig]) -> tuple[DataFrame, str]:
        _message(frame, context).write.format("kafka").options(**_options(context)).save()
        return frame, ""

    def stream_writer(self, frame: DataFrame, context: NodeContext[KafkaSinkConfig]) -> DataStreamWriter:
        return _message(frame, context).writeStream.format("kafka").options(**_options(context))


def _options(context: NodeContext[KafkaSinkConfig]) -> dict[str, str]:
    options = kafka_spark_options(context.connection(context.config.connection))
    return {**options, "topic": context.config.topic, "includeHeaders": "true"}


def _message(frame: DataFrame, context: NodeContext[KafkaSinkConfig]) -> DataFrame:
    """`frame` as the columns that Spark's Kafka writer knows: key, value, headers."""
    from pyspark.sql import functions as F

    config = context.config
    columns = [message_value(frame, config, "writing to kafka").alias("value")]
    if config.key_column:
        columns.append(text_column(frame, config.key_column, "key_column").alias("key"))
    told = message_id(frame, context)
    if told is not None:
        columns.append(F.array(F.struct(F.lit(MESSAGE_ID).alias("key"), told.cast("binary").alias("value"))).alias("headers"))
    return frame.select(*columns)
