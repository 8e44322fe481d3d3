"""A text taken apart by the groups of a regular expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobs.nodes.base import NodeError
from jobs.nodes.columns import ColumnField
from jobs.nodes.patterns import pattern_read

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession


_SHOWN_CHARACTERS = 200
#: Of a text in which the pattern finds nothing.
PATTERN_MISFIT = "the pattern does not fit"


def groups_parsed(spark: SparkSession, value: Column, name: str, pattern: str, columns: Sequence[ColumnField]) -> tuple[Column, Column]:
    """The groups of the first match in `value` as a struct, to become the column `name`, and whether that column then holds none.

    A group that cannot be cast to its column's type makes a text that does not fit, an empty one does not. NodeError where pattern
    and columns do not belong together.
    """
    from pyspark.sql import functions as F

    _check(spark, pattern, len(columns))
    groups = _groups(value, pattern, columns)
    lost = F.lit(False)
    for group, column in zip(groups, columns, strict=True):
        if column.type != "string":
            lost = lost | _is_lost(group, column)
    record = F.struct(*(_typed(group, column).alias(column.name) for group, column in zip(groups, columns, strict=True)))
    return F.when(value.cast("string").rlike(pattern) & ~lost, record), F.col(name).isNull()


def groups_misfit(value: Column, pattern: str, columns: Sequence[ColumnField]) -> Column:
    """Why `groups_parsed` finds none in `value`."""
    from pyspark.sql import functions as F

    reasons = []
    for group, column in zip(_groups(value, pattern, columns), columns, strict=True):
        if column.type != "string":
            text = F.substring(group, 1, _SHOWN_CHARACTERS)
            sentence = F.concat(F.lit(f"{column.name}: cannot turn '"), text, F.lit(f"' into {column.type}"))
            reasons.append(F.when(_is_lost(group, column), sentence))
    return F.coalesce(*reasons, F.lit(PATTERN_MISFIT))


def _groups(value: Column, pattern: str, columns: Sequence[ColumnField]) -> list[Column]:
    """Each is empty where the pattern finds nothing."""
    from pyspark.sql import functions as F

    return [F.regexp_extract(value.cast("string"), pattern, number) for number in range(1, len(columns) + 1)]


def _is_lost(group: Column, column: ColumnField) -> Column:
    return (group != "") & _typed(group, column).isNull()


def _typed(group: Column, column: ColumnField) -> Column:
    from pyspark.sql import functions as F

    return group if column.type == "string" else F.nullif(group, F.lit("")).try_cast(column.type)


def _check(spark: SparkSession, pattern: str, columns: int) -> None:
    groups = pattern_read(spark, pattern, "pattern")
    if groups != columns:
        raise NodeError(
            f"the number of groups in round brackets is {groups}, that of the columns {columns}: "
            "write one group for each column, and (?:…) where none is meant",
            permanent=True,
            kind="user",
            field="pattern",
        )
