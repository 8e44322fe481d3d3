"""Values that a person's function returned, as Arrow columns of the declared types; nothing is changed in silence to make it fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from jobs.nodes.user_python.exact import Misfit, exact_check

_SHOWN_CHARACTERS = 100
#: What says that a value does not fit.
UNFIT = (Misfit, pa.ArrowException, ArithmeticError, LookupError, TypeError, ValueError)


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """An exception of UNFIT where one value does not fit `kind`."""
    exact_check(values, kind)
    return pa.array(values, kind)


def misfit(row: Mapping[str, Any], schema: pa.Schema) -> str:
    """What in `row` does not fit `schema`, in words; "" where all does."""
    for column in schema:
        try:
            array_of([row.get(column.name)], column.type)
        except UNFIT:
            return f"{column.name}: {shown(row[column.name])} is no {type_words(column.type)}"
    return ""


def fitting(row: Mapping[str, Any], schema: pa.Schema) -> dict[str, Any]:
    """Those values of `row` that fit `schema`."""
    return {column.name: row[column.name] for column in schema if column.name in row and not misfit(row, pa.schema([column]))}


def batch_of(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.RecordBatch | None:
    """None where a value does not fit."""
    try:
        return pa.RecordBatch.from_arrays(
            [array_of([row.get(name) for row in rows], kind) for name, kind in _columns(schema)], schema=schema
        )
    except UNFIT:
        return None


def _columns(schema: pa.Schema) -> Iterable[tuple[str, pa.DataType]]:
    return ((column.name, column.type) for column in schema)


def dicts_taken(made: Iterable[Any]) -> list[Any]:
    """What a function makes one after the other, each dict as it is then: it may be filled anew for the next row."""
    return [dict(one) if isinstance(one, dict) else one for one in made]


def shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # an object of the person's own
        text = type(value).__name__
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]} …"


def storable(text: str) -> str:
    """`text` with a ? for each half of a pair of surrogates, which no column of texts takes."""
    return text.encode("utf-8", "replace").decode()


def type_words(kind: pa.DataType) -> str:
    """`kind` by Spark's name."""
    from pyspark.sql.pandas.types import from_arrow_type

    return str(from_arrow_type(kind).simpleString())
