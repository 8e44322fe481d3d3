"""Copies of whole checkpoints, and copies in which sources stand elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checkpoints.checksums import file_digest, files_copy
from checkpoints.cut import CutDamaged
from checkpoints.manifest import manifest_read, manifest_write
from checkpoints.spark_folder import root_name, source_offsets
from checkpoints.state_data import offsets_by_node
from checkpoints.verification import checkpoint_files, checkpoint_queries
from jobs.engine.offset_log import ends_move


def checkpoint_copy_files(folder: Path, target: Path) -> None:
    """Every file of a checkpoint into `target`, an empty folder, checked on the way. CutDamaged names those that are wrong."""
    if problems := files_copy(folder, target, checkpoint_files(folder)):
        raise CutDamaged(problems)


def checkpoint_positions(folder: Path) -> dict[str, dict[str, Any]]:
    """Query that has committed something → what Spark calls each of its sources → where that stands."""
    queries = checkpoint_queries(folder)
    return {key: source_offsets(folder / query["folder"], int(query["batch_id"])) for key, query in queries.items() if query["folder"]}


def checkpoint_reposition(folder: Path, ends: Mapping[str, Mapping[str, Any]]) -> None:
    """In a checkpoint's folder that is nobody else's yet: sources of its queries stand at `ends` (query → name → offset) from now on."""
    for key, query in checkpoint_queries(folder).items():
        if moved := ends.get(key):
            _cut_reposition(folder / query["folder"], moved)


def _cut_reposition(cut: Path, ends: Mapping[str, Any]) -> None:
    facts = manifest_read(cut)
    batch_id = int(facts["batch_id"])
    ends_move(cut, batch_id, ends)
    log = f"offsets/{batch_id}"
    path = cut / log
    kept = {name: one for name, one in facts["files"].items() if not _is_of(name, log)}
    entry = {"bytes": path.stat().st_size, "sha256": file_digest(path)}
    manifest_write(cut, {**facts, "files": {**kept, log: entry}, "sources": source_offsets(cut, batch_id)})


def _is_of(name: str, log: str) -> bool:
    """The file itself, or a checksum of it."""
    place, _, file = name.rpartition("/")
    return f"{place}/{root_name(file)}" == log


def positions_by_node(folder: Path, nodes: set[str]) -> dict[str, Any]:
    """Where each of the source nodes stands: the smallest over the queries."""
    return offsets_by_node(checkpoint_positions(folder).values(), nodes)
