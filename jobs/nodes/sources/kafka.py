"""Reads messages from Kafka topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from jobs.nodes import base
from jobs.nodes.avro import avro_check
from jobs.nodes.base import NodeContext, NodeError, Source
from jobs.nodes.columns import ColumnField, schema_from_ddl
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.connections.kafka_reach import kafka_failure, kafka_silent
from jobs.nodes.connections.kafka_settings import kafka_spark_options
from jobs.nodes.form import connection_field, hints
from jobs.nodes.payload import (
    PayloadFormat,
    payload_avro_field,
    payload_columns_field,
    payload_complete,
    payload_delimiter_field,
    payload_format_field,
    payload_read,
    payload_schema,
    payload_whole_schema,
)
from jobs.nodes.sources.kafka_places import ReadPlaces, is_time, partitions_chosen, places_options, topics_check, written_offsets

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_TIME = r"^(\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?)?$"
_TIME_WORDS = "a date such as 2026-01-31, or a time such as 2026-01-31T06:00:00Z"
#: Columns that tell where a message comes from: DDL type and what Spark calls it.
_METADATA: Mapping[str, tuple[str, str]] = {
    "kafka_key": ("string", "CAST(key AS string)"),
    "kafka_topic": ("string", "topic"),
    "kafka_partition": ("int", "partition"),
    "kafka_offset": ("bigint", "offset"),
    "kafka_time": ("timestamp", "timestamp"),
    "kafka_headers": (
        "array<struct<key: string, value: string>>",
        "transform(headers, header -> struct(header.key AS key, CAST(header.value AS string) AS value))",
    ),
}
_NAMED = 20


class KafkaSourceConfig(base.Config):
    connection: str = connection_field("kafka")
    topic_is: Literal["names", "pattern"] = Field(
        "names",
        description="Whether the topic is written by name, or as a pattern (regular expression) that whole names match.",
        examples=["names"],
        json_schema_extra=hints(advanced=True),
    )
    topic: str = Field(
        min_length=1,
        max_length=5000,
        pattern=r"^[^\r\n]+$",
        description="The topic to read; several with a comma between.",
        examples=["orders", "orders, returns"],
    )
    partitions: str = Field(
        "",
        max_length=2000,
        pattern=r"^\s*(\d{1,6}(\s*-\s*\d{1,6})?(\s*,\s*\d{1,6}(\s*-\s*\d{1,6})?)*)?\s*$",
        description="Only these partitions of the topics; empty reads all, new ones too.",
        examples=["0, 2-5"],
        json_schema_extra=hints(advanced=True, when="topic_is=names", allowed="numbers and ranges with a comma between, such as 0, 2-5"),
    )
    format: PayloadFormat = payload_format_field()
    columns: tuple[ColumnField, ...] = payload_columns_field()
    delimiter: str = payload_delimiter_field()
    avro_schema: str = payload_avro_field()
    start: Literal["earliest", "latest", "time", "offsets"] = Field(
        "earliest",
        description="Where a start from the beginning begins: at the oldest message, behind the newest, at a time, or at given offsets.",
        examples=["earliest", "latest"],
    )
    start_time: str = Field(
        "",
        pattern=_TIME,
        description="Messages from this time on, in UTC unless an offset stands behind it.",
        examples=["2026-01-31T06:00:00Z"],
        json_schema_extra=hints(when="start=time", allowed=_TIME_WORDS),
    )
    start_offsets: str = Field(
        "",
        max_length=100_000,
        description="Topic and partition with the first offset to read, as JSON; -2 means the oldest, -1 behind the newest.",
        examples=['{"orders": {"0": 1200, "1": -2}}'],
        json_schema_extra=hints("textarea", when="start=offsets"),
    )
    end: Literal["newest", "time", "offsets"] = Field(
        "newest",
        description="Where a bounded run ends: at the message that is newest at its start, at a time, or before given offsets.",
        examples=["newest"],
        json_schema_extra=hints(advanced=True),
    )
    end_time: str = Field(
        "",
        pattern=_TIME,
        description="Messages before this time, in UTC unless an offset stands behind it.",
        examples=["2026-02-28T06:00:00Z"],
        json_schema_extra=hints(advanced=True, when="end=time", allowed=_TIME_WORDS),
    )
    end_offsets: str = Field(
        "",
        max_length=100_000,
        description="Topic and partition with the first offset that is not read any more, as JSON; -1 means behind the newest.",
        examples=['{"orders": {"0": 2400, "1": -1}}'],
        json_schema_extra=hints("textarea", advanced=True, when="end=offsets"),
    )
    max_records_per_trigger: int = Field(
        100_000,
        ge=0,
        le=100_000_000,
        description="Most messages of one batch over all partitions; 0 takes all there are.",
        examples=[100_000],
        json_schema_extra=hints(advanced=True),
    )
    metadata: bool = Field(
        False,
        description="Add key, topic, partition, offset, time and headers of each message as columns that begin with kafka_.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
    group_id: str = Field(
        "",
        max_length=249,
        pattern=r"^[A-Za-z0-9._-]*$",
        description="The consumer group whose offsets follow each completed checkpoint, for lag tools; empty for none.",
        examples=["pipeline-orders"],
        json_schema_extra=hints(advanced=True, allowed="letters, digits, dots, hyphens and underscores"),
    )
    lost_messages: Literal["fail", "go_on"] = Field(
        "fail",
        description="When messages were deleted before they were read, or a topic was made anew: fail, or go on with what is left.",
        examples=["fail"],
        json_schema_extra=hints(advanced=True),
    )

    @field_validator("topic")
    @classmethod
    def _topic_is_written_well(cls, text: str, info: ValidationInfo) -> str:
        topics_check(text, is_pattern=info.data.get("topic_is") == "pattern")
        return text

    @field_validator("partitions")
    @classmethod
    def _partitions_are_numbers(cls, text: str) -> str:
        partitions_chosen(text)
        return text

    @field_validator("avro_schema")
    @classmethod
    def _schema_is_avro(cls, text: str) -> str:
        if text.strip():
            avro_check(text)
        return text

    @field_validator("start_offsets", "end_offsets")
    @classmethod
    def _offsets_are_offsets(cls, text: str) -> str:
        if text.strip():
            written_offsets(text)
        return text

    @field_validator("start_time", "end_time")
    @classmethod
    def _time_is_a_time(cls, text: str) -> str:
        if text and not is_time(text):
            raise ValueError(f"there is no such time: {text}")
        return text

    @model_validator(mode="after")
    def _is_complete(self) -> KafkaSourceConfig:
        for side in ("start", "end"):
            kind = getattr(self, side)
            if kind in ("time", "offsets") and not getattr(self, f"{side}_{kind}").strip():
                raise ValueError(f"the {side} is chosen by {kind}: give the {side} {kind}")
        payload_complete(self)
        return self

    def places(self) -> ReadPlaces:
        """Which topics and partitions are read."""
        return ReadPlaces(self.topic, self.topic_is == "pattern", partitions_chosen(self.partitions))


class KafkaSource(Source[KafkaSourceConfig]):
    """Reads messages from Kafka topics, as JSON, CSV, Avro, text or bytes.

    Unbounded; in an import or a query bounded by the newest message at the start, by a time or by offsets. Exactly once: each
    message is read once in a generation.
    """

    type = "source.kafka"
    title = "Kafka"
    icon = "topology-star-3"
    Config = KafkaSourceConfig
    connection_kinds = ("kafka",)
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    rejects_rows: ClassVar[bool] = True
    summary_template = "{topic} · {format}"

    def waits_for(self, context: NodeContext[KafkaSourceConfig]) -> str:
        return kafka_silent(context.connection(context.config.connection))

    @classmethod
    def failure_words(cls, text: str, connection: str) -> NodeError | None:
        return kafka_failure(text, f'reading kafka "{connection}"')

    def resumes(self, config: KafkaSourceConfig) -> bool:
        """Spark reads up to a given end only in one piece."""
        return config.end == "newest"

    def read(self, spark: SparkSession, context: NodeContext[KafkaSourceConfig]) -> DataFrame:
        config = context.config
        if not context.schema_only or not config.columns:
            _check_topics(context)
        metadata = dict(_METADATA) if config.metadata else {}
        schema = self._schema(spark, context)
        if context.schema_only:
            ddl = schema_from_ddl(", ".join(f"{name} {kind}" for name, (kind, _) in metadata.items()))
            return spark.createDataFrame([], payload_whole_schema(schema, ddl, config))
        return _messages(spark, context, schema, metadata)

    def _schema(self, spark: SparkSession, context: NodeContext[KafkaSourceConfig]) -> StructType:
        config = context.config
        kept = context.work_dir / "sampled_schema.json" if context.mode == "stream" and not context.schema_only else None
        try:
            return payload_schema(spark, config, lambda: _newest(context), kept)
        except NodeError as error:
            message = f"reading {config.topic}: {error.message}"
            raise NodeError(message, permanent=error.permanent, kind=error.kind, field=error.field) from error

    def checkpointed(self, position: Any, context: NodeContext[KafkaSourceConfig]) -> None:
        """Moves the consumer group to the checkpoint's offsets."""
        if context.config.group_id:
            KafkaAdmin(context.connection(context.config.connection)).group_move(context.config.group_id, position)


