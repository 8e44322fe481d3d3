"""What a message's bytes hold – JSON, CSV, Avro, text, a package's own or nothing known – and the columns they become."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import AfterValidator, Field

from jobs.nodes.avro import AvroSchemas, avro_check, avro_schema, avro_unknown_writer
from jobs.nodes.base import AS_IT_CAME, LINE_MISFIT, NodeError
from jobs.nodes.columns import ColumnField, empty_frame, rejected_schema, sampled_names_check, schema_from_ddl, schema_of
from jobs.nodes.durable_text import text_place
from jobs.nodes.form import hints
from jobs.nodes.formats import FORMATS, KnownFormat, format_hints
from jobs.nodes.misfits import rejected_column
from jobs.nodes.records import CORRUPT, RecordShape, record_misfit, record_parsed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: Columns that tell how a message came: name → DDL type and what it is made of.
MessageColumns = Mapping[str, tuple[str, str]]
#: How a message's value is written: one of these, or as a package does.
PayloadFormat = Annotated[str, KnownFormat(("json", "csv", "avro", "text", "binary"))]
#: Fields of a form, `Payload`'s and `metadata`, that say what a message's rows are like.
PAYLOAD_FIELDS = frozenset({"format", "columns", "delimiter", "null_value", "avro_schema", "metadata"})
_RECORD = "__record"
_UNKNOWN = "the message was written with schema {}, which the registry does not list for this subject"


def _avro_checked(text: str) -> str:
    if text.strip():
        avro_check(text)
    return text


#: An Avro schema written into a form; empty passes.
AvroText = Annotated[str, AfterValidator(_avro_checked)]


class Payload(Protocol):
    """The fields of a source's form that say how its messages are written."""

    @property
    def format(self) -> PayloadFormat: ...
    @property
    def columns(self) -> tuple[ColumnField, ...]: ...
    @property
    def delimiter(self) -> str: ...
    @property
    def null_value(self) -> str: ...
    @property
    def avro_schema(self) -> str: ...


def payload_format_field() -> Any:
    return Field(
        "json",
        description="How a message's value is written. Text gives one column called value; binary gives its bytes.",
        examples=["json", "text"],
        json_schema_extra=hints(half=True),
    )


def payload_columns_field(*, otherwise: str = "the newest messages") -> Any:
    """`otherwise`: where names and types of JSON come from when none are listed."""
    return Field(
        (),
        description=f"The fields of a message that become columns; for JSON, empty takes names and types from {otherwise}.",
        examples=[[{"name": "id", "type": "long"}, {"name": "amount", "type": "decimal(18, 2)"}]],
        json_schema_extra=format_hints("json", "csv", widget="columns"),
    )


def payload_delimiter_field() -> Any:
    return Field(
        ",",
        min_length=1,
        max_length=4,
        description="What stands between two CSV values.",
        examples=[",", ";"],
        json_schema_extra=hints(when="format=csv"),
    )


def payload_avro_field() -> Any:
    return Field(
        "",
        max_length=100_000,
        description="The Avro schema that the messages were written with, as JSON; empty asks the registry.",
        examples=['{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'],
        json_schema_extra=hints("textarea", when="format=avro"),
    )


def payload_avro_needed_field() -> Any:
    """For sources that ask no registry."""
    return Field(
        "",
        max_length=100_000,
        description="The Avro schema that the messages were written with, as JSON.",
        examples=['{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'],
        json_schema_extra=hints("textarea", when="format=avro"),
    )


def payload_complete(payload: Payload) -> None:
    """ValueError where the form lacks what its format needs."""
    if payload.format == "csv" and not payload.columns:
        raise ValueError("CSV messages have no names: list the columns in their order")
    if FORMATS.get(payload.format) is not None and not payload.columns:
        raise ValueError(f"list the columns: the columns of {payload.format} messages are not known otherwise")


def payload_complete_alone(payload: Payload) -> None:
    """Like `payload_complete`, for sources that ask no registry."""
    payload_complete(payload)
    if payload.format == "avro" and not payload.avro_schema.strip():
        raise ValueError("Avro messages need the schema they were written with")


