"""Keeps the first rows and leaves out the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext
from jobs.nodes.form import hints
from jobs.nodes.whole_input import require_end

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class LimitConfig(base.Config):
    rows: int = Field(
        1000, ge=1, le=2_000_000_000, description="At most so many rows go on; behind a Sort, the first ones.", examples=[100]
    )
    skip: int = Field(
        0, ge=0, le=2_000_000_000, description="So many rows are left out before.", examples=[0], json_schema_extra=hints(advanced=True)
    )


class Limit(Flow[LimitConfig]):
    """Keeps the first rows and leaves out the rest; for inputs that end."""

    type = "flow.limit"
    title = "Limit"
    icon = "list-numbers"
    Config = LimitConfig
    changes_row_count: ClassVar[bool] = True
    summary_template = "{rows}"

    def is_stateful(self, config: LimitConfig) -> bool:
        """It counts over all batches."""
        return True

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[LimitConfig]) -> DataFrame:
        (frame,) = frames["in"]
        require_end(context, "a limit ends the input", "keep a part of its rows with Sample, or by a condition with Filter rows")
        config = context.config
        return (frame.offset(config.skip) if config.skip else frame).limit(config.rows)
