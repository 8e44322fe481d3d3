"""Reads files: CSV, JSON lines, Parquet, ORC, Avro, XML or text, once or from a watched folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from jobs.nodes.base import NodeContext, NodeError, Source
from jobs.nodes.columns import rejected_schema, schema_from_ddl, schema_of
from jobs.nodes.file_roots import allowed_path, links_leaving_roots
from jobs.nodes.sources.file_config import FileConfig
from jobs.nodes.sources.file_rows import as_rows, read_options, sampled_schema, with_corrupt

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: Spark forgets, and then skips, files older than this against the newest; a late file is input all the same.
_NO_AGE_LIMIT = "36500d"


class FileSource(Source[FileConfig]):
    """Reads CSV, JSON lines, Parquet, ORC, Avro, XML or text files from a folder.

    Bounded, or unbounded over a watched folder into which finished files are moved. Exactly once: each file is read once in a generation.
    """

    type = "source.file"
    title = "Files"
    icon = "file-text"
    Config = FileConfig
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    rejects_rows: ClassVar[bool] = True
    summary_template = "{path} · {format}"

    def __init__(self) -> None:
        self._watched: Path | None = None

    def read(self, spark: SparkSession, context: NodeContext[FileConfig]) -> DataFrame:
        path = _checked_path(context)
        schema = self._schema(spark, path, context)
        if context.schema_only:
            return spark.createDataFrame([], rejected_schema(schema) if context.config.can_reject else schema)
        options = read_options(context.config)
        if path.is_file():  # Spark streams from folders only
            path, options = path.parent, {**options, "pathGlobFilter": path.name}
        read_schema = with_corrupt(schema) if context.config.can_reject else schema
        if context.mode == "batch":
            frame = spark.read.format(context.config.format).options(**options).schema(read_schema).load(str(path))
        else:
            self._watched = path
            stream = spark.readStream.name(context.node_id).format(context.config.format).options(**options).schema(read_schema)
            frame = (
                stream.option("maxFilesPerTrigger", context.config.max_files_per_trigger)
                .option("maxFileAge", _NO_AGE_LIMIT)
                .load(str(path))
            )
        return as_rows(frame, context.config)

    def check(self, missing: Sequence[str]) -> None:
        """Spark takes a watched folder that vanished for an empty one, and a file that vanished unread for one without rows."""
        if self._watched is None:
            return
        if not self._watched.is_dir():
            raise NodeError(f'reading files: the watched folder "{self._watched}" is gone; put it back: the job goes on where it was')
        mine = [path for path in missing if self._watched in Path(path).parents]
        if mine:
            others = f" and {len(mine) - 1} more are" if len(mine) > 1 else " is"
            raise NodeError(
                f'reading files: "{mine[0]}"{others} gone, found but not read yet; put back the same, or an empty file of that name'
            )

    def _schema(self, spark: SparkSession, path: Path, context: NodeContext[FileConfig]) -> StructType:
        """What the form lists, else a sample's; a stream keeps the first sample's, so that a restart reads the same types."""
        from pyspark.sql.types import StructType

        if context.config.format == "text":
            return schema_from_ddl("value string")
        if context.config.columns:
            return schema_of(context.config.columns)
        kept = context.work_dir / "sampled_schema.json"
        if context.mode == "stream" and kept.is_file():
            return StructType.fromJson(_json_of(kept))
        schema = sampled_schema(spark, path, context.config)
        if context.mode == "stream" and not context.schema_only:
            context.work_dir.mkdir(parents=True, exist_ok=True)
            kept.write_text(schema.json(), encoding="utf-8")
        return schema


def _json_of(path: Path) -> Any:
    import json

    return json.loads(path.read_text(encoding="utf-8"))


def _checked_path(context: NodeContext[FileConfig]) -> Path:
    path = allowed_path(context.config.path, context.limits)
    if not path.exists():
        raise NodeError(f'reading files: "{path}" does not exist; create it or correct the path', kind="user", field="path")
    leaving = links_leaving_roots(path, context.limits) if path.is_dir() else []
    if leaving:
        raise NodeError(
            f'reading files: "{leaving[0]}" is a link that leads outside the allowed folders; remove it',
            permanent=True,
            kind="user",
            field="path",
        )
    return path
