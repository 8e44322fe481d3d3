"""Writes rows as messages to a Kafka topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, NodeError, Sink, Written
from jobs.nodes.columns import column, require_columns
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.connections.kafka_reach import kafka_failure, kafka_silent
from jobs.nodes.connections.kafka_settings import kafka_spark_options
from jobs.nodes.form import ColumnName, connection_field, hints

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: By this header a reader drops messages that were sent twice.
MESSAGE_ID = "message-id"


class KafkaSinkConfig(base.Config):
    connection: str = connection_field("kafka")
    topic: str = Field(
        max_length=249,
        pattern=r"^[A-Za-z0-9._-]+$",
        description="The topic to write to; it must exist.",
        examples=["orders-clean"],
        json_schema_extra=hints(allowed="a topic's name: letters, digits, dots, hyphens and underscores"),
    )
    format: Literal["json", "text", "binary"] = Field(
        "json",
        description="JSON writes all columns as one object; text and binary write the one column that is named below.",
        examples=["json"],
    )
    value_column: ColumnName | Literal[""] = Field(
        "",
        description="The column that becomes the message's value.",
        examples=["value"],
        json_schema_extra=hints("column", when="format=text|binary"),
    )
    key_column: ColumnName | Literal[""] = Field(
        "",
        description="The column that becomes the message's key: equal keys go to one partition, in order. Empty for none.",
        examples=["id"],
        json_schema_extra=hints("column"),
    )
    id_columns: tuple[ColumnName, ...] = Field(
        (),
        description=f"Columns that tell messages apart: they make the header {MESSAGE_ID}, by which readers drop repeats.",
        examples=[["id"]],
        json_schema_extra=hints("columns", advanced=True),
    )


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
    summary_template = "{topic} · {format}"

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
        options = kafka_spark_options(context.connection(context.config.connection))
        messages = _message(frame, context)
        messages.write.format("kafka").options(**options, topic=context.config.topic, includeHeaders="true").save()
        return Written(rows=batch.rows)


def _message(frame: DataFrame, context: NodeContext[KafkaSinkConfig]) -> DataFrame:
    """`frame` as the columns that Spark's Kafka writer knows: key, value, headers."""
    from pyspark.sql import functions as F

    config = context.config
    columns = [_value(frame, config).alias("value")]
    if config.key_column:
        require_columns(frame, [config.key_column], "key_column")
        columns.append(column(config.key_column).cast("string").alias("key"))
    if config.id_columns:
        require_columns(frame, config.id_columns, "id_columns")
        parts = [F.coalesce(column(name).cast("string"), F.lit("")) for name in config.id_columns]
        message_id = F.concat_ws("/", F.lit(f"{context.job_uid}/{context.node_id}"), *parts)
        columns.append(F.array(F.struct(F.lit(MESSAGE_ID).alias("key"), message_id.cast("binary").alias("value"))).alias("headers"))
    return frame.select(*columns)


def _value(frame: DataFrame, config: KafkaSinkConfig) -> Column:
    from pyspark.sql import functions as F

    if config.format == "json":
        return F.to_json(F.struct(*(column(name) for name in frame.columns)), {"ignoreNullFields": "false"})
    if not config.value_column:
        raise NodeError("writing to kafka: name the column that becomes the value", permanent=True, kind="user", field="value_column")
    require_columns(frame, [config.value_column], "value_column")
    return column(config.value_column).cast("string" if config.format == "text" else "binary")
