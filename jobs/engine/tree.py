"""Rows of a tree of nodes counted by filters that let every row through.

Spark compiles them together with what stands around them, where observing rows parts the two and costs up to a fifth of a run.
"""

from __future__ import annotations

import re
from collections import Counter as Tally
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.engine.counts import Marks, Seen, StreamCounter
from jobs.engine.plan_operators import kind_of, output_rows
from jobs.engine.steps import Steps
from jobs.nodes.base import REJECTED

#: The filter behind the first node is `spark_partition_id() > -1900000001`. Nobody else asks for that; beyond what an integer can be,
#: Spark would know that it is true.
_FIRST = 1_900_000_001
_CONDITION = re.compile(r"SPARK_PARTITION_ID\(\).*-(19\d{8})\b")


def is_tree(steps: Steps) -> bool:
    """Whether every row goes one way: to a single sink, along the only edge that leaves a node, and none acts on its way."""
    leaving = Tally(arrow.source for arrow in steps.arrows)
    plain = not any(arrow.reference for arrow in steps.arrows) and not any(steps.acts(node_id) for node_id in steps.by_id)
    return len(steps.sinks) == 1 and plain and all(leaving[node_id] == 1 for node_id in steps.by_id if node_id not in steps.sinks)


@dataclass
class TreeCounter(StreamCounter):
    """Counts a tree (`is_tree`). Its numbers are read from the execution that computed it, once it has run.

    What a node rejects or counts besides its rows is observed.
    """

    _numbers: dict[str, int] = field(default_factory=dict)

    def count(self, frame: DataFrame, node_id: str, *, sample: bool, ports: Marks | None = None, tallies: Marks | None = None) -> DataFrame:
        if ports or tallies or REJECTED in frame.columns:
            return super().count(frame, node_id, sample=sample, ports=ports, tallies=tallies)
        if node_id in self._numbers:
            return frame
        self._numbers[node_id] = _FIRST + len(self._numbers)
        return frame.filter(_true_of_each_row(self._numbers[node_id]))

    def rows_seen(self, spark: SparkSession, execution: Any) -> dict[str, Seen]:
        rows = dict(_rows_by_number(execution.executedPlan()))
        counted = {node_id: Seen(rows[number]) for node_id, number in self._numbers.items() if number in rows}
        return counted | super().rows_seen(spark, execution)


def _true_of_each_row(number: int) -> Column:
    """Spark does not know so before a row is there: it neither leaves the filter out nor merges it with others, nor moves one past it."""
    return F.spark_partition_id() > F.lit(-number)


def _rows_by_number(plan: Any) -> Iterator[tuple[int, int]]:
    """What each of our filters in a plan that has run let through, also in adaptive stages, subqueries and what was kept."""
    waiting = [plan]
    while waiting:
        operator = waiting.pop()
        kind = kind_of(operator)
        if kind == "FilterExec" and (found := _CONDITION.search(str(operator.condition().sql()))):
            yield int(found.group(1)), output_rows(operator)
        waiting += _below(operator, kind)


def _below(operator: Any, kind: str) -> list[Any]:
    if kind == "AdaptiveSparkPlanExec":
        return [operator.executedPlan()]
    if kind.endswith("QueryStageExec"):
        return [operator.plan()]
    if kind == "InMemoryTableScanExec":
        return [operator.relation().cachedPlan()]
    return [found.apply(index) for found in (operator.children(), operator.subqueries()) for index in range(found.size())]
