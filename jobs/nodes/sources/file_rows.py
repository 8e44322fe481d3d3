"""How Spark reads the files of `source.file`: its options, a sample's columns, and rows with the reason of a misfit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jobs.nodes.base import AS_IT_CAME, LINE_MISFIT, NodeContext, NodeError
from jobs.nodes.columns import quoted, sampled_names_check
from jobs.nodes.csv_lines import OPEN, csv_is_no_line
from jobs.nodes.java_class import java_class
from jobs.nodes.misfits import misfit, rejected_column
from jobs.nodes.sources.file_config import FileConfig
from jobs.nodes.sources.file_sample import first_lines, sample_files, values_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_CORRUPT = "_corrupt_record"


def read_options(config: FileConfig) -> dict[str, str]:
    """Column pruning is off: with it a ragged row passes whenever its last columns are not asked for."""
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
            "multiLine": str(config.is_whole).lower(),
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


def file_reader(spark: SparkSession, context: NodeContext[FileConfig]) -> str:
    """What Spark calls that which reads the files: CSV is read by our own class (`jobs/engine/CsvFiles.java`), but not in a script."""
    if context.config.format != "csv" or context.for_script:
        return context.config.format
    java_class(spark, "CsvFiles")
    return "pipeline_web.CsvFiles"


def header_options(path: Path, config: FileConfig) -> dict[str, str]:
    """Spark holds the first line of each CSV file to the columns, unless it names one by nothing or two alike: of such columns Spark
    makes up the names, and would not find these in the file again."""
    if config.format != "csv" or not config.header or all(_named_apart(file, config) for file in sample_files(path, config)):
        return {}
    return {"enforceSchema": "true"}


def _named_apart(file: Path, config: FileConfig) -> bool:
    header = next(iter(first_lines(file, config.encoding)), "").removeprefix("\ufeff")
    names = [name.lower() for name in values_of(header, config)] if header else []
    return not {"", config.null_value.lower()} & {*names} and len({*names}) == len(names)


def sampled_schema(spark: SparkSession, path: Path, config: FileConfig) -> StructType:
    files = sample_files(path, config)
    if not files:
        raise NodeError(f'reading files: "{path}" holds no file to take the columns from; list the columns', kind="user", field="columns")
    reader = spark.read.format(config.format).options(**{**read_options(config), **header_options(path, config)})
    if config.can_reject:
        reader = reader.option("inferSchema", "true").option("mode", "DROPMALFORMED").option("samplingRatio", "1.0")
    schema = reader.load([str(file) for file in files]).schema
    sampled_names_check(schema.names, "the files")
    if not schema.fields:
        raise _no_columns(files[0], config)
    return schema


def _no_columns(file: Path, config: FileConfig) -> NodeError:
    if config.format != "xml":
        return NodeError(f'reading files: no column was found in "{file}"; list the columns', kind="user", field="columns")
    told = f'reading files: no whole element <{config.row_tag}> with content was found in "{file}"; correct the row tag, or the format'
    return NodeError(told, kind="user", field="row_tag")


def with_corrupt(schema: StructType) -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([*schema.fields, StructField(_CORRUPT, StringType(), True)])


def as_rows(frame: DataFrame, config: FileConfig) -> DataFrame:
    """What Spark read as the source gives it: the reason of a misfit beside the row, text in the characters it was written in."""
    if config.can_reject:
        return _with_reason(frame, config)
    return _decoded(frame, config.encoding) if config.format == "text" and config.encoding != "UTF-8" else frame


def _decoded(frame: DataFrame, encoding: str) -> DataFrame:
    """Lines of text, which Spark hands over as the bytes they are; each byte is a character in the encodings that come here."""
    from pyspark.sql import functions as F

    text = F.decode(F.col("value").cast("binary"), "ISO-8859-1")
    pairs = [(chr(byte), bytes([byte]).decode(encoding, "replace")) for byte in range(0x80, 0x100)]
    others = [(given, meant) for given, meant in pairs if given != meant]
    if others:
        text = F.translate(text, "".join(given for given, _ in others), "".join(meant for _, meant in others))
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
    if config.format == "csv":
        is_open = csv_is_no_line(F.col(_CORRUPT), config.delimiter)
        reason = F.when(is_open, F.concat(F.lit(f"{words}: {OPEN}{AS_IT_CAME}"), text)).otherwise(reason)
    return frame.select(*columns, rejected_column(F.when(F.col(_CORRUPT).isNotNull(), reason), told))
