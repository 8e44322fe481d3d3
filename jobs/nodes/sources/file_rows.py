"""How Spark reads the files of `source.file`: its options, a sample's columns, and rows with the reason of a misfit."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import LINE_MISFIT, NodeError
from jobs.nodes.columns import quoted, sampled_names_check
from jobs.nodes.misfits import misfit, rejected_column
from jobs.nodes.sources.file_config import FileConfig

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_CORRUPT = "_corrupt_record"
_SAMPLED_FILES = 20
_SAMPLED_BYTES = 50_000


def read_options(config: FileConfig) -> dict[str, str]:
    """Column pruning is off: with it a ragged row passes whenever its last columns are not asked for.

    CSV in UTF-16 is read in one piece: Spark would part its lines in the middle of a character.
    """
    options: dict[str, str] = {"encoding": config.encoding}
    if not config.is_copied:  # copies were chosen before, and have names of their own
        if config.pattern:
            options["pathGlobFilter"] = config.pattern
        if config.subfolders:
            options["recursiveFileLookup"] = "true"
    if config.format == "csv":
        options |= {
            "header": str(config.header).lower(),
            "enforceSchema": "false",
            "delimiter": config.delimiter,
            "nullValue": config.null_value,
            "multiLine": str(config.multi_line or config.encoding == "UTF-16").lower(),
            "escape": '"',
            "columnPruning": "false",
        }
    if config.format == "json" and config.encoding != "UTF-8":
        options["lineSep"] = "\n"  # only in UTF-8 does Spark know where a line of JSON ends
    if config.format == "xml":
        options["rowTag"] = config.row_tag
    if config.can_reject:
        options |= {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    return options


def header_options(path: Path, config: FileConfig) -> dict[str, str]:
    """Spark holds the first line of each CSV file to the columns, unless it names one by nothing or two alike: of such columns Spark
    makes up the names, and would not find these in the file again."""
    if config.format != "csv" or not config.header or all(_named_apart(file, config) for file in _sample(path, config)):
        return {}
    return {"enforceSchema": "true"}


def _named_apart(file: Path, config: FileConfig) -> bool:
    header = next(iter(_first_lines(file, config.encoding)), "").removeprefix("\ufeff").rstrip("\r")
    names = [name.lower() for name in _parted(header, config.delimiter.replace("\\t", "\t"))] if header else []
    return not {"", config.null_value.lower()} & {*names} and len({*names}) == len(names)


def _parted(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter)) if len(delimiter) == 1 else line.split(delimiter)


def sampled_schema(spark: SparkSession, path: Path, config: FileConfig) -> StructType:
    files = _sample(path, config)
    if not files:
        raise NodeError(f'reading files: "{path}" holds no file to take the columns from; list the columns', kind="user", field="columns")
    reader = spark.read.format(config.format).options(**{**read_options(config), **header_options(path, config)})
    if config.can_reject:
        reader = reader.option("inferSchema", "true").option("mode", "DROPMALFORMED").option("samplingRatio", "1.0")
    schema = reader.load([str(file) for file in files]).schema
    sampled_names_check(schema.names, "the files")
    if not schema.fields:
        raise NodeError(f'reading files: no column was found in "{files[0]}"; list the columns', kind="user", field="columns")
    return schema


def _sample(path: Path, config: FileConfig) -> list[Path]:
    if path.is_file():
        return [path]
    pattern = "*" if config.is_copied else config.pattern or "*"
    found = (file for file in sorted(path.rglob(pattern)) if file.is_file() and not _hidden(file.relative_to(path)))
    return [file for file, _ in zip(found, range(_SAMPLED_FILES), strict=False) if file.stat().st_size]


def _hidden(path: Path) -> bool:
    """Spark skips names that begin with a dot, or with an underscore unless they are a partition's."""
    return any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in path.parts)


def require_one_object_a_line(path: Path, config: FileConfig) -> None:
    """NodeError where a sample's line of JSON holds a second object, as where files were put together without line breaks:
    Spark reads the first, and leaves the others out without a word. A comma behind an object, as in a list, costs no row."""
    decoder = json.JSONDecoder()
    for file in _sample(path, config):
        for number, line in enumerate(map(str.strip, _first_lines(file, config.encoding)), 1):
            try:
                value, end = decoder.raw_decode(line)
            except ValueError:  # no JSON, or cut off here: a row that is rejected
                continue
            if isinstance(value, dict) and line[end:].lstrip(" \t,").startswith(("{", "[")):
                raise NodeError(
                    f'reading files: line {number} of "{file.name}" holds more than one JSON object, and only the first of a line is read; '
                    "write each on a line of its own",
                    permanent=True,
                    kind="user",
                    field="format",
                )


def _first_lines(file: Path, encoding: str) -> list[str]:
    kinds: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
    try:
        with kinds.get(file.suffix, open)(file, "rb") as content:
            text: str = content.read(_SAMPLED_BYTES).decode(encoding, "replace")
            return text.split("\n")
    except (OSError, EOFError):  # what cannot be read is told where it is read
        return []


def with_corrupt(schema: StructType) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([*schema.fields, StructField(_CORRUPT, StringType(), True)])


def as_rows(frame: DataFrame, config: FileConfig) -> DataFrame:
    """What Spark read as the source gives it: the reason of a misfit beside the row, text in the characters it was written in."""
    if config.can_reject:
        return _with_reason(frame, config)
    return _decoded(frame, config.encoding) if config.format == "text" and config.encoding != "UTF-8" else frame


def _decoded(frame: DataFrame, encoding: str) -> DataFrame:
    """Lines of text, which Spark hands over as the bytes they are; each byte is a character in both encodings that come here."""
    from pyspark.sql import functions as F

    text = F.decode(F.col("value").cast("binary"), "ISO-8859-1")
    if encoding == "windows-1252":
        characters = bytes(range(0x80, 0xA0))
        text = F.translate(text, characters.decode("latin-1"), characters.decode("cp1252", "replace"))
    return frame.withColumn("value", text)


def _with_reason(frame: DataFrame, config: FileConfig) -> DataFrame:
    """Spark judges a row only by the columns that are asked for, so a reason asks for all and shows none."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    schema = StructType([field for field in frame.schema.fields if field.name != _CORRUPT])
    columns = [quoted(name) for name in schema.names]
    options = {"sep": config.delimiter, "escape": '"', "nullValue": config.null_value, "multiLine": str(config.multi_line).lower()}
    words = LINE_MISFIT if config.format == "csv" else "the row does not fit the columns"
    text = F.expr(f"concat({_CORRUPT}, substring(to_json(struct({', '.join(columns)})), 1, 0))")
    reason, told = misfit(words, text, schema, config.format, options)
    return frame.select(*columns, rejected_column(F.when(F.col(_CORRUPT).isNotNull(), reason), told))
