"""How the buffers of an execution's sources stand, all together."""

from collections.abc import Iterable, Mapping
from typing import Any

from jobs.engine.events import BufferStands, rows_waiting

_WORST_LAST = ("OK", "HOLDING", "DROPPING", "FAILED")


class Buffers:
    """`dropped_before`: node id → what its buffer had dropped before this execution; a node not seen yet begins where it stands.

    `dropped_counted`: node id → what it dropped since, which never falls: in a new generation or on another host, a buffer counts from 0.
    """

    def __init__(self, dropped_before: Mapping[str, int], dropped_counted: Mapping[str, int]) -> None:
        self._before, self._counted = dict(dropped_before), dict(dropped_counted)
        self._stand: dict[str, BufferStands] = {}

    def note(self, event: BufferStands) -> None:
        began = event.dropped - self._counted.get(event.node_id, 0)
        self._before[event.node_id] = min(began, self._before.get(event.node_id, began))
        self._counted[event.node_id] = event.dropped - self._before[event.node_id]
        self._stand[event.node_id] = event

    def figures(self) -> dict[str, Any]:
        """{"buffer_size": messages that wait (None without buffers), "backpressure_status": the worst, "dropped": messages}."""
        stand = self._stand.values()
        return {
            "buffer_size": sum(one.waiting for one in stand) if stand else None,
            "backpressure_status": max((one.status for one in stand), key=_WORST_LAST.index, default=""),
            "dropped": sum(self._counted.values()),
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
            "dropped_counted": dict(self._counted),
        }
