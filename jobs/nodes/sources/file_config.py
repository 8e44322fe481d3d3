"""What a user sets on `source.file`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from jobs.nodes import base
from jobs.nodes.columns import ColumnField
from jobs.nodes.form import hints

FileFormat = Literal["csv", "json", "parquet", "orc", "avro", "xml", "text"]
Encoding = Literal["UTF-8", "ISO-8859-1", "windows-1252", "UTF-16"]


class FileConfig(base.Config):
    path: str = Field(
        min_length=1,
        description="A file or folder below the folders this installation allows; a relative path starts at the first of them.",
        examples=["flights/incoming", "airlines.csv"],
        json_schema_extra=hints("path"),
    )
    format: FileFormat = Field(
        "csv",
        description="How the files are written. JSON means one object a line. CSV, JSON, text and XML may be .gz, .bz2 or .zst.",
        examples=["csv", "json"],
    )
    row_tag: str = Field(
        "row",
        min_length=1,
        max_length=255,
        pattern=r"^[^\s<>/&=\"']+$",
        description="The XML element that is a row; an empty one is none. Its attributes become columns such as _id.",
        examples=["flight"],
        json_schema_extra=hints(when="format=xml", allowed="the name of an element, without brackets"),
    )
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
    encoding: Encoding = Field(
        "UTF-8",
        description="How characters are encoded, whatever XML says of itself; bytes that are none in it become \ufffd.",
        examples=["UTF-8"],
        json_schema_extra=hints(advanced=True, when="format=csv|json|text|xml"),
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

    @field_validator("encoding")
    @classmethod
    def _lines_can_be_told_apart(cls, encoding: Encoding, info: ValidationInfo) -> Encoding:
        """Spark parts the lines of these two by single bytes, which are halves of characters here."""
        if encoding == "UTF-16" and info.data.get("format") in ("json", "text"):
            raise ValueError(f"{info.data['format']} files in UTF-16 cannot be read line by line: write them in UTF-8")
        return encoding

    @property
    def can_reject(self) -> bool:
        """Whether a row may turn out not to fit: in other formats the types stand in the file."""
        return self.format in ("csv", "json", "xml")
