"""Keys of two inputs that belong together: rows of a form, and the condition they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from pydantic import Field

from jobs.nodes.base import Caution, Config, NodeContext, NodeError
from jobs.nodes.columns import column, require_columns, require_comparable, type_text
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.meeting_types import alike, rounded_numbers

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType


class KeyPair(Config):
    """Two columns whose values are equal in rows that belong together."""

    left: ColumnName = Field(
        description="A column of the first input.", examples=["carrier"], json_schema_extra=hints("column", of_input=1)
    )
    right: str = Field(
        "",
        max_length=255,
        pattern=r"^[^\r\n]*$",
        description="The column of the second input that equals it; empty when it has the same name.",
        examples=["code"],
        json_schema_extra=hints("column", of_input=2),
    )

    @property
    def other(self) -> str:
        return self.right or self.left


def key_pairs_field(description: str) -> Any:
    return Field(
        min_length=1, description=description, examples=[[{"left": "carrier", "right": "code"}]], json_schema_extra=hints("mapping")
    )


def key_pairs_check(left: DataFrame, right: DataFrame, pairs: Sequence[KeyPair], *, sides: tuple[str, str], drawn: bool) -> None:
    """NodeError where a column is not there, or text is to equal a number: Spark would compare them without a word.

    `sides`: what a sentence calls the two, such as "the left input" and "the right input". `drawn`: while a job is drawn, also where
    values of another kind never mean the same, or cannot be compared; one that was published before goes on as it can.
    """
    names, others = [pair.left for pair in pairs], [pair.other for pair in pairs]
    require_columns(left, names, "keys/{row}/left", of=sides[0])
    require_columns(right, others, "keys/{row}/right", of=sides[1])
    if drawn:
        require_comparable(left, names, "keys/{row}/left")
        require_comparable(right, others, "keys/{row}/right")
    for row, (pair, one, other) in enumerate(_types(left.schema, right.schema, pairs)):
        texts = type_text(one), type_text(other)
        if (texts[0] == "string") != (texts[1] == "string") or (drawn and not alike(one, other, whole=True)):
            raise NodeError(
                f"{pair.left} is {texts[0]} and {pair.other} is {texts[1]}: these never mean the same; cast one of them before",
                permanent=True,
                kind="user",
                field=f"keys/{row}/right",
            )


def key_pairs_cautions(context: NodeContext[Any], arriving: Sequence[StructType], *, left: str, right: str) -> list[Caution]:
    """Of keys that Spark takes for equal though they differ. `left`, `right`: the ports that their columns come by."""
    ports = [port for port, names in context.input_names.items() for _ in names]
    schemas = dict(zip(ports, arriving, strict=True))
    pairs = enumerate(_types(schemas[left], schemas[right], context.config.keys))
    return [caution for row, (pair, one, other) in pairs for caution in _pair_cautions(row, pair, one, other)]


def _pair_cautions(row: int, pair: KeyPair, one: DataType, other: DataType) -> Iterator[Caution]:
    texts = type_text(one), type_text(other)
    for numbers in rounded_numbers([one, other]):
        message = (
            f"{pair.left} is {texts[0]} and {pair.other} is {texts[1]}: their numbers are compared as floating point, which keeps about "
            "15 digits, so keys that differ may match; cast one of them before"
        )
        if numbers.together:
            message = (
                f"{pair.left} is {texts[0]} and {pair.other} is {texts[1]}: their numbers are compared as {type_text(numbers.together)}, "
                f"which keeps {numbers.together.scale} digits behind the point and rounds the rest, so keys that differ may match; "
                "cast one of them to fewer digits before"
            )
        yield Caution(f"keys/{row}/right", message, "numbers.rounded")


def keys_equal(pairs: Sequence[KeyPair], *, right: str) -> Column:
    """True where every key of the left frame equals its partner, which is called `right` and its number; null equals nothing."""
    from pyspark.sql import functions as F

    return reduce(and_, (column(pair.left) == F.col(f"{right}{number}") for number, pair in enumerate(pairs)))


def _types(left: StructType, right: StructType, pairs: Sequence[KeyPair]) -> Iterator[tuple[KeyPair, DataType, DataType]]:
    types, others = ({field.name.lower(): field.dataType for field in schema.fields} for schema in (left, right))
    return ((pair, types[pair.left.lower()], others[pair.other.lower()]) for pair in pairs)
