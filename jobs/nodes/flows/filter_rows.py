"""Keeps rows for which an expression is true."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext
from jobs.nodes.expressions import expression
from jobs.nodes.form import hints
from jobs.nodes.groups import PicksRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class FilterRowsConfig(base.Config):
    condition: str = Field(
        min_length=1,
        description="A Spark SQL expression; rows where it is true pass, rows where it is false or null do not.",
        examples=["amount > 100 and country = 'FR'", "not cancelled"],
        json_schema_extra=hints("expression"),
    )


class FilterRows(PicksRows, Flow[FilterRowsConfig]):
    """Keeps the rows for which a condition is true."""

    type = "flow.filter_rows"
    title = "Filter rows"
    icon = "filter"
    Config = FilterRowsConfig
    real_time: ClassVar[bool] = True
    changes_row_count: ClassVar[bool] = True
    summary_template = "{condition}"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[FilterRowsConfig]) -> DataFrame:
        (frame,) = frames["in"]
        return frame.filter(expression(context.config.condition))
