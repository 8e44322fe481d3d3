"""What is kept for a key, as a person's Python holds it: changes wait until its function has returned, then all of them are stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from jobs.nodes.user_python.columns import UNFIT, array_of, shown, type_words
from jobs.nodes.user_python.instants import instant
from jobs.nodes.user_python.state_code import unknown_state

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_GONE = object()


@dataclass(frozen=True)
class Declared:
    """A piece of state. `value`, `key`: the Spark schema of one column in which it is stored, and Arrow's type of that column."""

    name: str
    kind: Literal["value", "list", "map"]
    value: StructType
    value_type: pa.DataType
    key: StructType | None = None
    key_type: pa.DataType | None = None
    ttl_ms: int | None = None


@dataclass(frozen=True)
class _Column:
    """Values of one type on their way in and out of the store."""

    name: str
    type: pa.DataType
    zone: tzinfo

    def stored(self, value: Any) -> tuple[Any]:
        """TypeError, in words, where `value` is of another type."""
        if value is None:
            raise TypeError(f"{self.name} cannot be None: clear or remove it instead")
        try:
            return (array_of([value], self.type)[0].as_py(),)
        except UNFIT:
            raise TypeError(f"{self.name}: {shown(value)} is no {type_words(self.type)}") from None

    def read(self, stored: Sequence[Any]) -> Any:
        return time_read(stored[0], self.type, self.zone)


def time_read(value: Any, kind: pa.DataType, zone: tzinfo) -> Any:
    """A moment comes out of Spark's state in the machine's own zone, without saying so."""
    if isinstance(value, datetime) and pa.types.is_timestamp(kind) and kind.tz is not None:
        return value.astimezone(zone)
    return value


class Value:
    """One value of a key."""

    def __init__(self, stored: Any, column: _Column) -> None:
        self._stored, self._column = stored, column
        self._now: Any = _GONE  # as it was read or changed to, None: there is none
        self._changed = False

    def get(self, default: Any = None) -> Any:
        """What was set last, `default` where nothing was."""
        if self._now is _GONE:
            found = self._stored.get()
            self._now = None if found is None else self._column.read(found)
        return default if self._now is None else self._now

    def set(self, value: Any) -> None:
        (self._now,) = self._column.stored(value)
        self._changed = True

    def clear(self) -> None:
        self._now, self._changed = None, True

    def store(self) -> None:
        if self._changed and self._now is None:
            self._stored.clear()
        elif self._changed:
            self._stored.update((self._now,))


class List:
    """Several values of a key, in the order in which they were appended."""

    def __init__(self, stored: Any, column: _Column) -> None:
        self._stored, self._column = stored, column
        self._before: list[Any] | None = None  # not read yet
        self._appended: list[Any] = []
        self._replaced = False

    def get(self) -> list[Any]:
        """All of them; empty where there are none."""
        if self._before is None:
            self._before = [self._column.read(value) for value in self._stored.get()]
        return [*self._before, *self._appended]

    def append(self, value: Any) -> None:
        self._appended.append(self._column.stored(value)[0])

    def extend(self, values: Iterable[Any]) -> None:
        for value in values:
            self.append(value)

    def set(self, values: Iterable[Any]) -> None:
        made = [self._column.stored(value)[0] for value in values]
        self._before, self._appended, self._replaced = [], made, True

    def clear(self) -> None:
        self.set(())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def __len__(self) -> int:
        return len(self.get())

    def store(self) -> None:
        made = [(value,) for value in self._appended]
        if self._replaced:
            self._stored.put(made) if made else self._stored.clear()
        elif made:
            self._stored.appendList(made)


