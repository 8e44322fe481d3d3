"""A job without a position: everything is read once, as one plain batch with the id 0."""

from __future__ import annotations

import threading
import time
from collections import Counter as Tally
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from jobs.engine.acting import Acting, kept
from jobs.engine.batch import BatchSinks, rows_of_sources
from jobs.engine.events import BatchCommitted, NodeCounts, QueryStarted, Report
from jobs.engine.failure import StopRequested
from jobs.engine.frames import Frames
from jobs.engine.grouping import QueryPlan, query_folder
from jobs.engine.row_counter import RowCounter
from jobs.engine.session import session_enter
from jobs.engine.steps import Steps


class WholeQuery:
    """All sinks of a plan in one batch. It has no boundary before its end; a forced stop leaves nothing half-visible in a sink."""

    #: What it reads it reads once.
    beside = ()

    def __init__(self, steps: Steps, spark: SparkSession, report: Report, on_change: Callable[[], None]) -> None:
        self.plan = _everything(steps)
        self.folder: Path = steps.plan.locations.live / query_folder(self.plan.key)
        self.failure: BaseException | None = None
        self._steps, self._spark, self._report, self._on_change = steps, spark, report, on_change
        self._sinks = BatchSinks(steps, self.plan, report, self._go_on)
        self._counter = RowCounter(steps.read_within)
        self._frames: Frames | None = None
        self._forced = threading.Event()
        self._done = threading.Event()
        self._begun = 0.0
        self._kept: list[DataFrame] = []
        self._acting = Acting(steps)
        self._thread = threading.Thread(target=self._run, name=f"batch {self.plan.key}", daemon=True)
        self.job_group = f"{steps.plan.generation}-{steps.plan.attempt}"

    @property
    def key(self) -> str:
        return self.plan.key

    def frames(self) -> Frames:
        """Every frame, built once: sinks take their schemas from it, then the batch its rows."""
        if self._frames is None:
            shared = self._shared()
            self._frames = Frames(
                self._steps,
                self._spark,
                self._counter,
                mode="batch",
                counted=self.plan.counted,
                clock_ms=self._steps.plan.time_of(0),
                keep=lambda node_id, frame: self._acting.keep(node_id, self._keep(frame) if node_id in shared else frame),
            )
        return self._frames

    @property
    def writing(self) -> tuple[int, float] | None:
        """Its one batch, from its start to its end."""
        return (0, self._begun) if self.is_active() else None

    def so_far(self) -> Mapping[str, NodeCounts]:
        """What has passed of its one batch."""
        return self._sinks.so_far(self._counter.seen(so_far=True))

    def start(self) -> None:
        self._begun = time.monotonic()
        self._report(QueryStarted(self.key, self.plan.sinks, -1))
        self._thread.start()

    def close(self) -> None:
        """Let go of what was kept for the batch, also where it never began. One that hangs does so itself, at its end."""
        if not self.is_active():
            self._let_go()

    def committed(self) -> int:
        """Its one batch has the number 0; -1 until it ended well."""
        return 0 if self._done.is_set() and self.failure is None else -1

    def is_active(self) -> bool:
        return self._thread.is_alive() and not self._done.is_set()

    def ended_by(self) -> BaseException | None:
        return None if isinstance(self.failure, StopRequested) else self.failure

    def was_cut_short(self) -> bool:
        """Also before it began."""
        return not self._begun or (self._forced.is_set() and self.failure is not None)

    def request_stop(self) -> None:
        """Nothing to do: the boundary is the end."""

    def force_stop(self) -> None:
        self._forced.set()
        self._spark.sparkContext.cancelJobGroup(self.job_group)

    def _go_on(self) -> None:
        if self._forced.is_set():
            raise StopRequested

    def _run(self) -> None:
        try:
            session_enter(self._spark, self._steps.plan)
            self._spark.sparkContext.setJobGroup(self.job_group, self._steps.plan.job_name, interruptOnCancel=True)
            self._write()
        except BaseException as error:
            self.failure = StopRequested() if self._forced.is_set() else error
        finally:
            self._let_go()
            self._done.set()
            self._on_change()

    def _write(self) -> None:
        self._acting.carry_out(self.frames(), self.plan.sinks)
        self._sinks.write(0, self.frames(), self._counter.seen)
        seconds = time.monotonic() - self._begun
        counts = self._sinks.counts_of(0) or {}
        rows_in = rows_of_sources(self._steps, counts)
        nowhere = {"start": None, "end": None, "latest": None}
        sources = {node_id: {**nowhere, "rows": counts[node_id].rows_out} for node_id in self._steps.sources}
        self._report(
            BatchCommitted(
                query=self.key,
                batch_id=0,
                at=datetime.now(UTC),
                rows_in=rows_in,
                in_per_second=rows_in / seconds,
                processed_per_second=rows_in / seconds,
                durations_ms={"addBatch": round(seconds * 1000), "triggerExecution": round(seconds * 1000)},
                sources=sources,
                nodes=counts,
            )
        )

    def _keep(self, frame: DataFrame) -> DataFrame:
        self._kept.append(kept(frame))
        return self._kept[-1]

    def _let_go(self) -> None:
        self._acting.let_go()
        for frame in self._kept:
            frame.unpersist()
        self._kept.clear()

    def _shared(self) -> frozenset[str]:
        """Nodes that are read along more than one edge, or by a sink that does not read to the end."""
        readers = Tally(arrow.source for arrow in self._steps.arrows)
        partial = {
            arrow.source for sink in self._steps.sinks if not self._steps.sink(sink).reads_every_row for arrow in self._steps.arriving(sink)
        }
        return frozenset({node_id for node_id, edges in readers.items() if edges > 1} | partial)


def _everything(steps: Steps) -> QueryPlan:
    """All of it; the frontier is told where all rows lead to the only sink."""
    nodes = tuple(step.node_id for step in steps.plan.steps)
    before = tuple(node_id for node_id in nodes if node_id not in steps.sinks)
    last = steps.arriving(steps.sinks[0])[0].source if len(steps.sinks) == 1 else ""
    return QueryPlan(
        sinks=tuple(sorted(steps.sinks)),
        frontier=last,
        streaming=before,
        nodes=nodes,
        output_mode="append",
        counted=frozenset(nodes),
    )
