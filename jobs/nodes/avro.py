"""Avro records by Spark's own reader, with a mark that tells a record from bytes that are none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql.types import StructType

#: A field that every record which could be read has: Spark gives nulls for bytes that are no record.
AVRO_MARK = "__read"


def avro_check(text: str) -> dict[str, Any]:
    """The record schema that `text` holds; ValueError in words when it holds none."""
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the Avro schema is no JSON ({error})") from None
    if not isinstance(schema, dict) or schema.get("type") != "record" or not isinstance(schema.get("fields"), list):
        raise ValueError('the Avro schema must be a record: {"type": "record", "name": …, "fields": […]}')
    return schema


def avro_schema(spark: SparkSession, text: str) -> StructType:
    """The columns of a record, by Spark's rules; raises Spark's error where it does not understand the schema."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType, StructField, StructType

    empty = spark.createDataFrame([], StructType([StructField("value", BinaryType())]))
    (record,) = empty.select(avro_record(F.col("value"), text).alias("record")).schema.fields
    assert isinstance(record.dataType, StructType)
    return StructType([StructField(field.name, field.dataType) for field in record.dataType.fields if field.name != AVRO_MARK])


def avro_record(value: Column, text: str) -> Column:
    """The record in `value` as a struct; its field AVRO_MARK is null where the bytes are no such record."""
    from pyspark.sql.avro.functions import from_avro

    written = avro_check(text)
    marked = {**written, "fields": [*written["fields"], {"name": AVRO_MARK, "type": "boolean", "default": True}]}
    return from_avro(value, json.dumps(written), {"mode": "PERMISSIVE", "avroSchema": json.dumps(marked)})
