"""Reads files: CSV, JSON lines, Parquet, ORC, Avro, XML or text, once or from a watched folder, here or in a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from jobs.nodes.base import Caution, NodeContext, NodeError, Source
from jobs.nodes.columns import empty_frame, rejected_schema, schema_from_ddl, schema_of
from jobs.nodes.durable_text import text_place
from jobs.nodes.file_roots import allowed_path, links_leaving_roots
from jobs.nodes.sources.file_config import FileConfig
from jobs.nodes.sources.file_rows import as_rows, file_reader, header_options, read_options, sampled_schema, with_corrupt
from jobs.nodes.sources.file_sample import file_in_another_encoding, require_a_row_a_line
from jobs.nodes.sources.stored_files import StoredFiles
from jobs.nodes.stores.kinds import STORE_KINDS, store_silent, stored_path

if TYPE_CHECKING:
    from threading import Event

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: Spark forgets, and then skips, files older than this against the newest; a late file is input all the same.
_NO_AGE_LIMIT = "36500d"


class FileSource(Source[FileConfig]):
    """Reads CSV, JSON lines, Parquet, ORC, Avro, XML or text files from a folder, on this installation's disk or in S3 storage.

    Bounded, or unbounded over a watched folder into which finished files are moved. Exactly once: each file is read once in a generation,
    known by its name.
    """

    type = "source.file"
    title = "Files"
    icon = "file-text"
    Config = FileConfig
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    rejects_rows: ClassVar[bool] = True
    connection_kinds = STORE_KINDS
    summary_template = "{path} · {format}"
    pace_fields: ClassVar[frozenset[str]] = frozenset(
        {"order", "max_files_per_trigger", "afterwards", "archive", "list_every_seconds", "max_local_megabytes"}
    )
    row_fields: ClassVar[frozenset[str]] = frozenset(
        {"format", "row_tag", "columns", "header", "delimiter", "null_value", "multi_line", "encoding", "pattern", "subfolders"}
    )

    def __init__(self) -> None:
        self._watched: Path | None = None
        self._looked_at: Path | None = None
        self._newest: Any = None

    def read(self, spark: SparkSession, context: NodeContext[FileConfig]) -> DataFrame:
        path = _path(context)
        if context.config.afterwards == "archive":
            StoredFiles(context).archive()
        schema = self._schema(spark, path, context)
        if context.schema_only:
            if path is not None:
                self._looked_at = path
                require_a_row_a_line(path, context.config)
            return empty_frame(spark, rejected_schema(schema) if context.config.can_reject else schema)
        if path is None:
            path = _copies(context)
        options = {**read_options(context.config), **header_options(path, context.config)}
        if path.is_file():  # Spark streams from folders only
            path, options = path.parent, {**options, "pathGlobFilter": path.name}
        read_schema = with_corrupt(schema) if context.config.can_reject else schema
        if context.mode == "batch":
            frame = spark.read.format(file_reader(spark, context)).options(**options).schema(read_schema).load(str(path))
        else:
            self._watched = path
            stream = spark.readStream.name(context.stream_name).format(file_reader(spark, context)).options(**options).schema(read_schema)
            frame = (
                stream.option("maxFilesPerTrigger", context.config.max_files_per_trigger)
                .option("maxFileAge", _NO_AGE_LIMIT)
                .load(str(path))
            )
        return as_rows(frame, context.config)

    def cautions(self, context: NodeContext[FileConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        """Of the files that were looked at: those of a source whose rows are given may not be there."""
        file = file_in_another_encoding(self._looked_at, context.config) if self._looked_at is not None else ""
        if not file:
            return []
        message = f'"{file}" holds bytes that are no {context.config.encoding}: choose the encoding in which it was written'
        return [Caution("encoding", message, "encoding.misfit")]

    def fields_that_move(self, before: FileConfig, after: FileConfig) -> Sequence[str]:
        """Spark knows a file by the path it reads: of the file itself, or of its copy, whose name depends on `subfolders`."""
        moves = {"order": before.is_copied != after.is_copied, "subfolders": after.is_copied and before.subfolders != after.subfolders}
        return [field for field, is_moved in moves.items() if is_moved]

    def position_of_one_job(self, config: FileConfig) -> Literal["", "buffer", "copies"]:
        return "copies" if config.is_copied else ""

    def plain_fault(self, context: NodeContext[FileConfig]) -> str:
        if context.config.is_copied:
            return "Pipeline Web itself copies its files before they are read"
        return "" if context.config.afterwards == "keep" else "Pipeline Web itself puts its files away when they are read"

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

    def waits_for(self, context: NodeContext[FileConfig]) -> str:
        name = context.config.connection
        return store_silent(context.connection(name), context.limits) if name else ""

    def begin(self, context: NodeContext[FileConfig]) -> None:
        if context.config.is_copied:
            StoredFiles(context).begin()

    def receive(self, context: NodeContext[FileConfig], stopping: Event) -> None:
        """Copies files ahead of the reading, where they cannot be read where they are."""
        if context.config.is_copied:
            StoredFiles(context).receive(stopping)
        elif not context.bounded:
            stopping.wait()

    def checkpointed(self, position: Any, context: NodeContext[FileConfig]) -> None:
        self._newest = position

    def trim(self, positions: Callable[[], Sequence[Any]], context: NodeContext[FileConfig]) -> None:
        if context.config.is_copied and self._newest is not None:
            StoredFiles(context).trim(self._newest, positions())

    def put_away(self, checkpoints: Callable[[], Sequence[Path]], context: NodeContext[FileConfig]) -> None:
        if context.config.afterwards != "keep" and not context.bounded:
            StoredFiles(context).put_away(checkpoints())

    def complete(self, context: NodeContext[FileConfig]) -> None:
        """The copies have served."""
        if context.config.is_copied:
            StoredFiles(context).mirror.clear()

    def _schema(self, spark: SparkSession, path: Path | None, context: NodeContext[FileConfig]) -> StructType:
        """What the form lists, else a sample's; a stream keeps the first sample's, so that a restart reads the same types."""
        from pyspark.sql.types import StructType

        if context.config.format == "text":
            return schema_from_ddl("value string")
        if context.config.columns:
            return schema_of(context.config.columns)
        kept = context.work_dir / "sampled_schema.json"
        if context.mode == "stream" and kept.is_file():
            return StructType.fromJson(_json_of(kept))
        schema = sampled_schema(spark, path or StoredFiles(context).sample(), context.config)
        if context.mode == "stream" and not context.schema_only:
            text_place(kept, schema.json())
        return schema


def _path(context: NodeContext[FileConfig]) -> Path | None:
    """Where the files lie on this machine; None if copies of them are to be read."""
    if not context.config.connection:
        path = _checked_path(context)
        return None if context.config.is_copied else path
    stored_path(context.config.path)
    return None


def _copies(context: NodeContext[FileConfig]) -> Path:
    """Where files are copied to: all of them for a run, some when they are only looked at."""
    files = StoredFiles(context)
    if not context.generation:
        return files.sample()
    files.mirror.folder.mkdir(parents=True, exist_ok=True)
    return files.mirror.folder


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
