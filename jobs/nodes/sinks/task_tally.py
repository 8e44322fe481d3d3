"""What tasks that send rows themselves tell of them, and what a sink makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from jobs.nodes.base import Written
from jobs.nodes.rejected_rows import RejectedPart, RejectedRows
from jobs.nodes.user_python.workers import in_workers_shared
from jobs.nodes.worker_errors import node_error_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: One row with the counts, then rejected rows with their reason.
RESULT = "sent long, rejected long, reason string, row string"
SAMPLE_ROWS = 100
_ROW_CHARACTERS = 10_000


@dataclass
class TaskTally:
    """Counts of a task. Of what was rejected it keeps `samples` rows; `every` takes all."""

    samples: int
    every: RejectedPart | None = None
    sent: int = 0
    rejected: int = 0
    kept: list[tuple[str, str]] = field(default_factory=list)

    def add(self, rows: Sequence[str], reason: str = "") -> None:
        """Rows as texts; with a `reason` they were rejected."""
        if not reason:
            self.sent += len(rows)
            return
        self.rejected += len(rows)
        if self.every is not None:
            for row in rows:
                self.every.add(reason, row)
        room = self.samples - len(self.kept)
        self.kept += [(reason, row[:_ROW_CHARACTERS]) for row in rows[: max(0, room)]]

    def as_batch(self) -> pa.RecordBatch:
        rows = [(self.sent, self.rejected, None, None), *((0, 0, reason, row) for reason, row in self.kept)]
        types = (pa.int64(), pa.int64(), pa.string(), pa.string())
        columns = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), types, strict=True)]
        return pa.RecordBatch.from_arrays(columns, names=["sent", "rejected", "reason", "row"])


@contextmanager
def task_tally(samples: int, rejections: RejectedRows | None) -> Iterator[TaskTally]:
    """In a task: `rejections` take what it rejects; a task that is tried again begins its part anew."""
    from pyspark import TaskContext

    task = TaskContext.get()
    with rejections.part(str(task.partitionId() if task is not None else 0)) if rejections else nullcontext() as part:
        yield TaskTally(samples, part)


class Sender(Protocol):
    """Goes to the tasks by value."""

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Sends the rows of `batches`; what comes out has the columns of RESULT."""


def sent_by_tasks(frame: DataFrame, sender: Sender) -> Written:
    """Every task of `frame` sends its own rows. What a task raised as NodeError is raised here."""
    from pyspark.errors import PySparkException

    try:
        sent = in_workers_shared(lambda: frame.mapInArrow(lambda batches: sender.run(batches), RESULT))
        results: list[Any] = sent.collect()
    except PySparkException as error:
        carried = node_error_in(str(error))
        if carried is None:
            raise
        raise carried.error from None
    rejected_rows = tuple((row.reason, row.row) for row in results if row.reason is not None)
    return Written(
        rows=sum(row.sent for row in results), rejected=sum(row.rejected for row in results), rejected_rows=rejected_rows[:SAMPLE_ROWS]
    )
