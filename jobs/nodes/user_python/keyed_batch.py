"""Key by key over rows that are all there: the same functions with state in memory, which ends with the rows of its key."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import pyarrow as pa
from pyspark.accumulators import Accumulator

from jobs.nodes.base import NodeError
from jobs.nodes.user_python.kept import Store
from jobs.nodes.user_python.keyed import KeyCalls, KeyedCode
from jobs.nodes.user_python.loaded import UserCode
from jobs.nodes.user_python.memory import MemoryHandle
from jobs.nodes.user_python.prints import Printed, output_close, printed_to
from jobs.nodes.user_python.rejecting import Made
from jobs.nodes.user_python.workers import is_worker_apart
from jobs.nodes.worker_errors import carried_out

#: Rows that go on to Spark at a time.
_AT_ONCE = 10_000
#: So many timers of one key may be set by timers once its rows have been read: one that sets the next has no end.
MOST_TIMERS = 10_000


@dataclass(frozen=True)
class KeyedTask:
    """As part of a job: what goes wrong and what is printed is told there. `clock_ms`: a test's clock, else the machine's own goes."""

    keyed: KeyedCode
    code: UserCode
    seconds: float | None
    prints: Accumulator[Printed] | None = None
    clock_ms: int | None = None

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if is_worker_apart():
            output_close()
        with carried_out(self.keyed.node_id), printed_to(self.prints, limited=bool(self.seconds)), self.code.ended_after(self.seconds):
            yield from KeyedRows(self.keyed, self.clock_ms).run(batches)


@dataclass(frozen=True)
class KeyedRows:
    """Rows of a key, with numbered columns, must follow one another. When they have been read, all its timers fire, the earliest first:
    nothing comes after."""

    keyed: KeyedCode
    clock_ms: int | None = None

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        calls = self.keyed.calls()
        waiting: list[Made] = []
        for instants, rows in groupby(self._rows(batches), key=self.keyed.instants_of):
            waiting += self._of_key(calls, self.keyed.seen(instants), rows)
            if len(waiting) >= _AT_ONCE:
                yield self.keyed.rejecting.batch(waiting)
                waiting = []
        if waiting:
            yield self.keyed.rejecting.batch(waiting)

    def _rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
        for batch in batches:
            yield from batch.rename_columns(list(self.keyed.names)).to_pylist(maps_as_pydicts="lossy")

    def _of_key(self, calls: KeyCalls, key: tuple[Any, ...], rows: Iterator[dict[str, Any]]) -> list[Made]:
        handle = MemoryHandle()
        store = Store.of(handle, self.keyed.declared, self.keyed.zone)
        now = -1 if self.keyed.mode == "event" else self._now()
        made: list[Made] = []
        while part := list(islice(rows, calls.rows_at_once)):
            made += calls.rows(key, part, handle, store, now)
        left = len(handle.timers) + MOST_TIMERS
        while (at := handle.latest() if calls.latest_timer_is_enough else handle.earliest()) is not None:
            if left == 0:
                message = f"its timers do not end: after those of a key's rows {MOST_TIMERS:,} more of them fired, which timers had set"
                raise NodeError(message, permanent=True, kind="user", field="code")
            left -= 1
            made += calls.timer(key, at, handle, store, max(now, at))
            handle.deleteTimer(at)
        return made

    def _now(self) -> int:
        return int(time.time() * 1000) if self.clock_ms is None else self.clock_ms
