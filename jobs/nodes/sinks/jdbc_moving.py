"""Staged rows on their way into the table, with the batch's marker, in one transaction; rows that the table refuses stay behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import Batch, NodeContext, NodeError
from jobs.nodes.node_error import reworded
from jobs.nodes.sinks.jdbc_config import JdbcSinkConfig
from jobs.nodes.sinks.jdbc_dialect import ORDINAL_COLUMN, Dialect, Merge, Refused, TableName, row_shown
from jobs.nodes.sinks.jdbc_marker import Marker
from jobs.nodes.sinks.jdbc_table import columns_matched, provenance, schema_written

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

#: A part that is refused is tried again in so many.
_WAYS = 8


class WrittenAlready(Exception):
    """The batch came in while its rows were under way: the transaction is rolled back."""


def marker_of(dialect: Dialect, context: NodeContext[JdbcSinkConfig]) -> Marker:
    return Marker(dialect, job_uid=context.job_uid, node=context.node_id, generation=context.generation)


def before_rows(dialect: Dialect, cursor: Any, batch: Batch, context: NodeContext[JdbcSinkConfig]) -> None:
    """The person's statement comes before the marker: one that ends the transaction must not leave a marker without its rows."""
    if context.config.sql_before:
        if marker_of(dialect, context).state(cursor, context.attempt, batch.batch_id) == "written":
            raise WrittenAlready
        _own_sql(dialect, cursor, context.config.sql_before, "sql_before")


def after_rows(dialect: Dialect, cursor: Any, context: NodeContext[JdbcSinkConfig]) -> None:
    if context.config.sql_after:
        _own_sql(dialect, cursor, context.config.sql_after, "sql_after")


def rows_move(
    dialect: Dialect,
    cursor: Any,
    staging: str,
    schema: StructType,
    batch: Batch,
    context: NodeContext[JdbcSinkConfig],
    refused: Refused,
) -> None:
    """Move the marker, then the staged rows (of `schema`); WrittenAlready when the batch was in. `refused` takes what the table does not.

    With `fails_at_rejected` the first row that the table refuses is the database's error.
    """
    config = context.config
    table = TableName.parsed(config.table)
    dialect.lock_target(cursor)
    before_rows(dialect, cursor, batch, context)
    if not marker_of(dialect, context).advance(cursor, context.attempt, batch.batch_id):
        raise WrittenAlready
    target = dialect.columns(cursor, table)
    matched = columns_matched(target, schema_written(schema, config), table)
    extra = provenance(target, schema, generation=context.generation, batch_id=batch.batch_id)
    if config.mode == "overwrite" and batch.first_of_fresh_generation:
        cursor.execute(f"DELETE FROM {dialect.qualified(table)}")
    flag = next((name for name in schema.names if config.delete_flag and name.lower() == config.delete_flag.lower()), "")
    types = {field.name: field.dataType.typeName() for field in schema.fields}
    merge = Merge(table, staging, matched, config.keys, extra, delete_flag=flag, update_columns=config.update_columns, types=types)
    if batch.fails_at_rejected:
        _run(dialect, cursor, merge)
    else:
        _merge(dialect, cursor, merge, schema.names, refused)
    after_rows(dialect, cursor, context)


def _merge(dialect: Dialect, cursor: Any, merge: Merge, names: Sequence[str], refused: Refused) -> None:
    """All at once; where that is refused, parts of it in their order, down to the rows that are to blame."""
    deferred = dialect.deferred_rules(cursor, merge.target)
    if not _refusal(dialect, cursor, merge, deferred):
        return
    dialect.prepare_parts(cursor, merge.staging)
    for part, words in _blamed(dialect, cursor, merge, deferred):
        refused.add(words, lambda part=part: _row_shown(dialect, cursor, part, names))  # type: ignore[misc]


def _blamed(dialect: Dialect, cursor: Any, merge: Merge, deferred: str) -> Iterable[tuple[Merge, str]]:
    """Each row that is not in, with the words about it.

    What the database looks at when the transaction ends is asked for when all others are in, since rows may need one another; only where
    that is refused, after each part. What was broken before the rows came is nobody's fault here, and ends the transaction.
    """
    if deferred:
        cursor.execute("SAVEPOINT pipeline_parts")
        found = list(_parts_refused(dialect, cursor, merge, ""))
        if not _refusal(dialect, cursor, None, deferred):
            return found
        cursor.execute("ROLLBACK TO SAVEPOINT pipeline_parts")
        if _refusal(dialect, cursor, None, deferred):
            deferred = ""
    return _parts_refused(dialect, cursor, merge, deferred)


def _parts_refused(dialect: Dialect, cursor: Any, merge: Merge, deferred: str) -> Iterator[tuple[Merge, str]]:
    cursor.execute(f"SELECT min({ORDINAL_COLUMN}), max({ORDINAL_COLUMN}) FROM {merge.staging}")
    to_do = [cursor.fetchone()]
    while to_do:
        first, last = to_do.pop()
        part = replace(merge, part=(first, last))
        if not (words := _refusal(dialect, cursor, part, deferred)):
            continue
        if first < last:
            step = -(-(last - first + 1) // _WAYS)
            to_do += reversed([(begin, min(begin + step - 1, last)) for begin in range(first, last + 1, step)])
            continue
        yield part, words


def _run(dialect: Dialect, cursor: Any, merge: Merge) -> None:
    for statement in dialect.merge_statements(merge):
        cursor.execute(statement)


def _refusal(dialect: Dialect, cursor: Any, merge: Merge | None, deferred: str) -> str:
    """What the database says of a row among those of `merge`, none of which is in then; "" if all are in and keep `deferred` too."""
    cursor.execute("SAVEPOINT pipeline_rows")
    try:
        if merge is not None:
            _run(dialect, cursor, merge)
        if deferred:
            cursor.execute(f"SET CONSTRAINTS {deferred} IMMEDIATE")
            cursor.execute(f"SET CONSTRAINTS {deferred} DEFERRED")
    except Exception as error:
        words = dialect.refusal(error)
        if not words:
            raise
        cursor.execute("ROLLBACK TO SAVEPOINT pipeline_rows")
        return words
    cursor.execute("RELEASE SAVEPOINT pipeline_rows")
    return ""


def _row_shown(dialect: Dialect, cursor: Any, merge: Merge, names: Sequence[str]) -> str:
    cursor.execute(f"SELECT {', '.join(dialect.quoted(name) for name in names)} FROM {merge.rows} r")
    return row_shown(names, cursor.fetchone())


def _own_sql(dialect: Dialect, cursor: Any, statement: str, field: str) -> None:
    """NodeError that names the field where the database refuses it, or where it ended the batch's transaction."""
    words = "the SQL before the rows" if field == "sql_before" else "the SQL after the rows"
    try:
        cursor.execute(statement)
    except Exception as error:
        found = dialect.sentence(error)
        raise reworded(found, f"{words}: {found.message}", field) from error
    if not dialect.in_transaction(cursor):
        raise NodeError(
            f"{words} ended the batch's transaction; take out what commits, such as COMMIT, or a change of a table on MySQL",
            permanent=True,
            kind="user",
            field=field,
        )