def payload_schema(
    spark: SparkSession,
    payload: Payload,
    sample: Callable[[], Sequence[str]],
    kept: Path | None = None,
    avro: AvroSchemas | None = None,
    registered: Callable[[], StructType] | None = None,
) -> StructType:
    """The columns of a message: what the form lists, else what is `registered`, else what `sample`'s texts show.

    NodeError where they show nothing.
    `kept` is the file in which a stream keeps what they showed first, so that a restart reads the same types.
    """
    from pyspark.sql.types import StructType

    if payload.format in ("text", "binary"):
        return schema_from_ddl("value string" if payload.format == "text" else "value binary")
    if payload.format == "avro":
        return avro_schema(spark, avro.reader if avro else payload.avro_schema)
    if payload.columns:
        return schema_of(payload.columns)
    if registered is not None:
        return registered()
    if kept is not None and kept.is_file():
        return StructType.fromJson(json.loads(kept.read_text(encoding="utf-8")))
    schema = _sampled(spark, sample())
    if kept is not None:
        text_place(kept, schema.json())
    return schema


def _sampled(spark: SparkSession, texts: Sequence[str]) -> StructType:
    from pyspark.sql.types import StructType

    if not texts:
        raise NodeError("there is no message yet to take the columns from; list the columns", kind="user", field="columns")
    found = spark.read.json(spark.sparkContext.parallelize(texts, 1)).schema
    schema = StructType([field for field in found.fields if field.name != CORRUPT])
    if not schema.fields:
        raise NodeError("the newest messages are no JSON objects; choose another format", kind="user", field="format")
    sampled_names_check(schema.names, "the newest messages")
    return schema


def payload_can_reject(payload: Payload) -> bool:
    return payload.format not in ("text", "binary")


def payload_empty(spark: SparkSession, schema: StructType, metadata: MessageColumns, payload: Payload) -> DataFrame:
    """What `payload_read` gives, without rows."""
    from pyspark.sql.types import StructType

    told = schema_from_ddl(", ".join(f"{name} {kind}" for name, (kind, _) in metadata.items()))
    whole = StructType([*schema.fields, *told.fields])
    return empty_frame(spark, rejected_schema(whole) if payload_can_reject(payload) else whole)


def payload_read(
    messages: DataFrame,
    schema: StructType,
    metadata: MessageColumns,
    payload: Payload,
    avro: AvroSchemas | None = None,
    *,
    plainly: bool = False,
) -> DataFrame:
    """Messages (with a column `value` of bytes) as columns of `schema` and `metadata`.

    A message that does not fit is rejected as it came, and so is one without a value. With the writers of a registry in `avro`, a
    column `timestamp` tells when each message was written. `plainly`: as in `RecordShape`.
    """
    from pyspark.sql import functions as F

    told = [F.expr(expression).alias(name) for name, (_, expression) in metadata.items()]
    if not payload_can_reject(payload):
        value = F.col("value").cast("string") if payload.format == "text" else F.col("value")
        return messages.select(value.alias("value"), *told)
    shape = RecordShape(payload.format, schema, payload.delimiter, avro or AvroSchemas(payload.avro_schema), payload.null_value, plainly)
    record, is_bad = record_parsed(messages.sparkSession, F.col("value"), _RECORD, shape)
    fields = [F.col(_RECORD).getField(field.name).alias(field.name) for field in schema.fields]
    return messages.withColumn(_RECORD, record).select(*fields, *told, _rejected(is_bad, shape, avro))


def _rejected(is_bad: Column, shape: RecordShape, avro: AvroSchemas | None) -> Column:
    """Null for a good message."""
    from pyspark.sql import functions as F

    value = F.col("value")
    words = LINE_MISFIT if shape.format == "csv" else "the message does not fit the columns"
    reason = F.when(value.isNull(), F.lit("the message has no value"))
    if avro and avro.writers:
        unknown = avro_unknown_writer(value, F.col("timestamp"), avro)
        sentence = F.replace(F.lit(_UNKNOWN), F.lit("{}"), unknown)
        reason = reason.when(unknown.isNotNull(), F.concat(sentence, F.lit(AS_IT_CAME), F.hex(value)))
    misfit, told = record_misfit(value, _RECORD, shape, words)
    return rejected_column(reason.when(is_bad, misfit), told)
