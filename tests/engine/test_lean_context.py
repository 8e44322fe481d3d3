"""Spark's context of a session: what it leaves undone, nobody misses."""

from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.engine.graphs import Bench, document, files, numbers

pytestmark = pytest.mark.spark


def java(spark: SparkSession) -> Any:
    return spark._jsc.sc()


def test_a_session_has_it(spark: SparkSession) -> None:
    assert java(spark).getClass().getName() == "pipeline_web.LeanContext"
    assert java(spark).conf().get("spark.serializer.objectStreamReset") == "100", "what PySpark sets of itself"


def test_a_function_stays_as_it_is(spark: SparkSession) -> None:
    function = spark._jvm.java.util.ArrayList()
    assert java(spark).clean(function, True) is not None


def test_what_cannot_be_handed_to_tasks_is_told(spark: SparkSession) -> None:
    """By Spark's scheduler, as it is not looked for before."""
    thread = spark._jvm.java.lang.Thread.currentThread()
    rows = spark._jvm.java.util.ArrayList()
    rows.add(thread)
    with pytest.raises(Exception, match="NotSerializable|not serializable"):
        spark._jsc.parallelize(rows, 1).count()
