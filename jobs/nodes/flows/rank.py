"""Keeps the first rows of each group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext, NodeError
from jobs.nodes.columns import column, require_columns, require_comparable
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.sort_keys import SortKey, sort_columns
from jobs.nodes.whole_input import require_end

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLACE = "__place"


class RankConfig(base.Config):
    keys: tuple[ColumnName, ...] = Field(
        (),
        description="Columns whose values make a group; empty ranks all rows together, in one task.",
        examples=[["carrier"]],
        json_schema_extra=hints("columns"),
    )
    order_by: tuple[SortKey, ...] = Field(
        min_length=1,
        description="What decides who is first; a later column where the earlier ones are equal.",
        examples=[[{"column": "dep_delay", "order": "descending"}]],
        json_schema_extra=hints("mapping"),
    )
    rows: int = Field(1, ge=1, le=1_000_000, description="So many rows of each group go on.", examples=[3])
    ties: Literal["cut", "keep"] = Field(
        "cut",
        description="Rows that are equal at the last place: cut takes exactly so many rows, keep takes all that share it.",
        examples=["keep"],
    )
    rank_column: str = Field(
        "",
        max_length=255,
        pattern=r"^[^\r\n]*$",
        description="A column for the place, counted from 1; empty adds none.",
        examples=["place"],
    )


class Rank(Flow[RankConfig]):
    """Keeps the top rows of each group, in a given order; for inputs that end."""

    type = "flow.rank"
    title = "Rank"
    icon = "trophy"
    Config = RankConfig
    changes_row_count: ClassVar[bool] = True
    summary_template = "{rows} · {keys}"

    def is_stateful(self, config: RankConfig) -> bool:
        """It needs all rows of a group at once."""
        return True

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[RankConfig]) -> DataFrame:
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        (frame,) = frames["in"]
        config = context.config
        require_end(context, "a place is certain only after the last row", "take the largest or smallest value with Window aggregate")
        require_columns(frame, config.keys, "keys/{row}")
        require_columns(frame, (key.column for key in config.order_by), "order_by/{row}/column")
        require_comparable(frame, config.keys, "keys/{row}")
        require_comparable(frame, (key.column for key in config.order_by), "order_by/{row}/column")
        if config.rank_column.lower() in {name.lower() for name in frame.columns}:
            raise NodeError(
                f"there is a column {config.rank_column} already: choose another", permanent=True, kind="user", field="rank_column"
            )
        place = F.row_number() if config.ties == "cut" else F.rank()
        in_order = Window.partitionBy(*(column(name) for name in config.keys)).orderBy(*sort_columns(config.order_by))
        ranked = frame.withColumn(_PLACE, place.over(in_order)).filter(F.col(_PLACE) <= config.rows)
        return ranked.withColumnRenamed(_PLACE, config.rank_column) if config.rank_column else ranked.drop(_PLACE)
