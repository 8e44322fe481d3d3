"""Spark's context of a session: what it leaves undone, nobody misses."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_a_session_has_it(spark: SparkSession) -> None:
    java: Any = spark
    context = java._jsc.sc()
    assert context.getClass().getName() == "pipeline_web.LeanContext"
    assert context.conf().get("spark.serializer.objectStreamReset") == "100", "what PySpark sets of itself"


def test_what_cannot_be_handed_to_tasks_is_told(spark: SparkSession) -> None:
    """By Spark's scheduler, as it is not looked for before."""
    java: Any = spark
    rows = java._jvm.java.util.ArrayList()
    rows.add(java._jvm.java.lang.Thread.currentThread())
    with pytest.raises(Exception, match=r"NotSerializable|not serializable"):
        java._jsc.parallelize(rows, 1).count()


def test_the_rules_of_its_planner_are_not_counted(spark: SparkSession) -> None:
    java: Any = spark
    spark.range(3).filter("id > 1").collect()
    counted = java._jvm.org.apache.spark.sql.catalyst.rules.RuleExecutor.getCurrentMetrics()
    assert (counted.numRuns(), counted.time()) == (0, 0)


def test_classes_there_are_are_found_and_others_not_each_time(spark: SparkSession) -> None:
    java: Any = spark
    loader = java._jvm.Thread.currentThread().getContextClassLoader()
    assert loader.getClass().getName() == "pipeline_web.KnownClasses"
    for _ in range(2):
        with pytest.raises(Exception, match=r"org\.example\.Nothing"):
            loader.loadClass("org.example.Nothing")
        assert loader.loadClass("org.apache.spark.SparkConf").getSimpleName() == "SparkConf"


def test_what_was_compiled_serves_again_behind_that_of_many_others(spark: SparkSession) -> None:
    java: Any = spark
    compiled = java._jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()

    def compiled_by(number: int) -> int:
        before = compiled.getCount()
        spark.range(1).selectExpr(f"id % {number + 7} as rest", f"concat('{number}', id) as text").collect()
        return int(compiled.getCount() - before)

    for number in range(120):
        compiled_by(number)
    assert compiled_by(500) > 0
    assert compiled_by(0) == 0
