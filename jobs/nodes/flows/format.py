"""Writes columns into one text or run of bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.avro import avro_check
from jobs.nodes.avro_writing import avro_writing_check, unwritable_in_avro
from jobs.nodes.base import AS_IT_CAME, REJECTED, Caution, Flow, NodeContext, NodeError
from jobs.nodes.columns import column, require_columns
from jobs.nodes.csv_options import written_line_options
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.format_columns import writable_check
from jobs.nodes.formats import FORMATS, KnownFormat, format_hinders_real_time, format_hints
from jobs.nodes.json_options import JSON_AS_WRITTEN, TIMES_AS_WRITTEN
from jobs.nodes.places import PLACE, open_places, place_names
from jobs.nodes.record_names import names_check
from jobs.nodes.xml_values import unwritable_in_xml

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructField, StructType


class FormatConfig(base.Config):
    format: Annotated[str, KnownFormat(("json", "csv", "avro", "xml", "text"))] = Field(
        "json", description="How the columns are written, times to the microsecond; text fills a template.", examples=["json", "text"]
    )
    columns: tuple[ColumnName, ...] = Field(
        (),
        description="The columns to write, in this order; empty writes all.",
        examples=[["id", "amount"]],
        json_schema_extra=format_hints("json", "csv", "avro", "xml", widget="columns"),
    )
    template: str = Field(
        "",
        max_length=100_000,
        description="The text, with ${column} where a column's value goes; an empty value writes nothing. $${name} stays as ${name}.",
        examples=["Flight ${flight} is ${dep_delay} minutes late"],
        json_schema_extra=hints("textarea", when="format=text"),
    )
    delimiter: str = Field(
        ",",
        min_length=1,
        max_length=4,
        description='What stands between two CSV values. A line of one column without a value is "", as that of an empty text.',
        examples=[",", ";"],
        json_schema_extra=hints(when="format=csv"),
    )
    element: str = Field(
        "row",
        pattern=r"^[A-Za-z_][A-Za-z0-9_.\-]*$",
        description="The name of the XML element that holds the columns. A missing value has no element in it, nor has a missing item of a "
        "list: the others stand as if it were not there, and a list without any is as one that is missing.",
        examples=["order"],
        json_schema_extra=hints(when="format=xml", allowed="an XML element's name: letters, digits, . _ or -"),
    )
    one_line: bool = Field(
        False,
        description="Each record on a line of its own, as a file of lines needs it; else its elements stand below each other.",
        examples=[True],
        json_schema_extra=hints(when="format=xml"),
    )
    avro_schema: str = Field(
        "",
        max_length=100_000,
        description="The Avro schema to write with, as JSON; empty makes one of the columns.",
        examples=['{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'],
        json_schema_extra=hints("textarea", when="format=avro"),
    )
    output: ColumnName = Field("value", description="The column that gets the text or the bytes.", examples=["value", "payload"])
    keep: Literal["others", "all", "none"] = Field(
        "others",
        description="What stays of the row beside the new column: the columns that were not written, all, or none.",
        examples=["none"],
    )

    @model_validator(mode="after")
    def _complete(self) -> FormatConfig:
        if self.format == "text" and not self.template:
            raise ValueError("the template is missing: write the text, with ${column} where a value goes")
        if self.format == "avro" and self.avro_schema:
            avro_check(self.avro_schema)
        return self


class Format(Flow[FormatConfig]):
    """Writes columns into one: as JSON, CSV, Avro, XML or a text of your own; a row that XML or an Avro schema cannot hold is rejected."""

    type = "flow.format"
    title = "Format"
    icon = "code-dots"
    Config = FormatConfig
    real_time: ClassVar[bool] = True
    rejects_rows: ClassVar[bool] = True
    own_places: ClassVar[Mapping[str, frozenset[str] | None]] = {"template": None}
    summary_template = "{format} → {output}"

    def hinders_real_time(self, config: FormatConfig) -> str:
        return format_hinders_real_time(config.format) or super().hinders_real_time(config)

    def cautions(self, context: NodeContext[FormatConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        return open_places({"template": context.config.template}) if context.config.format == "text" else ()

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[FormatConfig]) -> DataFrame:
        (frame,) = frames["in"]
        config = context.config
        written = _places(config.template) if config.format == "text" else list(config.columns or frame.columns)
        require_columns(frame, written, "template" if config.format == "text" else "columns/{row}")
        kept = _kept(frame, written, config)
        if config.output.lower() in {name.lower() for name in kept}:
            raise NodeError(
                f"{config.output} would come out more than once: choose another output, or keep none of the other columns",
                permanent=True,
                kind="user",
                field="output",
            )
        fields = _fields(frame, written)
        names_check(fields, config.format)
        if context.schema_only:
            _require_writable(frame, written, fields, config)
        value, reason = _written(written, config), _unwritable(fields, config)
        if reason is None:
            return frame.select(*(column(name) for name in kept), value.alias(config.output))
        told = _told(reason, written).alias(REJECTED)
        return frame.select(*(column(name) for name in kept), _where_null(reason, value).alias(config.output), told)


def _require_writable(frame: DataFrame, names: list[str], fields: list[StructField], config: FormatConfig) -> None:
    """NodeError where what is written could not be read again. Only while a job is drawn: one published so goes on as it can."""
    if config.format == "avro" and config.avro_schema:
        avro_writing_check(frame, names, config.avro_schema)
    if config.format != "text":
        writable_check(fields, config.format, "columns/{row}" if config.columns else "columns")


def _fields(frame: DataFrame, names: list[str]) -> list[StructField]:
    by_name = {field.name.lower(): field for field in frame.schema.fields}
    return [by_name[name.lower()] for name in names]


def _unwritable(fields: list[StructField], config: FormatConfig) -> Column | None:
    """Why a row cannot be written; None where every row can."""
    if config.format == "avro" and config.avro_schema:
        return unwritable_in_avro(fields, config.avro_schema)
    return unwritable_in_xml(fields) if config.format == "xml" else None


def _where_null(reason: Column, value: Column) -> Column:
    """Spark writes a rejected row no less, and fails, unless it is told not to."""
    from pyspark.sql import functions as F

    return F.when(reason.isNull(), value)


def _told(reason: Column, names: list[str]) -> Column:
    """With what was to be written, which else goes."""
    from pyspark.sql import functions as F

    row = F.to_json(F.struct(*(column(name) for name in names)), JSON_AS_WRITTEN)
    return F.when(reason.isNotNull(), F.concat(reason, F.lit(AS_IT_CAME), row))


def _kept(frame: DataFrame, written: list[str], config: FormatConfig) -> list[str]:
    if config.keep == "none":
        return []
    gone = {name.lower() for name in written} if config.keep == "others" else set()
    return [name for name in frame.columns if name.lower() not in gone]


def _places(template: str) -> list[str]:
    return list(dict.fromkeys(place_names(template)))


def _written(names: list[str], config: FormatConfig) -> Column:
    from pyspark.sql import functions as F
    from pyspark.sql.avro.functions import to_avro

    if config.format == "text":
        return _filled(config.template)
    record = F.struct(*(column(name) for name in names))
    match config.format:
        case "json":
            return F.to_json(record, JSON_AS_WRITTEN)
        case "csv":
            return F.to_csv(record, written_line_options(config.delimiter, len(names)))
        case "xml":
            return _as_xml(record, config)
        case "avro":
            return to_avro(record, config.avro_schema)
        case brought:
            found = FORMATS.get(brought)
            assert found is not None
            return found.write(record)


def _as_xml(record: Column, config: FormatConfig) -> Column:
    """On one line, what ends a line inside of a value is written as XML's own words for it: the same when it is read."""
    from pyspark.sql import functions as F

    options = {"rowTag": config.element, **TIMES_AS_WRITTEN}
    if not config.one_line:
        return F.to_xml(record, options)
    text = F.rtrim(F.to_xml(record, options | {"indent": ""}), F.lit("\n"))
    return F.replace(text, F.lit("\n"), F.lit("&#10;"))


def _filled(template: str) -> Column:
    from pyspark.sql import functions as F

    parts: list[Column] = []
    at = 0
    for match in PLACE.finditer(template):
        parts.append(F.lit(template[at : match.start()]))
        at = match.end()
        parts.append(F.lit(match[0][1:]) if match["escape"] else F.coalesce(column(match["name"]).cast("string"), F.lit("")))
    return F.concat(*parts, F.lit(template[at:]))
