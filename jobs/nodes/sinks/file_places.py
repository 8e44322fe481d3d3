"""Where a sink of files has written in this generation: rows may wait at a place that the job, since it was changed, has left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jobs.nodes.durable_text import text_kept, text_place
from jobs.nodes.sinks.file_config import FileSinkConfig

if TYPE_CHECKING:
    from jobs.nodes.node_context import NodeContext


class Places:
    """In `<work_dir>/places.json`: the form that says where and how rows are written now, then those of places with rows that may wait."""

    def __init__(self, context: NodeContext[FileSinkConfig]) -> None:
        self._file = context.work_dir / "places.json"
        self._present = context.config
        known = json.loads(text_kept(self._file) or "[]")
        self._left: list[dict[str, Any]] = [told for told in known if _place(told) != _place(self._present.model_dump())]

    def begin(self) -> None:
        """Rows are written to the present one from now on."""
        text_place(self._file, json.dumps([self._present.model_dump(mode="json"), *self._left]))

    @property
    def left(self) -> list[FileSinkConfig]:
        return [FileSinkConfig.model_validate(told) for told in self._left]

    def settled(self) -> None:
        """Nothing waits any more at those that were left."""
        self._left = []
        self.begin()


def _place(told: dict[str, Any]) -> tuple[str, str]:
    return told["connection"], told["path"]
