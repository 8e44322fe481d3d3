"""Writes files: Parquet, CSV or JSON lines, exactly once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, NodeError, Sink, Written
from jobs.nodes.file_roots import allowed_path
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.sinks.file_manifest import BatchFiles, FolderLedger

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_NESTED = ("array", "map", "struct", "variant")


class FileSinkConfig(base.Config):
    path: str = Field(
        min_length=1,
        description="The folder to write to, below the folders this installation allows; it is made if it does not exist.",
        examples=["results/delays"],
        json_schema_extra=hints("path"),
    )
    format: Literal["parquet", "csv", "json"] = Field("parquet", description="How the files are written.", examples=["parquet"])
    mode: Literal["append", "overwrite"] = Field(
        "append", description="Overwrite empties the folder when a job starts from the beginning.", examples=["append", "overwrite"]
    )
    partition_by: tuple[ColumnName, ...] = Field(
        (),
        description="Columns whose values become folders, such as carrier=UA.",
        examples=[["carrier"]],
        json_schema_extra=hints("columns"),
    )
    compression: Literal["none", "snappy", "gzip", "zstd"] | None = Field(
        None,
        description="How files are compressed; empty takes the format's usual way.",
        examples=["zstd"],
        json_schema_extra=hints(advanced=True),
    )


class FileSink(Sink[FileSinkConfig]):
    """Writes rows as Parquet, CSV or JSON lines into a folder.

    Bounded and unbounded input. Exactly once: a batch's files appear together, and only from the attempt whose manifest came first.
    """

    type = "sink.file"
    title = "Files"
    icon = "file-download"
    Config = FileSinkConfig
    summary_template = "{path} · {format}"
    guarantee: ClassVar[str] = "exactly once"

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[FileSinkConfig]) -> None:
        self.check(spark, schema, context)
        _ledger(context).begin(context.attempt)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[FileSinkConfig]) -> None:
        _check_columns(schema, context.config)
        _folder(context)

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[FileSinkConfig]) -> Written:
        """1. A batch whose manifest exists is only completed. 2. Else write aside, 3. claim the batch, 4. move into place."""
        ledger = _ledger(context)
        if ledger.complete_if_claimed(batch.batch_id, context.attempt):
            return Written(rows=0, repeated=True)
        aside = ledger.folder_aside(batch.batch_id, context.attempt)
        _write(frame, aside, context.config)
        emptied = context.config.mode == "overwrite" and batch.first_of_fresh_generation
        files = BatchFiles.found(aside, prefix=ledger.file_prefix(batch.batch_id), removes=ledger.visible_files() if emptied else ())
        repeated = not ledger.claim(batch.batch_id, context.attempt, files)
        return Written(rows=0 if repeated else batch.rows, repeated=repeated)


def _folder(context: NodeContext[FileSinkConfig]) -> Path:
    folder = allowed_path(context.config.path, context.limits)
    if folder.exists() and not folder.is_dir():
        raise NodeError(f'writing files: "{folder}" is a file; name a folder', permanent=True, kind="user", field="path")
    return folder


def _ledger(context: NodeContext[FileSinkConfig]) -> FolderLedger:
    return FolderLedger(_folder(context), job_uid=context.job_uid, node_id=context.node_id, generation=context.generation)


def _write(frame: DataFrame, aside: Path, config: FileSinkConfig) -> None:
    writer = frame.write.format(config.format).mode("overwrite")
    if config.partition_by:
        writer = writer.partitionBy(*config.partition_by)
    if config.compression is not None:
        writer = writer.option("compression", config.compression)
    if config.format == "csv":
        writer = writer.option("header", "true").option("escape", '"').option("emptyValue", '""')
    if config.format == "json":
        writer = writer.option("ignoreNullFields", "false")
    writer.save(str(aside))


def _check_columns(schema: StructType, config: FileSinkConfig) -> None:
    names = {name.lower() for name in schema.names}
    missing = [name for name in config.partition_by if name.lower() not in names]
    if missing:
        raise NodeError(
            f"writing files: there is no column {missing[0]} to make folders from; the columns are {', '.join(schema.names)}",
            permanent=True,
            kind="user",
            field="partition_by",
        )
    nested = [field.name for field in schema if field.dataType.typeName() in _NESTED]
    if config.format == "csv" and nested:
        raise NodeError(
            f"writing files: CSV cannot hold the nested column {nested[0]}; turn it into text with to_json, or write JSON",
            permanent=True,
            kind="user",
            field="format",
        )
