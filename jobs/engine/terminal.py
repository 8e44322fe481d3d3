"""An execution on a terminal: what the engine reports as a progress bar, then a table of rows per node."""

from __future__ import annotations

import logging
import threading
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from jobs.engine.events import BatchUnderWay, BatchWritten, EngineEvent, NodeCounts, Noticed, Progressed, RowsPrinted, RowsRejected, Waiting
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Plan


class Display:
    """Hears a Run's events, from any thread. Counts are kept per query and batch, so a batch that runs again counts once."""

    def __init__(self, console: Console, plan: Plan, *, rejected_shown: int) -> None:
        self.stops = 0
        #: For what nodes have to say: rows that are printed come as events.
        self.logger = logging.Logger("pipeline.job", level=logging.WARNING)
        self._console = console
        self._plan = plan
        self._rejected_shown = rejected_shown
        self._names = {step.node_id: step.name for step in plan.steps}
        self._batches: dict[tuple[str, int], BatchWritten] = {}
        self._lock = threading.Lock()
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[counts]}", markup=False),
            TimeElapsedColumn(),
            console=console,
        )
        self._task = self._progress.add_task(plan.job_name, total=None, counts="starting")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def hear(self, event: EngineEvent) -> None:
        with self._lock:
            if isinstance(event, BatchWritten):
                self._batches[(event.query, event.batch_id)] = event
                self._progress.update(self._task, counts=self._counts())
            elif isinstance(event, BatchUnderWay):
                self._progress.update(self._task, counts=f"{self._counts()}; {_under_way(event)}")
            elif isinstance(event, Progressed):
                self._progress.update(self._task, completed=event.done, total=event.total, description=self._name(event.node_id))
            elif isinstance(event, RowsPrinted):
                for row in event.rows:
                    self._say(f"{self._name(event.node_id)}: {row}")
            elif isinstance(event, RowsRejected):
                self._show_rejected(event)
            elif isinstance(event, Noticed):
                self._say(event.message)
            elif isinstance(event, Waiting):
                over = "it is waited for no longer" if event.given_up else "it answers again"
                self._say(f"{self._name(event.node_id)}: {f'waiting for {event.what}' if event.what else over}")

    def stopping(self) -> None:
        self.stops += 1
        self._say("stopping behind this batch; Ctrl-C again stops at once" if self.stops == 1 else "stopping at once")

    def failed(self, failure: ExecutionFailure, *, trace: bool) -> None:
        """The sentence; before it, with `trace`, where it was raised."""
        if trace:
            self._console.print(failure.stack_trace, markup=False, style="dim")
        self._console.print(f"failed: {failure.message}", markup=False, style="bold red")

    def result(self, outcome: str, seconds: float) -> None:
        """The totals per node on the terminal."""
        table = Table(title=f"{self._plan.job_name}: {outcome} in {seconds:.1f} s")
        table.add_column("node")
        for column in ("rows in", "rows out", "rejected"):
            table.add_column(column, justify="right")
        for step in self._plan.steps:
            counts = [batch.nodes[step.node_id] for batch in self._batches.values() if step.node_id in batch.nodes]
            table.add_row(step.name, *_totals(counts))
        self._console.print(table)

    def _show_rejected(self, event: RowsRejected) -> None:
        if self._rejected_shown:
            self._say(f"{self._name(event.node_id)} rejected {event.total} rows in batch {event.batch_id}")
            for row in event.rows[: self._rejected_shown]:
                self._say(f"  {row['reason']}: {row['row']}")

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False)

    def _name(self, node_id: str) -> str:
        return self._names.get(node_id, node_id)

    def _counts(self) -> str:
        read, written, rejected = (
            sum(getattr(batch, name) for batch in self._batches.values()) for name in ("rows_in", "rows_out", "rejected")
        )
        text = f"{read:,} rows in, {written:,} out"
        return f"{text}, {rejected:,} rejected" if rejected else text


def _under_way(event: BatchUnderWay) -> str:
    rows = f", {event.rows_in:,} rows so far" if event.rows_in else ""
    tasks = f", {event.done:,} of {event.tasks:,} tasks" if event.tasks else ""
    return f"batch {event.batch_id} for {event.seconds:.0f} s{rows}{tasks}"


def _totals(counts: list[NodeCounts]) -> tuple[str, str, str]:
    def total(values: list[int | None]) -> str:
        known = [value for value in values if value is not None]
        return f"{sum(known):,}" if known else ""

    return (
        total([one.rows_in for one in counts]),
        total([one.rows_out for one in counts]),
        total([one.rejected or None for one in counts]),
    )
