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
