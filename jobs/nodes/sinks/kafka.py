"""Writes rows as messages to a Kafka topic."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, NodeError, Sink, Written
from jobs.nodes.columns import column, empty_frame, require_columns
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.connections.kafka_reach import kafka_failure, kafka_silent, topics_named
from jobs.nodes.connections.kafka_settings import kafka_spark_options
from jobs.nodes.form import ColumnName, connection_field, hints
from jobs.nodes.formats import format_hinders_real_time
from jobs.nodes.roll_back import Hindrance
from jobs.nodes.sinks.kafka_bounds import MessageBounds, client_bounds, topic_bounds, with_whole_row
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
from jobs.nodes.sinks.task_tally import SAMPLE_ROWS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import StructType


class KafkaHeader(base.Config):
    name: str = Field(min_length=1, max_length=255, description="Name of the header.", examples=["tenant"])
    column: ColumnName = Field(
        description="The column with its value; a message whose value is empty has no such header.",
        examples=["tenant_id"],
        json_schema_extra=hints("column"),
    )


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
    partition_column: OptionalColumn = Field(
        "",
        description="The column with the number of the partition, from 0 on; where it is empty the key decides.",
        examples=["shard"],
        json_schema_extra=hints("column", advanced=True),
    )
    headers: tuple[KafkaHeader, ...] = Field(
        (),
        description="Headers that each message carries.",
        examples=[[{"name": "tenant", "column": "tenant_id"}]],
        json_schema_extra=hints(advanced=True),
    )
    id_columns: tuple[ColumnName, ...] = id_columns_field(f"header {MESSAGE_ID}")

    @model_validator(mode="after")
    def _id_is_no_other_header(self) -> KafkaSinkConfig:
        if self.id_columns and any(header.name == MESSAGE_ID for header in self.headers):
            raise ValueError(f"the header {MESSAGE_ID} is made of the id columns: call the other one differently")
        return self


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
    rejects_rows: ClassVar[bool] = True
    real_time: ClassVar[bool] = True
    stays: ClassVar[Hindrance] = "sent"
    summary_template = "{topic} · {format}"

    def hinders_real_time(self, config: KafkaSinkConfig) -> str:
        return format_hinders_real_time(config.format) or super().hinders_real_time(config)

    def waits_for(self, context: NodeContext[KafkaSinkConfig]) -> str:
        return kafka_silent(context.connection(context.config.connection))

    @classmethod
    def failure_words(cls, text: str, connection: str) -> NodeError | None:
        return kafka_failure(text, f'writing kafka "{connection}"', "writing")

    @classmethod
    def failure_names(cls, text: str, config: KafkaSinkConfig) -> bool:
        return config.topic in topics_named(text)

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[KafkaSinkConfig]) -> None:
        self.check(spark, schema, context)
        if not context.fails_at_rejected:
            self._bounds = topic_bounds(context.connection(context.config.connection), context.config.topic)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[KafkaSinkConfig]) -> None:
        _message(empty_frame(spark, schema), context)
        connection = context.connection(context.config.connection)
        if not KafkaAdmin(connection).partitions(context.config.topic):
            raise NodeError(
                f'writing to kafka "{connection.name}": topic {context.config.topic} does not exist; create it, or correct the name',
                kind="user",
                field="topic",
            )

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[KafkaSinkConfig]) -> Written:
        """Where rows may be rejected, those that Kafka would refuse never reach its client, which would end the attempt."""
        bounds = self._bounds_now(batch, context)
        if bounds is None:
            _send(_message(frame, context), context)
            return Written(rows=batch.rows)
        if batch.rejections is None:
            messages, counts = bounds.counted(_message(frame, context))
            _send(messages, context)
            rejected, sample = bounds.rejected(counts)
        else:
            _send(bounds.parted(with_whole_row(frame, _columns(frame, context)), batch.rejections), context)
            batch.rejections.complete()
            rejected, sample = batch.rejections.counted(SAMPLE_ROWS)
        return Written(rows=None if batch.rows is None else batch.rows - rejected, rejected=rejected, rejected_rows=sample)

    def _bounds_now(self, batch: Batch, context: NodeContext[KafkaSinkConfig]) -> MessageBounds | None:
        """None where Kafka's own refusal is to end the job. A topic may get partitions while it is written to."""
        topic, connection = context.config.topic, context.connection(context.config.connection)
        if not context.config.partition_column:
            return None if batch.fails_at_rejected else self._bounds
        bounds = client_bounds(connection) if batch.fails_at_rejected else self._bounds
        return replace(bounds, partitions=KafkaAdmin(connection).partitions(topic).get(topic))

    def failed_stream(self, text: str, config: KafkaSinkConfig) -> bool:
        """Kafka's client names the topic that it writes to."""
        topic = re.escape(config.topic)
        told = (
            rf"Topic {topic} not present in metadata|Partition \d+ of topic {topic} with partition count|record\(s\) for {topic}-\d+|"
            rf"access topics: \[{topic}\]|Invalid partition: -|bytes when serialized which is"
        )
        return re.search(told, text) is not None

    def write_plainly(self, frame: DataFrame, context: NodeContext[KafkaSinkConfig]) -> tuple[DataFrame, str]:
        messages = _message(frame, context)
        if not context.fails_at_rejected:
            messages = client_bounds(context.connection(context.config.connection)).fitting(messages)
        _send(messages, context)
        return frame, ""

    def stream_writer(self, frame: DataFrame, context: NodeContext[KafkaSinkConfig]) -> DataStreamWriter:
        return _as_taken(_message(frame, context)).writeStream.format("kafka").options(**_options(context))


