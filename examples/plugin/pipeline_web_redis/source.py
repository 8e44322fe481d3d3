"""Reads the entries of a Redis stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, field_validator

from jobs.nodes import base
from jobs.nodes.base import NodeContext, NodeError, Source
from jobs.nodes.columns import quoted, schema_from_ddl
from jobs.nodes.connections.reach import port_reach
from jobs.nodes.form import ColumnName, connection_field, hints
from pipeline_web_redis.connection import RedisSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Columns that every entry has; the chosen ones follow.
_OWN_COLUMNS = {"entry_id": "string", "entry_time": "timestamp"}


class RedisStreamConfig(base.Config):
    connection: str = connection_field("redis")
    stream: str = Field(min_length=1, max_length=500, description="The key of the stream.", examples=["orders"])
    columns: tuple[ColumnName, ...] = Field(
        min_length=1,
        description="Fields of an entry that become columns of text, empty where an entry has none; entry_id and entry_time come along.",
        examples=[["customer", "amount"]],
    )
    rows_per_batch: int = Field(
        10_000,
        ge=1,
        le=100_000,
        description="At most so many entries in one batch.",
        examples=[10_000],
        json_schema_extra=hints(advanced=True),
    )

    @field_validator("columns")
    @classmethod
    def _each_once(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        names = [*_OWN_COLUMNS, *(name.lower() for name in columns)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{', '.join(twice)} would come out more than once")
        return columns


class RedisStreamSource(Source[RedisStreamConfig]):
    """Reads the entries of a Redis stream, the oldest first.

    Unbounded; in an import or a query bounded by the newest entry at the start. Exactly once: an entry is read by its ID, so a
    restart reads the same again. What Redis trims before it was read is never seen.
    """

    type = "source.redis_stream"
    title = "Redis stream"
    icon = "database-import"
    Config = RedisStreamConfig
    connection_kinds = ("redis",)
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    summary_template = "{stream}"

    def waits_for(self, context: NodeContext[RedisStreamConfig]) -> str:
        connection = context.connection(context.config.connection)
        typed = RedisSettings.model_validate(connection.config)
        try:
            port_reach(typed.host, typed.port, seconds=3)
        except NodeError:
            return f"redis {connection.name}"
        return ""

    def resumes(self, config: RedisStreamConfig) -> bool:
        return True

    def read(self, spark: SparkSession, context: NodeContext[RedisStreamConfig]) -> DataFrame:
        """entry_id and entry_time (when Redis took it), then the chosen columns as text."""
        kinds = _OWN_COLUMNS | dict.fromkeys(context.config.columns, "string")
        ddl = ", ".join(f"{quoted(name)} {kind}" for name, kind in kinds.items())
        if context.schema_only:
            return spark.createDataFrame([], schema_from_ddl(ddl))
        from pipeline_web_redis.entries import StreamEntries

        spark.dataSource.register(StreamEntries)
        reader: Any = spark.read if context.mode == "batch" else spark.readStream.name(context.stream_name)
        frame: DataFrame = reader.format(StreamEntries.name()).schema(ddl).options(**_options(context)).load()
        return frame


def _options(context: NodeContext[RedisStreamConfig]) -> dict[str, str]:
    """What the reader needs in other processes. Spark shows options in plans and logs, but hides one called "secret"."""
    connection = context.connection(context.config.connection)
    settings = {
        "node_id": context.node_id,
        "config": context.config.model_dump(mode="json"),
        "connection": {"name": connection.name, "kind": connection.kind, "config": dict(connection.config)},
    }
    return {"settings": json.dumps(settings), "secret": json.dumps(dict(connection.secrets))}
