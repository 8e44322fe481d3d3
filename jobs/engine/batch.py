"""One batch: its frames fanned out to the sinks, its counts, its rejected rows."""

from __future__ import annotations

import time
from collections import Counter as Tally
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame

from jobs.engine.counts import Seen, node_counts
from jobs.engine.events import BatchWritten, NodeCounts, Report, RowsPrinted, RowsRejected
from jobs.engine.failure import AtNode
from jobs.engine.frames import Frames
from jobs.engine.grouping import QueryPlan
from jobs.engine.rejections import rejections_begun, rejections_counted
from jobs.engine.slowest_sink import SlowestSink
from jobs.engine.steps import Steps
from jobs.nodes.base import Batch, NodeError, Written

#: Spark's progress report of a batch comes later than the batch, but not this much.
_BATCHES_REMEMBERED = 100


@dataclass
class BatchSinks:
    """Writes batches into a query's sinks and reports what was written. One thread at a time."""

    steps: Steps
    query: QueryPlan
    report: Report
    #: Called between sinks; raises when the attempt must not go on.
    checkpoint: Callable[[], None]
    _counts: dict[int, Mapping[str, NodeCounts]] = field(default_factory=dict)
    _slowest: SlowestSink = field(default_factory=SlowestSink)

    def write(self, batch_id: int, frames: Frames, seen: Callable[[], dict[str, Seen]]) -> None:
        """All sinks in turn, those that read every row first, each before those that get what it rejects; then the counts, which a
        sink's actions have brought about."""
        started = time.monotonic()
        turns = self._in_turn()
        targets = {sink: frames.into(sink) for sink in turns if not self.steps.sinks_above(sink)}
        written: dict[str, Written] = {}
        seconds: dict[str, float] = {}
        for sink in turns:
            self.checkpoint()
            begun = time.monotonic()
            if sink not in targets:
                targets[sink] = frames.into(sink)
            written[sink] = self._written(sink, targets[sink], batch_id, frames)
            seconds[sink] = time.monotonic() - begun
        if (notice := self._slowest.took(seconds)) is not None:
            self.report(notice)
        for sink, frame in targets.items():
            if not self._was_counted(sink, written):
                frame.count()
        self.tell(batch_id, written, seen(), time.monotonic() - started)

    def _was_counted(self, sink: str, written: Mapping[str, Written]) -> bool:
        """Whether all that arrives at `sink` was computed: by the sink, or by another that reads the same."""
        (arrow,) = self.steps.arriving(sink)
        beside = [
            other
            for other in written
            if (self.steps.arriving(other)[0].source, self.steps.arriving(other)[0].port) == (arrow.source, arrow.port)
        ]
        return any(self._reads_all(other) and not written[other].repeated for other in beside)

    def counts_of(self, batch_id: int) -> Mapping[str, NodeCounts] | None:
        """Counts of one of the last batches written in this attempt; None if it was written by an earlier one."""
        return self._counts.get(batch_id)

    def rows_in(self, counts: Mapping[str, NodeCounts] | None) -> int | None:
        return None if counts is None else rows_of_sources(self.steps, counts)

    def is_shared(self) -> bool:
        """Whether a batch is read more than once, so that its frame must be kept."""
        reading = [sink for sink in self.query.sinks if not self.steps.sinks_above(sink)]
        return self._forks() or len(reading) > 1 or not all(self._reads_all(sink) for sink in reading)

    def _forks(self) -> bool:
        """Whether more than one edge leaves the frontier, or a node behind it."""
        behind = {node_id for node_id in self.query.nodes if node_id not in self.query.streaming} | {self.query.frontier}
        leaving = Tally(arrow.source for arrow in self.steps.arrows if arrow.source in behind and arrow.target in self.query.nodes)
        return any(edges > 1 for edges in leaving.values())

    def _in_turn(self) -> list[str]:
        order = self._slowest.last(sorted(self.query.sinks))
        return sorted(order, key=lambda sink: (self._depth(sink), not self._reads_all(sink)))

    def _depth(self, sink: str) -> int:
        """How many sinks' rejected rows come to it: more than to each of those."""
        return len(self.steps.sinks_above(sink))

    def _reads_all(self, sink: str) -> bool:
        return self.steps.sink(sink).reads_every_row

    def _written(self, sink: str, frame: DataFrame, batch_id: int, frames: Frames) -> Written:
        context = self.steps.context(sink, "batch")
        batch = Batch(
            batch_id=batch_id,
            query=self.query.key,
            first_of_fresh_generation=self.steps.plan.fresh and batch_id == 0,
            fails_at_rejected=context.fails_at_rejected,
            rejections=rejections_begun(context, batch_id) if self.steps.leads_errors_on(sink) else None,
        )
        try:
            written = self.steps.sink(sink).write(frame, batch, context)
            if written.rejected and batch.fails_at_rejected:
                raise NodeError(_refused(written, self.steps.types[sink].rejects_rows), permanent=True, kind="user")
        except Exception as error:
            raise AtNode(sink, error) from error
        if batch.rejections is None:
            return written
        written = rejections_counted(batch.rejections, written)
        frames.give(sink, {"errors": batch.rejections.read(frame.sparkSession, frame.schema)})
        return written

    @property
    def _policy(self) -> str:
        return self.steps.plan.settings.rejected_rows

    def so_far(self, seen: Mapping[str, Seen]) -> Mapping[str, NodeCounts]:
        """What has passed of a batch that is being written; of sinks what came to them."""
        counts = node_counts(self.steps, self.query.nodes, seen, {})
        told = {node_id: replace(count, rows_out=None) if node_id in self.query.sinks else count for node_id, count in counts.items()}
        return self._counted_here(told)

    def _counted_here(self, counts: Mapping[str, NodeCounts]) -> dict[str, NodeCounts]:
        return {node_id: count for node_id, count in counts.items() if node_id in self.query.counted}

    def tell(self, batch_id: int, written: Mapping[str, Written], seen: Mapping[str, Seen], seconds: float = 0.0) -> None:
        """Report what a batch wrote, by sink, and what was seen behind each node, and how long that took."""
        own = self._counted_here(node_counts(self.steps, self.query.nodes, seen, written))
        self._counts[batch_id] = own
        self._counts.pop(batch_id - _BATCHES_REMEMBERED, None)
        for node_id, what in seen.items():
            if what.rejected and what.sample and node_id in self.query.counted:
                rows = tuple({"reason": reason, "row": row} for reason, row in what.sample)
                self.report(RowsRejected(self.query.key, batch_id, node_id, what.rejected, rows))
            self._tell(node_id, what)
        for sink, result in written.items():
            if result.rejected_rows and self._policy == "dead_letter" and not self.steps.leads_errors_on(sink):
                rows = tuple({"reason": reason, "row": row} for reason, row in result.rejected_rows)
                self.report(RowsRejected(self.query.key, batch_id, sink, result.rejected, rows))
            if result.printed:
                self.report(RowsPrinted(sink, batch_id, result.printed))
        self.report(
            BatchWritten(
                query=self.query.key,
                batch_id=batch_id,
                rows_in=rows_of_sources(self.steps, own),
                rows_out=sum(own[sink].rows_out or 0 for sink in written),
                rejected=sum(count.rejected for count in own.values()),
                nodes=own,
                seconds=seconds,
            )
        )

    def _tell(self, node_id: str, what: Seen) -> None:
        if node_id in self.query.counted:
            for name, rows in what.tallies.items():
                if rows:
                    words = self.steps.tally_words(node_id, name)
                    self.steps.context(node_id, "batch").log(f"{words}: {rows} of {what.rows + what.rejected} rows")


def _refused(written: Written, has_port: bool) -> str:
    reason = written.rejected_rows[0][0] if written.rejected_rows else "the target does not take it"
    port = "connect the errors port, " if has_port else ""
    return f"a row was rejected: {reason}; mend the data, {port}or let the job drop or keep rejected rows"


def rows_of_sources(steps: Steps, counts: Mapping[str, NodeCounts]) -> int:
    """Rows that came in: good and rejected ones of every source that is counted here."""
    return sum((count.rows_out or 0) + count.rejected for node_id, count in counts.items() if node_id in steps.sources)
