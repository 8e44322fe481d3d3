"""A person's functions called for a key: with its rows or a timer, with its state, and all of it or none takes effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from jobs.nodes.base import NodeError
from jobs.nodes.user_python.code import FUNCTION
from jobs.nodes.user_python.columns import dicts_taken, shown
from jobs.nodes.user_python.instants import in_zone, instant
from jobs.nodes.user_python.kept import Declared, Guarded, State, Store, StoreFailed
from jobs.nodes.user_python.loaded import RAISED, Code
from jobs.nodes.user_python.rejecting import Made, Rejecting, undeclared
from jobs.nodes.user_python.state_code import ON_TIMER
from jobs.nodes.user_python.timers import TimeMode, Timers, moment


@dataclass(frozen=True)
class KeyedCode:
    """Goes to Spark's workers by value. `names`: the columns that come in; `keys`: those among them that make the key.

    `rejecting.schema`: the columns that go on, the keys first. `order`: the column by which the rows of a call are sorted, or "".
    """

    node_id: str
    code: Code
    names: tuple[str, ...]
    keys: tuple[str, ...]
    rejecting: Rejecting
    declared: tuple[Declared, ...]
    mode: TimeMode = "none"
    order: str = ""
    time_zone: str = "UTC"

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)

    @property
    def outputs(self) -> tuple[str, ...]:
        """What goes on of the key: the columns of `rejecting.schema` with its values."""
        return self.keys

    def instants_of(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """The key of `row`, by which it is told from others."""
        return tuple(instant(row[name]) for name in self.keys)

    def seen(self, instants: tuple[Any, ...]) -> tuple[Any, ...]:
        """The same values as a person's code sees them."""
        return tuple(in_zone(value, self.zone) for value in instants)

    def calls(self) -> KeyCalls:
        """The code, loaded, in one task."""
        return KeyByKey(self)


class KeyCalls(Protocol):
    """A person's functions, called for one key at a time. `handle` and `store` stand at the key of a call."""

    #: So many rows of a key are handed over in one call at most; None: all that came.
    rows_at_once: int | None
    #: Whether a call for one time does what those for earlier times would have done: the latest alone is enough.
    latest_timer_is_enough: bool

    def rows(self, key: tuple[Any, ...], rows: list[dict[str, Any]], handle: Any, store: Store, now_ms: int) -> list[Made]:
        """What goes on for these rows of `key`, every row fitting the schema."""

    def timer(self, key: tuple[Any, ...], at_ms: int, handle: Any, store: Store, now_ms: int) -> list[Made]:
        """What goes on when that time has passed."""


@dataclass(frozen=True)
class _At:
    """Where state and timers are kept, standing at one key, and the time there."""

    handle: Any
    store: Store
    now_ms: int


class KeyByKey:
    """All of what a call does takes effect, or none."""

    rows_at_once: int | None = None
    latest_timer_is_enough = False

    def __init__(self, keyed: KeyedCode) -> None:
        self._keyed, self._zone = keyed, keyed.zone
        self._names = frozenset(keyed.rejecting.schema.names)
        names = keyed.code.names()
        self._process = function_of(names, FUNCTION)
        self._on_timer: Callable[..., Any] | None = names.get(ON_TIMER.name)

    def rows(self, key: tuple[Any, ...], rows: list[dict[str, Any]], handle: Any, store: Store, now_ms: int) -> list[Made]:
        """What goes on for these rows of `key`; all of them rejected, and nothing stored, where the function raises."""
        if order := self._keyed.order:
            rows.sort(key=lambda row: (row[order] is None, instant(row[order])))
        came = [dict(row) for row in rows]  # the function may change them
        return self._called(self._process, key, rows, came, _At(handle, store, now_ms))

    def timer(self, key: tuple[Any, ...], at_ms: int, handle: Any, store: Store, now_ms: int) -> list[Made]:
        """What goes on when that time has passed; where the function raises, a rejected row that holds the key, and nothing stored."""
        assert self._on_timer is not None
        at = moment(at_ms, self._zone)
        return self._called(self._on_timer, key, at, [{**self._of_key(key), "timer": at}], _At(handle, store, now_ms))

    def _called(self, function: Callable[..., Any], key: tuple[Any, ...], given: Any, came: list[dict[str, Any]], at: _At) -> list[Made]:
        rejecting, pieces = self._keyed.rejecting, at.store.pieces()
        timers = Timers(Guarded(at.handle), self._keyed.mode, at.now_ms, self._zone, fires=self._on_timer is not None)
        try:
            made = _rows_of(function(key[0] if len(key) == 1 else key, given, State(pieces), timers))
        except StoreFailed:  # the task is tried again: nothing is wrong with these rows
            raise
        except RAISED as error:
            reason = self._keyed.code.reason(error)
            return rejecting.judged([(row, rejecting.why(reason, row)) for row in came])
        for piece in pieces.values():
            piece.store()
        timers.store()
        return rejecting.judged([self._row(key, one) for one in made])

    def _row(self, key: tuple[Any, ...], made: Mapping[str, Any]) -> Made:
        row = {**made, **self._of_key(key)}
        if made.keys() <= self._names:
            return row, ""
        return row, self._keyed.rejecting.why(undeclared(made, self._names), made)

    def _of_key(self, key: tuple[Any, ...]) -> dict[str, Any]:
        return dict(zip(self._keyed.outputs, key, strict=True))


def function_of(names: Mapping[str, Any], name: str) -> Callable[..., Any]:
    """NodeError where the code, which has run, has no such function."""
    found: Callable[..., Any] | None = names.get(name)
    if not callable(found):
        raise NodeError(f"the Python code has no function {name} when it has run", permanent=True, kind="user", field="code")
    return found


def _rows_of(made: Any) -> list[dict[str, Any]]:
    if made is None:
        return []
    if isinstance(made, dict):
        return [dict(made)]
    if not isinstance(made, list | tuple | Iterator):
        raise TypeError(f"it returned {shown(made)}: yield dicts, or return one, a list of them or None")
    rows = dicts_taken(made)
    for one in rows:
        if not isinstance(one, dict):
            raise TypeError(f"it gave {shown(one)} among its rows: a row is a dict")
    return rows
