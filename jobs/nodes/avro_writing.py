"""What hinders rows from being written by a given Avro schema: all rows, as the drawing can tell, or one with an empty value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jobs.nodes.avro import avro_check
from jobs.nodes.base import NodeError
from jobs.nodes.columns import column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructField

_SHOWN_CHARACTERS = 500


def avro_writing_check(frame: DataFrame, names: Sequence[str], schema: str) -> None:
    """NodeError where Spark cannot write these columns by the schema: it says so itself only once it writes the first row."""
    from py4j.protocol import Py4JJavaError

    jvm: Any = frame.sparkSession._jvm
    columns: Any = frame.select(*(column(name) for name in names))._jdf.schema()
    try:
        parsed = jvm.org.apache.avro.Schema.Parser().parse(schema)
    except Py4JJavaError as error:
        raise _refused(f"the Avro schema cannot be read: {_words(error)}") from None
    try:
        jvm.org.apache.spark.sql.avro.AvroSerializer(columns, parsed, False)
    except Py4JJavaError as error:
        raise _refused(f"the columns do not fit the Avro schema: {_words(error)}") from None


def unwritable_in_avro(fields: Sequence[StructField], schema: str) -> Column | None:
    """Why a row cannot be written by the schema, null where it can; None where no column can hold what it does not take."""
    from pyspark.sql import functions as F

    filled = {str(field.get("name")).lower() for field in avro_check(schema)["fields"] if not _takes_null(field.get("type"))}
    reasons = []
    for field in fields:
        if field.nullable and field.name.lower() in filled:
            words = f"{field.name}: the Avro schema takes no empty value there; give it one before, or let the schema take null"
            reasons.append(F.when(column(field.name).isNull(), F.lit(words)))
    return F.coalesce(*reasons) if reasons else None


def _takes_null(kind: Any) -> bool:
    if isinstance(kind, list):
        return any(_takes_null(one) for one in kind)
    return kind == "null" or (isinstance(kind, dict) and _takes_null(kind.get("type")))


def _words(error: Any) -> str:
    """Of the innermost cause, which is about one column."""
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    return " ".join(str(cause.getMessage()).split())[:_SHOWN_CHARACTERS]


def _refused(message: str) -> NodeError:
    return NodeError(message, permanent=True, kind="user", field="avro_schema")
