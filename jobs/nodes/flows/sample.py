"""Keeps a random part of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext
from jobs.nodes.columns import column, require_columns
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A key's hash falls into one of so many slots; those below the share are kept.
_SLOTS = 1_000_000


class SampleConfig(base.Config):
    percent: float = Field(10, gt=0, le=100, description="How many of 100 rows are kept, on average.", examples=[1, 0.5])
    keys: tuple[ColumnName, ...] = Field(
        (),
        description="Rows with the same values here are kept or left out together, in every run alike; empty lets chance decide per row.",
        examples=[["customer_id"]],
        json_schema_extra=hints("columns"),
    )


class Sample(Flow[SampleConfig]):
    """Keeps a random part of the rows, or all rows of a random part of the keys."""

    type = "flow.sample"
    title = "Sample"
    icon = "color-picker"
    Config = SampleConfig
    real_time: ClassVar[bool] = True
    changes_row_count: ClassVar[bool] = True
    summary_template = "{percent} %"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[SampleConfig]) -> DataFrame:
        """Spark gives `rand` a new seed in each batch of a stream: a batch of one row is not decided like the one before."""
        from pyspark.sql import functions as F

        (frame,) = frames["in"]
        config = context.config
        require_columns(frame, config.keys, "keys/{row}")
        if not config.keys:
            return frame.filter(F.rand() * 100 < config.percent)
        slot = F.pmod(F.xxhash64(*(column(name) for name in config.keys)), F.lit(_SLOTS))
        return frame.filter(slot < config.percent / 100 * _SLOTS)
