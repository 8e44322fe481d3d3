"""Cuts: a self-contained, checked copy of a query's Spark folder at a committed batch, and a new live folder from one.

A cut is built beside its place under a name that begins with a dot, and renamed into place when all of it is on disk and was checked:
a folder with a `manifest.json` under its own name is whole. Files are hard links where the disk allows it; a real copy (savepoints)
shares nothing with the live folder, so damage there does not reach it.
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
from pathlib import Path
from typing import Any

from checkpoints.checksums import ChecksumWrong, Digests, FileKey, copy_with_digest, file_digest, file_key, hadoop_check
from checkpoints.manifest import MANIFEST, ManifestDamaged, manifest_read, manifest_write
from checkpoints.spark_folder import FolderDamaged, files_needed, query_id, source_offsets

_TRIES = 5
_PAUSE_SECONDS = 0.1
_NO_LINKS = {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EACCES}

#: Told of each step ("copy", "check", "write") before every piece of it; may raise to end the work.
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
    partial = partial_of(target)
    for attempt in range(1, _TRIES + 1):
        folder_remove(partial)
        partial.mkdir(parents=True)
        try:
            files = _gather(live, batch_id, partial, real_copy, {} if digests is None else digests, on_step)
            _check(partial, batch_id, files, on_step)
            return _publish(partial, target, batch_id, files, facts or {}, on_step)
        except (FileNotFoundError, FolderDamaged, ChecksumWrong) as error:
            # Spark prunes and compacts while we copy: a file that vanished is looked for again.
            if attempt == _TRIES:
                folder_remove(partial)
                raise CutFailed(_words(error, live)) from error
            time.sleep(_PAUSE_SECONDS * attempt)
        except BaseException:
            folder_remove(partial)
            raise
    raise AssertionError


def _gather(live: Path, batch_id: int, partial: Path, real_copy: bool, digests: Digests, on_step: Step) -> dict[str, dict[str, Any]]:
    """Link or copy every file that is needed; path → {"bytes", "sha256"}."""
    on_step("copy")
    found: dict[str, dict[str, Any]] = {}
    for name in files_needed(live, batch_id):
        on_step("copy")
        source, target = live / name, partial / name
        target.parent.mkdir(parents=True, exist_ok=True)
        key = file_key(source)
        digest = _take(source, target, real_copy, key, digests, on_step)
        if key not in digests:
            hadoop_check(target if not real_copy else source)
            digests[key] = digest
        elif digests[key] != digest:
            raise FolderDamaged(f"{name} changed since an earlier checkpoint")
        found[name] = {"bytes": key[2], "sha256": digest}
    return found


def _take(source: Path, target: Path, real_copy: bool, key: FileKey, digests: Digests, on_step: Step) -> str:
    """The file at its place in the cut; its SHA-256."""
    if not real_copy and _linked(source, target):
        known = digests.get(key)
        if known is not None and file_key(target) == key:  # else another file took its name since
            return known
        with target.open("rb") as file:  # Spark closes its files without a sync
            os.fsync(file.fileno())
        return file_digest(target, lambda: on_step("copy"))
    return copy_with_digest(source, target, lambda: on_step("copy"))


def _linked(source: Path, target: Path) -> bool:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno in _NO_LINKS:
            return False
        raise
    return True


def _check(partial: Path, batch_id: int, files: Mapping[str, Mapping[str, Any]], on_step: Step) -> None:
    """The cut alone, without the live folder, has all that a restart needs."""
    on_step("check")
    if sorted(files) != files_needed(partial, batch_id):
        raise FolderDamaged("the copy is not what was listed")
    for name, facts in files.items():
        if (partial / name).stat().st_size != facts["bytes"]:
            raise FolderDamaged(f"{name} grew while it was copied")


def _publish(
    partial: Path, target: Path, batch_id: int, files: Mapping[str, Mapping[str, Any]], facts: Mapping[str, Any], on_step: Step
) -> QueryCut:
    on_step("write")
    sources = source_offsets(partial, batch_id)
    manifest_write(partial, {**facts, "batch_id": batch_id, "sources": sources, "files": files, "query_id": query_id(partial)})
    rename_into_place(partial, target)
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
    partial = partial_of(live)
    folder_remove(partial)
    partial.mkdir(parents=True)
    try:
        if problems := _restored_files(folder, partial, files, on_step):
            raise CutDamaged(problems)
        fresh = str(uuid.uuid4())
        # `metadata` is one line of JSON; Hadoop's checksum of the old one must go with it.
        (partial / ".metadata.crc").unlink(missing_ok=True)
        (partial / "metadata").write_text(json.dumps({"id": fresh}, separators=(",", ":")), encoding="utf-8")
        on_step("write")
        rename_into_place(partial, live)
    except BaseException:
        folder_remove(partial)
        raise
    return fresh


def _restored_files(folder: Path, partial: Path, files: Mapping[str, Mapping[str, Any]], on_step: Step) -> list[str]:
    problems = []
    for name, facts in files.items():
        on_step("copy")
        target = partial / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            if copy_with_digest(folder / name, target, lambda: on_step("copy")) != facts["sha256"]:
                problems.append(f"{name} is damaged: its checksum does not fit")
        except FileNotFoundError:
            problems.append(f"{name} is missing")
    return problems


def partial_of(target: Path) -> Path:
    """Where `target` is built: beside it, hidden."""
    return target.with_name(f".{target.name}.partial")


def rename_into_place(partial: Path, target: Path) -> None:
    """Everything on disk, then the name. FileExistsError if `target` exists."""
    for place, _, _ in os.walk(partial):
        folder_sync(Path(place))
    if target.exists():
        raise FileExistsError(f"{target} exists already")
    partial.rename(target)
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
