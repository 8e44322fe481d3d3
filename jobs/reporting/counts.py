"""Rows counted per query and batch, never twice; and how fast they come."""

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from jobs.engine.events import BatchUnderWay, BatchWritten, NodeCounts
from jobs.services.metrics import QueryCounts, query_kept

Tally = dict[str, Any]


def empty() -> Tally:
    """`{"in": rows, "out": rows, "rejected": rows, "nodes": {node_id: {"in", "out", "rejected"}}}` of nothing.

    A node that counts more than its rows has `"tallies": {name: rows}` too, one that left out late rows `"late": rows`, one that
    left out rows without a time `"timeless": rows`.
    """
    return {"in": 0, "out": 0, "rejected": 0, "nodes": {}}


def added(left: Tally, right: Tally) -> Tally:
    """Both together. A node's count that neither knows stays None."""
    nodes = {node_id: dict(counts) for node_id, counts in left.get("nodes", {}).items()}
    for node_id, counts in right.get("nodes", {}).items():
        known = nodes.setdefault(node_id, {"in": None, "out": None, "rejected": 0})
        for name in ("in", "out", "rejected"):
            if (rows := counts.get(name)) is not None:
                known[name] = (known.get(name) or 0) + rows
        for name in ("late", "timeless"):
            if left_out := counts.get(name):
                known[name] = known.get(name, 0) + left_out
        if tallies := counts.get("tallies"):
            before = known.get("tallies", {})
            known["tallies"] = before | {name: before.get(name, 0) + rows for name, rows in tallies.items()}
    return {name: left.get(name, 0) + right.get(name, 0) for name in ("in", "out", "rejected")} | {"nodes": nodes}


def tally_of(event: BatchWritten) -> Tally:
    return {"in": event.rows_in, "out": event.rows_out, "rejected": event.rejected, "nodes": _nodes(event.nodes)}


def _nodes(nodes: Mapping[str, NodeCounts]) -> Tally:
    return {
        node_id: {"in": counts.rows_in, "out": counts.rows_out, "rejected": counts.rejected}
        | ({"tallies": dict(counts.tallies)} if counts.tallies else {})
        | ({"late": counts.late} if counts.late else {})
        | ({"timeless": counts.timeless} if counts.timeless else {})
        for node_id, counts in nodes.items()
    }


class Counts:
    """Totals of an execution. A batch that runs again overwrites what it counted the first time."""

    def __init__(self, earlier: list[QueryCounts]) -> None:
        self._queries = {row.query: row for row in earlier}
        self._under_way: dict[str, Tally] = {}

    def batch(self, event: BatchWritten) -> QueryCounts:
        """Count a written batch; what is to be kept of its query."""
        query = query_kept(event.query)
        self._under_way.pop(query, None)
        known = self._queries.get(query) or QueryCounts(query, -1, empty(), empty())
        base = added(known.base, known.latest) if event.batch_id > known.batch_id else known.base
        self._queries[query] = QueryCounts(query, event.batch_id, base, tally_of(event))
        return self._queries[query]

    def under_way(self, event: BatchUnderWay) -> None:
        """Take note of what has passed of a batch that is not written yet, unless it was written before and runs again."""
        query = query_kept(event.query)
        known = self._queries.get(query)
        if known is None or event.batch_id > known.batch_id:
            self._under_way[query] = empty() | {"in": event.rows_in, "nodes": _nodes(event.nodes)}

    def forget_under_way(self) -> None:
        """What was not written by now will not be."""
        self._under_way = {}

    def so_far(self) -> Tally:
        """The totals, and what has passed of batches that are not written yet."""
        return reduce(added, self._under_way.values(), self.totals())

    def totals(self) -> Tally:
        """Of written batches, over all queries; `nodes` of one query each are put side by side."""
        total = empty()
        for row in self._queries.values():
            total = added(total, added(row.base, row.latest))
        return total


@dataclass
class Rates:
    """Rows per second over the last `window` seconds, of totals that are noted as they change.

    `seconds` of a note: how long its rows took. Where that is more than the window, so long is what they are divided by.
    """

    window: float
    _noted: deque[tuple[float, Tally]] = field(default_factory=deque)
    _took: float = 0.0

    def note(self, totals: Tally, *, seconds: float = 0.0, at: float | None = None) -> None:
        moment = time.monotonic() if at is None else at
        self._noted.append((moment, totals))
        while len(self._noted) > 1 and self._noted[1][0] <= moment - self.window:
            self._noted.popleft()
        self._took = seconds

    def now(self, *, at: float | None = None, under_way: bool = False) -> Tally:
        """`{"in", "out", "rejected": rows per second, "nodes": {node_id: {"in", "out"}}}`; a node's rate is None where its count is.

        `under_way`: a batch is being written, whose rows are not all known yet. The last rates hold for as long as it took to come to
        them, and sink from then on: what works never looks idle, what hangs never looks well.
        """
        if not self._noted:
            return empty()
        moment = time.monotonic() if at is None else at
        ended, last = self._noted[-1]
        until = ended if under_way else moment
        begun, first = next((note for note in reversed(self._noted) if note[0] <= until - self.window), self._noted[0])
        seconds = max(0.5, min(max(self.window, self._took), until - begun))
        if under_way:
            seconds = max(seconds, moment - ended)
        nodes = {
            node_id: {name: _rate(first["nodes"].get(node_id, {}).get(name), counts.get(name), seconds) for name in ("in", "out")}
            for node_id, counts in last["nodes"].items()
        }
        return {name: (last[name] - first[name]) / seconds for name in ("in", "out", "rejected")} | {"nodes": nodes}


def _rate(before: int | None, after: int | None, seconds: float) -> float | None:
    return None if after is None else (after - (before or 0)) / seconds


def state_of(operators: tuple[Mapping[str, Any], ...]) -> tuple[int, int]:
    """Rows and bytes that a query's stateful operators hold."""
    return sum(int(one.get("rows") or 0) for one in operators), sum(int(one.get("bytes") or 0) for one in operators)
