"""How the columns that arrive fit those of a Delta table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import NodeError
from jobs.nodes.columns import column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

    from jobs.nodes.sinks.delta_config import DeltaSinkConfig

_WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")
#: What a Parquet column cannot be called, unless the table maps its names.
_NOT_IN_NAMES = re.compile(r"[ ,;{}()\n\t=]")


def schema_written(schema: StructType, config: DeltaSinkConfig) -> StructType:
    """`schema` without the delete flag. NodeError where keys, flag or partition columns are not what they should be."""
    from pyspark.sql.types import StructType

    by_name = {field.name.lower(): field for field in schema.fields}
    named = [("keys", key) for key in config.keys] + [("partition_by", name) for name in config.partition_by]
    for field, name in (*named, *([("delete_flag", config.delete_flag)] if config.delete_flag else [])):
        if name.lower() not in by_name:
            raise user_error(f"there is no column {name}; the columns are {', '.join(schema.names)}", field)
    for key in config.keys:
        if by_name[key.lower()].dataType.typeName() in ("map", "variant"):
            raise user_error(f"the key {key} is {by_name[key.lower()].dataType.simpleString()}, which cannot be compared", "keys")
    flag = by_name.get(config.delete_flag.lower())
    if flag is not None and flag.dataType.simpleString() != "boolean":
        kind = flag.dataType.simpleString()
        raise user_error(f"the delete flag {flag.name} is {kind}, not true or false; compute a boolean column before", "delete_flag")
    left = StructType([field for field in schema.fields if field is not flag])
    if left.fields and {name.lower() for name in config.partition_by} >= {field.name.lower() for field in left.fields}:
        raise user_error("every column is made into folders, so nothing is left to write; leave one out", "partition_by")
    return left


def new_columns_check(schema: StructType) -> None:
    """NodeError for a column that a table cannot be given."""
    for name in _names(schema.jsonValue()):
        if _NOT_IN_NAMES.search(name):
            raise user_error(f'a Delta table cannot have a column called "{name}": leave out blanks, commas and brackets; rename it before')
    for field in schema.fields:
        if field.dataType.typeName() == "void":
            raise user_error(f"the column {field.name} is always empty and has no type; give it one with CAST, or drop it before")


def added_columns(schema: StructType, target: StructType) -> StructType:
    """Those of `schema` that the table lacks."""
    from pyspark.sql.types import StructType

    there = {name.lower() for name in target.names}
    return StructType([field for field in schema.fields if field.name.lower() not in there])


def wider(target: StructType, added: StructType) -> StructType:
    """The table's columns and behind them those `added`, empty in the rows that are there."""
    from pyspark.sql.types import StructField, StructType

    return StructType([*target.fields, *(StructField(field.name, field.dataType, True) for field in added.fields)])


def columns_check(schema: StructType, target: StructType) -> None:
    """NodeError for a column of `schema` whose type is not the one that the table has. Columns that the table lacks are not looked at."""
    there = {field.name.lower(): field for field in target.fields}
    for field in schema.fields:
        own = there.get(field.name.lower())
        if own is not None and not _fits(field.dataType, own.dataType):
            had, wanted = field.dataType.simpleString(), own.dataType.simpleString()
            raise user_error(f"the column {field.name} is {had}, but {wanted} in the table; CAST it before")


def partitions_check(wanted: Sequence[str], there: Sequence[str]) -> None:
    """NodeError where a table that is there is parted by other columns."""
    if wanted and [name.lower() for name in wanted] != [name.lower() for name in there]:
        how = f"by {', '.join(there)}" if there else "by no column"
        raise user_error(f"the table is partitioned {how}, which stays so; name the same, or leave it empty", "partition_by")


def as_in_table(frame: DataFrame, schema: StructType, target: StructType) -> DataFrame:
    """The columns `schema` of `frame` by the table's names and in its types, then those of `frame` that `schema` leaves out."""
    there = {field.name.lower(): field for field in target.fields}
    pairs = [(name, there[name.lower()]) for name in schema.names]
    others = [column(name) for name in frame.columns if name not in schema.names]
    return frame.select(*(column(name).cast(own.dataType).alias(own.name) for name, own in pairs), *others)


def _fits(kind: DataType, wanted: DataType) -> bool:
    """Whether every value of `kind` is one of `wanted`."""
    have, need = kind.simpleString(), wanted.simpleString()
    if have in _WHOLE_NUMBERS and need in _WHOLE_NUMBERS:
        return _WHOLE_NUMBERS.index(have) <= _WHOLE_NUMBERS.index(need)
    return have in (need, "void") or (have, need) == ("float", "double")


def _names(part: Any) -> Iterator[str]:
    """Names of columns, and of fields within them, from a schema as JSON."""
    if isinstance(part, dict):
        if "nullable" in part:
            yield part["name"]
        for inner in part.values():
            yield from _names(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _names(inner)


def user_error(message: str, field: str = "path") -> NodeError:
    """The job is wrong, at `field` of the node."""
    return NodeError(f"writing delta: {message}", permanent=True, kind="user", field=field)
