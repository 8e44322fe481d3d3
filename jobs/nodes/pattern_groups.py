"""A text taken apart by the groups of a regular expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import NodeError
from jobs.nodes.columns import ColumnField

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession


def groups_parsed(spark: SparkSession, value: Column, name: str, pattern: str, columns: Sequence[ColumnField]) -> tuple[Column, Column]:
    """The groups of the first match in `value` as a struct, to become the column `name`, and whether that column then holds none.

    A group that cannot be cast to its column's type makes a text that does not fit, an empty one does not. NodeError where pattern
    and columns do not belong together.
    """
    from pyspark.sql import functions as F

    _check(spark, pattern, len(columns))
    text = value.cast("string")
    groups = [F.regexp_extract(text, pattern, number) for number in range(1, len(columns) + 1)]
    typed = [_typed(group, column) for group, column in zip(groups, columns, strict=True)]
    lost = F.lit(False)
    for group, column, cast in zip(groups, columns, typed, strict=True):
        if column.type != "string":
            lost = lost | ((group != "") & cast.isNull())
    record = F.struct(*(cast.alias(column.name) for cast, column in zip(typed, columns, strict=True)))
    return F.when(text.rlike(pattern) & ~lost, record), F.col(name).isNull()


def _typed(group: Column, column: ColumnField) -> Column:
    from pyspark.sql import functions as F

    return group if column.type == "string" else F.nullif(group, F.lit("")).try_cast(column.type)


def _check(spark: SparkSession, pattern: str, columns: int) -> None:
    """Spark uses Java's patterns, so Java itself is asked."""
    from pyspark.errors import PySparkException

    jvm: Any = spark.sparkContext._jvm
    try:
        groups = int(jvm.java.util.regex.Pattern.compile(pattern).matcher("").groupCount())
    except PySparkException as error:
        first = str(error).strip().splitlines()[0]
        raise NodeError(f"the pattern cannot be read: {first}", permanent=True, kind="user", field="pattern") from None
    if groups != columns:
        raise NodeError(
            f"the pattern has {groups} group{'' if groups == 1 else 's'} in round brackets for {columns} columns: "
            "write one for each column, and (?:…) where none is meant",
            permanent=True,
            kind="user",
            field="pattern",
        )
