"""How far the queries of a run are by what each has written, which it tells at once: Spark's own reports of a commit may come late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jobs.engine.events import BatchWritten


@dataclass(frozen=True)
class _Newest:
    """The newest batch of a query, its source rows, and those of all batches before it."""

    batch_id: int
    rows: int
    rows_before: int


class Written:
    """What the queries of a run wrote, and since the last `begin_anew` of it. Not safe for threads.

    `sources` are node ids.
    """

    def __init__(self, sources: Collection[str]) -> None:
        self.batches = 0
        self._sources = frozenset(sources)
        self._newest: dict[str, _Newest] = {}
        self._anew: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))

    @property
    def rows(self) -> int:
        """Rows read since it began anew; those of a source that several queries read count once, as far as the fastest of them is."""
        return sum(max(queries.values()) for queries in self._anew.values())

    def add(self, event: BatchWritten) -> None:
        """The sinks of a query took a batch. One that is written again counts as it was written last."""
        self.batches += 1
        for node_id in self._sources & set(event.nodes):
            counts = event.nodes[node_id]
            self._anew[node_id][event.query] += (counts.rows_out or 0) + counts.rejected
        before = self._newest.get(event.query, _Newest(-1, 0, 0))
        earlier = before.rows_before if before.batch_id == event.batch_id else before.rows_before + before.rows
        self._newest[event.query] = _Newest(event.batch_id, event.rows_in, earlier)

    def begin_anew(self) -> None:
        self.batches = 0
        self._anew.clear()

    def newest(self, query: str) -> int:
        """The newest batch that the query wrote in this run, -1 before its first. Spark commits it next, unless it is cut short."""
        return self._newest[query].batch_id if query in self._newest else -1

    def rows_until(self, query: str, batch_id: int) -> int:
        """Source rows that the query read in this run, up to a batch that is its newest or the one before."""
        if query not in self._newest:
            return 0
        newest = self._newest[query]
        return newest.rows_before + (newest.rows if newest.batch_id <= batch_id else 0)
