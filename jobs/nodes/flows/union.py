"""Puts the rows of several inputs one below the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, ClassVar, NoReturn

from pydantic import Field

from jobs.dag.catalogue import Port
from jobs.nodes import base
from jobs.nodes.base import Caution, Flow, NodeContext, NodeError
from jobs.nodes.columns import type_text
from jobs.nodes.meeting_types import alike, rounded_numbers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType


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
    summary_template = "by column name"

    def cautions(self, context: NodeContext[UnionConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        found = []
        for numbers in rounded_numbers(arriving):
            message = (
                f"the column {numbers.place} holds exact numbers in one input and floating point in another: together they are floating "
                "point, which keeps about 15 digits of a number; cast one of them before"
            )
            if numbers.together:
                message = (
                    f"the column {numbers.place} is {', '.join(map(type_text, numbers.kinds))} in the inputs: together it is "
                    f"{type_text(numbers.together)}, which keeps {numbers.together.scale} digits behind the point and rounds the rest; "
                    "cast one of them to fewer digits before"
                )
            found.append(Caution("", message, "numbers.rounded"))
        return found

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[UnionConfig]) -> DataFrame:
        if context.schema_only:
            _require_alike(frames["in"])
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


def _require_alike(inputs: list[DataFrame]) -> None:
    """NodeError on the first column whose values are of two families. Only while a job is drawn: one published so goes on as it can."""
    met: dict[str, DataType] = {}
    for frame in inputs:
        for field in frame.schema.fields:
            before = met.setdefault(field.name.lower(), field.dataType)
            if not alike(before, field.dataType):
                _refuse(field.name, type_text(before), type_text(field.dataType))


def _check_types(first: DataFrame, other: DataFrame) -> None:
    """Spark would widen 1 and 'a' to text without a word."""
    types = {name.lower(): declared for name, declared in first.dtypes}
    for name, declared in other.dtypes:
        expected = types.get(name.lower(), declared)
        if (expected == "string") != (declared == "string") and "void" not in (expected, declared):
            _refuse(name, expected, declared)


def _refuse(name: str, one: str, other: str) -> NoReturn:
    message = f"the column {name} is {one} in one input and {other} in another; cast one of them before"
    raise NodeError(message, permanent=True, kind="user")
