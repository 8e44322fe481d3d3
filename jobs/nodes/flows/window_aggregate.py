"""Groups rows by windows of event time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from jobs.dag.durations import duration_ms
from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext, NodeError
from jobs.nodes.columns import column, require_columns
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Function = Literal["count", "sum", "min", "max", "avg", "count_distinct"]
WINDOW_COLUMNS = ("window_start", "window_end")


def _duration(text: str) -> str:
    duration_ms(text)
    return text


def _longer_than_nothing(text: str) -> str:
    if duration_ms(text) == 0:
        raise ValueError("must be longer than nothing")
    return text


class Aggregate(base.Config):
    name: ColumnName = Field(description="The column that comes out.", examples=["flights"])
    function: Function = Field("count", description="How rows become one value; count_distinct is exact to about 2 %.", examples=["avg"])
    column: str = Field(
        "", description="The column to aggregate; empty counts rows.", examples=["dep_delay"], json_schema_extra=hints("column")
    )

    @model_validator(mode="after")
    def _only_count_goes_without_column(self) -> Aggregate:
        if not self.column and self.function != "count":
            raise ValueError(f"{self.function} needs a column")
        return self


class WindowAggregateConfig(base.Config):
    time_column: ColumnName = Field(
        description="The column that says when a row happened; rows without it are left out.",
        examples=["departed_at"],
        json_schema_extra=hints("column"),
    )
    window: Annotated[str, AfterValidator(_longer_than_nothing)] = Field(
        "1 h",
        description="Length of a window; windows follow one another without overlap.",
        examples=["1 min", "1 h"],
        json_schema_extra=hints("duration"),
    )
    late: Annotated[str, AfterValidator(_duration)] = Field(
        "0s",
        description="How far behind the newest row a row may come; a later one is left out once its window closed.",
        examples=["10 min"],
        json_schema_extra=hints("duration"),
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

    @model_validator(mode="after")
    def _each_output_once(self) -> WindowAggregateConfig:
        outputs = [name.lower() for name in (*WINDOW_COLUMNS, *self.group_by, *(aggregate.name for aggregate in self.aggregates))]
        twice = sorted({name for name in outputs if outputs.count(name) > 1})
        if twice:
            raise ValueError(f"{', '.join(twice)} would come out more than once: choose other names")
        return self


class WindowAggregate(Flow[WindowAggregateConfig]):
    """Groups rows by windows of event time and computes counts, sums, averages and the like."""

    type = "flow.window_aggregate"
    title = "Window aggregate"
    icon = "clock-hour-4"
    Config = WindowAggregateConfig
    changes_row_count: ClassVar[bool] = True
    summary_template = "{window} · {group_by}"

    def is_stateful(self, config: WindowAggregateConfig) -> bool:
        return True

    def output_mode(self, config: WindowAggregateConfig) -> Literal["append", "update"]:
        return "append" if config.emit == "close" else "update"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[WindowAggregateConfig]) -> DataFrame:
        from pyspark.sql import functions as F

        (frame,) = frames["in"]
        config = context.config
        _check(frame, config)
        windows = F.window(column(config.time_column), f"{duration_ms(config.window)} milliseconds").alias("__window")
        grouped = frame.withWatermark(config.time_column, f"{duration_ms(config.late)} milliseconds").groupBy(
            windows, *(column(name) for name in config.group_by)
        )
        aggregated = grouped.agg(*(_aggregated(aggregate).alias(aggregate.name) for aggregate in config.aggregates))
        bounds = [F.col("__window.start").alias("window_start"), F.col("__window.end").alias("window_end")]
        names = [*config.group_by, *(aggregate.name for aggregate in config.aggregates)]
        return aggregated.select(*bounds, *(column(name) for name in names))


def _check(frame: DataFrame, config: WindowAggregateConfig) -> None:
    require_columns(frame, [config.time_column], "time_column")
    require_columns(frame, config.group_by, "group_by")
    require_columns(frame, [aggregate.column for aggregate in config.aggregates if aggregate.column], "aggregates")
    declared = {name.lower(): declared for name, declared in frame.dtypes}[config.time_column.lower()]
    if not declared.startswith("timestamp"):
        raise NodeError(
            f"the time column {config.time_column} is {declared}; make it a timestamp before, such as to_timestamp({config.time_column})",
            permanent=True,
            kind="user",
            field="time_column",
        )


def _aggregated(aggregate: Aggregate) -> Column:
    from pyspark.sql import functions as F

    if not aggregate.column:
        return F.count(F.lit(1))
    taken = column(aggregate.column)
    match aggregate.function:
        case "count":
            return F.count(taken)
        case "sum":
            return F.sum(taken)
        case "min":
            return F.min(taken)
        case "max":
            return F.max(taken)
        case "avg":
            return F.avg(taken)
        case "count_distinct":
            return F.approx_count_distinct(taken, 0.02)
