"""Patterns as Spark reads them: of texts, which are Java's regular expressions, and of times; so Java and Spark themselves are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jobs.nodes.base import NodeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pattern_read(spark: SparkSession, pattern: str, field: str = "") -> int:
    """How many groups it has. NodeError on `field` where it is no pattern."""
    from pyspark.errors import PySparkException

    jvm: Any = spark.sparkContext._jvm
    try:
        return int(jvm.java.util.regex.Pattern.compile(pattern).matcher("").groupCount())
    except PySparkException as error:
        first = str(error).strip().splitlines()[0]
        raise NodeError(f"the pattern cannot be read: {first}", permanent=True, kind="user", field=field) from None


def time_pattern_check(spark: SparkSession, pattern: str, *, parsing: bool) -> None:
    """NodeError where `pattern` is none by which Spark writes times, or reads them where `parsing`."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    jvm: Any = spark.sparkContext._jvm
    try:
        made = jvm.org.apache.spark.sql.catalyst.util.TimestampFormatter.apply(pattern, jvm.java.time.ZoneId.of("UTC"), parsing)
        made.validatePatternString(True)
    except (PySparkException, Py4JJavaError):
        remedy = "write one such as yyyy-MM-dd HH:mm:ss, other text in single quotes"
        what = f'no time can be read by the pattern "{pattern}"' if parsing else f'no time can be written by the pattern "{pattern}"'
        raise NodeError(f"{what}; {remedy}", permanent=True, kind="user") from None
