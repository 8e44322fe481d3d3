"""Takes a text or bytes apart into columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.avro import AvroSchemas, avro_check, avro_schema
from jobs.nodes.base import AS_IT_CAME, LINE_MISFIT, Flow, NodeContext, NodeError
from jobs.nodes.columns import ColumnField, column, require_columns, schema_of
from jobs.nodes.csv_options import null_value_field
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.format_columns import readable_check
from jobs.nodes.formats import FORMATS, KnownFormat, format_hinders_real_time, format_hints
from jobs.nodes.misfits import rejected_column
from jobs.nodes.pattern_groups import groups_misfit, groups_parsed
from jobs.nodes.records import RecordShape, record_misfit, record_parsed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

_RECORD = "__record"


class ParseConfig(base.Config):
    column: ColumnName = Field(
        description="The column that holds the text or the bytes. A missing value gives empty columns. So does an empty text in CSV; "
        "it is no JSON and no XML, and is rejected there, as it is where a pattern finds nothing in it.",
        examples=["payload"],
        json_schema_extra=hints("column"),
    )
    format: Annotated[str, KnownFormat(("json", "csv", "avro", "regex", "xml"))] = Field(
        "json", description="How a value is written; regex takes it apart by the groups of a pattern.", examples=["json", "regex"]
    )
    columns: tuple[ColumnField, ...] = Field(
        (),
        description="The columns that a value holds: by name in JSON, where a and A are two, and in XML, where they are one; else in "
        "their order.",
        examples=[[{"name": "id", "type": "long"}, {"name": "amount", "type": "decimal(18, 2)"}]],
        json_schema_extra=format_hints("json", "csv", "regex", "xml", widget="columns"),
    )
    sample: str = Field(
        "",
        max_length=100_000,
        description="One value as an example: while no columns are listed, their names and types are taken from it.",
        examples=['{"id": 7, "amount": 9.5}'],
        json_schema_extra=hints("textarea", when="format=json|xml"),
    )
    delimiter: str = Field(
        ",",
        min_length=1,
        max_length=4,
        description="What stands between two CSV values.",
        examples=[",", ";"],
        json_schema_extra=hints(when="format=csv"),
    )
    null_value: str = null_value_field()
    pattern: str = Field(
        "",
        max_length=10_000,
        description="A Java regular expression; its first group is the first column. A text in which it finds nothing is rejected.",
        examples=[r"^(\S+) (\d{3}) (.*)$"],
        json_schema_extra=hints("code", when="format=regex", language="regex"),
    )
    avro_schema: str = Field(
        "",
        max_length=100_000,
        description="The Avro schema that the bytes were written with, as JSON.",
        examples=['{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'],
        json_schema_extra=hints("textarea", when="format=avro"),
    )
    keep: Literal["others", "all", "none"] = Field(
        "others",
        description="What stays of the row beside the new columns: the other columns, all, or none.",
        examples=["others", "all"],
    )

    @model_validator(mode="after")
    def _complete(self) -> ParseConfig:
        if self.format in ("json", "xml") and not self.columns and not self.sample.strip():
            raise ValueError(f"list the columns, or give one {self.format.upper()} value as a sample")
        if self.format in ("csv", "regex") and not self.columns:
            raise ValueError("the values have no names: list the columns in their order")
        if FORMATS.get(self.format) is not None and not self.columns:
            raise ValueError(f"list the columns: the columns of {self.format} values are not known otherwise")
        if self.format == "regex" and not self.pattern:
            raise ValueError("the pattern is missing: write one with a group in round brackets for each column")
        if self.format == "avro":
            avro_check(self.avro_schema)
        return self


class Parse(Flow[ParseConfig]):
    """Takes JSON, CSV, Avro, XML or any text apart into columns; a value that does not fit rejects its row."""

    type = "flow.parse"
    title = "Parse"
    icon = "braces"
    Config = ParseConfig
    real_time: ClassVar[bool] = True
    rejects_rows: ClassVar[bool] = True
    summary_template = "{column} · {format}"

    def hinders_real_time(self, config: ParseConfig) -> str:
        return format_hinders_real_time(config.format) or super().hinders_real_time(config)

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[ParseConfig]) -> DataFrame:
        (frame,) = frames["in"]
        config = context.config
        require_columns(frame, [config.column], "column")
        if context.schema_only:
            _require_written(frame, config)
        schema = _schema(frame, config)
        if context.schema_only:
            readable_check(schema.fields, config.format)
        kept = _kept(frame, config)
        _refuse_twice(kept, schema, config)
        shape = _shape(schema, config, plainly=context.for_script)
        record, is_bad = _record(frame, shape, config)
        fields = [_field(name).alias(name) for name in schema.names]
        rejected = _rejected(is_bad, shape, config)
        return frame.withColumn(_RECORD, record).select(*(column(name) for name in kept), *fields, rejected)


def _require_written(frame: DataFrame, config: ParseConfig) -> None:
    """NodeError where the column can hold no value of the format. A pattern also takes the text of a number or a day apart.

    Asked only while a job is drawn: one that was published with such a column goes on, and rejects its rows.
    """
    kinds = ("binary",) if config.format == "avro" else ("string", "binary")
    fitting = [name for name, kind in frame.dtypes if kind in kinds]
    if config.format == "regex" or config.column.lower() in {name.lower() for name in fitting}:
        return
    wanted = "text or bytes" if "string" in kinds else "bytes only"
    kind = next(kind for name, kind in frame.dtypes if name.lower() == config.column.lower())
    message = f"{config.format} is read from {wanted}, and the column {config.column} is {kind}: no column that comes in holds any"
    if fitting:
        message = f"{config.format} is read from {wanted}, and the column {config.column} is {kind}: take {', '.join(fitting)}"
    raise NodeError(message, permanent=True, kind="user", field="column")


def _field(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(_RECORD).getField(name)


def _kept(frame: DataFrame, config: ParseConfig) -> list[str]:
    if config.keep == "none":
        return []
    return [name for name in frame.columns if config.keep == "all" or name.lower() != config.column.lower()]


def _refuse_twice(kept: list[str], schema: StructType, config: ParseConfig) -> None:
    parsed = {name.lower() for name in schema.names}
    if twice := sorted(name for name in kept if name.lower() in parsed):
        named = ", ".join(twice)
        raise NodeError(
            f"{named} would come out more than once: it comes in, and {config.column} holds it too; rename it before, or keep none",
            permanent=True,
            kind="user",
            field="keep",
        )


def _schema(frame: DataFrame, config: ParseConfig) -> StructType:
    if config.format == "avro":
        return avro_schema(frame.sparkSession, config.avro_schema)
    return schema_of(config.columns) if config.columns else _sampled(frame, config)


def _sampled(frame: DataFrame, config: ParseConfig) -> StructType:
    """What Spark takes from the sample while it analyses a plan: no job runs."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    text, nothing = F.lit(config.sample.strip()), F.lit(None).cast("string")
    parsed = F.from_json(nothing, F.schema_of_json(text)) if config.format == "json" else F.from_xml(nothing, F.schema_of_xml(text))
    try:
        found = frame.select(parsed.alias(_RECORD)).schema[0].dataType
    except PySparkException:
        found = None
    if not isinstance(found, StructType) or not found.fields or "_corrupt_record" in found.names:
        what = "JSON object" if config.format == "json" else "XML element with others inside"
        raise NodeError(f"the sample is no {what}: give one whole value", permanent=True, kind="user", field="sample")
    return found


