"""Columns to sort by, as a form lists them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from jobs.nodes.base import Config
from jobs.nodes.columns import column
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import Column


class SortKey(Config):
    """One column to sort by."""

    column: ColumnName = Field(description="The column to sort by.", examples=["dep_delay"], json_schema_extra=hints("column"))
    order: Literal["ascending", "descending"] = Field("ascending", description="Smallest or largest first.", examples=["descending"])
    empty: Literal["first", "last"] = Field("last", description="Where rows without a value stand.", examples=["last"])


def sort_columns(keys: Sequence[SortKey]) -> list[Column]:
    """`keys` as Spark orders by them."""
    return [_ordered(key) for key in keys]


def _ordered(key: SortKey) -> Column:
    taken = column(key.column)
    if key.order == "ascending":
        return taken.asc_nulls_first() if key.empty == "first" else taken.asc_nulls_last()
    return taken.desc_nulls_first() if key.empty == "first" else taken.desc_nulls_last()
