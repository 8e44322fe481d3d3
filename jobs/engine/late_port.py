"""Rows that a stream leaves out as too late, on their way to the nodes behind the late port of the node that leaves them out.

Spark gives them to nobody. But a batch can be read again as the node read it, and the node's operator says by which time it went: so
they are found in it, and only in a batch of which Spark says that some came too late.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from jobs.engine.acting import kept
from jobs.engine.counts import Seen
from jobs.engine.grouping import is_whole, query_plans, ways_to
from jobs.engine.late_rows import ARRIVING, rows_dropped, stateful_operators
from jobs.engine.steps import Steps
from jobs.nodes.base import Flow, NodeError
from jobs.nodes.columns import empty_frame


@dataclass
class LateRows:
    """Of one batch. `node_id` leads late rows on and is the frontier of its query.

    `seen`: what the streaming plan has seen, with the true number of late rows: Spark counts those of a group as one. It is asked before
    the batch is read again, which Spark would count too.
    """

    steps: Steps
    node_id: str
    seen: dict[str, Seen] = field(default_factory=dict)
    _kept: DataFrame | None = None

    def of(self, frame: DataFrame, seen: Callable[[], dict[str, Seen]], execution: Any) -> DataFrame:
        """Every row of the batch that came too late. `frame`: what the node gives, which is kept. `execution`: Spark's of this batch."""
        frame.count()
        self.seen = seen()
        spark, plan = frame.sparkSession, execution.executedPlan()
        arriving = next(one for one in _nodes(plan) if one.nodeName() == "CollectMetrics" and str(one.name()) == ARRIVING + self.node_id)
        operator = next(stateful_operators(plan))
        watermark = operator.eventTimeWatermarkForLateEvents()
        some = watermark.isDefined() and rows_dropped(operator) > 0
        came = _again(spark, arriving) if some else _empty(spark, arriving)
        if not some:
            return came
        node_type, config = self.steps.types[self.node_id], self.steps.by_id[self.node_id].config
        assert isinstance(node_type, Flow)
        self._kept = kept(came.filter(node_type.too_late(came, config, int(watermark.get()))))
        self.seen[self.node_id] = replace(self.seen[self.node_id], late=self._kept.count())
        return self._kept

    def let_go(self) -> None:
        if self._kept is not None:
            self._kept.unpersist()


def refuse_late(steps: Steps, node_id: str) -> None:
    """NodeError where what is too late for a node could not be told of the very batches that the node reads."""
    if not steps.leads_late_on(node_id) or steps.plan.job_type != "STREAMING" or is_whole(steps):
        return
    if any(steps.acts(other) for other in steps.upstream((node_id,))):
        raise _refused("a node before it acts on another system, and would act again when they are looked for", "put that behind it")
    reading = [plan for plan in query_plans(steps) if node_id in plan.nodes]
    if any(plan.frontier != node_id for plan in reading) or len(reading) > 1:
        why = "what stands behind it keeps state, or needs a query of its own"
        raise _refused(why, "write in between, and read that in another job")
    if any(ways_to(steps, plan.frontier)[node_id] > 1 for plan in reading):
        raise _refused("its rows come together again with themselves", "write in between, and read that in another job")


def _refused(why: str, remedy: str) -> NodeError:
    return NodeError(f"its late rows cannot be led on: {why}; {remedy}, or leave the port alone", permanent=True, kind="user")


def _again(spark: SparkSession, arriving: Any) -> DataFrame:
    """The rows that the node read in this batch, read once more."""
    session: Any = spark._jsparkSession
    return DataFrame(session.internalCreateDataFrame(arriving.execute(), arriving.schema(), False), spark)


def _empty(spark: SparkSession, arriving: Any) -> DataFrame:
    return empty_frame(spark, StructType.fromJson(json.loads(arriving.schema().json())))


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    children = plan.children()
    for index in range(children.size()):
        yield from _nodes(children.apply(index))
