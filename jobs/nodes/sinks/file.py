"""Writes files: Parquet, ORC, Avro, CSV, JSON lines or text, exactly once, here or in a store."""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jobs.nodes.base import Batch, NodeContext, NodeError, Sink, Written
from jobs.nodes.columns import column
from jobs.nodes.csv_options import written_file_options
from jobs.nodes.file_roots import allowed_path
from jobs.nodes.json_options import JSON_AS_WRITTEN
from jobs.nodes.plainly import ScriptText
from jobs.nodes.roll_back import RollBack, RollBackPoint
from jobs.nodes.sinks.file_columns import columns_check, text_column
from jobs.nodes.sinks.file_config import FileSinkConfig
from jobs.nodes.sinks.file_folders import with_time_folders
from jobs.nodes.sinks.file_manifest import BatchFiles, FolderLedger, files_behind
from jobs.nodes.sinks.file_places import Places
from jobs.nodes.sinks.file_rolling import Ledger, Rolling
from jobs.nodes.sinks.store_ledger import StoreLedger
from jobs.nodes.stores.kinds import SINK_STORE_KINDS, store_open, store_silent, stored_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: How long a batch waits for a store that is away; then the job's own attempts count.
_PATIENCE_SECONDS = 60.0


class FileSink(Sink[FileSinkConfig]):
    """Writes rows as Parquet, ORC, Avro, CSV, JSON lines or text into a folder, on this installation's disk or in S3 storage.

    Bounded and unbounded input. Exactly once: a batch's files appear together, and only from the attempt whose manifest came first.
    Rows of several batches may wait for each other to make larger files: hidden, but as safe as those that are seen. How large they are
    is told by their size as Parquet. A file also ends at a checkpoint, so that a restore takes it away whole or not at all, and when the
    job stops, ends, fails or starts again, elsewhere too. A job that was ended by force leaves them waiting until it starts again.
    """

    type = "sink.file"
    title = "Files"
    icon = "file-download"
    Config = FileSinkConfig
    connection_kinds = SINK_STORE_KINDS
    accumulates: ClassVar[bool] = True
    summary_template = "{path} · {format}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"compression", "max_rows_per_file", "roll_megabytes", "roll_seconds"})
    guarantee: ClassVar[str] = "exactly once"

    def __init__(self) -> None:
        self._kept_ledger: Ledger | None = None
        self._rolling: Rolling | None = None
        self._places: Places | None = None

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[FileSinkConfig]) -> None:
        self.check(spark, schema, context)
        self._ledger(context).begin(context.attempt)
        self._waiting(context).begin()
        self._places = Places(context)
        self._places.begin()

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[FileSinkConfig]) -> None:
        columns_check(schema, context.config)
        stored_path(context.config.path) if context.config.connection else _folder(context)

    def waits_for(self, context: NodeContext[FileSinkConfig]) -> str:
        name = context.config.connection
        return store_silent(context.connection(name), context.limits) if name else ""

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[FileSinkConfig]) -> Written:
        """1. A batch whose manifest exists is only completed. 2. Else write aside, 3. claim the batch, 4. move into place."""
        ledger, gathers = self._ledger(context), context.config.gathers
        if ledger.complete_if_claimed(batch.batch_id, context.attempt):
            return Written(rows=0, repeated=True)
        aside = ledger.folder_aside(str(batch.batch_id), context.attempt)
        _gather(frame, aside) if gathers else _write(frame, aside, context.config)
        emptied = context.config.mode == "overwrite" and batch.first_of_fresh_generation
        with self._waiting(context).resting() if emptied else nullcontext():
            removes = (*ledger.visible_files(), *self._waiting(context).files()) if emptied else ()
            folder = ledger.gathered_folder if gathers else ""
            files = BatchFiles.found(aside, prefix=ledger.file_prefix(batch.batch_id), removes=removes, folder=folder)
            waiting = files.written(aside) if gathers else []
            repeated = not ledger.claim(batch.batch_id, context.attempt, files)
            self._waiting(context).counted(batch.batch_id, waiting, emptied=emptied)
        return Written(rows=0 if repeated else batch.rows, repeated=repeated)

    def settle(self, spark: SparkSession, context: NodeContext[FileSinkConfig], *, committed: int, last: bool) -> None:
        self._waiting(context).roll(spark, committed=committed, everything=last)
        if self._places is not None and self._places.left:
            for config in self._places.left:
                _settle_left(config, spark, context, committed)
            self._places.settled()

    def mark(self, context: NodeContext[FileSinkConfig], batch_id: int) -> bool:
        return self._waiting(context).mark(batch_id)

    def roll_back_view(self, context: NodeContext[FileSinkConfig], point: RollBackPoint) -> RollBack:
        return RollBack("removed", "files", len(files_behind(self._ledger(context).all_files(), context.node_id, point)))

    def roll_back(self, context: NodeContext[FileSinkConfig], point: RollBackPoint) -> RollBack:
        removed = self._ledger(context).roll_back(context.attempt, point)
        self._waiting(context).begin()
        return RollBack("removed", "files", removed)

    def _waiting(self, context: NodeContext[FileSinkConfig]) -> Rolling:
        if self._rolling is None:
            line: Any = {"node_id": context.node_id, "generation": context.generation, "attempt": context.attempt}
            self._rolling = Rolling(self._ledger(context), context.config, partial(_write, config=context.config), **line)
        return self._rolling

    @classmethod
    def failure_words(cls, text: str, connection: str) -> NodeError | None:
        found = re.search(r"[^\s\"']+/gathered/part-[\w.-]+", text)
        if found is None or "No space left" in text:
            return None
        return NodeError(
            f"writing files: rows that wait in {found[0]} cannot be read; put the file back, or restore a checkpoint from before"
        )

    def plain_fault(self, context: NodeContext[FileSinkConfig]) -> str:
        return "files in a store are put there by Pipeline Web itself" if context.config.connection else ""

    def write_plainly(self, frame: DataFrame, context: NodeContext[FileSinkConfig]) -> tuple[DataFrame, str]:
        first = context.config.mode == "overwrite"
        mode = ScriptText("append", '"overwrite" if batch_id == 0 else "append"' if first else '"append"')
        _write(frame, _folder(context), context.config, mode)
        return frame, ""

    def _ledger(self, context: NodeContext[FileSinkConfig]) -> Ledger:
        if self._kept_ledger is None:
            line: Any = {"job_uid": context.job_uid, "node_id": context.node_id, "generation": context.generation}
            if context.config.connection:
                store = store_open(context.connection(context.config.connection), context.limits, patience_seconds=_PATIENCE_SECONDS)
                aside = context.work_dir / "aside"
                self._kept_ledger = StoreLedger(store, stored_path(context.config.path), local=aside, **line)
            else:
                self._kept_ledger = FolderLedger(_folder(context), **line)
        return self._kept_ledger


