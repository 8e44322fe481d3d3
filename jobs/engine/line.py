"""Rows of a line of nodes counted by Spark's own operators, which count anyway: observing every row costs up to a fifth of a run."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.engine.counts import PREFIX, SAMPLE_ROWS, Counter, Marks, Seen, observed_rows, rejected_row, rejection_measures, rejection_told
from jobs.engine.plan_operators import kind_of, output_rows
from jobs.engine.steps import Steps
from jobs.nodes.base import REJECTED, Flow, Source
from jobs.nodes.misfits import rejected_again

logger = logging.getLogger(__name__)

#: "split": a source's rejected rows are what its scan gave less what its filter for good rows let through.
Mark = Literal["scan", "split", "operator", "observed"]

#: What a source's own frame may be made of for its scan to count its rows.
_KEEPS_ROWS = frozenset({"Project", "SubqueryAlias", "EventTimeWatermark", "View"})


def line_marks(steps: Steps, nodes: tuple[str, ...]) -> Mapping[str, Mark] | None:
    """How each row-changing node of a line is counted; None unless `nodes` are a scan and flows that filter or reject, in a row.

    Spark merges filters that follow one another, so between two of them the rows are observed.
    """
    marks: dict[str, Mark] = {}
    for before, node_id in zip(("", *nodes), nodes, strict=False):
        node_type = steps.types[node_id]
        if isinstance(node_type, Source) and not before and node_type.is_scan:
            marks[node_id] = _mark_of_source(steps, node_id, node_type)
        elif not isinstance(node_type, Flow) or not _goes_on(steps, before, node_id, node_type):
            return None
        elif node_type.rejects_rows:
            marks[node_id] = "observed"
        elif node_type.filters_rows:
            last = next(reversed(marks))
            if marks[last] == "operator":
                marks[last] = "observed"
            marks[node_id] = "operator"
    return marks


def _mark_of_source(steps: Steps, node_id: str, source: Source[Any]) -> Mark:
    if not source.rejects_rows:
        return "scan"
    all_arrive = steps.leads_errors_on(node_id) or steps.plan.settings.rejected_rows == "fail"
    return "observed" if all_arrive else "split"


def _goes_on(steps: Steps, before: str, node_id: str, flow: Flow[Any]) -> bool:
    arriving = [(arrow.source, arrow.port) for arrow in steps.arriving(node_id, references=True)]
    changes = flow.moves_rows or (flow.changes_row_count and not flow.filters_rows)
    tells = type(flow).tallies is not Flow.tallies
    return not tells and not flow.acts and arriving == [(before, "out")] and not steps.is_stateful(node_id) and not changes


@dataclass
class LineCounter(Counter):
    """Counts a line (`line_marks`). Its numbers are read from the execution that computed the line, once it has run."""

    marks: Mapping[str, Mark]
    _taken: dict[str, Mark] = field(default_factory=dict)
    _sampled: bool = False

    def count(self, frame: DataFrame, node_id: str, *, sample: bool, ports: Marks | None = None, tallies: Marks | None = None) -> DataFrame:
        assert not ports, "a node with several outputs is no part of a line"
        assert not tallies, "nor is one that counts more than its rows"
        if node_id in self._taken:
            return frame
        rejects = REJECTED in frame.columns
        mark = self._taken[node_id] = self._mark(frame, node_id, rejects)
        if mark == "split":
            self._sampled = sample
            return frame.withColumn(REJECTED, rejected_again(frame, F.when(_stays(), F.col(REJECTED))))
        if mark != "observed":
            return frame
        return frame.observe(PREFIX + node_id, *(rejection_measures(frame, sample) if rejects else [F.lit(1).alias("line")]))

    def timeless(self, frame: DataFrame, node_id: str, port: str, time: str) -> DataFrame:
        raise AssertionError("a node that leaves out rows without a time is no part of a line")

    def _mark(self, frame: DataFrame, node_id: str, rejects: bool) -> Mark:
        """What was planned, corrected by what the frame is: a source may reject rows by its type and not by its form."""
        mark = self.marks[node_id]
        if mark == "operator" or (mark == "observed" and (rejects or self._taken)):
            return "observed" if rejects else mark
        if not _is_bare(frame):
            return "observed"
        return "split" if rejects and mark == "split" else "observed" if rejects else "scan"

    def good(self, frame: DataFrame, node_id: str) -> DataFrame:
        if self._taken.get(node_id) != "split":
            return super().good(frame, node_id)
        return frame.filter(F.col(REJECTED).isNull() & _stays())

    def seen(self, spark: SparkSession, execution: Any) -> dict[str, Seen]:
        """Rows behind each node of the line in what `execution` has computed."""
        operators = _operators(execution.executedPlan())
        below, top = _rows_of_operators(operators)
        observed = observed_rows(spark, execution, set(self._taken))
        ends = [(node_id, below.get(PREFIX + node_id, 0)) for node_id, mark in self._taken.items() if mark == "observed"]
        seen: dict[str, Seen] = {}
        for node_id, mark in self._taken.items():
            if mark == "scan":
                seen[node_id] = Seen(below[""])
            elif mark == "split":
                seen[node_id] = self._parted(spark, operators, below[""])
            elif mark == "operator":
                later = [rows for other, rows in ends if self._stands_before(node_id, other)]
                seen[node_id] = Seen(later[0] if later else top)
            else:
                seen[node_id] = _less_rejected(below.get(PREFIX + node_id, 0), observed.get(node_id, {}))
        return seen

    def _parted(self, spark: SparkSession, operators: list[Any], came: int) -> Seen:
        good = next((operator for operator in reversed(operators) if kind_of(operator) == "FilterExec"), None)
        if good is None or not (rejected := came - output_rows(good)):
            return Seen(came)
        return Seen(came - rejected, rejected, self._sample(spark, good.child()))

    def _sample(self, spark: SparkSession, scanned: Any) -> tuple[tuple[str, str], ...]:
        """Some rejected rows, read again: seldom needed, where taking them along would cost every run a fifth."""
        if not self._sampled:
            return ()
        java_session: Any = spark._jsparkSession
        frame = DataFrame(java_session.internalCreateDataFrame(scanned.execute(), scanned.schema(), False), spark)
        try:
            rows = frame.filter(F.col(REJECTED).isNotNull()).select(rejected_row(frame).alias("kept")).limit(SAMPLE_ROWS).collect()
        except PySparkException as error:  # the file is gone by now; the rows are counted all the same
            logger.warning("rejected rows could not be read again: %s", error)
            return ()
        return tuple(rejection_told(row.kept.reason, row.kept.row) for row in rows)

    def _stands_before(self, node_id: str, other: str) -> bool:
        order = list(self._taken)
        return order.index(node_id) < order.index(other)


def _less_rejected(rows: int, observed: Mapping[str, Any]) -> Seen:
    rejected = int(observed.get("rejected") or 0)
    sample = tuple(rejection_told(item["reason"], item["row"]) for item in observed.get("sample") or () if item is not None)
    return Seen(rows - rejected, rejected, sample)


def _operators(plan: Any) -> list[Any]:
    """From the top down to the scan."""
    operators = [plan]
    while not operators[-1].children().isEmpty():
        operators.append(operators[-1].children().head())
    return operators


def _rows_of_operators(operators: list[Any]) -> tuple[dict[str, int], int]:
    """Rows that reach each observation by its name, "" for what the scan gave; and rows that leave the plan."""
    rows = output_rows(operators[-1])
    below = {"": rows}
    for operator in reversed(operators):
        if kind_of(operator) == "FilterExec":
            rows = output_rows(operator)
        elif kind_of(operator) == "CollectMetricsExec":
            below[str(operator.name())] = rows
    return below, rows


def _stays() -> Column:
    """True, and unknown to be so before a row is there: what depends on it is neither merged with a filter nor moved below one."""
    return F.spark_partition_id() >= 0


def _is_bare(frame: DataFrame) -> bool:
    """Nothing between the scan and this frame adds or drops rows."""
    java_frame: Any = frame._jdf
    plan = java_frame.queryExecution().analyzed()
    while not plan.children().isEmpty():
        if plan.getClass().getSimpleName() not in _KEEPS_ROWS:
            return False
        plan = plan.children().head()
    return True
