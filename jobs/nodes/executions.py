"""Executions of Spark by hand: what is observed while a writer reads a frame is told by its execution, whatever the writer does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def executed_apart(frame: DataFrame) -> tuple[DataFrame, Any]:
    """`frame` as it stands behind one execution of its own, as in foreachBatch, and that execution: what reads it, fills its counts."""
    from pyspark.sql import DataFrame

    spark = frame.sparkSession
    java_frame: Any = frame._jdf
    java_session: Any = spark._jsparkSession
    execution = java_frame.queryExecution()
    return DataFrame(java_session.internalCreateDataFrame(execution.toRdd(), java_frame.schema(), False), spark), execution


def observed_row(spark: SparkSession, execution: Any, name: str) -> dict[str, Any] | None:
    """What an execution has observed under `name`; None where Spark did not reach that."""
    from pyspark.serializers import CPickleSerializer

    metrics = execution.observedMetrics()
    if not metrics.contains(name):
        return None
    converter: Any = getattr(spark.sparkContext._jvm, "org.apache.spark.sql.api.python.PythonSQLUtils")
    serializer: Any = CPickleSerializer()
    row: dict[str, Any] = serializer.loads(converter.toPyRow(metrics.apply(name))).asDict(recursive=False)
    return row


def observed_tell(frame: DataFrame, execution: Any) -> None:
    """Complete what was observed in `execution` of `frame`, now that all was read.

    Spark does that itself behind actions and tables, and not behind a writer such as Kafka's, within which another execution reads.
    """
    java_frame: Any = frame._jdf
    java_frame.sparkSession().observationManager().tryComplete(execution)
