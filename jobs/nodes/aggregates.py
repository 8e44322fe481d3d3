"""How the rows of a group become one value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import NodeContext, NodeError
from jobs.nodes.columns import column, require_columns, type_text
from jobs.nodes.config_refused import ConfigRefused
from jobs.nodes.expressions import expressions_of
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

Function = Literal[
    "count",
    "sum",
    "min",
    "max",
    "avg",
    "count_distinct",
    "count_distinct_exact",
    "first",
    "last",
    "median",
    "p90",
    "p95",
    "p99",
    "percentile",
    "stddev",
    "collect",
]
_PERCENTILES = {"median": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


class Aggregate(base.Config):
    name: ColumnName = Field(description="The column that comes out.", examples=["flights"])
    function: Function = Field(
        "count",
        description="How rows become one value. First and last go by time; of rows with the same, a window takes any. "
        "count_distinct is an estimate, even of few values, and the percentiles are close ones; count_distinct_exact keeps "
        "every different value of a group, so that what a stream remembers grows with them.",
        examples=["avg", "p95"],
    )
    column: str = Field(
        "", description="The column to aggregate; empty counts rows.", examples=["dep_delay"], json_schema_extra=hints("column")
    )

    percentile: float = Field(
        50,
        ge=0,
        le=100,
        description="So many percent of the values are at most as large as what comes out.",
        examples=[99.9],
        json_schema_extra=hints(when="function=percentile"),
    )

    @property
    def share(self) -> float | None:
        """Of a percentile: which part of the values lies below, from 0 to 1. As it is written: 99.9 / 100 is a little more than 0.999."""
        return float(Decimal(str(self.percentile)) / 100) if self.function == "percentile" else _PERCENTILES.get(self.function)

    @model_validator(mode="after")
    def _only_count_goes_without_column(self) -> Aggregate:
        if not self.column and self.function != "count":
            raise ConfigRefused(f"{self.function} needs a column", "column")
        return self


def aggregated(aggregate: Aggregate, order: Column | None = None, *, gathers: bool = True) -> Column:
    """The value of `aggregate` over a group's rows; first and last go by `order`.

    `gathers`: what is counted exactly is kept in a list, as a stream has to; else Spark sorts it out on disk.
    """
    from pyspark.sql import functions as F

    if not aggregate.column:
        return F.count(F.lit(1))
    taken = column(aggregate.column)
    if aggregate.share is not None:
        return F.percentile_approx(taken, aggregate.share)
    if aggregate.function in ("first", "last"):
        assert order is not None
        return (F.min_by if aggregate.function == "first" else F.max_by)(taken, order)
    if aggregate.function == "count_distinct":
        return F.approx_count_distinct(taken, 0.02)
    if aggregate.function == "count_distinct_exact":
        return F.size(F.collect_set(taken)).cast("bigint") if gathers else F.count_distinct(taken)
    plain = {"count": F.count, "sum": F.sum, "min": F.min, "max": F.max, "avg": F.avg, "stddev": F.stddev, "collect": F.collect_list}
    return plain[aggregate.function](taken)


def values_of(
    frame: DataFrame, aggregates: Sequence[Aggregate], context: NodeContext[Any], valued: Callable[[Aggregate], Column]
) -> list[Column]:
    """The values of `aggregates` under their names, each by `valued`.

    NodeError, on the row of `aggregates` that is to blame, where its column is not there or its function cannot take the column's type.
    Types are asked for only while a job is drawn: Spark sums text that holds numbers, and a job published with that goes on.
    """
    found = []
    for number, aggregate in enumerate(aggregates):
        field = f"aggregates/{number}/column"
        require_columns(frame, [aggregate.column] if aggregate.column else [], field)
        if context.schema_only and aggregate.column:
            _require_type(frame, aggregate, field)
        value = valued(aggregate).alias(aggregate.name)
        if context.schema_only:
            with expressions_of(aggregate.name, field, frame):
                frame.agg(value)
        found.append(value)
    return found


def _require_type(frame: DataFrame, aggregate: Aggregate, field: str) -> None:
    from pyspark.sql.types import BooleanType, StringType

    kind = next(one.dataType for one in frame.schema.fields if one.name.lower() == aggregate.column.lower())
    if isinstance(kind, _types_taken(aggregate)):
        return
    name, wrong = aggregate.column, type_text(kind)
    message = f"{aggregate.function} needs numbers, and the column {name} is {wrong}: make a number of it before with Compute columns"
    if isinstance(kind, (StringType, BooleanType)):
        message = f"{aggregate.function} needs numbers, and the column {name} is {wrong}: cast it before with Select fields"
    raise NodeError(message, permanent=True, kind="user", field=field)


def _types_taken(aggregate: Aggregate) -> tuple[type[DataType], ...]:
    """Spark would also take what it can only make a number of at the run, such as text."""
    from pyspark.sql import types as T

    numbers = (T.NumericType, T.NullType)
    lengths = (T.DayTimeIntervalType, T.YearMonthIntervalType)
    if aggregate.function in ("sum", "avg"):
        return (*numbers, *lengths)
    if aggregate.share is not None:
        return (*numbers, *lengths, T.DateType, T.TimestampType, T.TimestampNTZType)
    return numbers if aggregate.function == "stddev" else (T.DataType,)
