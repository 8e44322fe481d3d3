"""Groups rows by windows of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field, field_validator, model_validator

from jobs.nodes.aggregates import Aggregate, aggregated, values_of
from jobs.nodes.base import NodeContext
from jobs.nodes.columns import column
from jobs.nodes.config_refused import check_comes_out_once
from jobs.nodes.form import hints
from jobs.nodes.windows import WINDOW_COLUMNS, WindowFlow, WindowsConfig, check_columns, checked_emit, timed, window_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class WindowAggregateConfig(WindowsConfig):
    aggregates: tuple[Aggregate, ...] = Field(
        (Aggregate(name="rows"),),
        min_length=1,
        description="The values to compute for each group.",
        examples=[[{"name": "flights", "function": "count"}, {"name": "delay", "function": "avg", "column": "dep_delay"}]],
        json_schema_extra=hints("mapping"),
    )
    emit: Literal["close", "update"] = Field(
        "update",
        description="On close a window comes out once, on update each time it changed. It closes when nothing can change it any more.",
        examples=["update", "close"],
        json_schema_extra=hints(half=True, after="kind"),
    )

    _emit_is_possible = field_validator("emit")(checked_emit)

    @model_validator(mode="after")
    def _each_output_once(self) -> WindowAggregateConfig:
        check_comes_out_once(WINDOW_COLUMNS, self.group_by, "aggregates", [aggregate.name for aggregate in self.aggregates])
        return self


class WindowAggregate(WindowFlow[WindowAggregateConfig]):
    """Groups rows by windows of time and computes counts, sums, averages and the like; rows that come too late go on apart."""

    type = "flow.window_aggregate"
    title = "Window aggregate"
    icon = "clock-hour-4"
    Config = WindowAggregateConfig

    def output_mode(self, config: WindowAggregateConfig) -> Literal["append", "update"]:
        return "append" if config.emit == "close" else "update"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[WindowAggregateConfig]) -> DataFrame:
        from pyspark.sql import functions as F

        (frame,) = frames["in"]
        config = context.config
        check_columns(frame, config)
        frame, name = timed(frame, config, bounded=context.bounded)
        time = column(name)
        gathers = context.mode == "stream" or context.schema_only or config.kind == "session"
        computed = values_of(frame, config.aggregates, context, lambda aggregate: aggregated(aggregate, time, gathers=gathers))
        grouped = frame.groupBy(window_of(config, time).alias("__window"), *(column(name) for name in config.group_by))
        values = grouped.agg(*computed)
        bounds = [F.col("__window.start").alias("window_start"), F.col("__window.end").alias("window_end")]
        names = [*config.group_by, *(aggregate.name for aggregate in config.aggregates)]
        return values.select(*bounds, *(column(name) for name in names))
