"""The form of `source.rocketmq`."""

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
from jobs.nodes.rocketmq.positions import Start, written_offsets
from jobs.nodes.start_time import TIME, TIME_WORDS, milliseconds_of, time_checked

TOPIC_NAME = r"^[%|a-zA-Z0-9_-]+$"
TOPIC_WORDS = "a topic's name: letters, digits, hyphens, underscores, % and |"
#: A group that every broker has; with access control one names a group that one may read in.
_USUAL_GROUP = "TOOLS_CONSUMER"


class RocketmqSourceConfig(base.Config):
    connection: str = connection_field("rocketmq")
    topic: str = Field(
        max_length=127,
        pattern=TOPIC_NAME,
        description="The topic to read, all its queues on all brokers, new ones too.",
        examples=["orders"],
        json_schema_extra=hints(allowed=TOPIC_WORDS),
    )
    tags: str = Field(
        "",
        max_length=2000,
        pattern=r"^[^\x00-\x1f]*$",
        description="Only messages with one of these tags, with a comma between; empty reads all.",
        examples=["created, paid"],
        json_schema_extra=hints(half=True),
    )
    format: PayloadFormat = payload_format_field()
    columns: tuple[ColumnField, ...] = payload_columns_field()
    delimiter: str = payload_delimiter_field()
    null_value: str = null_value_field()
    avro_schema: AvroText = payload_avro_needed_field()
    start: Literal["earliest", "latest", "time", "offsets"] = Field(
        "earliest",
        description=(
            "Where a start from the beginning begins: at the oldest message, behind the newest, at a time, or at given offsets. "
            "What needs all rows at once takes the oldest instead of behind the newest, where it would find none."
        ),
        examples=["earliest", "latest"],
    )
    start_time: str = Field(
        "",
        pattern=TIME,
        description="Messages that were stored from this time on, in UTC unless an offset stands behind it.",
        examples=["2026-01-31T06:00:00Z"],
        json_schema_extra=hints(when="start=time", allowed=TIME_WORDS),
    )
    start_offsets: str = Field(
        "",
        max_length=100_000,
        description="Queue with the first offset to read, as JSON; -1 means behind the newest, -2 the oldest, as for queues left out.",
        examples=['{"broker-a/0": 1200, "broker-a/1": -1}'],
        json_schema_extra=hints("textarea", when="start=offsets"),
    )
    max_records_per_trigger: int = Field(
        100_000,
        ge=1,
        le=100_000_000,
        description="Most messages of one batch over all queues; those that a choice of tags leaves out count too.",
        examples=[100_000],
        json_schema_extra=hints(advanced=True),
    )
    backpressure: Strategy = backlog_strategy_field("RocketMQ")
    max_backlog: int = max_backlog_field(", over all queues", "those that a choice of tags leaves out count too")
    metadata: bool = Field(
        False,
        description="Add topic, broker, queue, offset, tags, keys, time and properties of each message as columns named rocketmq_….",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
    group_id: str = Field(
        "",
        max_length=127,
        pattern=r"^[%|a-zA-Z0-9_-]*$",
        description=(
            "The consumer group in whose name is read, and whose offsets follow each completed checkpoint, and a run's end, for lag "
            "tools; it must exist. Empty for none."
        ),
        examples=["pipeline-orders"],
        json_schema_extra=hints(advanced=True, allowed="letters, digits, hyphens, underscores, % and |"),
    )
    lost_messages: Literal["fail", "go_on"] = Field(
        "fail",
        description="When messages were deleted before they were read, or the topic was made anew: fail, or go on with what is left.",
        examples=["fail"],
        json_schema_extra=hints(advanced=True),
    )

    @field_validator("start_offsets")
    @classmethod
    def _offsets_are_offsets(cls, text: str) -> str:
        if text.strip():
            written_offsets(text)
        return text

    @field_validator("start_time")
    @classmethod
    def _time_is_a_time(cls, text: str) -> str:
        return time_checked(text)

    @field_validator("tags")
    @classmethod
    def _tags_are_tags(cls, text: str) -> str:
        wrong = next((tag for tag in _tags(text) if "|" in tag or tag == "*"), None)
        if wrong is not None:
            raise ValueError(f'"{wrong}" is no tag: write several with a comma between')
        return text

    @model_validator(mode="after")
    def _is_complete(self) -> RocketmqSourceConfig:
        if self.start in ("time", "offsets") and not getattr(self, f"start_{self.start}").strip():
            raise ValueError(f"the start is chosen by {self.start}: give the start {self.start}")
        backlog_is_told(self.backpressure, self.max_backlog)
        payload_complete_alone(self)
        return self

    @property
    def tag_names(self) -> tuple[str, ...]:
        return _tags(self.tags)

    @property
    def group(self) -> str:
        """The group in whose name is pulled."""
        return self.group_id or _USUAL_GROUP

    def begins(self) -> Start:
        """Where a start from the beginning begins."""
        if self.start == "time":
            return Start("time", milliseconds=milliseconds_of(self.start_time))
        return Start(self.start, offsets=written_offsets(self.start_offsets) if self.start == "offsets" else ())


def _tags(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(","))))
