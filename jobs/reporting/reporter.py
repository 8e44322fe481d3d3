"""One execution's ear at the engine: its totals, rates, samples and live messages."""

import logging
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from jobs import broadcast
from jobs.engine.events import (
    OUTDATED,
    BatchCommitted,
    BatchUnderWay,
    BatchWritten,
    BufferStands,
    EngineEvent,
    Noticed,
    Progressed,
    QueryStarted,
    RowsPrinted,
    RowsRejected,
    Waiting,
)
from jobs.models import Execution
from jobs.reporting.buffers import Buffers
from jobs.reporting.counts import Counts, Rates, state_of
from jobs.reporting.figures import columns_of, metrics_message, sample_of
from jobs.reporting.history import History
from jobs.reporting.writer import Writer
from jobs.selectors.sample_holds import IDLE_SECONDS
from jobs.services.events import event_record
from jobs.services.executions import execution_waits
from jobs.services.metrics import Rejected, Reported, counts_read

#: Rejected rows kept of one node and batch, and characters of each.
REJECTED_MOST = 100
REJECTED_LENGTH = 10_000
#: Of the rows of one message to who watches, and of each of them: as many as a page shows.
PRINTED_MOST = 500
PRINTED_LENGTH = 4_000
_PRINTED_SECONDS = 0.5
#: Earlier retries are forgotten once an attempt has committed a batch after running for so long, and for so many checkpoint intervals.
HEALTHY_SECONDS, HEALTHY_INTERVALS = 600.0, 3


