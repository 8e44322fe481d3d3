"""Rows of a frame as they are shown: JSON values, of which the longest are cut where a row would be too large for a browser."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DataType, StringType

from jobs.engine.typed_values import json_read
from jobs.nodes.base import NodeError
from jobs.nodes.columns import column, type_text
from jobs.nodes.json_options import JSON_AS_WRITTEN, TIMES_AS_WRITTEN

#: Of all rows of a table together: a browser has to take them, and those who serve it.
_MOST_CHARACTERS = 32_000_000
_SIZES = "sizes"


def rows_shown(frame: DataFrame, rows: int) -> dict[str, Any]:
    """{"columns": [{"name", "type"}], "rows": [object], "more", "cut": [{"row", "column", "characters"}]}, of at most `rows` rows.

    "more": whether there are others behind them.
    Each row has an equal share of what is shown, and in a row with more than that each value: what is longer is cut, a text as it is,
    others as the text of their JSON, and "cut" says how long it was. The rows are computed a second time where one is that large.
    """
    fields, most = frame.schema.fields, _MOST_CHARACTERS // rows
    found = _whole_rows(frame, rows + 1, most)
    more, found = len(found) > rows, found[:rows]
    if any(row[0] is None for row in found):
        found = frame.limit(rows).select(*_cut_values(frame, most)).collect()
    if any(row[0] is None for row in found):
        message = (
            f"a row is too large to be shown as one of {rows}, for it has {len(fields):,} columns; show fewer rows, or leave out columns"
        )
        raise NodeError(message, permanent=True, kind="user")
    cut = [
        {"row": place, "column": fields[number].name, "characters": size}
        for place, (_, sizes) in enumerate(found)
        for number, size in enumerate(sizes or ())
        if size is not None
    ]
    columns = [{"name": field.name, "type": type_text(field.dataType)} for field in fields]
    return {"columns": columns, "rows": [json_read(row[0]) for row in found], "more": more, "cut": cut}


def _whole_rows(frame: DataFrame, rows: int, most: int) -> list[Row]:
    """Each row's JSON, null where that is too long, and nothing that was cut. What may be cut is many expressions for Spark to compile."""
    if not frame.columns:
        return []
    return frame.limit(rows).select(_whole(frame, most), F.lit(None).alias(_SIZES)).collect()


def _whole(frame: DataFrame, most: int) -> Column:
    text = _row_text(frame)
    return F.when(F.length(text) <= most, text)


def _row_text(frame: DataFrame) -> Column:
    return F.to_json(F.struct(*(column(name) for name in frame.columns)), JSON_AS_WRITTEN)


def _cut_values(frame: DataFrame, most: int) -> tuple[Column, Column]:
    """A row's JSON, null where even its cut values are too many, and by column how long a value that was cut is."""
    share = most // (2 * len(frame.columns))
    whole = _row_text(frame)
    texts = [_text(column(field.name), field.dataType) for field in frame.schema.fields]
    sizes = [F.when(F.length(text) > share, F.length(text)) for text in texts]
    members = [
        F.when(F.length(text) > share, _member(F.concat(F.substring(text, 1, share), F.lit("…")), name)).otherwise(
            _member(column(name), name)
        )
        for name, text in zip(frame.columns, texts, strict=True)
    ]
    short = F.concat(F.lit("{"), F.concat_ws(",", *members), F.lit("}"))
    is_short = F.length(whole) <= most
    return F.when(is_short, whole).when(F.length(short) <= most, short), F.when(~is_short, F.array(*sizes)).alias(_SIZES)


def _member(value: Column, name: str) -> Column:
    """A name with its value, as they stand within an object of JSON."""
    text = F.to_json(F.struct(value.alias(name)), JSON_AS_WRITTEN)
    return F.substring(text, F.lit(2), F.length(text) - 2)


def _text(value: Column, kind: DataType) -> Column:
    """As long as it is shown."""
    if isinstance(kind, StringType):
        return value
    if isinstance(kind, BinaryType):
        return F.replace(F.base64(value), F.lit("\r\n"), F.lit(""))
    return F.to_json(value, TIMES_AS_WRITTEN) if kind.typeName() in ("array", "map", "struct", "variant") else value.cast("string")
