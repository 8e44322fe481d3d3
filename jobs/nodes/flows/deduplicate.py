"""Lets each key through once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from jobs.dag.durations import duration_ms
from jobs.nodes import base
from jobs.nodes.base import Caution, Flow, NodeContext
from jobs.nodes.columns import column, quoted, require_columns, require_timestamp
from jobs.nodes.duration_fields import Span
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLACE = "__place"


class DeduplicateConfig(base.Config):
    keys: tuple[ColumnName, ...] = Field(
        (),
        description="Rows with the same values here are the same; empty compares all columns.",
        examples=[["order_id"]],
        json_schema_extra=hints("columns"),
    )
    time_column: str = Field(
        "",
        max_length=255,
        description="When a row happened: a stream then forgets a key in time (early without a time), a job that ends keeps the first row.",
        examples=["ordered_at"],
        json_schema_extra=hints("column"),
    )
    within: Span = Field(
        "1 h",
        description="With a time column, a stream remembers a key for at least so long: while it does, each further row of it is a "
        "repeat. Rows that come so much too late are left out. A job that ends remembers all.",
        examples=["1 h", "1 d"],
        json_schema_extra=hints("duration"),
    )


class Deduplicate(Flow[DeduplicateConfig]):
    """Lets one row of each key through and leaves out its repeats."""

    type = "flow.deduplicate"
    title = "Deduplicate"
    icon = "copy-minus"
    Config = DeduplicateConfig
    changes_row_count: ClassVar[bool] = True
    summary_template = "{keys}"

    def is_stateful(self, config: DeduplicateConfig) -> bool:
        return True

    def sets_watermark(self, config: DeduplicateConfig) -> bool:
        return bool(config.time_column)

    def cautions(self, context: NodeContext[DeduplicateConfig]) -> Sequence[Caution]:
        if context.bounded or context.config.time_column:
            return ()
        what = ", ".join(context.config.keys) or "row"
        message = f'a stream remembers every {what} for ever: name the time column, then one is forgotten after the time "within"'
        return [Caution("time_column", message)]

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[DeduplicateConfig]) -> DataFrame:
        (frame,) = frames["in"]
        config = context.config
        require_columns(frame, config.keys, "keys")
        keys = list(config.keys or frame.columns)
        if not config.time_column:
            return frame.dropDuplicates(keys)
        require_columns(frame, [config.time_column], "time_column")
        require_timestamp(frame, config.time_column, "time_column")
        if context.mode == "stream":
            known = frame.withWatermark(quoted(config.time_column), f"{duration_ms(config.within)} milliseconds")
            return known.dropDuplicatesWithinWatermark(keys)
        return _earliest(frame, keys, config.time_column)


def _earliest(frame: DataFrame, keys: list[str], time_column: str) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    by_time = Window.partitionBy(*(column(name) for name in keys)).orderBy(column(time_column).asc_nulls_last())
    return frame.withColumn(_PLACE, F.row_number().over(by_time)).filter(F.col(_PLACE) == 1).drop(_PLACE)
