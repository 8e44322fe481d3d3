"""Makes values unreadable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext, NodeError
from jobs.nodes.columns import column, require_columns
from jobs.nodes.config_refused import place_of_second
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_STAR = "*"


class MaskedField(base.Config):
    column: ColumnName = Field(description="The column to mask; it becomes text.", examples=["email"], json_schema_extra=hints("column"))
    method: Literal["hash", "redact", "truncate", "keep_last"] = Field(
        "hash",
        description="Hash: equal values stay equal. Redact: three stars. Truncate: its first characters. Keep last: stars, then its last.",
        examples=["keep_last"],
    )
    characters: int = Field(
        4,
        ge=0,
        le=1000,
        description="How many characters stay, with truncate and keep last; keep last hides all of a value that has no more than these.",
        examples=[4],
        json_schema_extra=hints(when="method=truncate|keep_last"),
    )


class MaskConfig(base.Config):
    fields: tuple[MaskedField, ...] = Field(
        min_length=1,
        description="The columns to mask; the others stay as they are, and an empty value stays empty.",
        examples=[[{"column": "email", "method": "hash"}, {"column": "card", "method": "keep_last", "characters": 4}]],
        json_schema_extra=hints("mapping"),
    )
    salt: str = Field(
        "",
        max_length=1000,
        description="Goes into each hash: with the same salt equal values match across jobs. Whoever knows it can test a guessed value, "
        "and whoever may see the job can read it, as a parameter too.",
        examples=["${salt}"],
    )


class Mask(Flow[MaskConfig]):
    """Hashes, redacts or shortens values that must not be read further on."""

    type = "flow.mask"
    title = "Mask"
    icon = "mask"
    Config = MaskConfig
    real_time: ClassVar[bool] = True
    summary_template = "{fields}"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[MaskConfig]) -> DataFrame:
        (frame,) = frames["in"]
        config = context.config
        require_columns(frame, (field.column for field in config.fields), "fields/{row}/column")
        if context.is_drawn:
            _require_one_way(config)
        masks = {field.column.lower(): _masked(field, config.salt) for field in config.fields}
        return frame.select(*(masks.get(name.lower(), column(name)).alias(name) for name in frame.columns))


def _require_one_way(config: MaskConfig) -> None:
    """NodeError where a column is listed twice. Only while a job is drawn: in one published so, the last way counts."""
    names = [field.column.lower() for field in config.fields]
    if (second := place_of_second(names)) is not None:
        message = f"{config.fields[second].column} is masked already: choose one way for a column"
        raise NodeError(message, permanent=True, kind="user", field=f"fields/{second}/column")


def _masked(field: MaskedField, salt: str) -> Column:
    """Null stays null. SHA-256 of the salt and the value as text, as 64 hexadecimal digits."""
    from pyspark.sql import functions as F

    text = column(field.column).cast("string")
    match field.method:
        case "hash":
            return F.sha2(F.concat(F.lit(salt), text).cast("binary"), 256)
        case "redact":
            return F.when(text.isNotNull(), F.lit(_STAR * 3))
        case "truncate":
            return F.substring(text, 1, field.characters)
        case "keep_last":
            shown = F.when(F.length(text) > field.characters, F.lit(field.characters)).otherwise(F.lit(0))
            return F.concat(F.repeat(F.lit(_STAR), F.length(text) - shown), F.right(text, shown))
