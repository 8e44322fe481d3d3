"""Where checkpoints lie on disk, what they take there, and what lies there that no row speaks of.

    <root>/<job_uid>/<generation>/<query>/                              live folders, Spark writes them
    <root>/<job_uid>/checkpoints/<execution_id>/<number>/manifest.json  a whole checkpoint: versions, generation, query → sinks, offsets
    <root>/<job_uid>/checkpoints/<execution_id>/<number>/<query>/       its cut of one query, with a manifest of its files
    <root>/<job_uid>/checkpoints/<execution_id>/.<number>.partial/      one that is being written, or was when its process died

Numbers are those of the execution. Checkpoints stand beside the live folders, on the same disk, so that files can be linked.
"""

from __future__ import annotations

import os
import re
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from checkpoints.checksums import copy_with_digest
from checkpoints.cut import cut_restore, folder_remove, folder_sync, partial_of, rename_into_place
from checkpoints.threads import Pulse, no_pulse
from checkpoints.verification import checkpoint_queries, checkpoint_verify

CHECKPOINTS = "checkpoints"
_PARTIAL = ".partial"
#: Hidden names of something half written.
_PART = re.compile(r"^\.(.*[._-])?(tmp|part|partial)([._-].*)?$")


class OutsideRoot(Exception):
    """A path that does not lie where checkpoints are kept: it is never touched."""


@dataclass(frozen=True)
class Found:
    """One folder below the root. `key` is the generation of a live folder, or the execution of a checkpoint.

    "temporary" is a file or folder of a name that only parts have; directly below the root it has no job.
    """

    kind: Literal["live", "checkpoint", "partial", "temporary"]
    job_uid: str
    key: str
    path: Path


def live_folder(root: Path, job_uid: str, generation: str) -> Path:
    """The live folder of one generation; a query's Spark folder is below it."""
    return root / job_uid / generation


def checkpoint_folder(root: Path, job_uid: str, execution_id: str, number: int) -> Path:
    """Where checkpoint `number` of an execution is, or will be."""
    return root / storage_key(job_uid, execution_id, number)


def storage_key(job_uid: str, execution_id: str, number: int) -> str:
    """What checkpoint `number` of an execution is called in every store."""
    return f"{job_uid}/{CHECKPOINTS}/{execution_id}/{number}"


def checkpoint_restore(folder: Path, live: Path, folders: Mapping[str, str] | None = None, *, pulse: Pulse = no_pulse) -> dict[str, int]:
    """A new generation's live folder from a checkpoint: its query → the batch it goes on behind (-1: from the beginning).

    `folders`: name of a query's folder in `live` → the query whose cut it gets; None: every query under its own name. All or none;
    nothing happens where `live` holds something already (a restore that was finished before a crash). ManifestDamaged or CutDamaged
    name the file that is wrong; then nothing of `live` exists.
    """
    queries = checkpoint_queries(folder)
    batches = {key: int(query["batch_id"]) for key, query in queries.items()}
    chosen = {query["folder"]: key for key, query in queries.items()} if folders is None else folders
    if live.is_dir() and any(live.iterdir()):
        return batches
    if live.is_dir():
        live.rmdir()
    partial = partial_of(live)
    folder_remove(partial)
    partial.mkdir(parents=True)
    try:
        for name, key in chosen.items():
            if cut := queries.get(key, {}).get("folder"):
                cut_restore(folder / cut, partial / name, on_step=lambda _: pulse())
        rename_into_place(partial, live)
    except BaseException:
        folder_remove(partial)
        raise
    return batches


def inside(root: Path, path: str | Path) -> Path:
    """`path` if it lies below `root`, links followed; else OutsideRoot."""
    resolved, base = Path(path).resolve(), root.resolve()
    if base not in resolved.parents:
        raise OutsideRoot(f"{path} is not below {root}")
    return resolved


def folder_delete(root: Path, path: str | Path) -> int:
    """Delete one folder, or file, below `root`; the bytes that this gave back to the disk. Nothing happens where it is gone already."""
    folder = inside(root, path)
    if folder.is_file():
        freed = bytes_freed([folder])[0]
        folder.unlink(missing_ok=True)
        return freed
    freed = bytes_freed([folder])[0]
    folder_remove(folder)
    folder_remove(partial_of(folder))
    parent = folder.parent
    if parent.parent.name == CHECKPOINTS and parent.is_dir() and not any(parent.iterdir()):
        parent.rmdir()
    return freed


def folder_own(folder: Path) -> list[str]:
    """Turn every file of a checkpoint that something else links into a copy of its own; what is damaged, a sentence a file.

    A damaged checkpoint is left as it is, as far as it got: each file is replaced in one step.
    """
    if problems := checkpoint_verify(folder):
        return problems
    for path in list(_files(folder)):
        if path.stat().st_nlink > 1:
            copy = path.with_name(f".{path.name}.own")
            copy.unlink(missing_ok=True)
            copy_with_digest(path, copy)
            copy.replace(path)
    for place, _, _ in os.walk(folder):
        folder_sync(Path(place))
    return []


def bytes_freed(folders: Sequence[Path]) -> list[int]:
    """What deleting each folder, in this order, gives back: a file that others link is freed with the last of its names."""
    gone: Counter[tuple[int, int]] = Counter()
    freed = []
    for folder in folders:
        total = 0
        for path in _files(folder):
            try:
                found = path.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            inode = (found.st_dev, found.st_ino)
            gone[inode] += 1
            total += found.st_size if gone[inode] == found.st_nlink else 0
        freed.append(total)
    return freed


def bytes_logical(folder: Path) -> int:
    """The sizes of all files, shared or not."""
    return sum(path.stat(follow_symlinks=False).st_size for path in _files(folder))


def bytes_exclusive(folder: Path) -> int:
    """What deleting this one folder would give back."""
    return bytes_freed([folder])[0]


def folders_found(root: Path) -> Iterator[Found]:
    """Every live folder and checkpoint below `root`, and parts that were left over; what does not look like ours is left out."""
    yield from _parts(root, "", "")
    for job in _folders(root):
        if not _is_uuid(job.name):
            continue
        yield from _parts(job, job.name, "")
        for folder in _folders(job):
            if folder.name == CHECKPOINTS:
                yield from _checkpoints_found(job.name, folder)
            elif _is_uuid(folder.name):
                yield Found("live", job.name, folder.name, folder)
            elif _is_partial(folder.name):
                yield Found("partial", job.name, folder.name[1 : -len(_PARTIAL)], folder)


def _checkpoints_found(job_uid: str, folder: Path) -> Iterator[Found]:
    yield from _parts(folder, job_uid, "")
    for execution in _folders(folder):
        yield from _parts(execution, job_uid, execution.name)
        for path in _folders(execution):
            if path.name.isdecimal():
                yield Found("checkpoint", job_uid, execution.name, path)
            elif _is_partial(path.name):
                yield Found("partial", job_uid, execution.name, path)


def _parts(folder: Path, job_uid: str, key: str) -> Iterator[Found]:
    """Never what a file system or a desk keeps for itself, such as snapshots, a trash and lost+found."""
    try:
        entries = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return
    for path in entries:
        if _PART.match(path.name) and not path.is_symlink() and not (_is_partial(path.name) and path.is_dir() and job_uid):
            yield Found("temporary", job_uid, key, path)


def _is_partial(name: str) -> bool:
    return name.startswith(".") and name.endswith(_PARTIAL)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _files(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
    for place, _, names in os.walk(folder):
        yield from (Path(place) / name for name in names)


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
