"""Chooses, renames, casts and orders columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import AS_IT_CAME, REJECTED, Flow, NodeContext, NodeError
from jobs.nodes.columns import ColumnType, column, require_columns, schema_from_ddl, type_text
from jobs.nodes.config_refused import ConfigRefused, place_of_second
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.nested_values import lost_inside
from jobs.nodes.rejected_rows import whole_struct

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


class SelectedField(base.Config):
    column: ColumnName = Field(description="A column that comes in.", examples=["dep_delay"], json_schema_extra=hints("column"))
    name: ColumnName | None = Field(None, description="Its new name; empty keeps the old one.", examples=["delay_minutes"])
    type: ColumnType | None = Field(
        None,
        description="Its new type; empty keeps the old one. A value that does not fit rejects its row; of a number that becomes a "
        "whole one, what stands behind the point goes, and a decimal is rounded to its places.",
        examples=["double"],
    )

    @property
    def output(self) -> str:
        return self.name or self.column


class SelectFieldsConfig(base.Config):
    fields: tuple[SelectedField, ...] = Field(
        min_length=1,
        description="The columns to keep, in this order; all others are dropped.",
        examples=[[{"column": "dep_delay", "name": "delay_minutes", "type": "double"}]],
        json_schema_extra=hints("mapping"),
    )

    @model_validator(mode="after")
    def _each_output_once(self) -> SelectFieldsConfig:
        outputs = [field.output.lower() for field in self.fields]
        twice = sorted({name for name in outputs if outputs.count(name) > 1})
        if (second := place_of_second(outputs)) is not None:
            cell = "name" if self.fields[second].name else "column"
            raise ConfigRefused(f"{', '.join(twice)} would come out more than once: rename all but one", "fields", second, cell)
        return self


class SelectFields(Flow[SelectFieldsConfig]):
    """Chooses, renames, casts and reorders columns; a value that cannot be cast rejects its row."""

    type = "flow.select_fields"
    title = "Select fields"
    icon = "columns"
    Config = SelectFieldsConfig
    real_time: ClassVar[bool] = True
    rejects_rows: ClassVar[bool] = True
    summary_template = "{fields}"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[SelectFieldsConfig]) -> DataFrame:
        (frame,) = frames["in"]
        fields = context.config.fields
        require_columns(frame, (field.column for field in fields), "fields/{row}/column")
        kinds = {field.name.lower(): field.dataType for field in frame.schema.fields}
        casts = [field for field in fields if field.type and kinds[field.column.lower()].simpleString() != field.type]
        if context.schema_only:
            _require_casts(frame, fields)
        chosen = [_cast(field).alias(field.output) for field in fields]
        return frame.select(*chosen, *([_reason(casts, kinds, whole=context.rejected_are_read).alias(REJECTED)] if casts else []))


def _require_casts(frame: DataFrame, fields: Sequence[SelectedField]) -> None:
    """NodeError on the first type that no value of its column can become."""
    from pyspark.errors import PySparkException

    for row, field in enumerate(fields):
        try:
            frame.select(_cast(field))
        except PySparkException:
            kind = next(one.dataType for one in frame.schema.fields if one.name.lower() == field.column.lower())
            message = f'{type_text(kind)} cannot become {field.type}: give "{field.column}" that type before, with Compute columns'
            raise NodeError(message, permanent=True, kind="user", field=f"fields/{row}/type") from None


def _cast(field: SelectedField) -> Column:
    taken = column(field.column)
    return taken.try_cast(field.type) if field.type else taken


def _reason(casts: list[SelectedField], kinds: Mapping[str, DataType], *, whole: bool) -> Column:
    """Null, or each field that held a value and lost it, or one inside of it, by the cast: with the value, which else is gone.

    `whole`: behind that the row as it came. Only where somebody reads it: for that, columns that nobody chose are read, too.
    """
    from pyspark.sql import functions as F

    lost = [lost_inside(column(field.column), kinds[field.column.lower()], _type(field.type or "")) for field in casts]
    told = [F.when(is_lost, _sentence(field)) for field, is_lost in zip(casts, lost, strict=True)]
    reason = told[0] if len(told) == 1 else F.concat_ws("; ", *told)
    came = [F.lit(AS_IT_CAME), whole_struct(F.struct("*"))] if whole else []
    return F.when(reduce(or_, lost), F.concat(reason, *came))


def _sentence(field: SelectedField) -> Column:
    from pyspark.sql import functions as F

    value = F.coalesce(column(field.column).try_cast("string"), F.lit("?"))
    # What stands before the row as it came must not look like it.
    shown = F.replace(value, F.lit(AS_IT_CAME), F.lit(": "))
    return F.concat(F.lit(f"{field.column}: cannot turn '"), shown, F.lit(f"' into {field.type}"))


def _type(text: str) -> DataType:
    return schema_from_ddl(f"value {text}").fields[0].dataType
