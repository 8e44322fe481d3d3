"""Unpacking an archive that somebody sent: nothing is believed, and nothing is written that was not announced.

Its first file lists all others with their sizes and checksums; only those are taken, once each, as plain files below one folder. So what is
written is bounded before it is written. Memory holds one block of a file, and that list.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from checkpoints.archive_facts import ARCHIVE, LARGEST_TEXT, ArchiveFacts, FileFacts, KeptQuery, is_inside
from checkpoints.copying import checkpoint_positions
from checkpoints.cut import CutDamaged
from checkpoints.manifest import MANIFEST, ManifestDamaged, manifest_read, versions
from checkpoints.spark_folder import FolderDamaged, files_needed
from checkpoints.verification import checkpoint_files, checkpoint_queries, checkpoint_verify
from jobs.dag.reading import data_problems
from jobs.engine.grouping import query_folder

_BLOCK = 256 << 10
_SHOWN = 100


class ArchiveRefused(Exception):
    """The archive cannot be taken; the text says what is wrong with it."""


@dataclass(frozen=True)
class ArchiveLimits:
    """Of what is unpacked: all files together."""

    bytes: int
    files: int


class _Bounded(io.RawIOBase):
    """The uploaded file. A header of the archive that says it is huge would otherwise be read in one piece."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1, /) -> bytes:
        if size < 0 or size > _BLOCK:
            raise ArchiveRefused("a header in it says that it is larger than any header is")
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


def archive_unpack(file: BinaryIO, target: Path, limits: ArchiveLimits) -> ArchiveFacts:
    """Every file into `target`, an empty folder, each as it was announced; what the archive says about itself.

    ArchiveRefused says what is wrong; `target` is the caller's to take away then.
    """
    try:
        with tarfile.open(fileobj=_Bounded(file), mode="r:") as archive:
            entries = _entries(archive)
            facts = _facts_read(archive, next(entries, None), limits)
            _files_unpack(archive, entries, facts, target)
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        raise ArchiveRefused(f"it cannot be read as a tar archive: {error}") from None
    except OSError as error:
        raise ArchiveRefused(f"it cannot be unpacked: {error.strerror or error}") from None
    return facts


def _entries(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """One after the other; what was read of a header is not kept."""
    while (entry := archive.next()) is not None:
        archive.members.clear()  # type: ignore[attr-defined]
        yield entry


def unpacked_check(folder: Path, facts: ArchiveFacts) -> None:
    """ArchiveRefused unless `folder` is a whole checkpoint: what its own lists name, and what a restart needs, no more and no less."""
    try:
        _check(folder, facts)
    except (ManifestDamaged, CutDamaged, FolderDamaged) as error:
        raise ArchiveRefused(str(error)) from None
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ArchiveRefused(f"its lists are not those of a checkpoint: {error}") from None


def _facts_read(archive: tarfile.TarFile, first: tarfile.TarInfo | None, limits: ArchiveLimits) -> ArchiveFacts:
    if first is None or first.name != ARCHIVE or not _is_plain(first):
        raise ArchiveRefused(f"it is no archive of a checkpoint: it does not begin with {ARCHIVE}")
    if first.size > LARGEST_TEXT:
        raise ArchiveRefused(f"{ARCHIVE} says that it has {first.size:,} bytes")
    text = b"".join(_blocks(archive, first))
    facts = _facts_of(text)
    if len(facts.files) > limits.files:
        raise ArchiveRefused(f"it holds {len(facts.files):,} files; at most {limits.files:,} are taken")
    if (size := sum(one.bytes for one in facts.files.values())) > limits.bytes:
        raise ArchiveRefused(f"unpacked it has {size:,} bytes; at most {limits.bytes:,} are taken")
    if _release(facts.versions.get("spark", "")) > _release(versions()["spark"]):
        raise ArchiveRefused(f"it was written by Spark {facts.versions['spark'][:20]}; here runs {versions()['spark']}, which is older")
    return facts


def _facts_of(text: bytes) -> ArchiveFacts:
    try:
        facts = ArchiveFacts.model_validate_json(text)
    except ValidationError as error:
        raise _not_as_told(ARCHIVE, error) from None
    if problems := data_problems(facts.model_dump(mode="json")):
        raise ArchiveRefused(f"{ARCHIVE} holds something that cannot be kept: {problems[0].message}")
    return facts


def _not_as_told(name: str, error: ValidationError) -> ArchiveRefused:
    fault = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part)[:_SHOWN] for part in fault["loc"])
    return ArchiveRefused(f"{name} is not what one says: {place + ': ' if place else ''}{fault['msg']}")


