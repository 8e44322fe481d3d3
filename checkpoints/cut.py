"""Cuts: a self-contained, checked copy of a query's Spark folder at a committed batch, and a new live folder from one.

A cut is built beside its place under a name that begins with a dot, and renamed into place when all of it is on disk and was checked:
a folder with a `manifest.json` under its own name is whole. Files are hard links where the disk allows it, but for the query's id; a
real copy (savepoints) shares nothing with the live folder, so damage there does not reach it.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from checkpoints.checksums import Digests, FileKey, copy_with_digest, file_key, files_copy, spark_file_copy, spark_file_digest
from checkpoints.hadoop_checksums import ChecksumWrong
from checkpoints.manifest import MANIFEST, ManifestDamaged, manifest_read, manifest_write
from checkpoints.spark_folder import FolderDamaged, files_needed, query_id, source_offsets
from checkpoints.threads import Pulse, all_done

_TRIES = 5
_PAUSE_SECONDS = 0.1
#: One line that is never pruned, so every checkpoint of a generation would share it: damage to it must not reach them all.
_NEVER_LINKED = {"metadata", ".metadata.crc"}
_NO_LINKS = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EACCES}

#: Told of each step ("copy", "check", "write") again and again while it lasts, in the thread that asked; may raise to end the work.
Step = Callable[[str], None]


class CutFailed(Exception):
    """No cut could be made; nothing is left of it. The text says what is wrong with which file."""


class CutDamaged(Exception):
    """A cut is not whole; `problems` has one sentence a file."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems[:3]) + (f" and {len(problems) - 3} more" if len(problems) > 3 else ""))
        self.problems = problems


@dataclass(frozen=True)
class QueryCut:
    """`files` and `bytes_logical` count Spark's files; `bytes_exclusive` those that nothing else links. `sources`: name → end offset."""

    batch_id: int
    files: int
    bytes_logical: int
    bytes_exclusive: int
    sources: Mapping[str, Any] = field(default_factory=dict)


def no_step(step: str) -> None:
    """Nobody listens."""


def query_cut(
    live: Path,
    batch_id: int,
    target: Path,
    *,
    real_copy: bool,
    facts: Mapping[str, Any] | None = None,
    digests: Digests | None = None,
    on_step: Step = no_step,
) -> QueryCut:
    """Cut `live` behind the committed `batch_id` into `target`, which must not exist; it appears whole or not at all.

    `facts` go into the manifest. `digests` holds what is known of files from earlier cuts and takes what is found. CutFailed when
    the folder cannot give this batch (any more), or a file of it is damaged. Safe while Spark runs on `live`.
    """
    building = partial_of(target)
    for attempt in range(1, _TRIES + 1):
        folder_remove(building)
        building.mkdir(parents=True)
        try:
            files = _gather(live, batch_id, building, real_copy, {} if digests is None else digests, on_step)
            _check(building, batch_id, files, on_step)
            return _publish(building, target, batch_id, files, facts or {}, on_step)
        except (FileNotFoundError, FolderDamaged, ChecksumWrong) as error:
            # Spark prunes and compacts while we copy: a file that vanished is looked for again.
            if attempt == _TRIES:
                folder_remove(building)
                raise CutFailed(_words(error, live)) from error
            time.sleep(_PAUSE_SECONDS * attempt)
        except BaseException:
            folder_remove(building)
            raise
    raise AssertionError


@dataclass(frozen=True)
class _Taken:
    """A file that is needed, linked into the cut or still to be copied there. `known`: its SHA-256 from an earlier cut."""

    name: str
    is_linked: bool
    key: FileKey
    known: str | None


def _gather(live: Path, batch_id: int, building: Path, real_copy: bool, digests: Digests, on_step: Step) -> dict[str, dict[str, Any]]:
    """Link or copy every file that is needed; path → {"bytes", "sha256"}."""
    on_step("copy")
    names = files_needed(live, batch_id)
    for place in {(building / name).parent for name in names}:
        place.mkdir(parents=True, exist_ok=True)
    taken = []
    for name in names:  # links first: from then on Spark can delete what it likes
        on_step("copy")
        is_linked = not real_copy and name not in _NEVER_LINKED and _linked(live / name, building / name)
        key = file_key((building if is_linked else live) / name)
        taken.append(_Taken(name, is_linked, key, digests.get(key)))
    unread = [one for one in taken if not (one.is_linked and one.known)]
    all_done([partial(_read, one, live, building, digests) for one in unread], lambda: on_step("copy"))
    return {one.name: {"bytes": one.key[2], "sha256": digests[one.key]} for one in taken}


