"""What a run told of itself lately: each query's newest batch, and how the buffers of its sources stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jobs.engine.events import BatchCommitted, BufferStands, EngineEvent, rows_waiting


@dataclass
class Told:
    """`batches`: query → the newest of which Spark told; `buffers`: node id → messages that wait in its own buffer."""

    batches: dict[str, BatchCommitted] = field(default_factory=dict)
    buffers: dict[str, int] = field(default_factory=dict)

    def hear(self, event: EngineEvent) -> None:
        match event:
            case BatchCommitted():
                self.batches[event.query] = event
            case BufferStands():
                self.buffers[event.node_id] = event.waiting

    def as_it_stands(self) -> Told:
        return Told(dict(self.batches), dict(self.buffers))

    @property
    def backlog(self) -> int | None:
        """Rows that wait at all sources, None where none can tell."""
        return rows_waiting((batch.behind for batch in self.batches.values()), self.buffers)

    def operators(self, queries: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """Of the stateful operators of `queries`, as their newest batches told."""
        return tuple({"query": key, **entry} for key in queries if key in self.batches for entry in self.batches[key].operators)
