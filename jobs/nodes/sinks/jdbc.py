"""Writes rows to a table of a database, exactly once."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, Sink, Written
from jobs.nodes.columns import column
from jobs.nodes.form import ColumnName, connection_field, hints
from jobs.nodes.sinks.jdbc_dialect import Dialect, TableName, TargetColumn, dialect_for
from jobs.nodes.sinks.jdbc_marker import Marker
from jobs.nodes.sinks.jdbc_table import columns_matched, keys_check, provenance, table_create, table_gone, user_error
from jobs.nodes.sinks.lines_underway import LinesUnderWay

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class JdbcSinkConfig(base.Config):
    connection: str = connection_field("postgresql", "sqlite")
    table: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00\r\n.]+(\.[^\x00\r\n.]+)?$",
        description="The table, if need be with its schema.",
        examples=["orders_big", "reporting.delays"],
    )
    mode: Literal["append", "upsert", "overwrite"] = Field(
        "append",
        description="Append adds rows; upsert replaces rows with the same keys; overwrite empties the table at a start from the beginning.",
        examples=["upsert"],
    )
    keys: tuple[ColumnName, ...] = Field(
        (),
        description="The columns that tell rows apart, for upsert.",
        examples=[["id"]],
        json_schema_extra=hints("columns", when="mode=upsert"),
    )
    create_table: bool = Field(
        True, description="Make the table if it does not exist.", examples=[True], json_schema_extra=hints(advanced=True)
    )
    batch_size: int = Field(
        10_000,
        ge=1,
        le=100_000,
        description="Rows sent to the database at a time.",
        examples=[10_000],
        json_schema_extra=hints(advanced=True),
    )

    @model_validator(mode="after")
    def _keys_belong_to_upsert(self) -> JdbcSinkConfig:
        if self.mode == "upsert" and not self.keys:
            raise ValueError("upsert needs keys: name the columns that tell rows apart")
        if self.mode != "upsert" and self.keys:
            raise ValueError(f"keys have no meaning for {self.mode}: choose upsert, or leave them empty")
        return self


class JdbcSink(Sink[JdbcSinkConfig]):
    """Writes rows to a database table: append, upsert or overwrite.

    Bounded and unbounded input. Exactly once: rows and the batch's marker move in one transaction of the target database.
    """

    type = "sink.jdbc"
    title = "Database table"
    icon = "database-import"
    Config = JdbcSinkConfig
    connection_kinds = ("postgresql", "sqlite")
    summary_template = "{table} · {mode}"
    guarantee: ClassVar[str] = "exactly once"

    def __init__(self) -> None:
        self._rows_before: int | None = None

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[JdbcSinkConfig]) -> None:
        dialect = _dialect(context)
        table = TableName.parsed(context.config.table)
        with dialect.transaction() as cursor:
            dialect.lock_definitions(cursor)
            marker = _marker(dialect, context)
            marker.create_table(cursor)
            has_written = marker.raise_fence(cursor, context.attempt)
            if not dialect.columns(cursor, table):
                if has_written:
                    raise table_gone(table)
                _check_new_table(schema, table, context.config)
                appended = context.config.mode == "append"
                table_create(dialect, cursor, table, schema, keys=context.config.keys, appended=appended)
            _check_table(dialect, cursor, schema, table, context.config)
        shutil.rmtree(_files_folder(context), ignore_errors=True)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[JdbcSinkConfig]) -> None:
        """A table that is not there is judged as the one that the node would make."""
        dialect = _dialect(context)
        table = TableName.parsed(context.config.table)
        if not dialect.is_there():
            _check_new_table(schema, table, context.config)
            return
        with dialect.transaction() as cursor:
            if dialect.columns(cursor, table):
                _check_table(dialect, cursor, schema, table, context.config)
            else:
                _check_new_table(schema, table, context.config)

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[JdbcSinkConfig]) -> Written:
        """1. Look at the marker. 2. Let Spark compute the rows. 3. In one transaction move the marker and the rows.

        Counting first would read the batch twice, so the size of the batch before tells the way; the first one is taken for large.
        """
        dialect = _dialect(context)
        with dialect.transaction() as cursor:
            if _marker(dialect, context).state(cursor, context.attempt, batch.batch_id) == "written":
                return Written(rows=0, repeated=True)
        limit = dialect.files_above
        expected = batch.rows if batch.rows is not None else self._rows_before
        if limit is not None and (expected is None or expected > limit):
            written = _write_files(dialect, frame, batch, context)
        elif batch.rows is not None or frame.storageLevel.useMemory:
            written = _write_counted(dialect, frame, batch, context)
        else:
            kept = frame.persist()
            try:
                written = _write_counted(dialect, kept, batch, context)
            finally:
                kept.unpersist()
        self._rows_before = written.rows
        return written


def _check_new_table(schema: StructType, table: TableName, config: JdbcSinkConfig) -> None:
    if not config.create_table:
        raise user_error(f"table {table} does not exist; create it, or let the node create it", "table")
    keys_check(schema, config.keys)


def _check_table(dialect: Dialect, cursor: Any, schema: StructType, table: TableName, config: JdbcSinkConfig) -> None:
    """Of one that is there: it has our columns, and tells rows apart by the keys."""
    columns_matched(dialect.columns(cursor, table), schema, table)
    keys_check(schema, config.keys)
    if config.keys and not dialect.has_unique_key(cursor, table, config.keys):
        raise user_error(f"table {table} has no unique key over {', '.join(config.keys)}; add one, or choose append", "keys")


def _write_counted(dialect: Dialect, frame: DataFrame, batch: Batch, context: NodeContext[JdbcSinkConfig]) -> Written:
    """Rows go through this process, or by way of files when they are too many for that. `frame` is read twice."""
    rows = frame.count() if batch.rows is None else batch.rows
    if dialect.files_above is not None and rows > dialect.files_above:
        return _write_files(dialect, frame, replace(batch, rows=rows), context)
    bound = dialect.bound_rows(_sendable(dialect, frame), frame.schema)
    with dialect.transaction() as cursor:
        staging = dialect.stage_rows(cursor, _staging_name(batch, context), frame.schema, bound)
        written = _move(dialect, cursor, staging, frame.schema, batch, context)
    return Written(rows=rows if written else 0, repeated=not written)


def _write_files(dialect: Dialect, frame: DataFrame, batch: Batch, context: NodeContext[JdbcSinkConfig]) -> Written:
    """Rows go from Spark's tasks into files of this attempt, then into the table.

    Where the table reads text as it takes values, files go straight into it while Spark still writes others; else by way of a
    temporary table, in a transaction that begins when all are written.
    """
    from pyspark.sql import functions as F

    folder = _files_folder(context) / f"{batch.batch_id}_{context.attempt}"
    with dialect.transaction() as cursor:
        target = dialect.columns(cursor, TableName.parsed(context.config.table))
    sendable = _sendable(dialect, frame)
    underway = LinesUnderWay(folder)
    try:
        if _goes_straight(dialect, frame.schema, target, batch, context):
            extra = provenance(target, frame.schema, generation=context.generation, batch_id=batch.batch_id)
            sendable = sendable.withColumns({name: F.lit(value) for name, value in extra.items()})
            with ThreadPoolExecutor(1, "rows into the table") as other, underway:
                appended = other.submit(_append, dialect, sendable.columns, underway, frame.schema, batch, context)
                underway.write(sendable.select(dialect.line(sendable)))
            return appended.result()
        with underway:
            underway.write(sendable.select(dialect.line(sendable)))
        with dialect.transaction() as cursor:
            staging, rows = dialect.stage_files(cursor, _staging_name(batch, context), frame.schema, underway)
            moved = _move(dialect, cursor, staging, frame.schema, batch, context)
            return Written(rows=rows if moved else 0, repeated=not moved)
    except _WrittenAlready:
        return Written(rows=0, repeated=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _WrittenAlready(Exception):
    """The batch came in while its rows were under way: the transaction is rolled back."""


def _goes_straight(
    dialect: Dialect, schema: StructType, target: Sequence[TargetColumn], batch: Batch, context: NodeContext[JdbcSinkConfig]
) -> bool:
    if context.config.keys or (context.config.mode == "overwrite" and batch.first_of_fresh_generation):
        return False
    matched = columns_matched(target, schema, TableName.parsed(context.config.table))
    return all(dialect.takes_as_text(matched[field.name], field.dataType) for field in schema.fields)


def _append(
    dialect: Dialect,
    columns: Sequence[str],
    underway: LinesUnderWay,
    schema: StructType,
    batch: Batch,
    context: NodeContext[JdbcSinkConfig],
) -> Written:
    """The transaction begins with the first whole file, since it must not wait for Spark to compute.

    The rows come before the marker, whose lock an attempt that takes over must not wait for while rows are on their way.
    """
    files = iter(underway)
    first = next((file for file in files if file), None)
    table = TableName.parsed(context.config.table)
    with dialect.transaction() as cursor:
        dialect.lock_target(cursor)
        matched = columns_matched(dialect.columns(cursor, table), schema, table)
        names = [matched[name].name if name in matched else name for name in columns]
        rows = dialect.append_files(cursor, table, names, chain((first,), files))
        if not _marker(dialect, context).advance(cursor, context.attempt, batch.batch_id):
            raise _WrittenAlready
        return Written(rows=rows)


def _files_folder(context: NodeContext[JdbcSinkConfig]) -> Path:
    return context.work_dir / "rows"


def _staging_name(batch: Batch, context: NodeContext[JdbcSinkConfig]) -> str:
    """Short enough for any database."""
    return f"_pipeline_{sha256(f'{context.job_uid}/{context.node_id}'.encode()).hexdigest()[:16]}_{batch.batch_id}"


def _move(dialect: Dialect, cursor: Any, staging: str, schema: StructType, batch: Batch, context: NodeContext[JdbcSinkConfig]) -> bool:
    """Move the marker, then the staged rows; False, and nothing moved, when the batch was in already."""
    config = context.config
    table = TableName.parsed(config.table)
    dialect.lock_target(cursor)
    if not _marker(dialect, context).advance(cursor, context.attempt, batch.batch_id):
        return False
    target = dialect.columns(cursor, table)
    matched = columns_matched(target, schema, table)
    extra = provenance(target, schema, generation=context.generation, batch_id=batch.batch_id)
    if config.mode == "overwrite" and batch.first_of_fresh_generation:
        cursor.execute(f"DELETE FROM {dialect.qualified(table)}")
    cursor.execute(dialect.merge_statement(table, staging, matched, config.keys, extra))
    return True


def _dialect(context: NodeContext[JdbcSinkConfig]) -> Dialect:
    return dialect_for(context.connection(context.config.connection), context.limits)


def _marker(dialect: Dialect, context: NodeContext[JdbcSinkConfig]) -> Marker:
    return Marker(dialect, job_uid=context.job_uid, node=context.node_id, generation=context.generation)


def _sendable(dialect: Dialect, frame: DataFrame) -> DataFrame:
    return frame.select(*(dialect.value_column(column(field.name), field.dataType).alias(field.name) for field in frame.schema.fields))
