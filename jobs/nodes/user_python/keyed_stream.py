"""Key by key in a stream: Spark's transformWithState around a person's functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

import pyarrow as pa
from pyspark.accumulators import Accumulator
from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, StatefulProcessor, StatefulProcessorHandle, TimerValues
from pyspark.sql.types import Row

from jobs.nodes.base import REJECTED
from jobs.nodes.user_python.kept import Guarded, Store, time_read
from jobs.nodes.user_python.keyed import KeyCalls, KeyedCode
from jobs.nodes.user_python.prints import Printed, TaskPrints, output_close
from jobs.nodes.user_python.rejecting import Made
from jobs.nodes.user_python.workers import is_worker_apart
from jobs.nodes.worker_errors import carried_out

#: What Spark calls each way of counting time.
TIME_MODES = {"none": "None", "processing": "ProcessingTime", "event": "EventTime"}


@dataclass
class KeyedProcessor(StatefulProcessor):
    """One in each task. Spark opens it in a process of its own too, to learn of the state: the person's code is not run there.

    `types`: Arrow's types of the columns that come in, in their order.
    """

    keyed: KeyedCode
    types: tuple[pa.DataType, ...]
    _calls: KeyCalls | None = field(default=None, init=False)

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._store = Store.of(handle, self.keyed.declared, self.keyed.zone)
        self._plain = tuple(_plain(kind) for kind in self.types)
        self._out = Row(*self.keyed.rejecting.schema.names, REJECTED)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        made, now = list[Made](), self._now(timerValues)
        with self._in_task() as calls:
            for number, (instants, of_key) in enumerate(self._apart(key, map(self._read, rows))):
                if number > 0:
                    Guarded(self._handle._statefulProcessorApiClient).set_implicit_key(instants)
                made += calls.rows(self.keyed.seen(instants), list(of_key), self._handle, self._store, now)
        yield from map(self._row, made)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[Row]:
        schema, zone = self.keyed.rejecting.schema, self.keyed.zone
        at = expiredTimerInfo.getExpiryTimeInMs()
        with self._in_task() as calls:
            values = tuple(time_read(value, schema.field(name).type, zone) for name, value in zip(self.keyed.outputs, key, strict=True))
            made = calls.timer(values, at, self._handle, self._store, self._now(timerValues))
        yield from map(self._row, made)

    def close(self) -> None:
        """Nothing is left open."""

    def _now(self, values: TimerValues) -> int:
        if self.keyed.mode == "event":
            return values.getCurrentWatermarkInMs()
        return values.getCurrentProcessingTimeInMs()

    def _apart(self, key: Any, rows: Iterator[dict[str, Any]]) -> Iterable[tuple[tuple[Any, ...], Iterable[dict[str, Any]]]]:
        """Spark tells keys apart by Python's wall clock: in the hour that comes twice, rows of two may come as those of one."""
        if not any(isinstance(value, datetime) for value in key):
            return [(tuple(key), rows)]
        return groupby(rows, key=self.keyed.instants_of)

    def _read(self, row: Row) -> dict[str, Any]:
        return {name: plain(value) for name, plain, value in zip(self.keyed.names, self._plain, row, strict=True)}

    def _row(self, made: Made) -> Row:
        row, reason = made
        return self._out(*(row.get(name) for name in self.keyed.rejecting.schema.names), reason or None)

    @contextmanager
    def _in_task(self) -> Iterator[KeyCalls]:
        if self._calls is None:
            self._calls = self.keyed.calls()
        yield self._calls


@dataclass
class JobProcessor(KeyedProcessor):
    """As part of a job: what goes wrong and what is printed is told there."""

    prints: Accumulator[Printed] | None = None
    _task: TaskPrints | None = field(default=None, init=False)

    def close(self) -> None:
        if self._task is not None:
            self._task.tell()

    @contextmanager
    def _in_task(self) -> Iterator[KeyCalls]:
        """Prints are told once a task; when the code cannot be loaded, at once, as the task ends there."""
        if self._task is None:
            self._task = TaskPrints(self.prints)
            if is_worker_apart():
                output_close()
        try:
            with carried_out(self.keyed.node_id), self._task.caught(), super()._in_task() as calls:
                yield calls
        except BaseException:
            self._task.tell()
            raise


def _plain(kind: pa.DataType) -> Callable[[Any], Any]:
    """Arrow hands a map over as pairs, wherever it stands; a row has dicts."""
    if pa.types.is_map(kind):
        item = _plain(kind.item_type)
        return lambda value: None if value is None else {key: item(one) for key, one in value}
    if pa.types.is_list(kind):
        element = _plain(kind.value_type)
        return lambda value: None if value is None else [element(one) for one in value]
    if pa.types.is_struct(kind):
        fields = {field.name: _plain(field.type) for field in kind}
        return lambda value: None if value is None else {name: fields[name](one) for name, one in value.items()}
    return _same


def _same(value: Any) -> Any:
    return value
