"""Groups all rows, without windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from jobs.nodes import base
from jobs.nodes.aggregates import Aggregate, aggregated, values_of
from jobs.nodes.base import Caution, Flow, NodeContext
from jobs.nodes.columns import column, require_columns, require_order
from jobs.nodes.config_refused import check_comes_out_once
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.groups import GroupsRows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

#: Types of which Spark says no order, wherever they stand in another.
_WITHOUT_ORDER = ("map<", "variant")


class AggregateConfig(base.Config):
    group_by: tuple[ColumnName, ...] = Field(
        (),
        description="Columns whose values make a group; empty makes one group of all rows.",
        examples=[["carrier"]],
        json_schema_extra=hints("columns"),
    )
    aggregates: tuple[Aggregate, ...] = Field(
        (Aggregate(name="rows"),),
        min_length=1,
        description="The values to compute for each group.",
        examples=[[{"name": "flights", "function": "count"}, {"name": "delay", "function": "avg", "column": "dep_delay"}]],
        json_schema_extra=hints("mapping"),
    )
    time_column: str = Field(
        "",
        max_length=255,
        validate_default=True,
        description="What first and last go by: a time or a number. Rows without it are neither; of rows that share it, the smallest "
        "value is first and the largest last.",
        examples=["departed_at"],
        json_schema_extra=hints("column"),
    )

    @field_validator("time_column")
    @classmethod
    def _first_and_last_have_an_order(cls, time_column: str, info: ValidationInfo) -> str:
        for aggregate in info.data.get("aggregates", ()):
            if aggregate.function in ("first", "last") and not time_column:
                raise ValueError(f"{aggregate.function} goes by a time: name the time column")
        return time_column

    @model_validator(mode="after")
    def _each_output_once(self) -> AggregateConfig:
        check_comes_out_once((), self.group_by, "aggregates", [aggregate.name for aggregate in self.aggregates])
        return self


class AggregateFlow(GroupsRows, Flow[AggregateConfig]):
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

    def cautions(self, context: NodeContext[AggregateConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        config = context.config
        if context.bounded:
            return ()
        found = []
        if config.group_by:
            message = (
                f"a stream keeps every group it ever saw: its state grows with each new {', '.join(config.group_by)}; group by what has "
                "few values, or use Window aggregate, which lets a window go once it closed"
            )
            found.append(Caution("group_by", message))
        if exact := ", ".join(one.column for one in config.aggregates if one.function == "count_distinct_exact"):
            message = (
                f"a stream keeps every different value of {exact} for ever to count it exactly: take count_distinct, an estimate "
                "that stays small, or Window aggregate, which lets a window go once it closed"
            )
            found.append(Caution("aggregates", message))
        if gathered := ", ".join(one.column for one in config.aggregates if one.function == "collect"):
            message = (
                f"a stream keeps every value of {gathered} for ever, and sends a whole list again with each new one: take Window "
                "aggregate, which lets a window go once it closed"
            )
            found.append(Caution("aggregates", message))
        return found

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[AggregateConfig]) -> DataFrame:
        (frame,) = frames["in"]
        config = context.config
        require_columns(frame, config.group_by, "group_by/{row}")
        if config.time_column:
            require_columns(frame, [config.time_column], "time_column")
            require_order(frame, config.time_column, "time_column")
        gathers = context.mode == "stream" or context.schema_only

        def valued(aggregate: Aggregate) -> Column:
            return aggregated(aggregate, _order(frame, aggregate, config.time_column), gathers=gathers)

        values = values_of(frame, config.aggregates, context, valued)
        return frame.groupBy(*(column(name) for name in config.group_by)).agg(*values)


def _order(frame: DataFrame, aggregate: Aggregate, time_column: str) -> Column | None:
    """The time, then the value: so that of rows of one time always the same one is taken, in whatever order they come."""
    from pyspark.sql import functions as F

    if not time_column or aggregate.function not in ("first", "last"):
        return None
    time, taken = column(time_column), column(aggregate.column)
    kind = frame.select(taken).dtypes[0][1]
    if any(part in kind for part in _WITHOUT_ORDER):
        return time
    return F.when(time.isNotNull(), F.struct(time.alias("time"), taken.alias("value")))
