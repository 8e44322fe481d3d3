"""Groups rows by windows of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from jobs.dag.durations import duration_ms
from jobs.nodes import base
from jobs.nodes.aggregates import Aggregate, aggregated, values_of
from jobs.nodes.base import Flow, NodeContext, NodeError
from jobs.nodes.columns import column, quoted, require_columns, require_timestamp
from jobs.nodes.duration_fields import Duration, Span
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WINDOW_COLUMNS = ("window_start", "window_end")
#: A name that no column of a person begins with.
_CLOCK = "__clock"


class WindowAggregateConfig(base.Config):
    time: Literal["event", "processing"] = Field(
        "event",
        description="What puts a row into its window: its time column, or the clock at the batch that reads it, in a stream only.",
        examples=["event"],
        json_schema_extra=hints(advanced=True),
    )
    time_column: str = Field(
        "",
        max_length=255,
        pattern=r"^[^\r\n]*$",
        validate_default=True,
        description="The column that says when a row happened; rows without it are left out.",
        examples=["departed_at"],
        json_schema_extra=hints("column", when="time=event"),
    )
    kind: Literal["tumbling", "sliding", "session"] = Field(
        "tumbling",
        description="Windows that follow one another, that overlap, or that last as long as rows of a group keep coming.",
        examples=["tumbling"],
    )
    window: Span = Field(
        "1 h",
        description="Length of a window, counted in UTC: one of a day begins at midnight there. A session ends when so long no row came.",
        examples=["1 min", "1 h"],
        json_schema_extra=hints("duration"),
    )
    slide: Span = Field(
        "10 min",
        description="A window begins every so often; each row is in all that are open at its time.",
        examples=["10 min"],
        json_schema_extra=hints("duration", when="kind=sliding"),
    )
    late: Duration = Field(
        "0s",
        description="How far behind the newest row a row may come; a later one is left out once its window closed.",
        examples=["10 min"],
        json_schema_extra=hints("duration", when="time=event"),
    )
    group_by: tuple[ColumnName, ...] = Field(
        (), description="Columns to group by within a window.", examples=[["carrier"]], json_schema_extra=hints("columns")
    )
    aggregates: tuple[Aggregate, ...] = Field(
        (Aggregate(name="rows"),),
        min_length=1,
        description="The values to compute for each group.",
        examples=[[{"name": "flights", "function": "count"}, {"name": "delay", "function": "avg", "column": "dep_delay"}]],
        json_schema_extra=hints("mapping"),
    )
    emit: Literal["close", "update"] = Field(
        "update",
        description="On close a window comes out once, when no row can change it any more; on update each time it changed.",
        examples=["update", "close"],
    )

    @field_validator("time_column")
    @classmethod
    def _event_time_has_its_column(cls, time_column: str, info: ValidationInfo) -> str:
        if not time_column and info.data.get("time") == "event":
            raise PydanticCustomError("missing", "required")
        return time_column

    @model_validator(mode="after")
    def _kind_is_possible(self) -> WindowAggregateConfig:
        if self.kind == "sliding" and duration_ms(self.slide) > duration_ms(self.window):
            raise ValueError("windows that begin further apart than they are long leave rows out: shorten the slide")
        if self.kind == "session" and not self.group_by:
            raise ValueError("a session belongs to somebody: name the columns to group by")
        if self.kind == "session" and self.emit == "update":
            raise ValueError("a session can only come out when it is over: let it emit on close")
        return self

    @model_validator(mode="after")
    def _each_output_once(self) -> WindowAggregateConfig:
        outputs = [name.lower() for name in (*WINDOW_COLUMNS, *self.group_by, *(aggregate.name for aggregate in self.aggregates))]
        twice = sorted({name for name in outputs if outputs.count(name) > 1})
        if twice:
            raise ValueError(f"{', '.join(twice)} would come out more than once: choose other names")
        return self


class WindowAggregate(Flow[WindowAggregateConfig]):
    """Groups rows by windows of time and computes counts, sums, averages and the like; rows that come too late are left out and counted."""

    type = "flow.window_aggregate"
    title = "Window aggregate"
    icon = "clock-hour-4"
    Config = WindowAggregateConfig
    changes_row_count: ClassVar[bool] = True
    summary_template = "{window} · {group_by}"
    patience_fields: ClassVar[frozenset[str]] = frozenset({"late"})

    def is_stateful(self, config: WindowAggregateConfig) -> bool:
        return True

    def sets_watermark(self, config: WindowAggregateConfig) -> bool:
        return True

    def without_clock(self, config: WindowAggregateConfig) -> WindowAggregateConfig:
        if config.time == "processing":
            message = "its windows go by the clock, which a test of a stream does not wait for: let them go by event time"
            raise NodeError(message, permanent=True, kind="user", field="time")
        return config

    def output_mode(self, config: WindowAggregateConfig) -> Literal["append", "update"]:
        return "append" if config.emit == "close" else "update"

    # There is no port for the rows that came too late. What Spark leaves out it tells to nobody: the watermark of a batch is known to the
    # operator with the state alone, whose plan gives nothing but the groups, and its own count is of groups within a task, not of rows.
    # A second query beside it has batches and a watermark of its own, so that it would find other rows too late than this one left out.
    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[WindowAggregateConfig]) -> DataFrame:
        from pyspark.sql import functions as F

        (frame,) = frames["in"]
        config = context.config
        _check(frame, config)
        name, late = (config.time_column, config.late) if config.time == "event" else (_CLOCK, "0s")
        time = column(name)
        timed = frame if config.time == "event" else _by_clock(frame, context)
        gathers = context.mode == "stream" or context.schema_only or config.kind == "session"
        computed = values_of(timed, config.aggregates, context, lambda aggregate: aggregated(aggregate, time, gathers=gathers))
        windows = _windows(config, time).alias("__window")
        grouped = timed.withWatermark(quoted(name), _span(late)).groupBy(windows, *(column(name) for name in config.group_by))
        values = grouped.agg(*computed)
        bounds = [F.col("__window.start").alias("window_start"), F.col("__window.end").alias("window_end")]
        names = [*config.group_by, *(aggregate.name for aggregate in config.aggregates)]
        return values.select(*bounds, *(column(name) for name in names))


def _span(text: str) -> str:
    return f"{duration_ms(text)} milliseconds"


def _by_clock(frame: DataFrame, context: NodeContext[WindowAggregateConfig]) -> DataFrame:
    """Spark keeps a batch's time with its offsets: one that is tried again has the same windows."""
    from pyspark.sql import functions as F

    if context.bounded:
        message = "the clock puts all rows of a job that ends into one window: let the windows go by event time, or leave them out"
        raise NodeError(message, permanent=True, kind="user", field="time")
    return frame.withColumn(_CLOCK, F.current_timestamp())


def _windows(config: WindowAggregateConfig, time: Column) -> Column:
    from pyspark.sql import functions as F

    length = _span(config.window)
    match config.kind:
        case "tumbling":
            return F.window(time, length)
        case "sliding":
            return F.window(time, length, _span(config.slide))
        case "session":
            return F.session_window(time, length)


def _check(frame: DataFrame, config: WindowAggregateConfig) -> None:
    require_columns(frame, config.group_by, "group_by")
    if config.time == "event":
        require_columns(frame, [config.time_column], "time_column")
        require_timestamp(frame, config.time_column, "time_column")
