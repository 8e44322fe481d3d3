"""Lets each key through once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Caution, Flow, NodeContext
from jobs.nodes.columns import column, quoted, require_columns, require_comparable, require_timestamp
from jobs.nodes.duration_fields import Span
from jobs.nodes.event_time import HandsOnTime
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.windows import CLOCK, span

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_PLACE = "__place"


class DeduplicateConfig(base.Config):
    keys: tuple[ColumnName, ...] = Field(
        (),
        description="Rows with the same values here are the same; empty compares all columns.",
        examples=[["order_id"]],
        json_schema_extra=hints("columns"),
    )
    time: Literal["event", "processing"] = Field(
        "event",
        description="What a stream forgets a key by: the rows' own time, or the clock at the batch that read the first row of it.",
        examples=["event"],
        json_schema_extra=hints(advanced=True),
    )
    time_column: str = Field(
        "",
        max_length=255,
        description="When a row happened: a stream then forgets a key in time (early without a time), a job that ends keeps the first row.",
        examples=["ordered_at"],
        json_schema_extra=hints("column", when="time=event"),
    )
    within: Span = Field(
        "1 h",
        description="With a time column or by the clock, a stream remembers a key for at least so long: while it does, each further row "
        "of it is a repeat. Rows whose own time is so much too late are left out. A job that ends remembers all.",
        examples=["1 h", "1 d"],
        json_schema_extra=hints("duration"),
    )

    @property
    def forgets(self) -> bool:
        """Whether a stream remembers a key for a time only."""
        return self.time == "processing" or bool(self.time_column)


class Deduplicate(HandsOnTime, Flow[DeduplicateConfig]):
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
        return config.forgets

    def time_handed_on(self, config: DeduplicateConfig) -> str:
        return config.time_column if config.time == "event" else ""

    def without_clock(self, config: DeduplicateConfig) -> DeduplicateConfig:
        """Nothing is forgotten where no time passes."""
        return config.model_copy(update={"time": "event", "time_column": ""}) if config.time == "processing" else config

    def cautions(self, context: NodeContext[DeduplicateConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        if context.bounded or context.config.forgets:
            return ()
        what = ", ".join(context.config.keys) or "row"
        remedy = 'name the time column, or go by the clock: then one is forgotten after the time "within"'
        message = f"a stream remembers every {what} for ever: {remedy}"
        return [Caution("time_column", message)]

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[DeduplicateConfig]) -> DataFrame:
        (frame,) = frames["in"]
        config = context.config
        require_columns(frame, config.keys, "keys/{row}")
        keys = list(config.keys or frame.columns)
        require_comparable(frame, keys, "keys/{row}" if config.keys else "keys")
        if config.time == "processing" and context.mode == "stream":
            return _by_clock(frame, keys, config)
        if config.time == "processing" or not config.time_column:
            return frame.dropDuplicates(keys)
        require_columns(frame, [config.time_column], "time_column")
        require_timestamp(frame, config.time_column, "time_column")
        if context.mode == "stream":
            known = frame.withWatermark(quoted(config.time_column), span(config.within))
            return known.dropDuplicatesWithinWatermark(keys)
        return _earliest(frame, keys, config.time_column)


def _by_clock(frame: DataFrame, keys: list[str], config: DeduplicateConfig) -> DataFrame:
    from pyspark.sql import functions as F

    clocked = frame.withColumn(CLOCK, F.current_timestamp()).withWatermark(CLOCK, span(config.within))
    return clocked.dropDuplicatesWithinWatermark(keys).drop(CLOCK)


def _earliest(frame: DataFrame, keys: list[str], time_column: str) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    by_time = Window.partitionBy(*(column(name) for name in keys)).orderBy(column(time_column).asc_nulls_last())
    return frame.withColumn(_PLACE, F.row_number().over(by_time)).filter(F.col(_PLACE) == 1).drop(_PLACE)
