"""Columns that a format cannot hold, whatever their rows; told while a job is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from jobs.nodes.base import NodeError
from jobs.nodes.columns import NESTED, named_twice, type_text
from jobs.nodes.config_refused import place_of_second

if TYPE_CHECKING:
    from pyspark.sql.types import StructField

_INTO_TEXT = {"binary": "base64"} | dict.fromkeys(NESTED, "to_json")


def writable_check(fields: Sequence[StructField], format_: str, place: str) -> None:
    """NodeError where Format cannot write `fields` so that they can be read again. `place`: its field, where {row} is one's place."""
    if format_ == "csv":
        _require_plain(fields, place)
    elif (second := place_of_second([field.name.lower() for field in fields])) is not None:
        _refuse(named_twice([field.name for field in fields], second), place, second)


def _require_plain(fields: Sequence[StructField], place: str) -> None:
    for row, field in enumerate(fields):
        if function := _INTO_TEXT.get(field.dataType.typeName()):
            kind = type_text(field.dataType)
            message = (
                f"CSV cannot hold the column {field.name}, which is {kind}: choose others, or make text of it before, as with {function}"
            )
            _refuse(message, place, row)


def readable_check(fields: Sequence[StructField], format_: str) -> None:
    """NodeError on the type of the first of `fields`, as a form lists them, that no value of `format_` can become."""
    for row, field in enumerate(fields):
        if format_ == "csv" and field.dataType.typeName() in NESTED:
            kind = type_text(field.dataType)
            message = f"no CSV value is read as {kind}: read {field.name} as string, and take it apart behind, as with from_json"
            _refuse(message, "columns/{row}/type", row)


def _refuse(message: str, place: str, row: int) -> NoReturn:
    raise NodeError(message, permanent=True, kind="user", field=place.replace("{row}", str(row)))
