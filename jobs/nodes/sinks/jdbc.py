"""Writes rows to a table of a database, exactly once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from jobs.nodes.base import Batch, NodeContext, NodeError, Sink, Written
from jobs.nodes.columns import column
from jobs.nodes.durable_text import text_kept, text_place
from jobs.nodes.groups import ReplacesByKeys
from jobs.nodes.rejected_rows import whole_row
from jobs.nodes.roll_back import RollBack, RollBackPoint
from jobs.nodes.sinks.jdbc_config import JdbcSinkConfig
from jobs.nodes.sinks.jdbc_dialect import (
    KEPT_COLUMN,
    Dialect,
    Refused,
    TableName,
    TargetColumn,
    dialect_for,
)
from jobs.nodes.sinks.jdbc_moving import WrittenAlready, after_rows, before_rows, marker_of, rows_move
from jobs.nodes.sinks.jdbc_plain import plain_lines, plain_rows
from jobs.nodes.sinks.jdbc_rolling_back import roll_back_way, rows_roll_back
from jobs.nodes.sinks.jdbc_table import (
    PROVENANCE,
    columns_add,
    columns_matched,
    new_place_check,
    new_table_check,
    provenance,
    schema_written,
    table_check,
    table_create,
    table_gone,
)
from jobs.nodes.sinks.lines_underway import LinesUnderWay
from jobs.nodes.sinks.refused_note import RefusedNote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class JdbcSink(ReplacesByKeys, Sink[JdbcSinkConfig]):
    """Writes rows to a database table: append, upsert or overwrite.

    Bounded and unbounded input. Exactly once: rows and the batch's marker move in one transaction of the target database. The marker
    stands in the table `pipeline_sink_marker`, made by the first user who writes there; others need the rights to read and change it.
    SQLite has no NaN and stores null for it.
    """

    type = "sink.jdbc"
    title = "Database table"
    icon = "database-import"
    Config = JdbcSinkConfig
    connection_kinds = ("postgresql", "mysql", "sqlite")
    summary_template = "{table} · {mode}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"batch_size"})
    guarantee: ClassVar[str] = "exactly once"
    rejects_rows: ClassVar[bool] = True
    accumulates: ClassVar[bool] = True

    def __init__(self) -> None:
        self._rows_before: int | None = None

    def needs_to_begin(self, context: NodeContext[JdbcSinkConfig]) -> str:
        """Asked with a whole sign-in: a server that starts up takes connections before it takes sessions."""
        from jobs.nodes.connections.databases import database_silent

        return database_silent(context.connection(context.config.connection), context.limits)

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[JdbcSinkConfig]) -> None:
        dialect = _dialect(context)
        table = TableName.parsed(context.config.table)
        kept = context.work_dir / "table"
        with dialect.transaction() as cursor:
            dialect.lock_definitions(cursor)
            marker = marker_of(dialect, context)
            marker.create_table(cursor)
            has_written = marker.raise_fence(cursor, context.attempt)
            if not dialect.columns(cursor, table):
                if has_written and text_kept(kept) in ("", self.target_of(context.config)):
                    raise table_gone(table)
                new_table_check(schema, table, context.config)
                appended = context.config.mode == "append"
                written = schema_written(schema, context.config)
                table_create(dialect, cursor, table, written, keys=context.config.keys, appended=appended)
            elif context.config.add_columns:
                columns_add(dialect, cursor, table, schema_written(schema, context.config))
            table_check(dialect, cursor, schema, table, context.config)
        text_place(kept, self.target_of(context.config))
        shutil.rmtree(_files_folder(context), ignore_errors=True)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[JdbcSinkConfig]) -> None:
        """A table that is not there is judged as the one that the node would make."""
        dialect = _dialect(context)
        table = TableName.parsed(context.config.table)
        if not dialect.is_there():
            new_table_check(schema, table, context.config)
            return
        with dialect.transaction() as cursor:
            if dialect.columns(cursor, table):
                table_check(dialect, cursor, schema, table, context.config)
            else:
                new_place_check(dialect, cursor, table)
                new_table_check(schema, table, context.config)

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[JdbcSinkConfig]) -> Written:
        """1. Look at the marker. 2. Let Spark compute the rows. 3. In one transaction move the marker and the rows.

        Counting first would read the batch twice, so the size of the batch before tells the way; the first one is taken for large.
        """
        dialect = _dialect(context)
        with dialect.transaction() as cursor:
            if marker_of(dialect, context).state(cursor, context.attempt, batch.batch_id) == "written":
                return RefusedNote(batch, context).repeated()
        rows = frame if batch.rejections is None else frame.withColumn(KEPT_COLUMN, whole_row(frame))
        limit = dialect.files_above
        expected = batch.rows if batch.rows is not None else self._rows_before
        if limit is not None and (expected is None or expected > limit):
            written = _write_files(dialect, rows, batch, context)
        elif batch.rows is not None or frame.storageLevel.useMemory:
            written = _write_counted(dialect, rows, batch, context)
        else:
            kept = rows.persist()
            try:
                written = _write_counted(dialect, kept, batch, context)
            finally:
                kept.unpersist()
        self._rows_before = written.rows
        return written

    def target_of(self, config: JdbcSinkConfig) -> str:
        return f"{config.connection}/{config.table.lower()}"

    def roll_back_view(self, context: NodeContext[JdbcSinkConfig], point: RollBackPoint) -> RollBack:
        dialect = _dialect(context)
        if context.config.keys or not dialect.is_there():
            return roll_back_way(context.config, None, point)
        with dialect.transaction() as cursor:
            return roll_back_way(context.config, dialect.columns(cursor, TableName.parsed(context.config.table)), point)

    def roll_back(self, context: NodeContext[JdbcSinkConfig], point: RollBackPoint) -> RollBack:
        dialect = _dialect(context)
        with dialect.transaction() as cursor:
            return rows_roll_back(dialect, cursor, context, point)

    def write_plainly(self, frame: DataFrame, context: NodeContext[JdbcSinkConfig]) -> tuple[DataFrame, str]:
        dialect = _dialect(context)
        return plain_rows(dialect, frame, context.time_zone), plain_lines(dialect, frame.schema, context)


def _write_counted(dialect: Dialect, frame: DataFrame, batch: Batch, context: NodeContext[JdbcSinkConfig]) -> Written:
    """Rows go through this process, or by way of files when they are too many for that. `frame` is read twice."""
    rows = frame.count() if batch.rows is None else batch.rows
    if dialect.files_above is not None and rows > dialect.files_above:
        return _write_files(dialect, frame, replace(batch, rows=rows), context)
    bound = dialect.bound_rows(_sendable(dialect, frame), frame.schema)
    try:
        with dialect.transaction() as cursor, _refusing(batch) as refused:
            unstorable = None if batch.fails_at_rejected else refused
            staging = dialect.stage_rows(cursor, _staging_name(batch, context), frame.schema, bound, unstorable)
            rows_move(dialect, cursor, staging, frame.schema, batch, context, refused)
            return _written(rows, refused, batch, context)
    except WrittenAlready:
        return RefusedNote(batch, context).repeated()


@contextmanager
def _refusing(batch: Batch) -> Iterator[Refused]:
    """What the table refuses of the batch. Where those rows go on, all are on the disk, and count, when the context ends well."""
    if batch.rejections is None:
        yield Refused()
        return
    with batch.rejections.part("rows") as part:
        yield Refused(part)
    batch.rejections.complete()


def _written(rows: int, refused: Refused, batch: Batch, context: NodeContext[JdbcSinkConfig]) -> Written:
    RefusedNote(batch, context).keep(refused)
    return Written(rows=rows - refused.rows, rejected=refused.rows, rejected_rows=tuple(refused.sample))


def _write_files(dialect: Dialect, frame: DataFrame, batch: Batch, context: NodeContext[JdbcSinkConfig]) -> Written:
    """Rows go from Spark's tasks into files of this attempt, then into the table.

    Where the table reads their lines as it takes values, files go straight into it while Spark still writes others; else by way of a
    temporary table, in a transaction that begins when all are written: the way also of files with a row that the table refuses.
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
            sendable = sendable.withColumns({name: F.lit(value).cast(PROVENANCE[name]) for name, value in extra.items()})
            with ThreadPoolExecutor(1, "rows into the table") as other, underway:
                appended = other.submit(_append, dialect, sendable.columns, underway, frame.schema, batch, context)
                underway.write(sendable.select(dialect.line(sendable)), dialect.line_end(sendable.columns))
            try:
                return appended.result()
            except NodeError as error:
                if batch.fails_at_rejected or not dialect.refusal(error.__cause__):
                    raise
        else:
            with underway:
                underway.write(sendable.select(dialect.line(sendable)), dialect.line_end(sendable.columns))
        schema = _schema_of(sendable, frame.schema)
        with dialect.transaction() as cursor, _refusing(batch) as refused:
            unstorable = None if batch.fails_at_rejected else refused
            staging, staged = dialect.stage_files(cursor, _staging_name(batch, context), schema, underway, unstorable)
            rows = staged + refused.rows
            rows_move(dialect, cursor, staging, schema, batch, context, refused)
            return _written(rows, refused, batch, context)
    except WrittenAlready:
        return RefusedNote(batch, context).repeated()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _schema_of(sendable: DataFrame, schema: StructType) -> StructType:
    """`schema` and what was put behind its columns."""
    from pyspark.sql.types import StructType

    return StructType([*schema.fields, *sendable.schema.fields[len(schema.fields) :]])