def _shape(schema: StructType, config: ParseConfig, *, plainly: bool) -> RecordShape:
    avro = AvroSchemas(config.avro_schema) if config.format == "avro" else None
    return RecordShape(config.format, schema, config.delimiter, avro, config.null_value, plainly)


def _record(frame: DataFrame, shape: RecordShape, config: ParseConfig) -> tuple[Column, Column]:
    if config.format == "regex":
        return groups_parsed(frame.sparkSession, column(config.column), _RECORD, config.pattern, config.columns)
    return record_parsed(frame.sparkSession, column(config.column), _RECORD, shape)


def _rejected(is_bad: Column, shape: RecordShape, config: ParseConfig) -> Column:
    """Null for a good row."""
    from pyspark.sql import functions as F

    value = column(config.column)
    misfit, told = _misfit(value, shape, config)
    return rejected_column(F.when(value.isNotNull() & is_bad, misfit), told)


def _misfit(value: Column, shape: RecordShape, config: ParseConfig) -> tuple[Column, str]:
    from pyspark.sql import functions as F

    if config.format == "regex":
        reason, text = groups_misfit(value, config.pattern, config.columns), value.cast("string")
        return F.concat(reason, F.lit(AS_IT_CAME), text), ""
    words = LINE_MISFIT if config.format == "csv" else f"{config.column} does not fit the columns"
    return record_misfit(value, _RECORD, shape, words)
