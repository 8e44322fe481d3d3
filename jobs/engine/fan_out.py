"""What a stream hands over, batch by batch: on its way from the frontier to the sinks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from jobs.engine.acting import Acting, kept
from jobs.engine.batch import BatchSinks
from jobs.engine.counts import Counter, NoCounter, Seen
from jobs.engine.events import NodeCounts, Report
from jobs.engine.frames import Frames
from jobs.engine.grouping import QueryPlan, frontier_port
from jobs.engine.late_port import LateRows
from jobs.engine.late_rows import stateful_nodes, with_late_rows
from jobs.engine.progress import batch_time, last_execution
from jobs.engine.references import References
from jobs.engine.row_counter import RowCounter
from jobs.engine.session import session_enter
from jobs.engine.steps import LATE, Steps
from jobs.nodes.columns import empty_frame


class FanOut:
    """Of one query, over all its batches. `counter` counts in the streaming plan; `go_on` raises when the attempt must not go on."""

    def __init__(self, steps: Steps, plan: QueryPlan, counter: Counter, report: Report, go_on: Callable[[], None]) -> None:
        self.sinks = BatchSinks(steps, plan, report, go_on)
        self.stateful = stateful_nodes(steps, plan.frontier)
        self._steps, self._plan, self._counter = steps, plan, counter
        self._references = References(steps, report)
        self._acts = any(steps.acts(node_id) for node_id in plan.streaming)
        self._counters: list[Counter] = []
        self._leads_late_on = steps.leads_late_on(plan.frontier)
        self._late_schema = StructType()

    def frontier(self, frames: Frames) -> DataFrame:
        """The streaming frame out of `frames`; its schema is what every batch will have."""
        if self._leads_late_on:
            (arrow,) = self._steps.arriving(self._plan.frontier)
            self._late_schema = frames.arriving(arrow).schema
        return frames.frontier(self._plan.frontier, frontier_port(self._steps, self._plan))

    def empty_branches(self, spark: SparkSession, schema: StructType) -> Frames:
        """The frames behind the frontier without any rows, for their schemas."""
        given = self._given(empty_frame(spark, schema), None)
        return Frames(self._steps, spark, NoCounter(), mode="batch", given=given, counted=frozenset(), schema_only=True)

    def write(self, frame: DataFrame, batch_id: int, query: StreamingQuery) -> None:
        acting, late = Acting(self._steps), LateRows(self._steps, self._plan.frontier)
        shared = self.sinks.is_shared() or self._leads_late_on
        frame = kept(frame) if shared and not self._acts else frame
        frame = acting.keep_whole(frame) if self._acts else frame
        counter = RowCounter(self._steps.read_within)
        self._counters = [self._counter, counter]
        session_enter(frame.sparkSession, self._steps.plan)

        def seen_in_stream() -> dict[str, Seen]:
            return with_late_rows(self._counter.seen(), last_execution(query), self.stateful)

        def seen() -> dict[str, Seen]:
            return (late.seen or seen_in_stream()) | counter.seen()

        try:
            too_late = late.of(frame, seen_in_stream, last_execution(query)) if self._leads_late_on else None
            time = self._steps.plan.time_of(batch_id) or batch_time(query)
            branches = self._branches(frame, too_late, counter, acting, time)
            acting.carry_out(branches, self._plan.sinks)
            self.sinks.write(batch_id, branches, seen)
        finally:
            acting.let_go()
            late.let_go()
            if shared:
                frame.unpersist()
            self._counters = []
            self._counter.begin()  # not before a batch: where rows are spread anew, Spark reads them before it hands over the batch

    def so_far(self) -> Mapping[str, NodeCounts]:
        """What has passed of the batch that is being written. From any thread."""
        seen: dict[str, Seen] = {}
        for counter in self._counters:
            seen |= counter.seen(so_far=True)
        return self.sinks.so_far(seen)

    def close(self) -> None:
        """Let go of what was kept between batches."""
        self._references.close()

    def _branches(self, frame: DataFrame, too_late: DataFrame | None, counter: Counter, acting: Acting, clock_ms: int) -> Frames:
        counted = frozenset(self._plan.nodes)
        given = self._given(frame, too_late)
        return Frames(
            self._steps,
            frame.sparkSession,
            counter,
            mode="batch",
            given=given,
            counted=counted,
            keep=acting.keep,
            references=self._references,
            clock_ms=clock_ms,
        )

    def _given(self, frame: DataFrame, too_late: DataFrame | None) -> dict[str, dict[str, DataFrame]]:
        """The frontier's frames by port; of what comes too late nothing where it is not known."""
        ports = {frontier_port(self._steps, self._plan) or "out": frame}
        if self._leads_late_on:
            ports[LATE] = empty_frame(frame.sparkSession, self._late_schema) if too_late is None else too_late
        return {self._plan.frontier: ports}
