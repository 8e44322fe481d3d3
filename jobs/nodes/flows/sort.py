"""Puts all rows in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext
from jobs.nodes.columns import require_columns, require_comparable
from jobs.nodes.form import hints
from jobs.nodes.sort_keys import SortKey, sort_columns
from jobs.nodes.whole_input import require_end

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class SortConfig(base.Config):
    order_by: tuple[SortKey, ...] = Field(
        min_length=1,
        description="Columns to sort by; a later one decides where the earlier ones are equal.",
        examples=[[{"column": "dep_delay", "order": "descending"}]],
        json_schema_extra=hints("mapping"),
    )


class Sort(Flow[SortConfig]):
    """Puts all rows in order; for inputs that end."""

    type = "flow.sort"
    title = "Sort"
    icon = "arrows-sort"
    Config = SortConfig
    summary_template = "{order_by}"

    def is_stateful(self, config: SortConfig) -> bool:
        """It needs all rows at once."""
        return True

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[SortConfig]) -> DataFrame:
        (frame,) = frames["in"]
        require_end(context, "sorting needs all rows", "leave it out and sort where the rows arrive")
        require_columns(frame, (key.column for key in context.config.order_by), "order_by/{row}/column")
        require_comparable(frame, (key.column for key in context.config.order_by), "order_by/{row}/column")
        return frame.orderBy(*sort_columns(context.config.order_by))
