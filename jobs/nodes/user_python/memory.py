"""The state of one key in memory, with the face of Spark's own: for input that is read whole, where nothing outlives the run."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any

One = tuple[Any, ...]


class MemoryValue:
    def __init__(self) -> None:
        self._value: One | None = None

    def get(self) -> One | None:
        return self._value

    def update(self, value: One) -> None:
        self._value = value

    def clear(self) -> None:
        self._value = None


class MemoryList:
    def __init__(self) -> None:
        self._values: list[One] = []

    def get(self) -> Iterator[One]:
        return iter(self._values)

    def put(self, values: list[One]) -> None:
        self._values = list(values)

    def appendList(self, values: list[One]) -> None:  # noqa: N802
        self._values += values

    def clear(self) -> None:
        self._values = []


class MemoryMap:
    def __init__(self) -> None:
        self._values: dict[One, One] = {}

    def getValue(self, key: One) -> One | None:  # noqa: N802
        return self._values.get(key)

    def updateValue(self, key: One, value: One) -> None:  # noqa: N802
        self._values[key] = value

    def removeKey(self, key: One) -> None:  # noqa: N802
        self._values.pop(key, None)

    def iterator(self) -> Iterator[tuple[One, One]]:
        return iter(list(self._values.items()))

    def clear(self) -> None:
        self._values = {}


class MemoryHandle:
    """What StatefulProcessorHandle is to Spark's tasks. Nothing in it ages: a time to live is that of a stream."""

    def __init__(self) -> None:
        self.timers: set[int] = set()
        self._in_turn: list[int] = []  # a heap, with some that were deleted

    def getValueState(self, name: str, schema: Any, ttl_ms: int | None) -> MemoryValue:  # noqa: N802
        return MemoryValue()

    def getListState(self, name: str, schema: Any, ttl_ms: int | None) -> MemoryList:  # noqa: N802
        return MemoryList()

    def getMapState(self, name: str, key: Any, schema: Any, ttl_ms: int | None) -> MemoryMap:  # noqa: N802
        return MemoryMap()

    def registerTimer(self, at: int) -> None:  # noqa: N802
        if at not in self.timers:
            self.timers.add(at)
            heappush(self._in_turn, at)

    def deleteTimer(self, at: int) -> None:  # noqa: N802
        self.timers.discard(at)

    def earliest(self) -> int | None:
        while self._in_turn and self._in_turn[0] not in self.timers:
            heappop(self._in_turn)
        return self._in_turn[0] if self._in_turn else None

    def latest(self) -> int | None:
        return max(self.timers, default=None)

    def listTimers(self) -> Iterator[int]:  # noqa: N802
        return iter(sorted(self.timers))
