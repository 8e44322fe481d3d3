"""Our own classes inside Spark (`jobs/engine/*.java`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MISSING = (
    "Spark lacks our classes, which are not among its jars; `python -m scripts.class_archive` puts them there: then start the product again"
)


def java_class(spark: SparkSession, name: str) -> Any:
    """One of them; RuntimeError where Spark was started without them."""
    from py4j.java_gateway import JavaClass

    jvm: Any = spark._jvm
    found = getattr(jvm.pipeline_web, name)
    if not isinstance(found, JavaClass):
        raise RuntimeError(_MISSING)
    return found
