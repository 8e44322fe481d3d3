"""How the buffers of an execution's sources stand, all together."""

from collections.abc import Iterable, Mapping
from typing import Any

from jobs.engine.events import BufferStands, rows_waiting

_WORST_LAST = ("OK", "HOLDING", "DROPPING", "FAILED")


class Buffers:
    """`dropped_before`: node id → what its buffer had dropped before this execution; a node not seen yet begins where it stands."""

    def __init__(self, dropped_before: Mapping[str, int]) -> None:
        self._before = dict(dropped_before)
        self._stand: dict[str, BufferStands] = {}

    def note(self, event: BufferStands) -> None:
        self._before.setdefault(event.node_id, event.dropped)
        self._stand[event.node_id] = event

    def figures(self) -> dict[str, Any]:
        """{"buffer_size": messages that wait (None without buffers), "backpressure_status": the worst, "dropped": messages}."""
        stand = self._stand.values()
        return {
            "buffer_size": sum(one.waiting for one in stand) if stand else None,
            "backpressure_status": max((one.status for one in stand), key=_WORST_LAST.index, default=""),
            "dropped": sum(one.dropped - self._before[one.node_id] for one in stand),
        }

    def backlog(self, behind: Iterable[Mapping[str, int]]) -> int | None:
        """Rows that wait at all sources, None where none can tell. `behind`: of each query, by its sources' offsets."""
        return rows_waiting(behind, {node_id: one.waiting for node_id, one in self._stand.items()})

    def columns(self) -> dict[str, Any]:
        """The same as columns of the execution."""
        figures = self.figures()
        return {
            "buffer_size": figures["buffer_size"],
            "backpressure_status": figures["backpressure_status"],
            "dropped_records": figures["dropped"],
            "dropped_before": dict(self._before),
        }
