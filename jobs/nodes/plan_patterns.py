"""What stands in the plan of a frame, as Spark itself finds it fast: by the patterns that each part of a plan carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from typing import Any

    from pyspark.sql import DataFrame


def plan_holds(frame: DataFrame, pattern: Literal["CURRENT_LIKE", "EVENT_TIME_WATERMARK"]) -> bool:
    """Whether what makes its rows asks for the current time or day, or sets a watermark."""
    java = cast("Any", frame)
    patterns = java.sparkSession._jvm.org.apache.spark.sql.catalyst.trees.TreePattern
    return bool(java._jdf.queryExecution().analyzed().containsPattern(getattr(patterns, pattern)()))
