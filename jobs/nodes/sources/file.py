"""Reads files: CSV, JSON lines, Parquet or text, once or from a watched folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import AS_IT_CAME, LINE_MISFIT, REJECTED, NodeContext, NodeError, Source
from jobs.nodes.columns import ColumnField, column, rejected_schema, schema_from_ddl, schema_of
from jobs.nodes.file_roots import allowed_path, links_leaving_roots
from jobs.nodes.form import hints

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

FileFormat = Literal["csv", "json", "parquet", "text"]
_CORRUPT = "_corrupt_record"
#: Spark forgets, and then skips, files older than this against the newest; a late file is input all the same.
_NO_AGE_LIMIT = "36500d"
_SAMPLED_FILES = 20


class FileConfig(base.Config):
    path: str = Field(
        min_length=1,
        description="A file or folder below the folders this installation allows; a relative path starts at the first of them.",
        examples=["flights/incoming", "airlines.csv"],
        json_schema_extra=hints("path"),
    )
    format: FileFormat = Field("csv", description="How the files are written. JSON means one object a line.", examples=["csv", "json"])
    columns: tuple[ColumnField, ...] = Field(
        (),
        description="The columns in the order of the file, or of a JSON object, which may lack some; empty takes a sample's.",
        examples=[[{"name": "carrier", "type": "string"}, {"name": "dep_delay", "type": "double"}]],
        json_schema_extra=hints("columns"),
    )
    header: bool = Field(
        True,
        description="The first line of each CSV file holds the column names.",
        examples=[True],
        json_schema_extra=hints(when="format=csv"),
    )
    delimiter: str = Field(
        ",",
        min_length=1,
        max_length=4,
        description="What stands between two CSV values.",
        examples=[",", ";", "\\t"],
        json_schema_extra=hints(when="format=csv"),
    )
    null_value: str = Field(
        "", description="CSV text that means no value.", examples=["NA"], json_schema_extra=hints(advanced=True, when="format=csv")
    )
    multi_line: bool = Field(
        False,
        description="A quoted CSV value may hold line breaks; a file is then read by one task.",
        examples=[False],
        json_schema_extra=hints(advanced=True, when="format=csv"),
    )
    encoding: Literal["UTF-8", "ISO-8859-1", "UTF-16"] = Field(
        "UTF-8",
        description="How characters are encoded; bytes that are none in it become \ufffd.",
        examples=["UTF-8"],
        json_schema_extra=hints(advanced=True),
    )
    pattern: str = Field(
        "",
        pattern=r"^[^/\\\x00]*$",
        description="Only files whose name matches, with * and ?; empty takes all. Names that start with . or _ are never read.",
        examples=["*.csv"],
        json_schema_extra=hints(advanced=True),
    )
    max_files_per_trigger: int = Field(
        100,
        ge=1,
        le=100_000,
        description="How many new files make up one batch.",
        examples=[1, 100],
        json_schema_extra=hints(advanced=True),
    )


class FileSource(Source[FileConfig]):
    """Reads CSV, JSON lines, Parquet or text files from a folder.

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
            return spark.createDataFrame([], rejected_schema(schema) if _can_reject(context.config) else schema)
        options = _read_options(context.config)
        if path.is_file():  # Spark streams from folders only
            path, options = path.parent, {**options, "pathGlobFilter": path.name}
        read_schema = _with_corrupt(schema) if _can_reject(context.config) else schema
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
        return _with_reason(frame, context.config) if _can_reject(context.config) else frame

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
        schema = _sampled_schema(spark, path, context.config)
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


def _can_reject(config: FileConfig) -> bool:
    return config.format in ("csv", "json")


def _read_options(config: FileConfig) -> dict[str, str]:
    """Column pruning is off: with it a ragged row passes whenever its last columns are not asked for."""
    options: dict[str, str] = {"encoding": config.encoding}
    if config.pattern:
        options["pathGlobFilter"] = config.pattern
    if config.format == "csv":
        options |= {
            "header": str(config.header).lower(),
            "enforceSchema": "false",
            "delimiter": config.delimiter,
            "nullValue": config.null_value,
            "multiLine": str(config.multi_line).lower(),
            "escape": '"',
            "columnPruning": "false",
        }
    if _can_reject(config):
        options |= {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    return options


def _sampled_schema(spark: SparkSession, path: Path, config: FileConfig) -> StructType:
    files = _sample(path, config)
    if not files:
        raise NodeError(f'reading files: "{path}" holds no file to take the columns from; list the columns', kind="user", field="columns")
    reader = spark.read.format(config.format).options(**_read_options(config))
    if _can_reject(config):
        reader = reader.option("inferSchema", "true").option("mode", "DROPMALFORMED").option("samplingRatio", "1.0")
    schema = reader.load([str(file) for file in files]).schema
    if not schema.fields:
        raise NodeError(f'reading files: no column was found in "{files[0]}"; list the columns', kind="user", field="columns")
    return schema


def _sample(path: Path, config: FileConfig) -> list[Path]:
    if path.is_file():
        return [path]
    found = (file for file in sorted(path.rglob(config.pattern or "*")) if file.is_file() and not _hidden(file.relative_to(path)))
    return [file for file, _ in zip(found, range(_SAMPLED_FILES), strict=False) if file.stat().st_size]


def _hidden(path: Path) -> bool:
    """Spark skips names that begin with a dot, or with an underscore unless they are a partition's."""
    return any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in path.parts)


def _with_corrupt(schema: StructType) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([*schema.fields, StructField(_CORRUPT, StringType(), True)])


def _with_reason(frame: DataFrame, config: FileConfig) -> DataFrame:
    from pyspark.sql import functions as F

    others = [column(name) for name in frame.columns if name != _CORRUPT]
    words = LINE_MISFIT if config.format == "csv" else "the row does not fit the columns"
    return frame.withColumn(REJECTED, _reason(words, F.col(_CORRUPT), others)).drop(_CORRUPT)


def _reason(words: str, corrupt: Column, others: list[Column]) -> Column:
    """Null for a good row. Spark judges a row only by the columns that are asked for, so a reason asks for all and shows none."""
    from pyspark.sql import functions as F

    unseen = F.substring(F.to_json(F.struct(*others)), 1, 0)
    return F.when(corrupt.isNotNull(), F.concat(F.lit(f"{words}{AS_IT_CAME}"), F.substring(corrupt, 1, 2000), unseen))
