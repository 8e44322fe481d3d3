"""How many messages wait in Kafka behind what was read, and which of them to skip where too many do."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from jobs.nodes.backpressure import Backpressure, BackpressureStatus, Buffered, Skip, Strategy
from jobs.nodes.base import NodeError
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.sources.kafka_topics import KnownTopics

#: The broker is asked no more often.
LOOK_SECONDS = 5.0
_SKIPPING: tuple[Strategy, ...] = ("DROP", "LATEST")

#: Topic → partition → next offset, as Spark keeps it.
Position = Mapping[str, Mapping[str, int]]
Place = tuple[str, int]


class KafkaBacklog:
    """What `look` found is told again until it is time to look anew. `pressure` is about what waits over all partitions."""

    def __init__(self, admin: KafkaAdmin, pressure: Backpressure, known: KnownTopics | None) -> None:
        """`known`: the topics that have to stay those they are; None where whatever is there is read."""
        self._admin = admin
        self._pressure = pressure
        self._known = known
        self._looked_at: float | None = None
        self._found: Buffered | None = None

    def look(self, positions: Sequence[Position]) -> Buffered | None:
        """Behind the slowest of `positions`; NodeError when no broker answers, and then silence until the next look."""
        if not positions:  # what is skipped is counted from here on
            return Buffered(0, 0, "OK") if self._pressure.strategy in _SKIPPING else None
        now = time.monotonic()
        if self._looked_at is None or now - self._looked_at >= LOOK_SECONDS:
            self._looked_at, self._found = now, None
            self._found = replace(self._stands(positions), fault=self._fault(positions))
        return self._found

    def _fault(self, positions: Sequence[Position]) -> NodeError | None:
        if self._known is None:
            return None
        self._known.keep({topic for position in positions for topic in position}, anew=False)
        return self._known.remade()

    def skip(self, positions: Sequence[Position]) -> Skip | None:
        """Where more wait behind the slowest of `positions` than may: LATEST keeps the newest, DROP the oldest. NodeError as `look`."""
        if self._pressure.strategy not in _SKIPPING:
            return None
        read = _slowest(positions)
        waiting = self._waiting(read)
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

    def _stands(self, positions: Sequence[Position]) -> Buffered:
        waiting, most = sum(self._waiting(_slowest(positions)).values()), self._pressure.buffer_size
        over: Mapping[str, BackpressureStatus] = {**dict.fromkeys(_SKIPPING, "DROPPING"), "ERROR": "FAILED"}
        status = over.get(self._pressure.strategy, "OK") if waiting > most else "OK"
        remedy = f"more than the {most:,} that may; make the job faster, or allow more"
        return Buffered(waiting, 0, status, field="max_backlog", remedy=remedy)

    def _waiting(self, read: Mapping[Place, int]) -> dict[Place, int]:
        return {place: max(0, end - read[place]) for place, end in self._admin.ends(read).items()}


def _slowest(positions: Sequence[Position]) -> dict[Place, int]:
    slowest: dict[Place, int] = {}
    for position in positions:
        for topic, partitions in position.items():
            for number, offset in partitions.items():
                place = (topic, int(number))
                slowest[place] = min(slowest.get(place, offset), offset)
    return slowest


def _spread(most: int, waiting: Mapping[Place, int]) -> dict[Place, int]:
    """`most` in whole numbers over the places, as what waits at each: it is less than waits at all of them."""
    total = sum(waiting.values())
    spread = {place: number * most // total for place, number in waiting.items()}
    by_rest = sorted(waiting, key=lambda place: (-(waiting[place] * most % total), place))
    for place in by_rest[: most - sum(spread.values())]:
        spread[place] += 1
    return spread


def _all_moved(positions: Sequence[Position], ahead: Mapping[Place, int]) -> tuple[Position, ...]:
    return tuple(_moved(position, ahead) for position in positions)


def _moved(position: Position, ahead: Mapping[Place, int]) -> Position:
    """`position`, nowhere behind `ahead`."""
    return {
        topic: {number: max(offset, ahead.get((topic, int(number)), offset)) for number, offset in partitions.items()}
        for topic, partitions in position.items()
    }
