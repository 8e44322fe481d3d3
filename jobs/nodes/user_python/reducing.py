"""A person's functions that take the rows of a window, one after the other, into one value."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from typing import Any

from jobs.nodes.base import NodeError
from jobs.nodes.user_python.columns import shown
from jobs.nodes.user_python.instants import instant
from jobs.nodes.user_python.kept import Guarded, Store, Value
from jobs.nodes.user_python.keyed import KeyedCode, function_of
from jobs.nodes.user_python.loaded import RAISED, Code
from jobs.nodes.user_python.plain_values import plain_text, plain_value
from jobs.nodes.user_python.rejecting import Made, undeclared
from jobs.nodes.user_python.timers import milliseconds_of
from jobs.nodes.windows import CLOCK

#: Columns beside a person's own: Spark's window, by which it knows what comes too late, and its bounds.
WINDOW = "__window"
START = "__start"
END = "__end"
_BESIDE = (WINDOW, START, END, CLOCK)
_BOUNDS = {START: "window_start", END: "window_end"}
#: The piece of state.
VALUE = "value"
_ROWS_AT_ONCE = 10_000
_GONE = object()


@dataclass(frozen=True)
class ReducedCode(KeyedCode):
    """`keys`: START, END and the columns to group by; of sessions only those. `gap_ms`: of a session, else 0.

    `updates`: a window goes on each time rows came to it, and not when it closes.
    """

    gap_ms: int = 0
    updates: bool = False

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(_BOUNDS.get(name, name) for name in self.keys)

    def calls(self) -> Windows:
        return Sessions(self) if self.gap_ms else Windows(self)


class Reducer:
    """The functions of `code`, loaded."""

    def __init__(self, code: Code, *, merges: bool) -> None:
        names = code.names()
        self.code = code
        self.result = function_of(names, "result")
        self._start, self._add = function_of(names, "start"), function_of(names, "add")
        self._merge = function_of(names, "merge") if merges else None

    def value_of(self, kept: str | None, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Of a window that was `kept`, with `rows` that did not fail before."""
        with self.code.told():
            value = self._start() if kept is None else plain_value(kept)
            for row in rows:
                value = self.added(value, row)
        return value

    def added(self, value: Any, row: Mapping[str, Any]) -> Any:
        value = self._add(value, dict(row))
        if value is None:
            raise TypeError("add returned None: return the value with the row in it")
        return value

    def merged(self, values: Sequence[Any]) -> Any:
        assert self._merge is not None
        value = reduce(self._merge, values)
        if value is None:
            raise TypeError("merge returned None: return the value of both")
        return value

    def text_of(self, value: Any) -> str:
        try:
            return plain_text(value)
        except TypeError as error:
            raise NodeError(f"the value of a window: {error}", permanent=True, kind="user", field="code") from None


class Folded:
    """The value of one window. A row for which `add` raises leaves it as it was, whatever was done to it before."""

    def __init__(self, reducer: Reducer, kept: str | None = None, value: Any = _GONE) -> None:
        self._reducer, self._kept, self._value = reducer, kept, value
        self._since: list[Mapping[str, Any]] = []

    @property
    def is_empty(self) -> bool:
        return self._kept is None and not self._since

    def value(self) -> Any:
        if self._value is _GONE:
            self._value = self._reducer.value_of(self._kept, self._since)
            if self._since:
                self._kept, self._since = self._reducer.text_of(self._value), []
        return self._value

    def add(self, row: Mapping[str, Any]) -> str:
        """Why the row is rejected, or ""."""
        try:
            self._value = self._reducer.added(self.value(), row)
        except NodeError:
            raise
        except RAISED as error:
            self.begin_anew()
            return self._reducer.code.reason(error)
        self._since.append(row)
        return ""

    def begin_anew(self) -> None:
        """Something may have been done to the value that does not count."""
        self._value = _GONE

    def text(self) -> str:
        if self._kept is not None and not self._since:
            return self._kept
        return self._reducer.text_of(self.value())