def _goes_straight(
    dialect: Dialect, schema: StructType, target: Sequence[TargetColumn], batch: Batch, context: NodeContext[JdbcSinkConfig]
) -> bool:
    if batch.rejections is not None or context.config.keys or (context.config.mode == "overwrite" and batch.first_of_fresh_generation):
        return False
    from pyspark.sql.types import DataType

    matched = columns_matched(target, schema, TableName.parsed(context.config.table))
    sent = [(matched[field.name], field.dataType) for field in schema.fields]
    sent += [(found, DataType.fromDDL(PROVENANCE[found.name])) for found in target if found.name in PROVENANCE]
    return all(dialect.takes_as_sent(column, kind) for column, kind in sent)


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
        before_rows(dialect, cursor, batch, context)
        matched = columns_matched(dialect.columns(cursor, table), schema, table)
        names = [matched[name].name if name in matched else name for name in columns]
        rows = dialect.append_files(cursor, table, names, chain((first,), files))
        if not marker_of(dialect, context).advance(cursor, context.attempt, batch.batch_id):
            raise WrittenAlready
        after_rows(dialect, cursor, context)
        return Written(rows=rows)


def _files_folder(context: NodeContext[JdbcSinkConfig]) -> Path:
    return context.work_dir / "rows"


def _staging_name(batch: Batch, context: NodeContext[JdbcSinkConfig]) -> str:
    """Short enough for any database."""
    return f"_pipeline_{sha256(f'{context.job_uid}/{context.node_id}'.encode()).hexdigest()[:16]}_{batch.batch_id}"


def _dialect(context: NodeContext[JdbcSinkConfig]) -> Dialect:
    return dialect_for(context.connection(context.config.connection), context.limits, context.config.batch_size)


def _sendable(dialect: Dialect, frame: DataFrame) -> DataFrame:
    return frame.select(*(dialect.value_column(column(field.name), field.dataType).alias(field.name) for field in frame.schema.fields))