def _release(version: str) -> tuple[int, ...]:
    """The first two numbers of a version, by which the form of what it writes changes."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())


def _files_unpack(archive: tarfile.TarFile, entries: Iterator[tarfile.TarInfo], facts: ArchiveFacts, target: Path) -> None:
    missing = dict(facts.files)
    for entry in entries:
        _entry_check(entry, facts, missing)
        _file_unpack(archive, entry, missing.pop(entry.name), target / entry.name)
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise ArchiveRefused(f"{next(iter(missing))} is missing{more}")


def _entry_check(entry: tarfile.TarInfo, facts: ArchiveFacts, missing: dict[str, FileFacts]) -> None:
    shown = repr(entry.name[:_SHOWN])
    if not is_inside(entry.name):
        raise ArchiveRefused(f"{shown} leads out of the folder it is unpacked to")
    if not _is_plain(entry):
        raise ArchiveRefused(f"{shown} is {_kind(entry)}: only plain files are taken")
    if entry.name not in facts.files:
        raise ArchiveRefused(f"{shown} is not in its list of files" if entry.name != ARCHIVE else f"{ARCHIVE} is in it twice")
    if entry.name not in missing:
        raise ArchiveRefused(f"{shown} is in it twice")
    if entry.size != missing[entry.name].bytes:
        raise ArchiveRefused(f"{shown} has {entry.size:,} bytes instead of {missing[entry.name].bytes:,}")


def _is_plain(entry: tarfile.TarInfo) -> bool:
    return entry.isreg() and not entry.issparse()


def _kind(entry: tarfile.TarInfo) -> str:
    if entry.issym() or entry.islnk():
        return f"a link to {entry.linkname[:_SHOWN]!r}"
    if entry.isdir():
        return "a folder"
    return "a file with holes" if entry.issparse() else "a device, a pipe or something else"


def _file_unpack(archive: tarfile.TarFile, entry: tarfile.TarInfo, announced: FileFacts, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with path.open("xb") as writing:
        for block in _blocks(archive, entry):
            digest.update(block)
            writing.write(block)
        writing.flush()
        os.fsync(writing.fileno())
    if digest.hexdigest() != announced.sha256:
        raise ArchiveRefused(f"{entry.name} is damaged: its checksum does not fit")


def _blocks(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> Iterator[bytes]:
    file = archive.extractfile(entry)
    if file is None:
        raise ArchiveRefused(f"{entry.name[:_SHOWN]!r} is no plain file")
    try:
        while block := file.read(_BLOCK):
            yield block
    except tarfile.ReadError:
        raise ArchiveRefused(f"it ends in the middle of {entry.name}: it was not sent whole") from None


def _check(folder: Path, facts: ArchiveFacts) -> None:
    queries = checkpoint_queries(folder)
    told = _queries_told(queries)
    if unkept := data_problems({"queries": told, "positions": checkpoint_positions(folder)}):
        raise ArchiveRefused(f"its positions hold something that cannot be kept: {unkept[0].message}")
    if odd := [key for key, query in queries.items() if query["folder"] not in ("", query_folder(key))]:
        raise ArchiveRefused(f"the query {odd[0][:_SHOWN]!r} is not kept in a folder of its name")
    listed = checkpoint_files(folder)
    if extra := sorted(set(facts.files) ^ set(listed)):
        raise ArchiveRefused(f"{extra[0]} is in one of its lists and not in the other")
    if problems := checkpoint_verify(folder):
        raise ArchiveRefused(problems[0])
    for query in queries.values():
        if query["folder"]:
            _cut_check(folder / query["folder"], int(query["batch_id"]))


def _queries_told(queries: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {key: KeptQuery.model_validate(query).model_dump() for key, query in queries.items()}
    except ValidationError as error:
        raise _not_as_told(MANIFEST, error) from None


def _cut_check(cut: Path, batch_id: int) -> None:
    """A file too many is no trifle: a plan behind the batch would name files to read."""
    if int(manifest_read(cut)["batch_id"]) != batch_id:
        raise ArchiveRefused(f"{cut.name}/{MANIFEST} is of another batch than the checkpoint")
    present = {path.relative_to(cut).as_posix() for path in cut.rglob("*") if path.is_file()} - {MANIFEST}
    if extra := sorted(present ^ set(files_needed(cut, batch_id))):
        raise ArchiveRefused(f"{cut.name}/{extra[0]} does not belong to a checkpoint behind batch {batch_id}")
