"""Adds or replaces columns by expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext, NodeError
from jobs.nodes.expressions import expression, expressions_of
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class ComputedColumn(base.Config):
    name: ColumnName = Field(description="The column to add, or to replace.", examples=["total"], json_schema_extra=hints("column"))
    expression: str = Field(
        min_length=1,
        description="A Spark SQL expression of the columns that came in.",
        examples=["price * quantity", "upper(carrier)"],
        json_schema_extra=hints("expression"),
    )


class ComputeColumnsConfig(base.Config):
    columns: tuple[ComputedColumn, ...] = Field(
        min_length=1,
        description="Columns to compute, from top to bottom: a later one may use an earlier one.",
        examples=[[{"name": "total", "expression": "price * quantity"}]],
        json_schema_extra=hints("mapping"),
    )


class ComputeColumns(Flow[ComputeColumnsConfig]):
    """Adds columns, or replaces them, by Spark SQL expressions."""

    type = "flow.compute_columns"
    title = "Compute columns"
    icon = "math-function"
    Config = ComputeColumnsConfig
    real_time: ClassVar[bool] = True
    summary_template = "{columns}"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[ComputeColumnsConfig]) -> DataFrame:
        (frame,) = frames["in"]
        for row, computed in enumerate(context.config.columns):
            if context.is_drawn:
                _require_name(computed.name, row)
            with expressions_of(computed.name, f"columns/{row}/expression", frame):
                frame = frame.withColumn(computed.name, expression(computed.expression))
                if context.is_drawn:
                    _require_one_row(frame)
        return frame


def _require_name(name: str, row: int) -> None:
    """NodeError where nobody could see it."""
    if not name.strip():
        raise NodeError("a name of blanks only cannot be read: write another", permanent=True, kind="user", field=f"columns/{row}/name")


def _require_one_row(frame: DataFrame) -> None:
    """NodeError where the column that was added makes several rows of one, or none. Only while a job is drawn: nobody counts with that."""
    plan: Any = frame._jdf.queryExecution().analyzed()
    if plan.children().apply(0).nodeName() == "Generate":
        message = "it makes several rows of one, or none, as explode does: use Flat map, or a Script"
        raise NodeError(message, permanent=True, kind="user")
