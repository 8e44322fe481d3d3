"""What a sink of files is told: where, in which format, and into which folders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from jobs.nodes import base
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.sinks.file_folders import TimeFolders, time_folder_names
from jobs.nodes.stores.kinds import SINK_STORE_KINDS

FileFormat = Literal["parquet", "orc", "avro", "csv", "json", "text"]
Compression = Literal["none", "snappy", "gzip", "zstd", "lz4", "deflate", "bzip2", "zlib", "xz"]

_OF_LINES = {"none": "none", "gzip": "gzip", "bzip2": "bzip2", "deflate": "deflate", "snappy": "snappy", "lz4": "lz4"}
#: What each format can be compressed with: the form's word → the name by which the format's writer knows it.
CODECS: Mapping[str, Mapping[str, str]] = {
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
        json_schema_extra=hints("connection", kinds=SINK_STORE_KINDS),
    )
    path: str = Field(
        min_length=1,
        description="The folder to write to, below those this project may use or the connection's; it is made if it does not exist.",
        examples=["results/delays"],
        json_schema_extra=hints("path"),
    )
    format: FileFormat = Field(
        "parquet",
        description="JSON is written with one object a line, text with one value a line; times in JSON and CSV have microseconds. "
        'In CSV of one column, a missing value is "", as an empty text.',
        examples=["parquet", "csv"],
        json_schema_extra=hints(half=True),
    )
    mode: Literal["append", "overwrite"] = Field(
        "append",
        description="Overwrite empties the folder when a job starts from the beginning.",
        examples=["append", "overwrite"],
        json_schema_extra=hints(half=True),
    )
    text_column: str = Field(
        "",
        max_length=255,
        description="The column of text to write, one value a line; empty takes the only one. A missing value makes an empty line.",
        examples=["line"],
        json_schema_extra=hints("column", when="format=text"),
    )
    partition_by: tuple[ColumnName, ...] = Field(
        (),
        description=(
            "Columns whose values become folders, such as carrier=UA; "
            "an empty text and a null both go to carrier=__HIVE_DEFAULT_PARTITION__."
        ),
        examples=[["carrier"]],
        json_schema_extra=hints("columns", half=True),
    )
    time_folders: TimeFolders = Field(
        "none",
        description="What one folder holds, in the job's time zone: a day makes date=2024-05-01, an hour puts hour=05 within it.",
        examples=["none", "day"],
        json_schema_extra=hints(half=True),
    )
    time_column: str = Field(
        "",
        max_length=255,
        validate_default=True,
        description="The time or date that those folders are made from, outside those of columns. It stays in the files.",
        examples=["at"],
        json_schema_extra=hints("column", when="time_folders=year|month|day|hour"),
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

    roll_megabytes: float | None = Field(
        None,
        gt=0,
        le=100_000,
        title="Megabytes of a file",
        description="Rows of several batches wait, unseen, until they are so many megabytes, and then appear as one file in each folder.",
        examples=[128],
        json_schema_extra=hints(advanced=True),
    )
    roll_seconds: float | None = Field(
        None,
        ge=1,
        le=604_800,
        title="Longest wait in seconds",
        description="Rows that wait to become a larger file appear when the oldest are this old, however few they are.",
        examples=[300],
        json_schema_extra=hints(advanced=True),
    )

    @property
    def gathers(self) -> bool:
        """Whether rows of several batches are put together."""
        return self.roll_megabytes is not None or self.roll_seconds is not None

    @property
    def folders(self) -> tuple[str, ...]:
        """The names of all folders that rows are put into, outermost first."""
        return (*time_folder_names(self.time_folders), *self.partition_by)

    @property
    def codec(self) -> str | None:
        """The compression as the format's writer knows it; None for its usual one."""
        return None if self.compression is None else CODECS[self.format][self.compression]

    @field_validator("time_column")
    @classmethod
    def _folders_have_a_time(cls, chosen: str, info: ValidationInfo) -> str:
        if not chosen and info.data.get("time_folders", "none") != "none":
            raise ValueError("choose the time or date that the folders are made from")
        return chosen

    @field_validator("compression")
    @classmethod
    def _format_has_compression(cls, chosen: Compression | None, info: ValidationInfo) -> Compression | None:
        codecs = CODECS.get(info.data.get("format", ""))
        if chosen is not None and codecs is not None and chosen not in codecs:
            *others, last = codecs
            raise ValueError(f"{info.data['format']} files have no compression {chosen}: choose {', '.join(others)} or {last}")
        return chosen
