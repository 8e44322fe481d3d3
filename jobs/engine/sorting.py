"""What a frame puts in order, found in its plan."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

#: What may stand above a sort without hiding that it is the last thing a frame does. A limit does not: then Spark sorts in another way.
_ABOVE = frozenset({"Project", "SubqueryAlias", "CollectMetrics", "Filter"})


def sorted_rows(frame: DataFrame) -> DataFrame | None:
    """The rows that `frame` sorts as a whole at its end, before they are sorted; None where it does not.

    Kept, they are what `frame` reads: Spark finds what it has kept by its plan.
    """
    java_frame: Any = frame._jdf
    plan = java_frame.queryExecution().analyzed()
    while plan.getClass().getSimpleName() in _ABOVE:
        plan = plan.child()
    if plan.getClass().getSimpleName() != "Sort" or not getattr(plan, "global")():
        return None
    java_session: Any = frame.sparkSession._jsparkSession
    datasets = frame.sparkSession._jvm.org.apache.spark.sql.classic.Dataset  # type: ignore[union-attr]
    return DataFrame(datasets.ofRows(java_session, plan.child()), frame.sparkSession)
