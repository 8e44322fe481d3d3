"""Sends rows to several ports by conditions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.dag.catalogue import Port
from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext, Routed
from jobs.nodes.config_refused import ConfigRefused, place_of_second
from jobs.nodes.expressions import expression, expressions_of
from jobs.nodes.form import hints
from jobs.nodes.groups import PicksRows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ELSE = "else"
_TAKEN = frozenset({"in", ELSE, "errors"})
_ROUTE = "__route"


class Branch(base.Config):
    name: str = Field(
        pattern=r"^[A-Za-z0-9_]{1,64}$",
        description="The output port for the rows that meet the condition.",
        examples=["late"],
        json_schema_extra=hints(allowed="letters, digits and underscores, at most 64"),
    )
    condition: str = Field(
        min_length=1,
        description="A Spark SQL expression that is true for them.",
        examples=["dep_delay > 15"],
        json_schema_extra=hints("expression"),
    )


class SplitConfig(base.Config):
    branches: tuple[Branch, ...] = Field(
        min_length=1,
        max_length=50,
        description="One output port for each; rows that meet no condition leave by the port else, or end here if nothing reads it. A "
        "stream reads its input and asks them once for each branch that keeps state of its own: let them not go by time or chance there.",
        examples=[[{"name": "late", "condition": "dep_delay > 15"}, {"name": "early", "condition": "dep_delay < 0"}]],
        json_schema_extra=hints("mapping"),
    )
    match: Literal["first", "all"] = Field(
        "first",
        description="A row leaves by the first port whose condition it meets, or by every one: then as several rows.",
        examples=["first", "all"],
    )

    @model_validator(mode="after")
    def _each_port_once(self) -> SplitConfig:
        names = [branch.name for branch in self.branches]
        if taken := [row for row, name in enumerate(names) if name in _TAKEN]:
            raise ConfigRefused(f'the port "{names[taken[0]]}" is there already: choose another name', "branches", taken[0], "name")
        if (second := place_of_second(names)) is not None:
            raise ConfigRefused(f'two ports are called "{names[second]}": give each its own name', "branches", second, "name")
        return self


class Split(PicksRows, Flow[SplitConfig]):
    """Sends each row to a port by named conditions, and the rest to the port else."""

    type = "flow.split"
    title = "Split"
    icon = "arrows-split"
    Config = SplitConfig
    real_time: ClassVar[bool] = True
    ports = (Port("in", "input"), Port(ELSE, "output", required=False))
    ports_field: ClassVar[str] = "branches"
    changes_row_count: ClassVar[bool] = True
    summary_template = "{branches}"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[SplitConfig]) -> Routed:
        (frame,) = frames["in"]
        branches = context.config.branches
        conditions = [_condition(frame, number, branch) for number, branch in enumerate(branches)]
        names = [*(branch.name for branch in branches), ELSE]
        if context.config.match == "first":
            return _by_first(frame, names, conditions)
        return _by_all(frame, names, conditions)


def _condition(frame: DataFrame, number: int, branch: Branch) -> Column:
    """Never null. Analysed by itself, so that a fault is told on its own field."""
    from pyspark.sql import functions as F

    with expressions_of(branch.name, f"branches/{number}/condition", frame):
        frame.filter(expression(branch.condition))
    return F.coalesce(expression(branch.condition), F.lit(False))


def _by_first(frame: DataFrame, names: list[str], conditions: list[Column]) -> Routed:
    from pyspark.sql import functions as F

    first = F.when(conditions[0], F.lit(0))
    for number, condition in enumerate(conditions[1:], 1):
        first = first.when(condition, F.lit(number))
    route = first.otherwise(F.lit(len(conditions)))
    return Routed(frame.withColumn(_ROUTE, route), {name: F.col(_ROUTE) == number for number, name in enumerate(names)}, (_ROUTE,))


def _by_all(frame: DataFrame, names: list[str], conditions: list[Column]) -> Routed:
    from pyspark.sql import functions as F

    helpers = [f"{_ROUTE}_{number}" for number in range(len(conditions))]
    marked = frame.withColumns(dict(zip(helpers, conditions, strict=True)))
    none = ~reduce(lambda one, other: one | other, [F.col(helper) for helper in helpers])
    return Routed(marked, {**{name: F.col(helper) for name, helper in zip(names, helpers, strict=False)}, ELSE: none}, tuple(helpers))