def _options(context: NodeContext[KafkaSinkConfig]) -> dict[str, str]:
    options = kafka_spark_options(context.connection(context.config.connection))
    return {**options, "topic": context.config.topic, "includeHeaders": "true"}


def _send(messages: DataFrame, context: NodeContext[KafkaSinkConfig]) -> None:
    _as_taken(messages).write.format("kafka").options(**_options(context)).save()


def _as_taken(messages: DataFrame) -> DataFrame:
    """A partition's number as Spark's writer wants it; before, it has the digits to be judged, however large it is."""
    from pyspark.sql import functions as F

    return messages.withColumn("partition", F.col("partition").cast("int")) if "partition" in messages.columns else messages


def _message(frame: DataFrame, context: NodeContext[KafkaSinkConfig]) -> DataFrame:
    return frame.select(*_columns(frame, context))


def _columns(frame: DataFrame, context: NodeContext[KafkaSinkConfig]) -> list[Column]:
    """`frame` as the columns that Spark's Kafka writer knows: key, value, headers."""
    from pyspark.sql import functions as F

    config = context.config
    columns = [message_value(frame, config, "writing to kafka").alias("value")]
    if config.key_column:
        columns.append(text_column(frame, config.key_column, "key_column").alias("key"))
    if config.partition_column:
        columns.append(_partition(frame, config.partition_column).alias("partition"))
    headers = [(header.name, text_column(frame, header.column, "headers")) for header in config.headers]
    if (told := message_id(frame, context)) is not None:
        headers.append((MESSAGE_ID, told))
    if headers:
        given = [
            F.when(value.isNotNull(), F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))) for name, value in headers
        ]
        columns.append(F.array_compact(F.array(*given)).alias("headers"))
    return columns


def _partition(frame: DataFrame, name: str) -> Column:
    require_columns(frame, [name], "partition_column")
    declared = frame.select(column(name)).dtypes[0][1]
    if declared not in ("tinyint", "smallint", "int", "bigint"):
        raise NodeError(
            f"writing to kafka: the partition column {name} is {declared}, no whole number; compute one before",
            permanent=True,
            kind="user",
            field="partition_column",
        )
    return column(name).cast("bigint")
