"""How the rows of a group become one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.columns import column
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import Column

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
    "stddev",
    "collect",
]
#: Those that ask for no order of the rows.
OrderlessFunction = Literal[
    "count", "sum", "min", "max", "avg", "count_distinct", "count_distinct_exact", "median", "p90", "p95", "p99", "stddev", "collect"
]
_PERCENTILES = {"median": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


class Aggregate(base.Config):
    name: ColumnName = Field(description="The column that comes out.", examples=["flights"])
    function: Function = Field(
        "count",
        description="How rows become one value. First and last go by time. count_distinct and the percentiles are estimates; "
        "count_distinct_exact keeps each different value of a group.",
        examples=["avg", "p95"],
    )
    column: str = Field(
        "", description="The column to aggregate; empty counts rows.", examples=["dep_delay"], json_schema_extra=hints("column")
    )

    @model_validator(mode="after")
    def _only_count_goes_without_column(self) -> Aggregate:
        if not self.column and self.function != "count":
            raise ValueError(f"{self.function} needs a column")
        return self


class OrderlessAggregate(Aggregate):
    """An aggregate of rows of which none is known to be the first."""

    function: OrderlessFunction = Field(
        "count",
        description="How rows become one value. count_distinct and the percentiles are estimates; count_distinct_exact keeps each "
        "different value of a group.",
        examples=["avg", "p95"],
    )


def aggregated(aggregate: Aggregate, time: Column | None = None) -> Column:
    """The value of `aggregate` over a group's rows, in a stream too; first and last go by `time`."""
    from pyspark.sql import functions as F

    if not aggregate.column:
        return F.count(F.lit(1))
    taken = column(aggregate.column)
    if aggregate.function in _PERCENTILES:
        return F.percentile_approx(taken, _PERCENTILES[aggregate.function])
    if aggregate.function in ("first", "last"):
        assert time is not None
        return (F.min_by if aggregate.function == "first" else F.max_by)(taken, time)
    if aggregate.function == "count_distinct":
        return F.approx_count_distinct(taken, 0.02)
    if aggregate.function == "count_distinct_exact":  # Spark's own cannot go on from one batch of a stream to the next
        return F.size(F.collect_set(taken)).cast("long")
    plain = {"count": F.count, "sum": F.sum, "min": F.min, "max": F.max, "avg": F.avg, "stddev": F.stddev, "collect": F.collect_list}
    return plain[aggregate.function](taken)
