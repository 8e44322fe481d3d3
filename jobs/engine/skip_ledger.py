"""How many messages a query left out at a source, kept in a file that says first what is about to be left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.engine.offset_log import ends_move
from jobs.engine.progress import last_committed
from jobs.nodes.durable_text import text_place

_PREFIX = "skipped-"


@dataclass(frozen=True)
class SkipLedger:
    """`path` is its file, `folder` the query's Spark folder, on which no query runs while `skip` or `settle` does its work.

    Wherever a process ends, `settle` before the next start carries out, once, what was written down, and counts it once.
    """

    path: Path
    folder: Path

    @property
    def total(self) -> int:
        """All messages that were ever left out."""
        return _skipped(_read(self.path))

    def skip(self, batch_id: int, ends: Mapping[str, Any], messages: int) -> None:
        """Go on from `ends` (source name → offset) behind the committed `batch_id`, which leaves out so many messages.

        Nothing of the batch behind may have been written to any sink.
        """
        text_place(
            self.path, json.dumps({"skipped": self.total, "intended": {"batch": batch_id, "ends": dict(ends), "messages": messages}})
        )
        self.settle()

    def settle(self) -> None:
        """Carry out what was intended, if anything."""
        kept = _read(self.path)
        intended = kept.get("intended")
        if not intended:
            return
        skipped = _skipped(kept)
        if last_committed(self.folder) == intended["batch"]:  # else the folder is not the one that this was written for
            ends_move(self.folder, intended["batch"], intended["ends"])
            skipped += int(intended["messages"])
        text_place(self.path, json.dumps({"skipped": skipped}))


def ledger_place(folder: Path, query: str) -> Path:
    """The file of a query's ledger among those of a source in `folder`."""
    return folder / f"{_PREFIX}{query}.json"


def left_out(folder: Path) -> int:
    """What all ledgers in `folder` count together."""
    return sum(_skipped(_read(path)) for path in folder.glob(f"{_PREFIX}*.json"))


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return found


def _skipped(kept: Mapping[str, Any]) -> int:
    return int(kept.get("skipped", 0))