class Map:
    """Values of a key by keys of their own, which are stored as instants."""

    def __init__(self, stored: Any, keys: _Column, values: _Column) -> None:
        self._stored, self._keys, self._values = stored, keys, values
        self._known: dict[Any, Any] = {}  # read or changed; _GONE: it is not there
        self._changed: set[Any] = set()
        self._cleared = False

    def get(self, key: Any, default: Any = None) -> Any:
        key = self._instant(key)
        if key not in self._known:
            found = None if self._cleared else self._stored.getValue((key,))
            self._known[key] = _GONE if found is None else self._values.read(found)
        return default if self._known[key] is _GONE else self._known[key]

    def put(self, key: Any, value: Any) -> None:
        self._change(key, self._values.stored(value)[0])

    def remove(self, key: Any) -> None:
        """Nothing happens where it is not there."""
        self._change(key, _GONE)

    def clear(self) -> None:
        self._known, self._changed, self._cleared = {}, set(), True

    def items(self) -> list[tuple[Any, Any]]:
        stored = () if self._cleared else self._stored.iterator()
        found = {instant(self._keys.read(key)): self._values.read(value) for key, value in stored} | self._known
        return [(self._keys.read((key,)), value) for key, value in found.items() if value is not _GONE]

    def __contains__(self, key: Any) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self.items()])

    def __len__(self) -> int:
        return len(self.items())

    def _instant(self, key: Any) -> Any:
        return instant(self._keys.stored(key)[0])

    def _change(self, key: Any, value: Any) -> None:
        key = self._instant(key)
        self._known[key] = value
        self._changed.add(key)

    def store(self) -> None:
        if self._cleared:
            self._stored.clear()
        for key in self._changed:
            value = self._known[key]
            if value is not _GONE:
                self._stored.updateValue((key,), (value,))
            elif not self._cleared:
                self._stored.removeKey((key,))


class State:
    """`state.NAME` is what is kept under a declared name."""

    __slots__ = ("_pieces",)
    _pieces: Mapping[str, Value | List | Map]

    def __init__(self, pieces: Mapping[str, Value | List | Map]) -> None:
        object.__setattr__(self, "_pieces", pieces)

    def __getattr__(self, name: str) -> Any:
        """A Value, a List or a Map."""
        try:
            return self._pieces[name]
        except KeyError:
            raise AttributeError(unknown_state(name, self._pieces)) from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"state.{name} cannot be assigned: write state.{name}.set(…)")


@dataclass(frozen=True)
class Store:
    """Spark's state of a task, or something with the same face: `stored` by name. It stands at one key at a time."""

    declared: tuple[Declared, ...]
    stored: Mapping[str, Any]
    zone: tzinfo

    @classmethod
    def of(cls, handle: Any, declared: tuple[Declared, ...], zone: tzinfo) -> Store:
        """`handle`: Spark's StatefulProcessorHandle."""
        return cls(declared, {one.name: Guarded(_opened(handle, one)) for one in declared}, zone)

    def pieces(self) -> dict[str, Value | List | Map]:
        """Of the key at which it stands now, nothing read yet."""
        return {one.name: self._piece(one) for one in self.declared}

    def _piece(self, one: Declared) -> Value | List | Map:
        stored, column = self.stored[one.name], _Column(f"state.{one.name}", one.value_type, self.zone)
        if one.kind == "map":
            return Map(stored, _Column(f"a key of state.{one.name}", one.key_type, self.zone), column)
        return Value(stored, column) if one.kind == "value" else List(stored, column)


class StoreFailed(BaseException):
    """Spark's own store failed: that is no fault of a row, and a person's code does not catch it."""


class Guarded:
    """Spark's handle of state or timers, whose failures leave as StoreFailed."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._handle, name)

        def called(*arguments: Any) -> Any:
            try:
                found = method(*arguments)
                return list(found) if isinstance(found, Iterator) else found
            except Exception as error:
                raise StoreFailed(f"the store of state failed: {type(error).__name__}: {error}") from error

        return called


def _opened(handle: Any, one: Declared) -> Any:
    match one.kind:
        case "value":
            return handle.getValueState(one.name, one.value, one.ttl_ms)
        case "list":
            return handle.getListState(one.name, one.value, one.ttl_ms)
        case "map":
            return handle.getMapState(one.name, one.key, one.value, one.ttl_ms)
