"""The form of `source.rabbitmq_stream`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from jobs.nodes import base
from jobs.nodes.backpressure import Strategy, backlog_is_told, backlog_strategy_field, max_backlog_field
from jobs.nodes.columns import ColumnField
from jobs.nodes.csv_options import null_value_field
from jobs.nodes.form import connection_field, hints
from jobs.nodes.payload import (
    AvroText,
    PayloadFormat,
    payload_avro_needed_field,
    payload_columns_field,
    payload_complete_alone,
    payload_delimiter_field,
    payload_format_field,
)
from jobs.nodes.start_time import TIME, TIME_WORDS, time_checked


class RabbitMQStreamConfig(base.Config):
    connection: str = connection_field("rabbitmq")
    stream: str = Field(
        min_length=1, max_length=255, description="The stream to read, a queue of type stream; it must exist.", examples=["orders"]
    )
    format: PayloadFormat = payload_format_field()
    columns: tuple[ColumnField, ...] = payload_columns_field()
    delimiter: str = payload_delimiter_field()
    null_value: str = null_value_field()
    avro_schema: AvroText = payload_avro_needed_field()
    start: Literal["earliest", "latest", "time", "offset"] = Field(
        "earliest",
        description=(
            "Where a start from the beginning begins: at the oldest message, behind the newest, at a time, or at an offset. "
            "What needs all rows at once takes the oldest instead of behind the newest, where it would find none."
        ),
        examples=["earliest", "latest"],
    )
    start_time: str = Field(
        "",
        pattern=TIME,
        description="Messages that were stored from this time on, to the second, in UTC unless an offset stands behind it.",
        examples=["2026-01-31T06:00:00Z"],
        json_schema_extra=hints(when="start=time", allowed=TIME_WORDS),
    )
    start_offset: int = Field(
        0, ge=0, le=2**62, description="The first offset to read.", examples=[1200], json_schema_extra=hints(when="start=offset")
    )
    max_records_per_trigger: int = Field(
        100_000,
        ge=1,
        le=100_000_000,
        description="Most messages of one batch.",
        examples=[100_000],
        json_schema_extra=hints(advanced=True),
    )
    backpressure: Strategy = backlog_strategy_field("RabbitMQ")
    max_backlog: int = max_backlog_field("", "some offsets are the broker's own notes")
    metadata: bool = Field(
        False,
        description="Add offset, routing key, exchange, time and headers of each message as columns named rabbitmq_….",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
    lost_messages: Literal["fail", "go_on"] = Field(
        "fail",
        description="When messages were deleted before they were read, or the stream was made anew: fail, or go on with what is left.",
        examples=["fail"],
        json_schema_extra=hints(advanced=True),
    )

    @field_validator("start_time")
    @classmethod
    def _time_is_a_time(cls, text: str) -> str:
        return time_checked(text)

    @model_validator(mode="after")
    def _is_complete(self) -> RabbitMQStreamConfig:
        if self.start == "time" and not self.start_time:
            raise ValueError("the start is chosen by time: give the start time")
        backlog_is_told(self.backpressure, self.max_backlog)
        payload_complete_alone(self)
        return self