def _settle_left(config: FileSinkConfig, spark: SparkSession, context: NodeContext[FileSinkConfig], committed: int) -> None:
    """What waits at a place that the job has left becomes files there. Where it cannot be reached that is told, and the job goes on."""
    there, sink = replace(context, config=config, work_dir=context.work_dir / "left"), FileSink()
    try:
        if not sink._ledger(there).gathered():
            return
        sink._ledger(there).begin(context.attempt)
        sink._waiting(there).begin()
        sink._waiting(there).roll(spark, committed=committed, everything=True)
    except NodeError as error:
        context.log(f'rows that wait in "{config.path}", where this job wrote before it was changed, stay there unseen: {error.message}')


def _folder(context: NodeContext[FileSinkConfig]) -> Path:
    folder = allowed_path(context.config.path, context.limits)
    if folder.exists() and not folder.is_dir():
        raise NodeError(f'writing files: "{folder}" is a file; name a folder', permanent=True, kind="user", field="path")
    return folder


def _gather(frame: DataFrame, folder: Path) -> None:
    """Rows that wait keep all their columns and types, whatever their format will be."""
    frame.write.mode("overwrite").parquet(str(folder))


def _write(frame: DataFrame, folder: Path, config: FileSinkConfig, mode: str = "overwrite") -> None:
    text = [text_column(frame.schema, config)] if config.format == "text" else []
    frame = with_time_folders(frame, config.time_column, config.time_folders)
    if text:
        frame = frame.select(*(column(name) for name in (*text, *config.folders)))
    writer = frame.write.format(config.format).mode(mode)
    if config.folders:
        writer = writer.partitionBy(*config.folders)
    if config.codec is not None:
        writer = writer.option("compression", config.codec)
    if config.max_rows_per_file is not None:
        writer = writer.option("maxRecordsPerFile", config.max_rows_per_file)
    if config.format == "csv":
        writer = writer.options(**written_file_options(len(frame.columns) - len(config.folders)))
    if config.format == "json":
        writer = writer.options(**JSON_AS_WRITTEN)
    writer.save(str(folder))
