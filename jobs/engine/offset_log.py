"""Spark's log of where each planned batch of a query ends: reading it, and moving the end of a committed batch ahead.

An entry of version 2 has a line "v2", a line with the batch's settings, and a line "name:offset" for each source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobs.nodes.durable_text import text_place

_VERSION = "v2"


def named_offsets(folder: Path, batch_id: int) -> dict[str, Any]:
    """Source name → end offset of a planned batch; a source without one yet is left out. LookupError if the entry is none of version 2."""
    named = (line.partition(":") for line in _entry(folder, batch_id)[2:])
    return {name: plain_json(offset) for name, _, offset in named if offset not in ("", "-")}


def ends_move(folder: Path, batch_id: int, ends: Mapping[str, Any]) -> None:
    """The next batch begins at `ends` (source name → offset), which take the place of where committed `batch_id` ended.

    Only while no query runs on `folder`, and when nothing of the next batch was written to any sink: its plan is taken away. Interrupted
    at any point it leaves a folder that can be read, and can be called again.
    """
    _remove(folder / "offsets", str(batch_id + 1))
    plan_end(folder, batch_id, ends)


def plan_end(folder: Path, batch_id: int, ends: Mapping[str, Any]) -> None:
    """Batch `batch_id`, which is planned and of which nothing was written to any sink, ends at `ends`. Otherwise as `ends_move`."""
    log = folder / "offsets"
    lines = _entry(folder, batch_id)
    moved = [_moved(line, ends) for line in lines[2:]]
    (log / f".{batch_id}.crc").unlink(missing_ok=True)  # before the entry: a checksum that does not fit is damage, a missing one is not
    text_place(log / str(batch_id), "\n".join([*lines[:2], *moved]))


def plain_json(value: Any) -> Any:
    """An offset as data: Spark hands it over as JSON text or as data already."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _remove(log: Path, name: str) -> None:
    (log / f".{name}.crc").unlink(missing_ok=True)
    (log / name).unlink(missing_ok=True)


def _moved(line: str, ends: Mapping[str, Any]) -> str:
    name = line.partition(":")[0]
    return f"{name}:{json.dumps(ends[name], separators=(',', ':'))}" if name in ends else line


def _entry(folder: Path, batch_id: int) -> list[str]:
    lines = (folder / "offsets" / str(batch_id)).read_text(encoding="utf-8").split("\n")
    if lines[0] != _VERSION:
        raise LookupError(f"offsets/{batch_id} is no entry of version 2")
    return lines
