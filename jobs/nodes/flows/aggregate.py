"""Groups all rows, without windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.aggregates import OrderlessAggregate, aggregated, require_aggregates
from jobs.nodes.base import Caution, Flow, NodeContext
from jobs.nodes.columns import column, require_columns
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class AggregateConfig(base.Config):
    group_by: tuple[ColumnName, ...] = Field(
        (),
        description="Columns whose values make a group; empty makes one group of all rows.",
        examples=[["carrier"]],
        json_schema_extra=hints("columns"),
    )
    aggregates: tuple[OrderlessAggregate, ...] = Field(
        (OrderlessAggregate(name="rows"),),
        min_length=1,
        description="The values to compute for each group.",
        examples=[[{"name": "flights", "function": "count"}, {"name": "delay", "function": "avg", "column": "dep_delay"}]],
        json_schema_extra=hints("mapping"),
    )

    @model_validator(mode="after")
    def _each_output_once(self) -> AggregateConfig:
        outputs = [name.lower() for name in (*self.group_by, *(aggregate.name for aggregate in self.aggregates))]
        if twice := sorted({name for name in outputs if outputs.count(name) > 1}):
            raise ValueError(f"{', '.join(twice)} would come out more than once: choose other names")
        return self


class AggregateFlow(Flow[AggregateConfig]):
    """Groups all rows and computes counts, sums, averages and the like; a stream sends a group again each time it changes."""

    type = "flow.aggregate"
    title = "Aggregate"
    icon = "sum"
    Config = AggregateConfig
    changes_row_count: ClassVar[bool] = True
    summary_template = "{aggregates} · {group_by}"

    def is_stateful(self, config: AggregateConfig) -> bool:
        return True

    def output_mode(self, config: AggregateConfig) -> Literal["append", "update"]:
        return "update"

    def cautions(self, context: NodeContext[AggregateConfig]) -> Sequence[Caution]:
        if context.bounded or not context.config.group_by:
            return ()
        named = ", ".join(context.config.group_by)
        return [
            Caution(
                "group_by",
                f"a stream keeps every group it ever saw: its state grows with each new {named}; group by what has few values, "
                "or use Window aggregate, which lets a window go once it closed",
            )
        ]

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[AggregateConfig]) -> DataFrame:
        (frame,) = frames["in"]
        config = context.config
        require_columns(frame, config.group_by, "group_by")
        require_aggregates(frame, config.aggregates, context)
        values = [aggregated(aggregate).alias(aggregate.name) for aggregate in config.aggregates]
        return frame.groupBy(*(column(name) for name in config.group_by)).agg(*values)
