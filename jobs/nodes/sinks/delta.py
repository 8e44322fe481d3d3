"""Writes Delta tables: append, upsert or overwrite, exactly once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jobs.nodes.base import Batch, NodeContext, NodeError, Sink, Written
from jobs.nodes.columns import empty_frame
from jobs.nodes.delta import DeltaTable, delta_failure, delta_open, is_delta, names_table, only_read
from jobs.nodes.durable_text import text_kept, text_place
from jobs.nodes.file_roots import allowed_path, links_leaving_roots
from jobs.nodes.groups import ReplacesByKeys
from jobs.nodes.roll_back import Hindrance
from jobs.nodes.sinks.delta_columns import (
    added_columns,
    as_in_table,
    columns_check,
    new_columns_check,
    partitions_check,
    schema_written,
    user_error,
    wider,
)
from jobs.nodes.sinks.delta_config import DeltaSinkConfig
from jobs.nodes.sinks.delta_marker import DeltaMarker
from jobs.nodes.sinks.delta_merge import rows_merge
from jobs.nodes.sinks.delta_plain import plain_write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class DeltaSink(ReplacesByKeys, Sink[DeltaSinkConfig]):
    """Writes rows to a Delta Lake table in a folder: append, upsert or overwrite.

    Bounded and unbounded input. Exactly once: a batch is one commit of the table, which also says that the batch is written.
    """

    type = "sink.delta"
    title = "Delta table"
    icon = "pyramid-plus"
    Config = DeltaSinkConfig
    summary_template = "{path} · {mode}"
    guarantee: ClassVar[str] = "exactly once"
    stays: ClassVar[Hindrance] = "delta"
    accumulates: ClassVar[bool] = True

    @classmethod
    def failure_words(cls, text: str, connection: str) -> NodeError | None:
        return None if only_read(text) else delta_failure(text, "writing delta")

    @classmethod
    def failure_names(cls, text: str, config: DeltaSinkConfig) -> bool:
        return names_table(text, config.path)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[DeltaSinkConfig]) -> None:
        """A table that is not there is judged as the one that the node would make."""
        folder = _checked_folder(context)
        if is_delta(folder):
            _check_table(delta_open(spark, folder), schema, context.config)
        else:
            _check_new_table(folder, schema, context.config)

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[DeltaSinkConfig]) -> None:
        """1. Make the table, or look at it. 2. Raise the fence. 3. Add the columns it lacks."""
        folder, config = _checked_folder(context), context.config
        kept = _Kept(context, folder)
        table_id = kept.table_id()
        if not is_delta(folder):
            if table_id:
                raise _table_gone(folder)
            _check_new_table(folder, schema, config)
            _empty(spark, schema_written(schema, config)).partitionBy(*config.partition_by).save(str(folder))
        table = delta_open(spark, folder)
        if table_id not in ("", table.table_id):
            raise _table_gone(folder)
        _check_table(table, schema, config)
        table.files_check()
        DeltaMarker.of(context).raise_fence(table)
        kept.keep(table.table_id)
        added = added_columns(schema_written(schema, config), table.schema)
        if added.fields:
            _empty(spark, wider(table.schema, added)).option("mergeSchema", "true").save(str(folder))

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[DeltaSinkConfig]) -> Written:
        """1. Look at the marker. 2. Write and move the marker in one commit. 3. Look whether it was ours: Delta skips in silence."""
        marker, spark = DeltaMarker.of(context), frame.sparkSession
        table = _opened(spark, context)
        if marker.holds(table, batch.batch_id):
            return Written(rows=0, repeated=True)
        rows = as_in_table(frame, schema_written(frame.schema, context.config), table.schema)
        try:
            if context.config.mode == "upsert":
                written = _upsert(rows, batch, table, context)
            else:
                written = _append(rows, batch, table, context)
        except Exception:
            marker.holds(_opened(spark, context), batch.batch_id)  # overtaken by another attempt, which is what is to be told
            raise
        if not marker.holds(_opened(spark, context), batch.batch_id):
            raise NodeError(f"writing delta: batch {batch.batch_id} is not in the table after it was written", kind="system")
        return written

    def write_plainly(self, frame: DataFrame, context: NodeContext[DeltaSinkConfig]) -> tuple[DataFrame, str]:
        """A table that is there now gives its types to the rows; one that is not is made by the first batch."""
        folder, config = _checked_folder(context), context.config
        written = schema_written(frame.schema, config)
        if not is_delta(folder):
            _check_new_table(folder, frame.schema, config)
            return plain_write(frame, written, folder, config)
        table = delta_open(frame.sparkSession, folder)
        _check_table(table, frame.schema, config)
        return plain_write(as_in_table(frame, written, wider(table.schema, added_columns(written, table.schema))), written, folder, config)


class _Kept:
    """Which table of `folder` this generation writes to: one that is not that any more lacks the rows that were written.

    A file of two lines, the table's id and its folder; of one line where it was written before folders were kept.
    """

    def __init__(self, context: NodeContext[DeltaSinkConfig], folder: Path) -> None:
        self._file = context.work_dir / "delta_table_id"
        self._folder = str(folder)

    def table_id(self) -> str:
        """Empty where nothing was written, or to another folder, before the job was changed."""
        table_id, _, folder = text_kept(self._file).partition("\n")
        return table_id if folder in ("", self._folder) else ""

    def keep(self, table_id: str) -> None:
        text_place(self._file, f"{table_id}\n{self._folder}")


def _folder(context: NodeContext[DeltaSinkConfig]) -> Path:
    return allowed_path(context.config.path, context.limits)


def _checked_folder(context: NodeContext[DeltaSinkConfig]) -> Path:
    """Looks at every file below the folder: for a start, not for a batch."""
    folder = _folder(context)
    if folder.exists() and not folder.is_dir():
        raise user_error(f'"{folder}" is a file; name a folder')
    leaving = links_leaving_roots(folder, context.limits) if folder.exists() else []
    if leaving:
        raise user_error(f'"{leaving[0]}" is a link that leads outside the allowed folders; remove it')
    return folder


def _check_new_table(folder: Path, schema: StructType, config: DeltaSinkConfig) -> None:
    if not config.create_table:
        raise user_error(f'"{folder}" holds no Delta table; create it, or let the node create it')
    if folder.exists() and any(folder.iterdir()):
        raise user_error(f'"{folder}" holds other files but no Delta table; name an empty folder, or a new one')
    written = schema_written(schema, config)
    new_columns_check(written)


def _check_table(table: DeltaTable, schema: StructType, config: DeltaSinkConfig) -> None:
    """Of one that is there: it has our columns, or may be given them, in our types, and is parted as we say."""
    written = schema_written(schema, config)
    added = added_columns(written, table.schema)
    if added.fields and not config.add_columns:
        had = ", ".join(table.schema.names)
        raise user_error(f"the table has no column {added.names[0]}; its columns are {had}: let the node add it, or drop it before")
    new_columns_check(added)
    columns_check(written, table.schema)
    partitions_check(config.partition_by, table.partition_columns)


def _opened(spark: SparkSession, context: NodeContext[DeltaSinkConfig]) -> DeltaTable:
    folder = _folder(context)
    if not is_delta(folder):
        raise _table_gone(folder)
    return delta_open(spark, folder)


def _table_gone(folder: Path) -> NodeError:
    """Not to be made anew: the rows that were written would be missing, and nobody would be told."""
    return NodeError(
        f'writing delta: the table "{folder}" is gone with the rows that this job wrote; put it back, or start from the beginning',
        kind="user",
        field="path",
    )


def _empty(spark: SparkSession, schema: StructType) -> Any:
    """A writer of no rows, which gives the table its columns."""
    return empty_frame(spark, schema).write.format("delta").mode("append")


def _append(rows: DataFrame, batch: Batch, table: DeltaTable, context: NodeContext[DeltaSinkConfig]) -> Written:
    emptied = context.config.mode == "overwrite" and batch.first_of_fresh_generation
    writer = rows.write.format("delta").mode("overwrite" if emptied else "append")
    writer.options(**DeltaMarker.of(context).options(batch.batch_id)).save(str(table.folder))
    return Written(rows=batch.rows)


def _upsert(rows: DataFrame, batch: Batch, table: DeltaTable, context: NodeContext[DeltaSinkConfig]) -> Written:
    """A MERGE reads its rows more than once, so they are computed and counted before."""
    config = context.config
    names = {name.lower(): name for name in rows.columns}
    keys, flag = [names[key.lower()] for key in config.keys], names.get(config.delete_flag.lower(), "")
    kept = rows.persist()
    try:
        count = kept.count()
        rows_merge(kept, table.folder, keys, flag, DeltaMarker.of(context).options(batch.batch_id))
    finally:
        kept.unpersist()
    return Written(rows=count)
