"""Records of pages, which come as text, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jobs.nodes.base import AS_IT_CAME, REJECTED
from jobs.nodes.columns import quoted
from jobs.nodes.misfits import misfit_told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_CORRUPT = "_corrupt_record"


def records_typed(frame: DataFrame, schema: StructType) -> DataFrame:
    """Records as columns; one that does not fit them is rejected with its text."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    with_corrupt = StructType([*schema.fields, StructField(_CORRUPT, StringType(), True)])
    options: Any = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    parsed = frame.select("value", F.from_json("value", with_corrupt, options).alias("record"))
    bad = F.col("record").isNull() | F.col(f"record.{_CORRUPT}").isNotNull()
    held = {field.name: f"record.{quoted(field.name)}" for field in schema.fields}
    words = misfit_told("the record does not fit the columns", "value", held, schema, "json")
    reason = F.when(bad, F.concat(F.expr(words), F.lit(AS_IT_CAME), F.substring("value", 1, 2000)))
    return parsed.select(*(F.col(value).alias(name) for name, value in held.items()), reason.alias(REJECTED))