def _messages(
    spark: SparkSession, context: NodeContext[KafkaSourceConfig], schema: StructType, metadata: Mapping[str, tuple[str, str]]
) -> DataFrame:
    from pyspark.sql import functions as F

    reader: Any = spark.read if context.mode == "batch" else spark.readStream.name(context.node_id)
    options = kafka_spark_options(context.connection(context.config.connection)) | places_options(context)
    messages = reader.format("kafka").options(**options).load()
    named = [F.expr(expression).alias(name) for name, (_, expression) in metadata.items()]
    return payload_read(messages, schema, named, context.config)


def _newest(context: NodeContext[KafkaSourceConfig]) -> list[str]:
    admin = KafkaAdmin(context.connection(context.config.connection))
    return admin.newest(context.config.places().among(admin.partitions()))


def _check_topics(context: NodeContext[KafkaSourceConfig]) -> None:
    connection = context.connection(context.config.connection)
    there = KafkaAdmin(connection).partitions()
    missing = context.config.places().missing(there)
    if missing:
        seen = sorted(name for name in there if not name.startswith("__"))
        names = ", ".join(seen[:_NAMED]) + (", …" if len(seen) > _NAMED else "") if seen else "there is none"
        raise NodeError(f'reading kafka "{connection.name}": {missing}; topics: {names}', kind="user", field="topic")
