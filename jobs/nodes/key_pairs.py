"""Keys of two inputs that belong together: rows of a form, and the condition they make."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

from pydantic import Field

from jobs.nodes.base import Config, NodeError
from jobs.nodes.columns import column, require_columns
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class KeyPair(Config):
    """Two columns whose values are equal in rows that belong together."""

    left: ColumnName = Field(description="A column of the first input.", examples=["carrier"], json_schema_extra=hints("column"))
    right: str = Field(
        "",
        max_length=255,
        pattern=r"^[^\r\n]*$",
        description="The column of the second input that equals it; empty when it has the same name.",
        examples=["code"],
        json_schema_extra=hints("column"),
    )

    @property
    def other(self) -> str:
        return self.right or self.left


def key_pairs_field(description: str) -> Any:
    return Field(
        min_length=1, description=description, examples=[[{"left": "carrier", "right": "code"}]], json_schema_extra=hints("mapping")
    )


def key_pairs_check(left: DataFrame, right: DataFrame, pairs: Sequence[KeyPair], *, sides: tuple[str, str]) -> None:
    """NodeError where a column is not there, or text is to equal a number: Spark would compare them without a word.

    `sides`: what a sentence calls the two, such as "the left input" and "the right input".
    """
    require_columns(left, [pair.left for pair in pairs], "keys/{row}/left", of=sides[0])
    require_columns(right, [pair.other for pair in pairs], "keys/{row}/right", of=sides[1])
    types, others = _types(left), _types(right)
    for row, pair in enumerate(pairs):
        one, other = types[pair.left.lower()], others[pair.other.lower()]
        if (one == "string") != (other == "string"):
            raise NodeError(
                f"{pair.left} is {one} and {pair.other} is {other}: these never mean the same; cast one of them before",
                permanent=True,
                kind="user",
                field=f"keys/{row}/right",
            )


def keys_equal(pairs: Sequence[KeyPair], *, right: str) -> Column:
    """True where every key of the left frame equals its partner, which is called `right` and its number; null equals nothing."""
    from pyspark.sql import functions as F

    return reduce(and_, (column(pair.left) == F.col(f"{right}{number}") for number, pair in enumerate(pairs)))


def _types(frame: DataFrame) -> dict[str, str]:
    return {name.lower(): declared for name, declared in frame.dtypes}
