"""Frames as a person's Python gets them: which columns can be handed over, and as what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.nodes.base import NodeError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def handed_schema(schema: StructType, time_zone: str, what: str) -> pa.Schema:
    """`schema` in Arrow's types; NodeError that names the first column Python cannot hold: "the column gap that WHAT is interval"."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_schema

    for column in schema.fields:
        try:
            to_arrow_schema(type(schema)([column]), timezone=time_zone)
        except PySparkException:
            kind = column.dataType.simpleString()
            message = f"the column {column.name} that {what} is {kind}, which Python cannot hold: cast it, or leave it out before"
            raise NodeError(message, permanent=True, kind="user") from None
    return to_arrow_schema(schema, timezone=time_zone)


def refuse_twice(frame: DataFrame) -> None:
    """NodeError where two columns share a name: a row is a dict."""
    if twice := sorted({name for name in frame.columns if frame.columns.count(name) > 1}):
        message = f"the column {', '.join(twice)} comes in more than once: rename one before"
        raise NodeError(message, permanent=True, kind="user")
