"""Puts the rows of several inputs one below the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from jobs.dag.catalogue import Port
from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext, NodeError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class UnionConfig(base.Config):
    missing_columns: bool = Field(
        True, description="A column that an input lacks is empty in its rows; without this, such an input is an error.", examples=[True]
    )


class Union(Flow[UnionConfig]):
    """Puts the rows of several inputs one below the other, matching columns by name."""

    type = "flow.union"
    title = "Union"
    icon = "arrows-join"
    Config = UnionConfig
    real_time: ClassVar[bool] = True
    ports = (Port("in", "input", many=True), Port("out", "output"))
    changes_row_count: ClassVar[bool] = True
    summary_template = "by column name"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[UnionConfig]) -> DataFrame:
        first, *others = frames["in"]
        for other in others:
            _check_types(first, other)
        if not context.config.missing_columns:
            _check_same(frames["in"], context.input_names["in"])
        return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=context.config.missing_columns), others, first)


def _check_same(inputs: list[DataFrame], names: Sequence[str]) -> None:
    everywhere = {name.lower(): name for frame in inputs for name in frame.columns}
    for frame, called in zip(inputs, names, strict=True):
        here = {name.lower() for name in frame.columns}
        if lacking := [name for key, name in everywhere.items() if key not in here]:
            raise NodeError(
                f'"{called}" has no column {", ".join(lacking)}; its columns are {", ".join(frame.columns)}: '
                "let missing columns be empty, or make the inputs alike before",
                permanent=True,
                kind="user",
                field="missing_columns",
            )


def _check_types(first: DataFrame, other: DataFrame) -> None:
    """Spark would widen 1 and 'a' to text without a word."""
    types = {name.lower(): declared for name, declared in first.dtypes}
    for name, declared in other.dtypes:
        expected = types.get(name.lower(), declared)
        if (expected == "string") != (declared == "string"):
            raise NodeError(
                f"the column {name} is {expected} in one input and {declared} in another; cast one of them before",
                permanent=True,
                kind="user",
            )