class Reporter:
    """Give it to a Run as `report`. A batch's counts are in the database before the call for BatchWritten returns.

    So a batch that Spark commits afterwards was counted, and one that runs again overwrites its count.

    An execution's retries count from the last time it was healthy: an attempt that still commits batches after max(10 minutes, three
    checkpoint intervals) sets them to 0. A first batch proves nothing: an attempt may commit one and then die, again and again.
    """

    def __init__(self, execution: Execution, writer: Writer, *, project: str, trigger_seconds: float, log: logging.Logger) -> None:
        self.execution_id = execution.execution_id
        self.started = threading.Event()
        self._execution, self._writer, self._project, self._log = execution, writer, project, log
        self._history = History(log)
        self._counts = Counts(counts_read(execution_id=execution.execution_id))
        self._buffers = Buffers(execution.dropped_before, execution.dropped_counted or {})
        self._outdated: dict[str, str] = {}
        self._rates = Rates(window=max(3.0, 2 * trigger_seconds))
        self._totals = self._so_far = self._counts.totals()
        self._rates.note(self._totals)
        self._lock = threading.Lock()
        self._ticking, self._closed = threading.Lock(), False
        self._pending = self._nothing()
        self._batches: dict[str, BatchCommitted] = {}
        self._under_way: dict[str, broadcast.BatchUnderWay] = {}
        self._newest_written: dict[str, int] = {}
        self._seq = execution.seq
        self._last_message: tuple[Any, ...] = ()
        self._kept_at = 0.0
        self._held_sample: tuple[dict[str, Any], bool] | None = None
        self._told: dict[tuple[str, str], float] = {}
        self._healthy_at = time.monotonic() + healthy_seconds(execution)
        writer.add(self)

    def __call__(self, event: EngineEvent) -> None:
        match event:
            case QueryStarted():
                self.started.set()
                self._log.info("query %s begins behind batch %d", event.query, event.resumed_batch)
            case BatchUnderWay() | BatchWritten() | BatchCommitted():
                self._batch(event)
            case RowsRejected():
                self._rejected(event)
            case RowsPrinted():
                self._printed(event)
            case Progressed():
                self._progressed(event)
            case Noticed():
                self._noticed(event)
            case Waiting():
                self._waits(event)
            case BufferStands():
                self._buffer(event)

    def close(self) -> None:
        """Write the rest, send the last figures, and be heard no more."""
        with self._lock:
            self._under_way = {}
            self._counts.forget_under_way()
            self._so_far = self._totals
        self.tick(None, last=True)
        self._writer.remove(self)

    # ── what the engine says ──

    def _batch(self, event: BatchUnderWay | BatchWritten | BatchCommitted) -> None:
        match event:
            case BatchUnderWay():
                self._goes_on(event)
            case BatchWritten():
                self._written(event)
            case BatchCommitted():
                self._committed(event)

    def _goes_on(self, event: BatchUnderWay) -> None:
        since = datetime.now(UTC) - timedelta(seconds=event.seconds)
        with self._lock:
            if event.batch_id <= self._newest_written.get(event.query, -1):
                return  # it was written while this was on its way
            known = self._under_way.get(event.query)
            since = known.since if known and known.batch_id == event.batch_id else since
            told = {"since": since, "tasks_done": event.done, "tasks": event.tasks, "rows_in": event.rows_in}
            self._under_way[event.query] = broadcast.BatchUnderWay(batch_id=event.batch_id, **told)
            self._counts.under_way(event)
            if (so_far := self._counts.so_far()) != self._so_far:
                self._so_far = so_far
                self._rates.note(so_far)

    def _written(self, event: BatchWritten) -> None:
        with self._lock:
            self._under_way.pop(event.query, None)
            self._newest_written[event.query] = event.batch_id
            row = self._counts.batch(event)
            self._totals, self._so_far = self._counts.totals(), self._counts.so_far()
            self._rates.note(self._so_far, seconds=event.seconds)
            self._pending.queries[event.query] = row
            self._pending.totals |= columns_of(self._totals)
        if not self._writer.flush():
            self._log.warning("the counts of batch %d are not kept yet: the database does not answer", event.batch_id)

    def _committed(self, event: BatchCommitted) -> None:
        with self._lock:
            self._batches[event.query] = event
            self._pending.healthy |= time.monotonic() >= self._healthy_at
        seconds = event.durations_ms.get("triggerExecution", 0) / 1000
        self._log.info("query %s: batch %d committed, %d rows in %.1f s", event.query, event.batch_id, event.rows_in, seconds)

    def _rejected(self, event: RowsRejected) -> None:
        rows = tuple((row["reason"][:2000], row["row"][:REJECTED_LENGTH]) for row in event.rows[:REJECTED_MOST])
        with self._lock:
            self._pending.rejected.append(Rejected(event.query, event.node_id, event.batch_id, rows))
        first = rows[0][0] if rows else ""
        text = "batch %d: %d rows rejected, the first because: %s"
        self._log.warning(text, event.batch_id, event.total, first, extra={"node_id": event.node_id})

    def _printed(self, event: RowsPrinted) -> None:
        """To who watches; the sink itself has written them to the log."""
        if self._is_due("printed", event.node_id):
            rows = [row[:PRINTED_LENGTH] for row in event.rows[:PRINTED_MOST]]
            message = broadcast.PrintedMessage(node_id=event.node_id, batch_id=event.batch_id, rows=rows)
            broadcast.execution_message(self.execution_id, message, project=self._project)

    def _progressed(self, event: Progressed) -> None:
        if self._is_due("progress", event.node_id) or event.done == event.total:
            message = broadcast.ProgressMessage(node_id=event.node_id, done=event.done, total=event.total, unit=event.unit)
            broadcast.execution_message(self.execution_id, message, project=self._project)

    def _noticed(self, event: Noticed) -> None:
        if OUTDATED in event.detail:
            with self._lock:
                self._outdated = {**self._outdated, event.node_id: str(event.detail[OUTDATED])}
        level = logging.WARNING if event.severity == "warning" else logging.INFO
        self._log.log(level, "%s", event.message, extra={"node_id": event.node_id})
        told: dict[str, Any] = {"actor": "engine", "reason": event.message, "node_id": event.node_id, "detail": dict(event.detail)}
        self._history.add(lambda: event_record(execution_id=self.execution_id, kind="notice", **told))

    def _waits(self, event: Waiting) -> None:
        told = "it is waited for no longer" if event.given_up else "it answers again"
        self._log.warning("%s", f"waiting for {event.what}" if event.what else told, extra={"node_id": event.node_id})
        said: dict[str, Any] = {"node_id": event.node_id, "what": event.what, "given_up": event.given_up}
        attempt = self._execution.attempt
        self._history.add(lambda: execution_waits(execution_id=self.execution_id, attempt=attempt, **said))

    def _buffer(self, event: BufferStands) -> None:
        with self._lock:
            self._buffers.note(event)
            self._pending.totals |= self._buffers.columns()

    def _is_due(self, what: str, node_id: str) -> bool:
        now = time.monotonic()
        if now - self._told.get((what, node_id), 0.0) < _PRINTED_SECONDS:
            return False
        self._told[what, node_id] = now
        return True

    # ── what the writer asks ──

    def take(self) -> Reported | None:
        with self._lock:
            taken, self._pending = self._pending, self._nothing()
        return taken if taken.totals or taken.queries or taken.samples or taken.rejected or taken.healthy else None

    def put_back(self, reported: Reported) -> None:
        with self._lock:
            newer = self._pending
            reported.totals |= newer.totals
            reported.queries |= newer.queries
            reported.samples = [*reported.samples, *newer.samples][-600:]
            reported.rejected += newer.rejected
            reported.healthy |= newer.healthy
            self._pending = reported

    def tick(self, seq: int | None, *, last: bool = False) -> None:
        """At most two messages a second, and only when something changed; a sample a second likewise. None after the last."""
        with self._ticking:
            if not self._closed:
                self._closed = last
                self._tick(seq, last=last)

    def _tick(self, seq: int | None, *, last: bool) -> None:
        self._history.write()
        self._seq = max(self._seq, seq or 0)
        with self._lock:
            figures = self._figures()
        facts = tuple(figures[name] for name in ("so_far", "rates", "batch_id", "durations_ms", "buffers", "outdated", "under_way"))
        sent = last or facts != self._last_message
        if sent:
            self._last_message = facts
            self._send(figures)
        self._sample(figures, sent, last=last)

    def _sample(self, figures: dict[str, Any], sent: bool, *, last: bool) -> None:
        """Of each second in which a message was sent the latest figures: what a page that listens draws, it draws again after a reload."""
        if self._held_sample is not None:
            held, held_sent = self._held_sample
            if held["time"].replace(microsecond=0) == figures["time"].replace(microsecond=0):
                sent |= held_sent
            else:
                self._keep(held, held_sent)
        self._held_sample = (figures, sent)
        if last:
            self._keep(figures, sent)

    def _keep(self, figures: dict[str, Any], sent: bool) -> None:
        now = time.monotonic()
        if not sent and now - self._kept_at < IDLE_SECONDS:
            return
        self._kept_at = now
        with self._lock:
            self._pending.samples.append(sample_of(self.execution_id, figures))

    def _figures(self) -> dict[str, Any]:
        newest = max(self._batches.values(), key=lambda batch: batch.at, default=None)
        longest = min(self._under_way.values(), key=lambda batch: batch.since, default=None)
        rates = self._rates.now(under_way=longest is not None)
        state = [state_of(batch.operators) for batch in self._batches.values()]
        return {
            "time": datetime.now(UTC),
            "totals": self._totals,
            "so_far": self._so_far,
            "rates": rates,
            "processed_per_second": newest.processed_per_second if newest and rates["in"] > 0 else 0.0,
            "batch_id": newest.batch_id if newest else None,
            "batch_ms": newest.durations_ms.get("triggerExecution") if newest else None,
            "durations_ms": dict(newest.durations_ms) if newest else {},
            "under_way": longest,
            "backlog": self._buffers.backlog(batch.behind for batch in self._batches.values()),
            "buffers": self._buffers.figures(),
            "watermark": min((batch.watermark for batch in self._batches.values() if batch.watermark), default=""),
            "outdated": self._outdated,
            "state_rows": sum(rows for rows, _ in state),
            "state_bytes": sum(size for _, size in state),
        }

    def _send(self, figures: dict[str, Any]) -> None:
        message = metrics_message(figures, as_of_seq=self._seq)
        broadcast.execution_message(self.execution_id, message, project=self._project)
        rates = broadcast.OverviewRates(
            time=message.time,
            execution_id=self.execution_id,
            job_name=self._execution.job_name,
            in_per_second=message.in_per_second,
            out_per_second=message.out_per_second,
            rejected_per_second=message.rejected_per_second,
            backlog=message.backlog,
        )
        broadcast.overview_message(rates, project=self._project)

    def _nothing(self) -> Reported:
        return Reported(self.execution_id, self._execution.attempt, str(self._execution.generation))


def healthy_seconds(execution: Execution) -> float:
    """How long an attempt must run, in seconds, until what failed before it counts no more."""
    return max(HEALTHY_SECONDS, HEALTHY_INTERVALS * float(execution.resolved.get("checkpoint_interval", 60.0)))
