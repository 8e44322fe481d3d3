"""Records of pages, which come as text, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jobs.nodes.misfits import misfit, rejected_column

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
    fields = (F.col("record").getField(field.name).alias(field.name) for field in schema.fields)
    reason, told = misfit("the record does not fit the columns", F.col("value"), schema, "json")
    return parsed.select(*fields, rejected_column(F.when(bad, reason), told))
