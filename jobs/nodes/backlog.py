"""How many messages wait in a system's own log behind what was read, and which of them to skip where too many do."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jobs.nodes.backpressure import Backpressure, BackpressureStatus, Buffered, Skip, Strategy
from jobs.nodes.node_error import NodeError

#: The system is asked no more often.
LOOK_SECONDS = 5.0
_SKIPPING: tuple[Strategy, ...] = ("DROP", "LATEST")

#: The keys that lead to a number in a position.
Place = tuple[str, ...]


class Backlog:
    """The system is asked now and then; meanwhile `look` goes by what it said last. `pressure` is about what waits at all places together.

    A position says the next offset of each place, as numbers in dictionaries. `ends` tells the offset behind the newest message of those
    places that are there; `fault`, asked at each look, what ends the run whatever waits. What they raise, `look` and `skip` raise.
    """

    def __init__(
        self,
        ends: Callable[[Collection[Place]], Mapping[Place, int]],
        pressure: Backpressure,
        fault: Callable[[Sequence[Any]], NodeError | None] = lambda positions: None,
    ) -> None:
        self._ends, self._pressure, self._fault = ends, pressure, fault
        self._looked_at: float | None = None
        self._seen: Mapping[Place, int] | None = None
        self._found_fault: NodeError | None = None

    def look(self, positions: Sequence[Any]) -> Buffered | None:
        """Behind the slowest of `positions`. After a look that raised there is silence until the next one."""
        if not positions:  # what is skipped is counted from here on
            return Buffered(0, 0, "OK") if self._pressure.strategy in _SKIPPING else None
        read = _slowest(positions)
        now = time.monotonic()
        if self._looked_at is None or now - self._looked_at >= LOOK_SECONDS:
            self._looked_at, self._seen = now, None
            self._seen, self._found_fault = self._ends(read.keys()), self._fault(positions)
        return None if self._seen is None else replace(self._stands(_waiting(read, self._seen)), fault=self._found_fault)

    def skip(self, positions: Sequence[Any]) -> Skip | None:
        """Where more wait behind the slowest of `positions` than may: LATEST keeps the newest of them, DROP the oldest."""
        if self._pressure.strategy not in _SKIPPING:
            return None
        read = _slowest(positions)
        waiting = _waiting(read, self._ends(read.keys()))
        most = self._pressure.buffer_size
        if sum(waiting.values()) <= most:
            return None
        kept = _spread(most, waiting)
        ends = {place: read[place] + waiting[place] for place in waiting}
        if self._pressure.strategy == "LATEST":
            begins, ends = read, {place: ends[place] - kept[place] for place in ends}
        else:
            begins = {place: read[place] + kept[place] for place in ends}
        return Skip(_all_moved(positions, begins), _all_moved(positions, ends), sum(waiting.values()) - most)

    def _stands(self, places: Mapping[Place, int]) -> Buffered:
        waiting, most = sum(places.values()), self._pressure.buffer_size
        over: Mapping[str, BackpressureStatus] = {**dict.fromkeys(_SKIPPING, "DROPPING"), "ERROR": "FAILED"}
        status = over.get(self._pressure.strategy, "OK") if waiting > most else "OK"
        remedy = f"more than the {most:,} that may; make the job faster, or allow more"
        return Buffered(waiting, 0, status, field="max_backlog", remedy=remedy)


def widened(skip: Skip, fresh: Skip) -> Skip:
    """`skip`, further on where by now, as `fresh` says, more would have to go for no more to wait than may."""
    more = fresh.messages - skip.messages
    (ahead,), (newest,) = skip.positions, fresh.positions
    ends = dict(_offsets(ahead))
    came = {place: offset - ends[place] for place, offset in _offsets(newest) if place in ends}
    if not 0 < more <= sum(came.values()):
        return skip
    further = {place: ends[place] + number for place, number in _spread(more, came).items()}
    return Skip(skip.begins, _all_moved(skip.positions, further), fresh.messages)


class ReadsLog(ABC):
    """A source of a system that keeps its messages itself."""

    _log_behind: Backlog | None = None

    @abstractmethod
    def backlog(self, context: Any) -> Backlog | None:
        """Of a stream; None where nobody needs to know what waits."""

    def buffered(self, context: Any, positions: Sequence[Any] = ()) -> Buffered | None:
        behind = None if context.bounded else self._behind(context)
        return behind.look(positions) if behind else None

    def skip(self, context: Any, positions: Sequence[Any]) -> Skip | None:
        behind = self._behind(context)
        return behind.skip(positions) if behind else None

    def _behind(self, context: Any) -> Backlog | None:
        self._log_behind = self._log_behind or self.backlog(context)
        return self._log_behind


def _waiting(read: Mapping[Place, int], ends: Mapping[Place, int]) -> dict[Place, int]:
    """What waits at each place that is there."""
    return {place: max(0, ends[place] - offset) for place, offset in read.items() if place in ends}


def _slowest(positions: Sequence[Any]) -> dict[Place, int]:
    slowest: dict[Place, int] = {}
    for position in positions:
        for place, offset in _offsets(position):
            slowest[place] = min(slowest.get(place, offset), offset)
    return slowest


def _offsets(position: Any, place: Place = ()) -> Iterator[tuple[Place, int]]:
    if isinstance(position, dict):
        for key, there in position.items():
            yield from _offsets(there, (*place, key))
    else:
        yield place, int(position)


def _spread(most: int, waiting: Mapping[Place, int]) -> dict[Place, int]:
    """`most` in whole numbers over the places, as what waits at each: it is no more than waits at all of them."""
    total = sum(waiting.values())
    spread = {place: number * most // total for place, number in waiting.items()}
    by_rest = sorted(waiting, key=lambda place: (-(waiting[place] * most % total), place))
    for place in by_rest[: most - sum(spread.values())]:
        spread[place] += 1
    return spread


def _all_moved(positions: Sequence[Any], ahead: Mapping[Place, int]) -> tuple[Any, ...]:
    return tuple(_moved(position, ahead) for position in positions)


def _moved(position: Any, ahead: Mapping[Place, int], place: Place = ()) -> Any:
    """`position`, nowhere behind `ahead`."""
    if isinstance(position, dict):
        return {key: _moved(there, ahead, (*place, key)) for key, there in position.items()}
    return max(position, ahead.get(place, position))
