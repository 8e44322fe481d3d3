"""The table that `sink.jdbc` writes to: made, matched with the columns that arrive, and the columns that tell where a row came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import NodeError
from jobs.nodes.columns import missing_column
from jobs.nodes.sinks.jdbc_dialect import BATCH_COLUMN, GENERATION_COLUMN, KEPT_COLUMN, ORDINAL_COLUMN, Dialect, TableName, TargetColumn

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from jobs.nodes.sinks.jdbc_config import JdbcSinkConfig

#: The columns that tell where a row comes from, and their types.
PROVENANCE: Mapping[str, str] = {GENERATION_COLUMN: "string", BATCH_COLUMN: "bigint"}


def table_create(dialect: Dialect, cursor: Any, table: TableName, schema: StructType, *, keys: Sequence[str], appended: bool) -> None:
    """With `keys` as its primary key; `appended` rows carry their provenance. NodeError when a key is not among the columns."""
    wanted = {key.lower() for key in keys}
    lines = [
        f"{dialect.quoted(field.name)} {dialect.column_type(field.dataType, key=field.name.lower() in wanted)}" for field in schema.fields
    ]
    if appended:
        types = dialect.marker_types
        lines += [f"{GENERATION_COLUMN} {types['text']}", f"{BATCH_COLUMN} {types['bigint']}"]
    if keys:
        keys_check(schema, keys)
        lines.append(f"PRIMARY KEY ({', '.join(dialect.quoted(key) for key in keys)})")
    cursor.execute(f"CREATE TABLE {dialect.qualified(table)} ({', '.join(lines)}){dialect.table_options}")


def new_table_check(schema: StructType, table: TableName, config: JdbcSinkConfig) -> None:
    """NodeError where the node may not make the table, or cannot of these columns."""
    if not config.create_table:
        raise user_error(f"table {table} does not exist; create it, or let the node create it", "table")
    written = schema_written(schema, config)
    keys_check(written, config.keys)
    _provenance_check([], written, config)


def new_place_check(dialect: Dialect, cursor: Any, table: TableName) -> None:
    """NodeError where there is no schema to make the table in."""
    if not dialect.has_schema(cursor, table):
        raise user_error(f"schema {table.schema} does not exist; create the schema, or correct the table's name", "table")


def table_check(dialect: Dialect, cursor: Any, schema: StructType, table: TableName, config: JdbcSinkConfig) -> None:
    """NodeError unless one that is there has our columns, or is to get them, and tells rows apart by the keys."""
    target, written = dialect.columns(cursor, table), schema_written(schema, config)
    if not config.add_columns:
        columns_matched(target, written, table)
    keys_check(written, config.keys)
    _provenance_check(target, written, config)
    if fault := dialect.target_fault(cursor, table):
        raise user_error(f"table {table} {fault}", "table")
    if config.keys and not dialect.has_unique_key(cursor, table, config.keys):
        raise user_error(
            f"table {table} has no unique key over {', '.join(config.keys)}; add one that is not DEFERRABLE, or choose append", "keys"
        )


def _provenance_check(target: Sequence[TargetColumn], schema: StructType, config: JdbcSinkConfig) -> None:
    """Rows without keys go back by two columns: NodeError where those would hold what the rows bring. `target` empty: a new table."""
    told = {GENERATION_COLUMN, BATCH_COLUMN}
    given = [name for name in schema.names if name.lower() in told]
    makes_them = not target and config.mode == "append"
    there = {name.lower() for name in (*schema.names, *(found.name for found in target))}
    if given and not config.keys and (makes_them or told <= there):
        raise user_error(
            f"the columns {GENERATION_COLUMN} and {BATCH_COLUMN} are filled by the node itself; rename or drop {given[0]} before", "table"
        )


def keys_check(schema: StructType, keys: Sequence[str]) -> None:
    """NodeError when a key is not among the columns that arrive."""
    names = {name.lower() for name in schema.names}
    missing = [key for key in keys if key.lower() not in names]
    if missing:
        raise user_error(f"the key {missing[0]} is not among the columns {', '.join(schema.names)}", "keys")


def table_gone(table: TableName) -> NodeError:
    """Not to be made anew: the rows that were written would be missing, and nobody would be told."""
    return NodeError(
        f"writing to a table: {table} is gone with the rows that this job wrote; put it back and start again, or start from the beginning",
        kind="user",
        field="table",
    )


def schema_written(schema: StructType, config: JdbcSinkConfig) -> StructType:
    """`schema` without what no table gets: what is kept of a row, and the column that only says which rows to delete.

    NodeError where that, or one to update, is not what it should be.
    """
    from pyspark.sql.types import StructType

    schema = StructType([found for found in schema.fields if found.name != KEPT_COLUMN])
    by_name = {found.name.lower(): found for found in schema.fields}
    for name, field in ((config.delete_flag, "delete_flag"), *((name, "update_columns") for name in config.update_columns)):
        if name and name.lower() not in by_name:
            raise user_error(missing_column(name, schema.names), field)
    if not config.delete_flag:
        return schema
    flag = by_name[config.delete_flag.lower()]
    if flag.dataType.simpleString() != "boolean":
        kind = flag.dataType.simpleString()
        raise user_error(f"the delete flag {flag.name} is {kind}, not true or false; compute a boolean column before", "delete_flag")
    return StructType([found for found in schema.fields if found is not flag])


def columns_add(dialect: Dialect, cursor: Any, table: TableName, schema: StructType) -> None:
    """Those of `schema` that the table lacks; they are empty in the rows that are there."""
    there = {found.name.lower() for found in dialect.columns(cursor, table)}
    for field in schema.fields:
        if field.name.lower() not in there:
            kind = dialect.column_type(field.dataType, key=False)
            cursor.execute(f"ALTER TABLE {dialect.qualified(table)} ADD COLUMN {dialect.quoted(field.name)} {kind}")


def columns_matched(target: Sequence[TargetColumn], schema: StructType, table: TableName) -> dict[str, TargetColumn]:
    """The target's column for each of ours, by name and else without regard to case; NodeError for one that is not there."""
    if not target:
        raise table_gone(table)
    by_name = {found.name.lower(): found for found in target} | {found.name: found for found in target}
    unknown = [name for name in schema.names if name not in by_name and name.lower() not in by_name]
    if unknown:
        columns = ", ".join(found.name for found in target)
        raise user_error(
            f"table {table} has no column {unknown[0]}; its columns are {columns}: add it, let the node add it, or drop it before", "table"
        )
    if ORDINAL_COLUMN in schema.names:
        raise user_error(f"the column name {ORDINAL_COLUMN} is taken by the node itself; rename it before", "table")
    return {name: by_name.get(name) or by_name[name.lower()] for name in schema.names}


def provenance(target: Sequence[TargetColumn], schema: StructType, *, generation: str, batch_id: int) -> Mapping[str, str | int]:
    """Where a row comes from, for the columns that the table has for it."""
    names, given = {found.name for found in target}, {name.lower() for name in schema.names}
    values: dict[str, str | int] = {GENERATION_COLUMN: generation, BATCH_COLUMN: batch_id}
    return {name: value for name, value in values.items() if name in names and name not in given}


def user_error(message: str, field: str) -> NodeError:
    """The job is wrong, at `field` of the node."""
    return NodeError(f"writing to a table: {message}", permanent=True, kind="user", field=field)
