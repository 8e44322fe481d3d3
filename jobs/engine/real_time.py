"""A query in real time: Spark writes each row as it comes, and every so often commits what it has written."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from jobs.engine.failure import AtNode
from jobs.engine.grouping import QueryPlan, ways_to
from jobs.engine.observing import ObservingCounter, seen_in_report
from jobs.engine.progress import last_committed
from jobs.engine.query import StreamQuery
from jobs.engine.steps import Steps
from jobs.nodes.base import NodeError, Written

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.02
#: A topic may get more partitions while it is read.
_LOOK_SECONDS = 15.0


class RealTimeQuery(StreamQuery):
    """Of one sink, which Spark writes itself. What a batch wrote is told once it is committed: nobody hears of it before."""

    def _counting(self) -> ObservingCounter:
        return ObservingCounter()

    def ended_by(self) -> BaseException | None:
        error = super().ended_by()
        (sink,) = self.plan.sinks
        if error is not None and self._steps.sink(sink).failed_stream(str(error), self._steps.by_id[sink].config):
            return AtNode(sink, error)
        return error

    def _launch(self) -> None:
        super()._launch()
        if self._stopping.is_set():  # asked for meanwhile: no batch looks whether it is to end
            threading.Thread(target=self._stop, name=f"stop {self.key}", daemon=True).start()

    def _writer(self) -> DataStreamWriter:
        (sink,) = self.plan.sinks
        try:
            writer = self._steps.sink(sink).stream_writer(self._frame, self._steps.context(sink, "stream"))
        except Exception as error:
            raise AtNode(sink, error) from error
        length = f"{round(self._steps.plan.settings.batch_seconds * 1000)} milliseconds"
        in_real_time: DataStreamWriter = writer.trigger(realTime=length)  # type: ignore[call-overload]
        return in_real_time.outputMode("update")

    def heard(self, progress: Mapping[str, Any]) -> None:
        (sink,) = self.plan.sinks
        rows = int((progress.get("sink") or {}).get("numOutputRows", -1))
        self.sinks.tell(int(progress["batchId"]), {sink: Written(rows=rows if rows >= 0 else None)}, seen_in_report(progress))

    def _await_boundary(self) -> None:
        """A moment passes between two batches, in which Spark can be stopped without a row written and not committed."""
        committed = last_committed(self.folder)
        while self._is_running() and not self._forced.is_set() and self._reported() <= committed:
            time.sleep(_POLL_SECONDS)

    def _reported(self) -> int:
        """The newest batch of which Spark has made its report, which it does once it has committed it; -1 before the first."""
        java_query: Any = self._query and self._query._jsq
        progress = java_query.lastProgress() if java_query else None
        return int(progress.batchId()) if progress else -1


class TaskSlots:
    """Whether all tasks that read in real time run at once: one that finds no place waits for ever, and its rows with it."""

    def __init__(self, steps: Steps, plans: Sequence[QueryPlan], spark: SparkSession) -> None:
        """AtNode where there are fewer than are needed, or a source cannot tell."""
        self._steps, self._spark = steps, spark
        self._ways = [(source, ways) for plan in plans for source, ways in ways_to(steps, plan.frontier).items() if source in steps.sources]
        self._judge(self._needed())

    def check(self) -> None:
        """AtNode, which no retry would mend, where there are fewer by now. Asks the sources, but not all the time.

        One that cannot tell is asked again later: what it lets in goes on being read.
        """
        if time.monotonic() - self._looked_at < _LOOK_SECONDS:
            return
        try:
            needed = self._needed()
        except AtNode as error:
            logger.warning("how many tasks are needed in real time cannot be told: %s", error)
            return
        self._judge(needed)

    def _needed(self) -> Sequence[tuple[str, int]]:
        """By source, once per query that reads it."""
        try:
            return [(source, ways * self._tasks(source)) for source, ways in self._ways]
        finally:
            self._looked_at = time.monotonic()

    def _tasks(self, source: str) -> int:
        try:
            return self._steps.source(source).real_time_tasks(self._steps.context(source, "stream"))
        except Exception as error:
            raise AtNode(source, error) from error

    def _judge(self, needed: Sequence[tuple[str, int]]) -> None:
        there, total = self._spark.sparkContext.defaultParallelism, 0
        for source, tasks in needed:
            total += tasks
            if total > there:
                raise AtNode(source, _too_few(total, there))


def _too_few(needed: int, there: int) -> NodeError:
    message = (
        f"in real time each partition takes a task of Spark for itself, at least {needed} here, and Spark runs {there} at a time; "
        f"read fewer partitions, or let Spark run more (SPARK_MASTER=local[{needed}], or executors with more cores)"
    )
    return NodeError(message, permanent=True, kind="user")
