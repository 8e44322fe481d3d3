"""Avro records by Spark's own reader, with a mark that tells a record from bytes that are none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jobs.nodes.columns import empty_frame

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession
    from pyspark.sql.types import StructType

#: A field that is read behind the record: AVRO_END, which is put there. Null, or something else, where the bytes are no such record,
#: or more than that: Avro itself would take what it finds and leave the rest.
AVRO_MARK = "__end"
AVRO_END = bytes.fromhex("9d1c7ae35b02f846")
_END_FIELD = {"name": AVRO_MARK, "type": {"type": "fixed", "name": "pipeline_web_end", "size": len(AVRO_END)}}
#: Stands before the id of a writer's schema that nobody told of.
UNKNOWN_WRITER = "unknown_avro_schema:"
#: So far the clocks of those that write messages may be apart from ours.
_CLOCKS_SECONDS = 10
#: After that long another look at the registry is worth an attempt.
_LOOK_SECONDS = 300
_REST = 2**31 - 1


def avro_check(text: str) -> dict[str, Any]:
    """The record schema that `text` holds; ValueError in words when it holds none."""
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the Avro schema is no JSON ({error})") from None
    if not isinstance(schema, dict) or schema.get("type") != "record" or not isinstance(schema.get("fields"), list):
        raise ValueError('the Avro schema must be a record: {"type": "record", "name": …, "fields": […]}')
    return schema


@dataclass(frozen=True)
class AvroSchemas:
    """The schema that messages are read as, and by id those that they were written with.

    With `writers`, a message begins with a zero byte and its writer's id in four bytes, as Confluent's clients frame it; without,
    it was written with `reader` itself and begins at once. `told_at` is when the writers were asked for, in seconds since 1970.
    """

    reader: str
    writers: Mapping[int, str] = field(default_factory=dict)
    told_at: float = 0.0


def avro_schema(spark: SparkSession, reader: str) -> StructType:
    """The columns of a record, by Spark's rules; raises Spark's error where it does not understand the schema."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BinaryType, StructField, StructType

    empty = empty_frame(spark, StructType([StructField("value", BinaryType())]))
    (record,) = empty.select(avro_record(F.col("value"), AvroSchemas(reader)).alias("record")).schema.fields
    assert isinstance(record.dataType, StructType)
    return StructType([StructField(field.name, field.dataType) for field in record.dataType.fields if field.name != AVRO_MARK])


def avro_record(value: Column, schemas: AvroSchemas) -> Column:
    """The record in `value` as a struct; its field AVRO_MARK is not AVRO_END where the bytes are no such record, or more than one.

    So it is where they name a writer that is not known.
    """
    from pyspark.sql import functions as F

    if not schemas.writers:
        return _read(value, schemas.reader, schemas.reader)
    writer, body = _writer(value), F.substring(value, 6, _REST)
    found = F.when(writer.isNull(), F.lit(None))
    for number, text in schemas.writers.items():
        found = found.when(writer == F.lit(str(number)), _read(body, text, schemas.reader))
    return found


def avro_unknown_writer(value: Column, written_at: Column, schemas: AvroSchemas) -> Column:
    """The id of the writer that the bytes in `value` name and nobody told of; null where there is none.

    UNKNOWN_WRITER is raised with the id where another look at the registry may know it: what was told is older than five minutes, or
    than the message. `written_at`, a timestamp, is what its writer says: a time to come says nothing, nor does one long ago.
    """
    from pyspark.sql import functions as F

    writer = _writer(value)
    is_known = writer.isin([str(number) for number in schemas.writers]) | writer.isNull()
    now, written = F.unix_timestamp(F.current_timestamp()), F.unix_timestamp(written_at)
    is_young = written.between(F.lit(int(schemas.told_at - _CLOCKS_SECONDS)), now + _CLOCKS_SECONDS)
    is_outdated = now > F.lit(int(schemas.told_at + _LOOK_SECONDS))
    raised = F.raise_error(F.concat(F.lit(UNKNOWN_WRITER), writer)).cast("string")
    return F.when(is_known, F.lit(None)).when(is_young | is_outdated, raised).otherwise(writer)


def _writer(value: Column) -> Column:
    """The id in front of a framed message, as a text; null where there is no frame."""
    from pyspark.sql import functions as F

    is_framed = (F.substring(value, 1, 1) == F.lit(b"\x00")) & (F.length(value) >= 5)
    return F.when(is_framed, F.conv(F.hex(F.substring(value, 2, 4)), 16, 10))


def _read(body: Column, writer: str, reader: str) -> Column:
    from pyspark.sql import functions as F
    from pyspark.sql.avro.functions import from_avro

    body = F.concat(body, F.lit(AVRO_END))
    return from_avro(body, _with_end(writer), {"mode": "PERMISSIVE", "avroSchema": _with_end(reader)})


def _with_end(schema: str) -> str:
    record = avro_check(schema)
    return json.dumps({**record, "fields": [*record["fields"], _END_FIELD]})