def _read(file: _Taken, live: Path, building: Path, digests: Digests, pulse: Pulse) -> None:
    """A file of the cut is on disk, and its SHA-256 known, whatever becomes of the others: a cut that ran out of time helps the next.

    ChecksumWrong or FolderDamaged if it is not what Spark wrote.
    """
    digests[file.key] = _digest(file, live, building, pulse)


def _digest(file: _Taken, live: Path, building: Path, pulse: Pulse) -> str:
    source, target = live / file.name, building / file.name
    if file.is_linked:
        return spark_file_digest(target, pulse)
    if file.known is None:
        return spark_file_copy(source, target, pulse)
    if copy_with_digest(source, target, pulse) != file.known:
        raise FolderDamaged(f"{file.name} changed since an earlier checkpoint")
    return file.known


def _linked(source: Path, target: Path) -> bool:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno in _NO_LINKS:
            return False
        raise
    return True


def _check(building: Path, batch_id: int, files: Mapping[str, Mapping[str, Any]], on_step: Step) -> None:
    """The cut alone, without the live folder, has all that a restart needs."""
    on_step("check")
    if sorted(files) != files_needed(building, batch_id):
        raise FolderDamaged("the copy is not what was listed")
    for name, facts in files.items():
        if (building / name).stat().st_size != facts["bytes"]:
            raise FolderDamaged(f"{name} grew while it was copied")


def _publish(
    building: Path, target: Path, batch_id: int, files: Mapping[str, Mapping[str, Any]], facts: Mapping[str, Any], on_step: Step
) -> QueryCut:
    on_step("write")
    sources = source_offsets(building, batch_id)
    manifest_write(building, {**facts, "batch_id": batch_id, "sources": sources, "files": files, "query_id": query_id(building)})
    rename_into_place(building, target)
    logical = sum(int(entry["bytes"]) for entry in files.values())
    exclusive = sum(found.st_size for name in files if (found := (target / name).stat()).st_nlink == 1)
    return QueryCut(batch_id, len(files), logical, exclusive, sources)


def cut_files(folder: Path) -> dict[str, dict[str, Any]]:
    """The files that a cut's manifest lists; CutDamaged without a sound manifest."""
    try:
        files: dict[str, dict[str, Any]] = manifest_read(folder)["files"]
    except (ManifestDamaged, KeyError) as error:
        raise CutDamaged([str(error)]) from None
    return files


def cut_restore(folder: Path, live: Path, *, on_step: Step = no_step) -> str:
    """A new live folder from a cut, under a new query id, which is returned. Every file is copied and checked on the way.

    `live` must not exist; it appears whole or not at all. CutDamaged if a file is not what was kept. Two queries of one id in one JVM
    would stop each other, so the id is never kept.
    """
    files = cut_files(folder)
    building = partial_of(live)
    folder_remove(building)
    building.mkdir(parents=True)
    try:
        on_step("copy")
        if problems := files_copy(folder, building, files, lambda: on_step("copy")):
            raise CutDamaged(problems)
        fresh = str(uuid.uuid4())
        # `metadata` is one line of JSON; Hadoop's checksum of the old one must go with it.
        (building / ".metadata.crc").unlink(missing_ok=True)
        (building / "metadata").write_text(json.dumps({"id": fresh}, separators=(",", ":")), encoding="utf-8")
        on_step("write")
        rename_into_place(building, live)
    except BaseException:
        folder_remove(building)
        raise
    return fresh


def partial_of(target: Path) -> Path:
    """Where `target` is built: beside it, hidden."""
    return target.with_name(f".{target.name}.partial")


def rename_into_place(building: Path, target: Path) -> None:
    """Everything on disk, then the name. FileExistsError if `target` exists."""
    for place, _, _ in os.walk(building):
        folder_sync(Path(place))
    if target.exists():
        raise FileExistsError(f"{target} exists already")
    building.rename(target)
    folder_sync(target.parent)


def folder_sync(folder: Path) -> None:
    """The names in `folder` are on disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def folder_remove(folder: Path) -> None:
    """Take a folder away, its manifest first: what is left by an interruption never looks whole."""
    (folder / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _words(error: Exception, live: Path) -> str:
    if isinstance(error, FileNotFoundError):
        name = Path(str(error.filename or live))
        return f"{name.relative_to(live) if name.is_relative_to(live) else name} vanished while it was copied"
    return str(error)
