"""Writes files: Parquet, ORC, Avro, CSV, JSON lines or text, exactly once, here or in a store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, NodeError, Sink, Written
from jobs.nodes.columns import column
from jobs.nodes.file_roots import allowed_path
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.plainly import ScriptText
from jobs.nodes.roll_back import RollBack, RollBackPoint
from jobs.nodes.sinks.file_columns import columns_check, text_column
from jobs.nodes.sinks.file_manifest import BatchFiles, FolderLedger, files_behind
from jobs.nodes.sinks.store_ledger import StoreLedger
from jobs.nodes.stores.kinds import STORE_KINDS, store_open, store_silent, stored_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FileFormat = Literal["parquet", "orc", "avro", "csv", "json", "text"]
Ledger = FolderLedger | StoreLedger
Compression = Literal["none", "snappy", "gzip", "zstd", "lz4", "deflate", "bzip2", "zlib", "xz"]

#: How long a batch waits for a store that is away; then the job's own attempts count.
_PATIENCE_SECONDS = 60.0
_OF_LINES = {"none": "none", "gzip": "gzip", "bzip2": "bzip2", "deflate": "deflate", "snappy": "snappy", "lz4": "lz4"}
#: What each format can be compressed with: the form's word → the name by which the format's writer knows it.
_CODECS: Mapping[str, Mapping[str, str]] = {
    "parquet": {"none": "none", "snappy": "snappy", "gzip": "gzip", "zstd": "zstd", "lz4": "lz4_raw"},
    "orc": {"none": "none", "snappy": "snappy", "zlib": "zlib", "zstd": "zstd", "lz4": "lz4"},
    "avro": {"none": "uncompressed", "snappy": "snappy", "deflate": "deflate", "zstd": "zstandard", "bzip2": "bzip2", "xz": "xz"},
    "csv": _OF_LINES,
    "json": _OF_LINES,
    "text": _OF_LINES,
}


class FileSinkConfig(base.Config):
    connection: str = Field(
        "",
        max_length=255,
        description="The store to write to; empty means this installation's own disk.",
        examples=["lake"],
        json_schema_extra=hints("connection", kinds=STORE_KINDS),
    )
    path: str = Field(
        min_length=1,
        description="The folder to write to, below those this installation allows or the connection's; it is made if it does not exist.",
        examples=["results/delays"],
        json_schema_extra=hints("path"),
    )
    format: FileFormat = Field(
        "parquet",
        description="How the files are written. JSON means one object a line, text one value a line.",
        examples=["parquet", "csv"],
    )
    text_column: str = Field(
        "",
        max_length=255,
        description="The column of text to write, one value a line; empty takes the only one. A missing value makes an empty line.",
        examples=["line"],
        json_schema_extra=hints("column", when="format=text"),
    )
    mode: Literal["append", "overwrite"] = Field(
        "append", description="Overwrite empties the folder when a job starts from the beginning.", examples=["append", "overwrite"]
    )
    partition_by: tuple[ColumnName, ...] = Field(
        (),
        description="Columns whose values become folders, such as carrier=UA.",
        examples=[["carrier"]],
        json_schema_extra=hints("columns"),
    )
    compression: Compression | None = Field(
        None,
        description="How files are compressed; empty takes the format's usual way. Each format has some of these.",
        examples=["snappy"],
        json_schema_extra=hints(advanced=True),
    )

    max_rows_per_file: int | None = Field(
        None,
        ge=1,
        le=1_000_000_000,
        description="A file is ended after so many rows and another begun; empty sets no limit.",
        examples=[1_000_000],
        json_schema_extra=hints(advanced=True),
    )

    @field_validator("compression")
    @classmethod
    def _format_has_compression(cls, chosen: Compression | None, info: ValidationInfo) -> Compression | None:
        codecs = _CODECS.get(info.data.get("format", ""))
        if chosen is not None and codecs is not None and chosen not in codecs:
            *others, last = codecs
            raise ValueError(f"{info.data['format']} files have no compression {chosen}: choose {', '.join(others)} or {last}")
        return chosen


class FileSink(Sink[FileSinkConfig]):
    """Writes rows as Parquet, ORC, Avro, CSV, JSON lines or text into a folder, on this installation's disk or in S3 storage.

    Bounded and unbounded input. Exactly once: a batch's files appear together, and only from the attempt whose manifest came first.
    """

    type = "sink.file"
    title = "Files"
    icon = "file-download"
    Config = FileSinkConfig
    connection_kinds = STORE_KINDS
    summary_template = "{path} · {format}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"compression", "max_rows_per_file"})
    guarantee: ClassVar[str] = "exactly once"

    def __init__(self) -> None:
        self._kept_ledger: Ledger | None = None

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[FileSinkConfig]) -> None:
        self.check(spark, schema, context)
        self._ledger(context).begin(context.attempt)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[FileSinkConfig]) -> None:
        columns_check(schema, context.config.format, context.config.partition_by, context.config.text_column)
        stored_path(context.config.path) if context.config.connection else _folder(context)

    def waits_for(self, context: NodeContext[FileSinkConfig]) -> str:
        name = context.config.connection
        return store_silent(context.connection(name), context.limits) if name else ""

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[FileSinkConfig]) -> Written:
        """1. A batch whose manifest exists is only completed. 2. Else write aside, 3. claim the batch, 4. move into place."""
        ledger = self._ledger(context)
        if ledger.complete_if_claimed(batch.batch_id, context.attempt):
            return Written(rows=0, repeated=True)
        aside = ledger.folder_aside(batch.batch_id, context.attempt)
        _write(frame, aside, context.config)
        emptied = context.config.mode == "overwrite" and batch.first_of_fresh_generation
        files = BatchFiles.found(aside, prefix=ledger.file_prefix(batch.batch_id), removes=ledger.visible_files() if emptied else ())
        repeated = not ledger.claim(batch.batch_id, context.attempt, files)
        return Written(rows=0 if repeated else batch.rows, repeated=repeated)

    def roll_back_view(self, context: NodeContext[FileSinkConfig], point: RollBackPoint) -> RollBack:
        return RollBack("removed", "files", len(files_behind(self._ledger(context).visible_files(), context.node_id, point)))

    def roll_back(self, context: NodeContext[FileSinkConfig], point: RollBackPoint) -> RollBack:
        return RollBack("removed", "files", self._ledger(context).roll_back(context.attempt, point))

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


def _folder(context: NodeContext[FileSinkConfig]) -> Path:
    folder = allowed_path(context.config.path, context.limits)
    if folder.exists() and not folder.is_dir():
        raise NodeError(f'writing files: "{folder}" is a file; name a folder', permanent=True, kind="user", field="path")
    return folder


def _write(frame: DataFrame, folder: Path, config: FileSinkConfig, mode: str = "overwrite") -> None:
    if config.format == "text":
        chosen = text_column(frame.schema, config.partition_by, config.text_column)
        frame = frame.select(*(column(name) for name in (chosen, *config.partition_by)))
    writer = frame.write.format(config.format).mode(mode)
    if config.partition_by:
        writer = writer.partitionBy(*config.partition_by)
    if config.compression is not None:
        writer = writer.option("compression", _CODECS[config.format][config.compression])
    if config.max_rows_per_file is not None:
        writer = writer.option("maxRecordsPerFile", config.max_rows_per_file)
    if config.format == "csv":
        writer = writer.option("header", "true").option("escape", '"').option("emptyValue", '""')
    if config.format == "json":
        writer = writer.option("ignoreNullFields", "false")
    writer.save(str(folder))
