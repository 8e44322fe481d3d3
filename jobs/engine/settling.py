"""What sinks do beside their batches: rows that wait for others appear in time, and stay apart from those behind a checkpoint."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from jobs.engine.failure import AtNode
from jobs.engine.query import StreamQuery
from jobs.engine.steps import Steps
from jobs.engine.whole import WholeQuery

logger = logging.getLogger(__name__)


def sinks_settle(steps: Steps, queries: Sequence[StreamQuery | WholeQuery], spark: SparkSession, *, last: bool = False) -> None:
    """Every sink in turn; AtNode tells which one failed. `last`: the run ended in good order."""
    for query in queries:
        committed = query.committed()
        for sink in query.plan.sinks:
            try:
                steps.sink(sink).settle(spark, steps.context(sink, "batch"), committed=committed, last=last)
            except Exception as error:
                raise AtNode(sink, error) from error


def sinks_mark(steps: Steps, queries: Sequence[StreamQuery | WholeQuery], batches: Mapping[str, int]) -> bool:
    """Whether a checkpoint may be cut behind `batches` (query → batch): no sink has put rows from both sides of it together."""
    marks = [
        steps.sink(sink).mark(steps.context(sink, "batch"), batches[query.key])
        for query in queries
        if batches.get(query.key, -1) >= 0
        for sink in query.plan.sinks
    ]
    return all(marks)


def sinks_close(steps: Steps) -> None:
    for sink in steps.sinks:
        try:
            steps.sink(sink).close(steps.context(sink, "batch"))
        except Exception:
            logger.exception("closing %s", sink)
