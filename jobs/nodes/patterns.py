"""Regular expressions as Spark reads them: Java's, so Java itself is asked."""

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
