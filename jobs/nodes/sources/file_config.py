"""What a user sets on `source.file`."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field, ValidationInfo, field_validator

from jobs.nodes import base
from jobs.nodes.columns import ColumnField
from jobs.nodes.csv_options import delimiter_field, null_value_field
from jobs.nodes.form import hints
from jobs.nodes.stores.kinds import STORE_KINDS

FileFormat = Literal["csv", "json", "parquet", "orc", "avro", "xml", "text"]
#: In which a character is a byte.
_OneByte = Literal["ISO-8859-1", "ISO-8859-2", "ISO-8859-15", "windows-1250", "windows-1251", "windows-1252"]
#: In which it may be several, none of which is a line break.
_SeveralBytes = Literal["GB18030", "Big5", "Shift_JIS", "EUC-JP", "EUC-KR"]
_TwoBytes = Literal["UTF-16", "UTF-16LE", "UTF-16BE"]
Encoding = Literal["UTF-8", _TwoBytes, _SeveralBytes, _OneByte]


class FileConfig(base.Config):
    connection: str = Field(
        "",
        max_length=255,
        description="The store that holds the files; empty means this installation's own disk.",
        examples=["lake"],
        json_schema_extra=hints("connection", kinds=STORE_KINDS),
    )
    path: str = Field(
        min_length=1,
        description="A file or folder below those this project may use; with a connection below its folder, where . means all of it.",
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
        description="The columns in the order of the file, or of a JSON object, which may lack some; empty takes a sample's. "
        "Numbers in CSV, JSON and XML are rounded to the digits of a decimal column.",
        examples=[[{"name": "carrier", "type": "string"}, {"name": "dep_delay", "type": "double"}]],
        json_schema_extra=hints("columns"),
    )
    header: bool = Field(
        True,
        description="The first line of each CSV file holds the column names.",
        examples=[True],
        json_schema_extra=hints(when="format=csv"),
    )
    delimiter: str = delimiter_field()
    null_value: str = null_value_field()
    multi_line: bool = Field(
        False,
        description="A quoted CSV value may hold line breaks; a file is then read by one task.",
        examples=[False],
        json_schema_extra=hints(advanced=True, when="format=csv"),
    )
    encoding: Encoding = Field(
        "UTF-8",
        description="How characters are encoded, whatever XML says of itself; bytes that are none in it become \ufffd. GB18030 also reads "
        "GBK and GB2312; UTF-16 without a mark at its beginning is UTF-16LE or UTF-16BE.",
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
    subfolders: bool = Field(
        False,
        description="Read files in all folders below too; otherwise only those in folders that are a column's value, as carrier=UA.",
        examples=[True],
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

    order: Literal["time", "name"] = Field(
        "time",
        description="Which of the files that are there is read first: the oldest, or the first by name, for which files are copied first.",
        examples=["name"],
        json_schema_extra=hints(advanced=True),
    )
    afterwards: Literal["keep", "archive", "delete"] = Field(
        "keep",
        description="What happens to a file that a stream has read, once no checkpoint could need it any more.",
        examples=["archive"],
        json_schema_extra=hints(advanced=True),
    )
    archive: str = Field(
        "",
        validate_default=True,
        description="The folder into which such files are moved; beside the one that is read, not below it. "
        "Where a name is taken there, a file gets its time behind its own.",
        examples=["flights/read"],
        json_schema_extra=hints("path", advanced=True, when="afterwards=archive"),
    )
    list_every_seconds: float = Field(
        5.0,
        ge=0.2,
        le=86_400,
        description="How often it is looked for new files of a connection, or to be read by name.",
        examples=[5, 60],
        json_schema_extra=hints(advanced=True),
    )
    max_local_megabytes: int = Field(
        2_000,
        ge=1,
        le=10_000_000,
        description="Most megabytes of files that a stream copies ahead to this machine's data folder, and keeps after reading.",
        examples=[2_000],
        json_schema_extra=hints(advanced=True),
    )

    @field_validator("encoding")
    @classmethod
    def _can_be_read(cls, encoding: Encoding, info: ValidationInfo) -> Encoding:
        """Spark parts the lines of JSON and text by single bytes, which in UTF-16 are halves of characters, and hands over text as bytes,
        of which it would decode several to a character only where none is at fault."""
        format_ = info.data.get("format")
        if encoding in get_args(_TwoBytes) and format_ in ("json", "text"):
            raise ValueError(f"{format_} files in {encoding} cannot be read line by line: write them in UTF-8")
        if encoding in get_args(_SeveralBytes) and format_ == "text":
            raise ValueError(f"text files in {encoding} cannot be read: write them in UTF-8, or read them as CSV")
        return encoding

    @field_validator("afterwards")
    @classmethod
    def _a_replaced_file_is_seen(cls, afterwards: str, info: ValidationInfo) -> str:
        """Whether a file was replaced after it was read shows in its time, which copies in the order of names do not keep."""
        if afterwards == "delete" and info.data.get("order") == "name":
            raise ValueError("files that are read by name can be archived, but not deleted")
        return afterwards

    @field_validator("archive")
    @classmethod
    def _archive_is_beside(cls, archive: str, info: ValidationInfo) -> str:
        read, beside = (f"{path.strip('/').removeprefix('./')}/" for path in (info.data.get("path", ""), archive))
        if info.data.get("afterwards") == "archive" and (beside == "/" or beside.startswith(read) or read == "./"):
            raise ValueError("name a folder to archive to, which is not the one that is read, nor below it")
        return archive

    @property
    def is_copied(self) -> bool:
        """Whether the files that Spark reads are copies."""
        return bool(self.connection) or self.order == "name"

    @property
    def is_whole(self) -> bool:
        """Whether a file of lines is read in one piece: lines of two-byte characters would be parted in the middle of one."""
        return self.multi_line or self.encoding in get_args(_TwoBytes)

    @property
    def can_reject(self) -> bool:
        """Whether a row may turn out not to fit: in other formats the types stand in the file."""
        return self.format in ("csv", "json", "xml")
