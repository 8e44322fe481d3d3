"""Reads Delta tables: as they are or were, or what is added to them as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import NodeContext, NodeError, Source
from jobs.nodes.columns import empty_frame
from jobs.nodes.delta import DeltaTable, delta_failure, delta_open, is_delta, moment_of, names_table
from jobs.nodes.durable_text import text_first
from jobs.nodes.file_roots import allowed_path, links_leaving_roots
from jobs.nodes.form import hints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TIME = r"^(\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?)?$"
_TIME_WORDS = "a date such as 2026-01-31, or a time such as 2026-01-31T06:00:00Z"


class DeltaSourceConfig(base.Config):
    path: str = Field(
        min_length=1,
        description="The table's folder, below the folders this project may use; a relative path starts at the first of them.",
        examples=["warehouse/orders"],
        json_schema_extra=hints("path"),
    )
    start: Literal["all", "newest", "version", "time"] = Field(
        "all",
        description="Where to begin: with all rows, with those yet to come, or those added from a version or time on. "
        "A query reads the table as it was then.",
        examples=["all"],
    )
    version: int | None = Field(
        None, ge=0, description="The version to begin with.", examples=[12], json_schema_extra=hints(when="start=version")
    )
    time: str = Field(
        "",
        pattern=_TIME,
        description="The time to begin with, in UTC unless it says otherwise.",
        examples=["2026-01-31T06:00:00Z"],
        json_schema_extra=hints(when="start=time", allowed=_TIME_WORDS),
    )
    on_change: Literal["fail", "skip", "repeat"] = Field(
        "fail",
        description="When rows that are there are updated, deleted or overwritten: stop the job, skip such versions, "
        "or read rewritten files again with the rows in them that stayed. The files of a batch come in any order: "
        "where rows are written by key, make it one file.",
        examples=["skip"],
        json_schema_extra=hints(advanced=True),
    )
    incremental: bool = Field(
        False,
        description="When all is read, the next start goes on with what was added since instead of at the beginning.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
    max_files_per_trigger: int = Field(
        1000,
        ge=1,
        le=100_000,
        description="How many of the table's files make up one batch.",
        examples=[100],
        json_schema_extra=hints(advanced=True),
    )

    @model_validator(mode="after")
    def _start_is_told(self) -> DeltaSourceConfig:
        if self.start == "version" and self.version is None:
            raise ValueError("say with which version to begin")
        if self.start == "time" and not self.time:
            raise ValueError("say with which time to begin")
        return self


class DeltaSource(Source[DeltaSourceConfig]):
    """Reads a Delta Lake table from a folder, whole or as rows are added to it.

    Bounded, or unbounded over a table that grows. Exactly once: a position is a version of the table. A checkpoint can be restored
    for as long as the table keeps what came after it: by default 7 days of removed files, and 30 days of its log.
    """

    type = "source.delta"
    title = "Delta table"
    icon = "pyramid"
    Config = DeltaSourceConfig
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    summary_template = "{path}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"start", "version", "time", "incremental", "max_files_per_trigger"})
    row_fields: ClassVar[frozenset[str]] = frozenset({"on_change"})

    def __init__(self) -> None:
        self._watched: Path | None = None

    @classmethod
    def failure_words(cls, text: str, connection: str) -> NodeError | None:
        return delta_failure(text, "reading delta")

    @classmethod
    def failure_names(cls, text: str, config: DeltaSourceConfig) -> bool:
        return names_table(text, config.path)

    def resumes(self, config: DeltaSourceConfig) -> bool:
        """A query reads one version in one piece, unless it is to go on behind it."""
        return config.incremental

    def read(self, spark: SparkSession, context: NodeContext[DeltaSourceConfig]) -> DataFrame:
        table = delta_open(spark, _checked_folder(context))
        if table.version < 0:
            raise _no_table(table.folder)
        if context.schema_only:
            _check_start(table, context)
            return empty_frame(spark, table.schema)
        table.files_check()
        frame = _as_it_was(table, context) if context.mode == "batch" else _as_it_grows(table, context)
        self._watched = table.folder if context.mode == "stream" else None
        # Whatever stands between the scan and what counts its rows: neither rows that the table hides nor files that a filter
        # would have skipped are then taken for what they are not.
        return frame.where("true")

    def check(self, missing: Sequence[str]) -> None:
        """Spark takes a table that vanished for one to which nothing is added."""
        if self._watched is not None and not is_delta(self._watched):
            raise NodeError(f'reading delta: the table "{self._watched}" is gone; put it back: the job goes on where it was')


def _as_it_was(table: DeltaTable, context: NodeContext[DeltaSourceConfig]) -> DataFrame:
    reader = table.spark.read.format("delta")
    version = _version_asked(table, context)
    return (reader if version is None else reader.option("versionAsOf", version)).load(str(table.folder))


def _version_asked(table: DeltaTable, context: NodeContext[DeltaSourceConfig]) -> int | None:
    """The version as which a query reads the table; None for the newest. NodeError where the table does not know it."""
    config = context.config
    if config.start in ("all", "newest") or context.job_type == "STREAMING":  # a preview of a stream shows the table as it is
        return None
    if context.job_type == "BATCH_ROLLER" and not context.schema_only:
        raise _refused(
            "where all rows are needed at once, an import reads the whole table: begin with all rows, or make this a query", "start"
        )
    if config.start == "time":
        return table.version_at(config.time)
    assert config.version is not None
    table.version_check(config.version)
    return config.version


def _check_start(table: DeltaTable, context: NodeContext[DeltaSourceConfig]) -> None:
    if context.config.start == "version":
        assert context.config.version is not None
        table.version_check(context.config.version)
    elif context.config.start == "time":
        table.version_at(context.config.time)


def _as_it_grows(table: DeltaTable, context: NodeContext[DeltaSourceConfig]) -> DataFrame:
    config = context.config
    reader: Any = table.spark.readStream.name(context.stream_name).format("delta")
    reader = reader.option("maxFilesPerTrigger", config.max_files_per_trigger)
    if config.start == "newest":
        reader = reader.option("startingVersion", _what_comes(table, context))
    elif config.start == "version":
        reader = reader.option("startingVersion", config.version)
    elif config.start == "time":
        reader = reader.option("startingTimestamp", moment_of(config.time).isoformat())  # a bare time would be one of the job's zone
    if config.on_change != "fail":
        reader = reader.option({"skip": "skipChangeCommits", "repeat": "ignoreChanges"}[config.on_change], "true")
    frame: DataFrame = reader.load(str(table.folder))
    return frame


def _what_comes(table: DeltaTable, context: NodeContext[DeltaSourceConfig]) -> int | str:
    """The version behind the newest one at the first start: Delta keeps no position before the first batch, so we do.

    It cannot be named to Delta before it is there; until then it is what comes next all the same.
    """
    kept = context.work_dir / "first_version"
    first = int(text_first(kept, lambda: str(table.version + 1)))
    return first if first <= table.version else "latest"


def _checked_folder(context: NodeContext[DeltaSourceConfig]) -> Path:
    folder = allowed_path(context.config.path, context.limits)
    if not is_delta(folder):
        raise _no_table(folder)
    leaving = links_leaving_roots(folder, context.limits)
    if leaving:
        raise _refused(f'"{leaving[0]}" is a link that leads outside the allowed folders; remove it')
    return folder


def _no_table(folder: Path) -> NodeError:
    why = "holds no Delta table" if folder.is_dir() else "is a file" if folder.exists() else "does not exist"
    return NodeError(f'reading delta: "{folder}" {why}; name the folder in which its _delta_log stands', kind="user", field="path")


def _refused(why: str, field: str = "path") -> NodeError:
    return NodeError(f"reading delta: {why}", permanent=True, kind="user", field=field)
