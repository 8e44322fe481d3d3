"""JSON texts as records, with a mark where one does not fit or more stands behind it.

Our own class inside Spark reads them (`jobs/engine/JsonRecords.java`): `from_json`, with which a script has to do, takes twice as long
and passes over what stands behind an object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.nodes.java_class import java_class

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql.types import StructType

#: What the field of a misfit holds where more stands behind the object: no text that does not fit is empty.
GOES_ON = ""


def json_record(spark: SparkSession, text: Column, schema: StructType, misfit: str) -> Column:
    """`text` as a struct of `schema` and the text `misfit`: null where it fits, GOES_ON where more stands behind it."""
    from pyspark.sql import Column

    java = java_class(spark, "JsonRecords")
    return Column(java.parsed(text._jc, schema.json(), misfit, spark.conf.get("spark.sql.session.timeZone")))


def json_goes_on(text: Column) -> Column:
    """Whether more stands behind the JSON object that `text` begins with, as PySpark alone can tell.

    A text whose only } is its end needs no second look, and costs next to nothing. Another has to be the first of two elements of a
    list, before an empty object: counting them costs half of what reading them does, but knows no NaN.
    """
    from pyspark.sql import functions as F

    whole = text.cast("binary")
    before_end = whole.substr(F.lit(1), F.octet_length(whole) - 1).cast("string")
    is_plain = F.endswith(text, F.lit("}")) & ~F.contains(before_end, F.lit("}"))
    listed = F.concat(F.lit("["), text, F.lit(",{}]"))
    read = F.size(F.from_json(listed, "array<struct<`__nothing`: int>>"))
    return ~is_plain & ~F.coalesce(F.json_array_length(listed) == 2, read == 2, F.lit(False))
