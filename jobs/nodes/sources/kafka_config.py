"""The form of `source.kafka`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from jobs.nodes import base
from jobs.nodes.avro import avro_check
from jobs.nodes.backpressure import Strategy, backlog_is_told, backlog_strategy_field, max_backlog_field
from jobs.nodes.columns import ColumnField
from jobs.nodes.csv_options import null_value_field
from jobs.nodes.form import connection_field, hints
from jobs.nodes.payload import (
    PayloadFormat,
    payload_avro_field,
    payload_columns_field,
    payload_complete,
    payload_delimiter_field,
    payload_format_field,
)
from jobs.nodes.sources.kafka_places import ReadPlaces, partitions_chosen, topics_check, written_offsets
from jobs.nodes.start_time import TIME, TIME_WORDS, time_checked


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
    columns: tuple[ColumnField, ...] = payload_columns_field(otherwise="the registry, else from the newest messages")
    delimiter: str = payload_delimiter_field()
    null_value: str = null_value_field()
    avro_schema: str = payload_avro_field()
    registry_connection: str = Field(
        "",
        max_length=200,
        description="The schema registry that knows the messages, as a connection to its HTTP API; empty takes what stands above.",
        examples=["registry"],
        json_schema_extra=hints("connection", kinds=("http_api",), when="format=avro|json", advanced=True, unfolds="format=avro"),
    )
    subject: str = Field(
        "",
        max_length=300,
        description="What the registry calls the schema; empty for the topic's name with -value behind it.",
        examples=["orders-value"],
        json_schema_extra=hints(advanced=True, when="format=avro|json"),
    )
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
        description="Messages from this time on, in UTC unless an offset stands behind it.",
        examples=["2026-01-31T06:00:00Z"],
        json_schema_extra=hints(when="start=time", allowed=TIME_WORDS),
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
        description="Where a bounded run ends: at the message that is newest at its start; or at a time, or before given offsets, and then "
        "all is read as one batch.",
        examples=["newest"],
        json_schema_extra=hints(advanced=True),
    )
    end_time: str = Field(
        "",
        pattern=TIME,
        description="Messages before this time, in UTC unless an offset stands behind it.",
        examples=["2026-02-28T06:00:00Z"],
        json_schema_extra=hints(advanced=True, when="end=time", allowed=TIME_WORDS),
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
        description="Most messages of one batch over all partitions; 0 takes all there are. In real time there is no such limit.",
        examples=[100_000],
        json_schema_extra=hints(advanced=True),
    )
    backpressure: Strategy = backlog_strategy_field("Kafka")
    max_backlog: int = max_backlog_field(
        ", over all partitions", "in a compacted or transactional topic there are fewer messages than offsets"
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
        description="The consumer group whose offsets follow each completed checkpoint, and a run's end, for lag tools; empty for none.",
        examples=["pipeline-orders"],
        json_schema_extra=hints(advanced=True, allowed="letters, digits, dots, hyphens and underscores"),
    )
    lost_messages: Literal["fail", "go_on"] = Field(
        "fail",
        description="When messages were deleted before they were read, or a topic was made anew: fail, or go on with what is left.",
        examples=["fail"],
        json_schema_extra=hints(advanced=True),
    )

    @model_validator(mode="before")
    @classmethod
    def _bound_alone_is_an_error(cls, given: Any) -> Any:
        """Jobs made before there was a choice say only how many may wait."""
        if isinstance(given, dict) and given.get("max_backlog") and "backpressure" not in given:
            return {**given, "backpressure": "ERROR"}
        return given

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
        return time_checked(text)

    @model_validator(mode="after")
    def _is_complete(self) -> KafkaSourceConfig:
        for side in ("start", "end"):
            kind = getattr(self, side)
            if kind in ("time", "offsets") and not getattr(self, f"{side}_{kind}").strip():
                raise ValueError(f"the {side} is chosen by {kind}: give the {side} {kind}")
        backlog_is_told(self.backpressure, self.max_backlog)
        payload_complete(self)
        if self.format == "avro" and bool(self.avro_schema.strip()) == bool(self.registry_connection):
            raise ValueError("Avro messages need either the schema they were written with or a registry")
        if self.asks_registry and not self.subject and (self.topic_is == "pattern" or "," in self.topic):
            raise ValueError("with several topics, name the subject in the registry")
        return self

    @property
    def asks_registry(self) -> bool:
        """Columns that are listed stand above a registry's."""
        return bool(self.registry_connection) and (self.format == "avro" or (self.format == "json" and not self.columns))

    @property
    def subject_there(self) -> str:
        """What the registry calls the schema."""
        return self.subject or f"{self.topic.strip()}-value"

    def places(self) -> ReadPlaces:
        """Which topics and partitions are read."""
        return ReadPlaces(self.topic, self.topic_is == "pattern", partitions_chosen(self.partitions))
