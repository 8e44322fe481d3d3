"""Spreads rows over Spark's tasks anew."""

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


class RepartitionConfig(base.Config):
    partitions: int = Field(
        8,
        ge=1,
        le=10_000,
        description="How many parts the rows are spread over: so many tasks work on them, and a File sink writes so many files a batch.",
        examples=[8, 1],
    )
    keys: tuple[ColumnName, ...] = Field(
        (),
        description="Rows with the same values here stay together; empty spreads them evenly.",
        examples=[["carrier"]],
        json_schema_extra=hints("columns"),
    )


class Repartition(Flow[RepartitionConfig]):
    """Spreads the rows evenly over a number of parallel tasks, or by key."""

    type = "flow.repartition"
    title = "Repartition"
    icon = "arrows-shuffle"
    Config = RepartitionConfig
    summary_template = "{partitions} · {keys}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"partitions", "keys"})

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[RepartitionConfig]) -> DataFrame:
        (frame,) = frames["in"]
        config = context.config
        require_columns(frame, config.keys, "keys/{row}")
        return frame.repartition(config.partitions, *(column(name) for name in config.keys))
