"""Writes rows as messages to a RocketMQ topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, NodeError, Sink, Written
from jobs.nodes.columns import column, empty_frame, require_columns
from jobs.nodes.connections.rocketmq_reach import rocketmq_away, rocketmq_silent
from jobs.nodes.form import ColumnName, connection_field, hints
from jobs.nodes.rejected_rows import whole_row
from jobs.nodes.rocketmq.client import RocketMq
from jobs.nodes.roll_back import Hindrance
from jobs.nodes.sinks.messages import (
    MESSAGE_ID,
    ONE_COLUMN,
    MessageFormatName,
    OptionalColumn,
    id_columns_field,
    message_format_field,
    message_id,
    message_value,
    value_column_field,
)
from jobs.nodes.sources.rocketmq_config import TOPIC_NAME, TOPIC_WORDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class RocketmqSinkConfig(base.Config):
    connection: str = connection_field("rocketmq")
    topic: str = Field(
        max_length=127,
        pattern=TOPIC_NAME,
        description="The topic to write to; it must exist.",
        examples=["orders-clean"],
        json_schema_extra=hints(allowed=TOPIC_WORDS),
    )
    format: MessageFormatName = message_format_field()
    value_column: OptionalColumn = value_column_field()
    key_columns: tuple[ColumnName, ...] = Field(
        (),
        description="Columns that become the message's keys, by which it is found; rows with the same keys go to one queue, in order.",
        examples=[["id"]],
        json_schema_extra=hints("columns"),
    )
    tag: str = Field(
        "",
        max_length=200,
        pattern=r"^[^\x00-\x1f|]*$",
        description="The tag of every message, by which readers choose; empty for none.",
        examples=["paid"],
        json_schema_extra=hints(allowed="a word without |"),
    )
    tag_column: OptionalColumn = Field(
        "",
        description="The column that holds a message's tag; where it is empty the tag above is taken.",
        examples=["status"],
        json_schema_extra=hints("column", advanced=True),
    )
    id_columns: tuple[ColumnName, ...] = id_columns_field(f"property {MESSAGE_ID}")
    delay: Literal["none", "level", "seconds", "column"] = Field(
        "none",
        description="Whether readers get a message later: by one of the broker's delay levels, after some seconds, or at a column's time.",
        examples=["none", "level"],
        json_schema_extra=hints(advanced=True),
    )
    delay_level: int = Field(
        1,
        ge=1,
        le=100,
        description="The delay level; as brokers come, 1 is a second, 3 ten seconds, 5 a minute, 14 ten minutes, 18 two hours.",
        examples=[3],
        json_schema_extra=hints(advanced=True, when="delay=level"),
    )
    delay_seconds: int = Field(
        60,
        ge=1,
        le=30 * 24 * 3600,
        description="How many seconds later; from RocketMQ 5 on.",
        examples=[60],
        json_schema_extra=hints(advanced=True, when="delay=seconds"),
    )
    delay_column: OptionalColumn = Field(
        "",
        description="The column with the time at which the message is delivered; empty or past delivers at once. From RocketMQ 5 on.",
        examples=["due"],
        json_schema_extra=hints("column", advanced=True, when="delay=column"),
    )

    @model_validator(mode="after")
    def _is_complete(self) -> RocketmqSinkConfig:
        if self.format in ONE_COLUMN and not self.value_column:
            raise ValueError(f"{self.format} writes one column: name the value column")
        if self.delay == "column" and not self.delay_column:
            raise ValueError("the delay is chosen by column: name the delay column")
        return self

    def columns_used(self) -> dict[str, str]:
        """Each column that is named, and the field that names it."""
        single = {"value_column": self.value_column if self.format in ONE_COLUMN else "", "tag_column": self.tag_column}
        single["delay_column"] = self.delay_column if self.delay == "column" else ""
        several = {"key_columns": self.key_columns, "id_columns": self.id_columns}
        named = {name: field for field, names in several.items() for name in names}
        return named | {name: field for field, name in single.items() if name}


class RocketmqSink(Sink[RocketmqSinkConfig]):
    """Writes each row as a message to a RocketMQ topic.

    Bounded and unbounded input. At least once: after a failure the messages of the last batch may come again; name the columns
    that tell them apart, and readers can drop repeats by a property.
    """

    type = "sink.rocketmq"
    title = "RocketMQ"
    icon = "rocket"
    Config = RocketmqSinkConfig
    connection_kinds = ("rocketmq",)
    guarantee: ClassVar[str] = "at least once"
    rejects_rows: ClassVar[bool] = True
    stays: ClassVar[Hindrance] = "sent"
    summary_template = "{topic} · {format}"

    def waits_for(self, context: NodeContext[RocketmqSinkConfig]) -> str:
        return rocketmq_silent(context.connection(context.config.connection), context.config.topic)

    def needs_to_begin(self, context: NodeContext[RocketmqSinkConfig]) -> str:
        return rocketmq_away(context.connection(context.config.connection), context.config.topic)

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[RocketmqSinkConfig]) -> None:
        self.check(spark, schema, context)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[RocketmqSinkConfig]) -> None:
        config = context.config
        empty = empty_frame(spark, schema)
        for name, field in config.columns_used().items():
            require_columns(empty, [name], field)
        if config.delay == "column" and dict(empty.dtypes)[_known_as(empty, config.delay_column)] not in ("timestamp", "timestamp_ntz"):
            raise NodeError(f"{config.delay_column} is no timestamp; convert it before", permanent=True, kind="user", field="delay_column")
        with RocketMq(context.connection(config.connection)) as client:
            client.route(config.topic)

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[RocketmqSinkConfig]) -> Written:
        """Every task sends its own rows and hands back counts, and some of what was rejected."""
        from jobs.nodes.sinks.rocketmq_sending import Sending
        from jobs.nodes.sinks.task_tally import sent_by_tasks

        sending = Sending(
            config=context.config,
            connection=context.connection(context.config.connection),
            node_id=context.node_id,
            stops_at_rejected=batch.fails_at_rejected,
            rejections=batch.rejections,
        )
        return sent_by_tasks(_sendable(frame, context, keeps_rows=batch.rejections is not None), sending)


def _known_as(frame: DataFrame, name: str) -> str:
    return next(known for known in frame.columns if known.lower() == name.lower())


def _sendable(frame: DataFrame, context: NodeContext[RocketmqSinkConfig], *, keeps_rows: bool) -> DataFrame:
    """Columns `value` (bytes), `row` (JSON; null where it is the value), and `keys`, `tag`, `due` (milliseconds), `message_id` or null."""
    from pyspark.sql import functions as F

    config = context.config
    none, told = F.lit(None), message_id(frame, context)
    keys = F.array(*(column(name).cast("string") for name in config.key_columns)) if config.key_columns else none.cast("array<string>")
    due = F.unix_millis(column(config.delay_column).cast("timestamp")) if config.delay == "column" else none.cast("bigint")
    return frame.select(
        message_value(frame, config, f'writing to rocketmq "{config.connection}"').cast("binary").alias("value"),
        (whole_row(frame) if keeps_rows or config.format != "json" else none.cast("string")).alias("row"),
        keys.alias("keys"),
        (column(config.tag_column) if config.tag_column else none).cast("string").alias("tag"),
        due.alias("due"),
        (none.cast("string") if told is None else told).alias("message_id"),
    )