class Windows:
    """The value of a window is kept as text until its end has passed."""

    rows_at_once: int | None = _ROWS_AT_ONCE
    latest_timer_is_enough = False

    def __init__(self, keyed: ReducedCode) -> None:
        self._keyed, self._rejecting = keyed, keyed.rejecting
        self._reducer = Reducer(keyed.code, merges=bool(keyed.gap_ms))
        self._names = frozenset(keyed.rejecting.schema.names)

    def rows(self, key: tuple[Any, ...], rows: list[dict[str, Any]], handle: Any, store: Store, now_ms: int) -> list[Made]:
        piece = _piece(store)
        kept = piece.get()
        folded = Folded(self._reducer, kept)
        made = [self._left_out(key, own, reason) for own in map(_own, self._in_order(rows)) if (reason := folded.add(own))]
        if not folded.is_empty and (now := folded.text()) != kept:
            piece.set(now)
            piece.store()
            if kept is None:
                Guarded(handle).registerTimer(_closing_ms(rows[0][END]))
            if self._keyed.updates:
                made.append(self._told(key, now))
        return self._rejecting.judged(made)

    def timer(self, key: tuple[Any, ...], at_ms: int, handle: Any, store: Store, now_ms: int) -> list[Made]:
        piece = _piece(store)
        kept = piece.get()
        piece.clear()
        piece.store()
        return [] if self._keyed.updates else self._rejecting.judged([self._told(key, kept)])

    def _in_order(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        order = self._keyed.order
        return sorted(rows, key=lambda row: instant(row[order]))

    def _told(self, key: tuple[Any, ...], kept: str) -> Made:
        """`key`: the bounds of the window, then the values to group by."""
        of_window = self._of_window(key)
        try:
            made = self._reducer.result(plain_value(kept))
            if not isinstance(made, dict):
                raise TypeError(f"result returned {shown(made)}: return a dict of the columns")
        except RAISED as error:
            return self._refused({**of_window, "value": plain_value(kept)}, self._reducer.code.reason(error))
        if not made.keys() <= self._names:
            return self._refused({**made, **of_window}, undeclared(made, self._names))
        return {**made, **of_window}, ""

    def _of_window(self, key: tuple[Any, ...]) -> dict[str, Any]:
        grouped = (name for name in self._keyed.keys if name not in _BOUNDS)
        return dict(zip((*_BOUNDS.values(), *grouped), key, strict=True))

    def _left_out(self, key: tuple[Any, ...], row: Mapping[str, Any], reason: str) -> Made:
        """Of one of its windows: where they overlap, others may hold it, and each of those that do not tells so."""
        return {**row, **self._of_window(key)}, self._rejecting.why(reason, row)

    def _refused(self, row: Mapping[str, Any], reason: str) -> Made:
        return row, self._rejecting.why(reason, row)


@dataclass
class _Session:
    """Its bounds are instants."""

    start: datetime
    end: datetime
    folded: Folded


class Sessions(Windows):
    """All open sessions of a group are kept together. Those that a row brings together become one, the earliest first."""

    latest_timer_is_enough = True

    def rows(self, key: tuple[Any, ...], rows: list[dict[str, Any]], handle: Any, store: Store, now_ms: int) -> list[Made]:
        piece = _piece(store)
        sessions, made = self._read(piece), list[Made]()
        for row in self._in_order(rows):
            start, own = instant(row[self._keyed.order]), _own(row)
            if reason := self._take(sessions, own, start, start + timedelta(milliseconds=self._keyed.gap_ms)):
                made.append(self._refused(own, reason))
        self._write(sessions, piece, handle)
        return self._rejecting.judged(made)

    def timer(self, key: tuple[Any, ...], at_ms: int, handle: Any, store: Store, now_ms: int) -> list[Made]:
        piece = _piece(store)
        sessions = self._read(piece)
        over = [one for one in sessions if _closing_ms(one.end) <= at_ms]
        self._write([one for one in sessions if _closing_ms(one.end) > at_ms], piece, handle, fired=at_ms)
        bounds = [self._keyed.seen((one.start, one.end)) for one in over]
        return self._rejecting.judged([self._told((*ends, *key), one.folded.text()) for ends, one in zip(bounds, over, strict=True)])

    def _take(self, sessions: list[_Session], row: dict[str, Any], start: datetime, end: datetime) -> str:
        """Why the row is rejected, or "". `sessions` follow one another with gaps between: those that it meets stand together."""
        first = bisect_left(sessions, start, key=lambda one: one.end)
        behind = bisect_right(sessions, end, key=lambda one: one.start)
        met = sessions[first:behind]
        folded, reason = self._folded([one.folded for one in met])
        if reason := reason or folded.add(row):
            for one in met:
                one.folded.begin_anew()
            return reason
        bounds = [start, *(one.start for one in met)], [end, *(one.end for one in met)]
        sessions[first:behind] = [_Session(min(bounds[0]), max(bounds[1]), folded)]
        return ""

    def _folded(self, met: list[Folded]) -> tuple[Folded, str]:
        if len(met) < 2:
            return (met[0] if met else Folded(self._reducer)), ""
        try:
            value = self._reducer.merged([one.value() for one in met])
        except NodeError:
            raise
        except RAISED as error:
            return met[0], self._reducer.code.reason(error)
        return Folded(self._reducer, self._reducer.text_of(value), value), ""

    def _read(self, piece: Value) -> list[_Session]:
        read = plain_value(piece.get("[]"))
        return [_Session(instant(start), instant(end), Folded(self._reducer, kept)) for start, end, kept in read]

    def _write(self, sessions: list[_Session], piece: Value, handle: Any, fired: int | None = None) -> None:
        """With a timer for each end, and no others. Spark takes away the one that `fired`, and warns where it is gone before."""
        if sessions:
            piece.set(plain_text([[one.start, one.end, one.folded.text()] for one in sessions]))
        else:
            piece.clear()
        piece.store()
        timers, wanted = Guarded(handle), {_closing_ms(one.end) for one in sessions}
        known = {int(at) for at in timers.listTimers()}
        for at in known - wanted - {fired}:
            timers.deleteTimer(at)
        for at in wanted - known:
            timers.registerTimer(at)


def _piece(store: Store) -> Value:
    piece = store.pieces()[VALUE]
    assert isinstance(piece, Value)
    return piece


def _own(row: dict[str, Any]) -> dict[str, Any]:
    """A person's own columns."""
    return {name: value for name, value in row.items() if name not in _BESIDE}


def _closing_ms(end: datetime) -> int:
    """The first millisecond at which no row of a window that ends there is left to come."""
    return milliseconds_of(end + timedelta(microseconds=999))
