"""Rows as HBase takes them: a key, cells and what becomes of them, computed by Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import NodeError
from jobs.nodes.columns import column, require_columns
from jobs.nodes.expressions import expression, expressions_of
from jobs.nodes.rejected_rows import whole_row
from jobs.nodes.sinks.hbase_config import HbaseSinkConfig
from jobs.nodes.sinks.hbase_values import value_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: HBase keeps the length of a row key in a short.
_LONGEST_KEY = 32_767
_NO_KEYS = ("array", "map", "struct", "variant", "void")
_KEY, _ORDINAL = "__hbase_key", "__hbase_ordinal"


@dataclass(frozen=True)
class CellColumn:
    """A column of the rows and the cell it becomes, as HBase writes it: b"family:qualifier"."""

    name: str
    cell: bytes


def cell_columns(names: Sequence[str], config: HbaseSinkConfig) -> list[CellColumn]:
    """What of the columns `names` is written, and where; NodeError where that is nothing, or two would become one cell."""
    aside = {name.lower() for name in (*(cell.name for cell in config.columns), *config.skipped_columns, config.delete_flag)}
    found = [CellColumn(one.name, _cell(one.family or config.family, one.qualifier or one.name)) for one in config.columns]
    if config.family:
        found += [CellColumn(name, _cell(config.family, name)) for name in names if name.lower() not in aside]
    by_cell: dict[bytes, str] = {}
    for one in found:
        other = by_cell.setdefault(one.cell, one.name)
        if other != one.name:
            raise _refused(f"{other} and {one.name} would both become {one.cell.decode()}: call one otherwise, or skip it", "columns")
    if not found:
        raise _refused("no column is left to write; skip fewer", "skipped_columns")
    return found


def _cell(family: str, qualifier: str) -> bytes:
    return f"{family}:{qualifier}".encode()


def rows_made(frame: DataFrame, config: HbaseSinkConfig, *, keeps_rows: bool = False) -> DataFrame:
    """Columns `key`, `reason` (why the row is rejected, or null), `row` (a rejected one as JSON; with `keeps_rows` any), `at` (the cells'
    milliseconds, or null), `deleted`, `superseded` (later rows of the batch leave nothing of it), and c0, c1 … in the order of
    `cell_columns`.
    """
    from pyspark.sql import functions as F

    columns_check(frame, config)
    cells = cell_columns(frame.columns, config)
    types = {field.name.lower(): field.dataType for field in frame.schema}
    with expressions_of("row key", "row_key", frame):
        keyed = frame.select("*", _key(frame, config).alias(_KEY), F.monotonically_increasing_id().alias(_ORDINAL))
    at, reason = _time(frame, config), _reason(keyed, config)
    return keyed.select(
        F.col(_KEY).alias("key"),
        reason.alias("reason"),
        (whole_row(frame) if keeps_rows else F.when(reason.isNotNull(), whole_row(frame))).alias("row"),
        at.alias("at"),
        _deleted(config).alias("deleted"),
        F.coalesce(_superseded(config), F.lit(False)).alias("superseded"),
        *(value_column(column(one.name), types[one.name.lower()], config.encoding).alias(f"c{n}") for n, one in enumerate(cells)),
    )


def columns_check(frame: DataFrame, config: HbaseSinkConfig) -> None:
    """NodeError on the field that names a column which is not there, or is not what it should be."""
    named = {"columns/{row}/name": [one.name for one in config.columns], "skipped_columns/{row}": list(config.skipped_columns)}
    named |= {"delete_flag": list(filter(None, [config.delete_flag])), "timestamp_column": list(filter(None, [config.timestamp_column]))}
    for field, names in named.items():
        require_columns(frame, names, field)
    declared = {name.lower(): kind for name, kind in frame.dtypes}
    if config.delete_flag and (kind := declared[config.delete_flag.lower()]) != "boolean":
        message = f"the delete flag {config.delete_flag} is {kind}, not true or false; compute a boolean column before"
        raise _refused(message, "delete_flag")
    if config.timestamp_column and (kind := declared[config.timestamp_column.lower()]) not in ("timestamp", "timestamp_ntz", "bigint"):
        message = f"{config.timestamp_column} is {kind}, neither a time nor a bigint of milliseconds; convert it before"
        raise _refused(message, "timestamp_column")


def _key(frame: DataFrame, config: HbaseSinkConfig) -> Column:
    """The row key as it goes to the tasks. NodeError where it cannot be one."""
    chosen = frame.select(expression(config.row_key))
    kind = chosen.schema[0].dataType
    if kind.typeName() in _NO_KEYS:
        raise _refused(f"it is {kind.simpleString()}; make text, bytes, a number or a time of it", "row_key")
    plan: Any = chosen
    if not plan._jdf.queryExecution().analyzed().expressions().head().deterministic():
        raise _refused("it is another whenever it is computed, so that a repeat would write other rows; use the columns alone", "row_key")
    return value_column(expression(config.row_key), kind, config.encoding)


def _reason(keyed: DataFrame, config: HbaseSinkConfig) -> Column:
    from pyspark.sql import functions as F

    key, at = F.col(_KEY), _time(keyed, config)
    reason = F.when(key.isNull(), "the row key is null")
    if dict(keyed.dtypes)[_KEY] == "binary":
        reason = reason.when(F.octet_length(key) == 0, "the row key is empty")
        reason = reason.when(F.octet_length(key) > _LONGEST_KEY, f"the row key is longer than {_LONGEST_KEY} bytes")
    if config.timestamp_column:
        reason = reason.when(at.isNull(), f"{config.timestamp_column} is null: its cells have no time")
        reason = reason.when(at < 0, f"{config.timestamp_column} is before 1970, which HBase does not hold")
    return reason


def _time(frame: DataFrame, config: HbaseSinkConfig) -> Column:
    """Milliseconds since 1970, or null where no column holds them."""
    from pyspark.sql import functions as F

    if not config.timestamp_column:
        return F.lit(None).cast("bigint")
    chosen = column(config.timestamp_column)
    numbers = any(name.lower() == config.timestamp_column.lower() and kind == "bigint" for name, kind in frame.dtypes)
    return chosen if numbers else F.unix_millis(chosen.cast("timestamp"))


def _deleted(config: HbaseSinkConfig) -> Column:
    from pyspark.sql import functions as F

    return F.coalesce(column(config.delete_flag), F.lit(False)) if config.delete_flag else F.lit(False)


def _superseded(config: HbaseSinkConfig) -> Column:
    """Cells of a batch have one time, at which a deletion hides a value whichever came first. So the order of rows with one key is
    looked at here: nothing before its last deletion is written, and where nulls delete, of its values those of the last row alone.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    if config.timestamp_column or not (config.delete_flag or config.empty_cells == "delete"):
        return F.lit(False)
    same_key, ordinal, deleted = Window.partitionBy(_KEY), F.col(_ORDINAL), _deleted(config)
    before_deletion = ordinal < F.max(F.when(deleted, ordinal)).over(same_key)
    if config.empty_cells == "skip":
        return before_deletion
    return F.coalesce(before_deletion, F.lit(False)) | (~deleted & (ordinal < F.max(ordinal).over(same_key)))


def _refused(why: str, field: str) -> NodeError:
    return NodeError(why, permanent=True, kind="user", field=field)
