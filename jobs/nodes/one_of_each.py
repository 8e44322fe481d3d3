"""One row of each key of a table beside a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: What one task goes through sooner than Spark spreads it over several.
_SMALL_BYTES = 32 * 1024 * 1024


def one_of_each(frame: DataFrame, keys: list[str]) -> DataFrame:
    """Some row of each key. A table that Spark knows to be small goes through one task: no shuffle, and one sort instead of two."""
    plan: Any = frame._jdf.queryExecution().optimizedPlan()
    is_small = int(str(plan.stats().sizeInBytes())) <= _SMALL_BYTES
    return (frame.coalesce(1) if is_small else frame).dropDuplicates(keys)
