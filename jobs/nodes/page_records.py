"""Records of pages, which come as text, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.nodes.misfits import rejected_column
from jobs.nodes.records import RecordShape, record_misfit, record_parsed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_RECORD = "__record"


def records_typed(frame: DataFrame, schema: StructType, *, plainly: bool) -> DataFrame:
    """Records as columns; one that does not fit them is rejected with its text. `plainly`: as in `RecordShape`."""
    from pyspark.sql import functions as F

    shape = RecordShape("json", schema, plainly=plainly)
    record, is_bad = record_parsed(frame.sparkSession, F.col("value"), _RECORD, shape)
    reason, told = record_misfit(F.col("value"), _RECORD, shape, "the record does not fit the columns")
    fields = (F.col(_RECORD).getField(field.name).alias(field.name) for field in schema.fields)
    return frame.withColumn(_RECORD, record).select(*fields, rejected_column(F.when(is_bad, reason), told))
