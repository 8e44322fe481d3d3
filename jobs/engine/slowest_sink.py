"""Which of several sinks the batches of a query wait for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from jobs.engine.events import Noticed

#: A sink is named that took so much of the time of all sinks, in so many batches in a row, and so long in each.
_SHARE, _BATCHES, _LEAST_SECONDS = 0.6, 3, 1.0


@dataclass
class SlowestSink:
    """Watches the batches of one query. One thread at a time."""

    _before: dict[str, float] = field(default_factory=dict)
    _slowest: str = ""
    _in_a_row: int = 0
    _told: str = ""

    def last(self, sinks: Iterable[str]) -> list[str]:
        """`sinks` with the slowest of the batch before at the end.

        The first one has the rows read and computed, and its time counts that in: one that is slow at the end is slow by itself.
        """
        return sorted(sinks, key=lambda sink: self._before.get(sink, 0.0))

    def took(self, seconds: Mapping[str, float]) -> Noticed | None:
        """What is to be told after a batch in which each sink took so many `seconds`. A sink is named once, until another is."""
        self._before = dict(seconds)
        if len(seconds) < 2:
            return None
        sink = max(seconds, key=lambda one: seconds[one])
        whole = sum(seconds.values())
        is_slow = seconds[sink] >= _LEAST_SECONDS and seconds[sink] >= _SHARE * whole
        self._in_a_row = (self._in_a_row + 1 if sink == self._slowest else 1) if is_slow else 0
        self._slowest = sink if is_slow else ""
        if self._in_a_row < _BATCHES or sink == self._told:
            return None
        self._told = sink
        words = f"the batches wait for this sink: it took {seconds[sink]:.1f} s of the {whole:.1f} s that all sinks took"
        return Noticed(words, sink, "warning")
