"""Whether a cut, a whole checkpoint or a live folder is what was written: every check names the file that is wrong.

Of a cut or checkpoint, what the disk does not give now (an input/output error, a stale handle) is an OSError, and no damage.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from checkpoints.checksums import file_digest
from checkpoints.cut import CutDamaged, cut_files
from checkpoints.hadoop_checksums import ChecksumWrong, hadoop_check
from checkpoints.manifest import MANIFEST, ManifestDamaged, manifest_read
from checkpoints.spark_folder import FolderDamaged, batch_ids, files_needed, last_committed, query_id, source_offsets
from checkpoints.threads import Pulse, no_pulse

#: Larger files of a live folder are checked by size alone unless `deep`: 16 MiB take about 20 ms.
_QUICK_BYTES = 16 << 20


def cut_verify(folder: Path, pulse: Pulse = no_pulse) -> list[str]:
    """What is wrong with one query's cut, a sentence a file; [] when every byte is there and a restart finds all it needs."""
    try:
        files = cut_files(folder)
        batch_id = int(manifest_read(folder)["batch_id"])
    except (CutDamaged, ManifestDamaged, KeyError, ValueError) as error:
        return [str(error)]
    problems = [problem for name, facts in files.items() if (problem := file_problem(folder, name, facts, pulse))]
    if not problems:
        try:
            files_needed(folder, batch_id)
        except FolderDamaged as error:
            problems.append(str(error))
    return problems


def checkpoint_verify(folder: Path, pulse: Pulse = no_pulse) -> list[str]:
    """What is wrong with a checkpoint of a job: each file with its query's folder before it."""
    try:
        queries = checkpoint_queries(folder)
    except ManifestDamaged as error:
        return [str(error)]
    problems = []
    for query in queries.values():
        if query["folder"]:
            problems += [f"{query['folder']}/{problem}" for problem in cut_verify(folder / query["folder"], pulse)]
    return problems


def checkpoint_queries(folder: Path) -> dict[str, dict[str, Any]]:
    """Query → {"folder" ("" while it had committed nothing), "batch_id", "sinks"}; ManifestDamaged without a sound manifest."""
    try:
        queries: dict[str, dict[str, Any]] = manifest_read(folder)["queries"]
    except KeyError:
        raise ManifestDamaged("manifest.json names no queries") from None
    return queries


def checkpoint_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Every file of a checkpoint by its path below `folder` → {"bytes", "sha256"}, as the manifests have it; they are read here.

    ManifestDamaged or CutDamaged without sound manifests.
    """
    queries = checkpoint_queries(folder)
    found = {MANIFEST: _facts_of(folder / MANIFEST)}
    for query in queries.values():
        if cut := query["folder"]:
            files = cut_files(folder / cut)
            found[f"{cut}/{MANIFEST}"] = _facts_of(folder / cut / MANIFEST)
            found |= {f"{cut}/{name}": {"bytes": int(facts["bytes"]), "sha256": str(facts["sha256"])} for name, facts in files.items()}
    return found


def holds_state(files: Iterable[str]) -> bool:
    """Whether a checkpoint with these files, by their paths in its folder, holds what nodes remember."""
    return any("state" in name.split("/")[1:-1] for name in files)


def _facts_of(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, "sha256": file_digest(path)}


def live_readable(folder: Path, *, expected_batch: int = -1, planned_batch: int = -1, deep: bool = False) -> str | None:
    """Why a query cannot go on from its live folder, None if it can. Call it while no query runs on it.

    `expected_batch` is the newest batch known to be committed, `planned_batch` the newest that was begun: a folder that vanished or went
    back is found by them, and never taken for a fresh start. `deep` reads large state files too.
    """
    committed = last_committed(folder)
    if max(expected_batch, planned_batch) >= 0 and not folder.is_dir():
        return "its folder is gone"
    if committed < expected_batch:
        return f"it ends at batch {committed}, but batch {expected_batch} was committed"
    if planned_batch > max(batch_ids(folder / "offsets"), default=-1):
        return f"it knows nothing of batch {planned_batch}, which was written"
    if not folder.is_dir() or not any(folder.iterdir()):
        return None
    try:
        query_id(folder)
        _logs_check(folder, committed)
        names = files_needed(folder, committed) if committed >= 0 else []
        for name in [*names, *_planned_files(folder, committed)]:
            if deep or (folder / name).stat().st_size <= _QUICK_BYTES:
                hadoop_check(folder / name)
    except (FolderDamaged, ChecksumWrong) as error:
        return str(error)
    except OSError as error:
        return f"{os.path.relpath(error.filename or folder, folder)} cannot be read: {error.strerror}"
    return None


def _logs_check(folder: Path, committed: int) -> None:
    """At most one batch is planned beyond the committed one."""
    planned = batch_ids(folder / "offsets")
    newest = max(planned, default=-1)
    if newest < committed:
        raise FolderDamaged(f"offsets/{committed} is missing")
    if newest > committed + 1:
        raise FolderDamaged(f"commits/{newest - 1} is missing")
    if newest >= 0:
        source_offsets(folder, newest)


def _planned_files(folder: Path, committed: int) -> list[str]:
    """The plan of the batch that was under way."""
    name = f"offsets/{committed + 1}"
    return [name] if (folder / name).exists() else []


def file_problem(folder: Path, name: str, facts: Mapping[str, Any], pulse: Pulse = no_pulse) -> str | None:
    """What is wrong with one file, a sentence; None where it is what `facts`, {"bytes", "sha256"}, say."""
    path = folder / name
    try:
        size = path.stat().st_size
        if size != facts["bytes"]:
            return f"{name} has {size} bytes instead of {facts['bytes']}"
        return None if file_digest(path, pulse) == facts["sha256"] else f"{name} is damaged: its checksum does not fit"
    except (FileNotFoundError, NotADirectoryError):
        return f"{name} is missing"
    except OSError as error:
        raise OSError(error.errno, error.strerror, name) from error
