"""How many messages wait in Kafka behind what was read."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from jobs.nodes.backpressure import BackpressureStatus, Buffered
from jobs.nodes.base import ConnectionSettings
from jobs.nodes.connections.kafka_admin import KafkaAdmin

#: The broker is asked no more often.
LOOK_SECONDS = 5.0

#: Topic → partition → next offset, as Spark keeps it.
Position = Mapping[str, Mapping[str, int]]


class KafkaBacklog:
    """What was found is told again until it is time to look anew."""

    def __init__(self, connection: ConnectionSettings, most: int) -> None:
        self._admin = KafkaAdmin(connection)
        self._most = most
        self._looked_at: float | None = None
        self._found: Buffered | None = None

    def look(self, positions: Sequence[Position]) -> Buffered | None:
        """Behind the slowest of `positions`; NodeError when no broker answers, and then silence until the next look."""
        if not positions:
            return None
        now = time.monotonic()
        if self._looked_at is None or now - self._looked_at >= LOOK_SECONDS:
            self._looked_at, self._found = now, None
            self._found = self._stands(_slowest(positions))
        return self._found

    def _stands(self, read: Mapping[tuple[str, int], int]) -> Buffered:
        ends = self._admin.ends(read)
        waiting = sum(max(0, end - read[place]) for place, end in ends.items())
        status: BackpressureStatus = "FAILED" if self._most and waiting > self._most else "OK"
        remedy = f"more than the {self._most:,} that may; make the job faster, or allow more"
        return Buffered(waiting, 0, status, field="max_backlog", remedy=remedy)


def _slowest(positions: Sequence[Position]) -> dict[tuple[str, int], int]:
    slowest: dict[tuple[str, int], int] = {}
    for position in positions:
        for topic, partitions in position.items():
            for number, offset in partitions.items():
                place = (topic, int(number))
                slowest[place] = min(slowest.get(place, offset), offset)
    return slowest
