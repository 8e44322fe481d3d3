"""A checkpoint as one tar archive, written as it is sent: a block at a time, its size known before."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkpoints.archive_facts import ARCHIVE, ArchiveFacts, Taken
from checkpoints.manifest import versions
from checkpoints.verification import checkpoint_files

_BLOCK = 1 << 20
_END = 2 * tarfile.BLOCKSIZE


class ArchiveInterrupted(Exception):
    """A file of the checkpoint went, or changed its size, while it was sent."""


@dataclass(frozen=True)
class Archive:
    """`size` in bytes, of all that `chunks` gives. `sent` is called once that is over, whichever way."""

    folder: Path
    first: bytes
    files: Mapping[str, Mapping[str, Any]]
    sent: Callable[[], None] = lambda: None

    @property
    def size(self) -> int:
        entries = [(ARCHIVE, len(self.first)), *((name, int(facts["bytes"])) for name, facts in self.files.items())]
        return sum(len(_header(name, size)) + size + len(_padding(size)) for name, size in entries) + _END

    def chunks(self) -> Iterator[bytes]:
        """At most a MiB each. ArchiveInterrupted where a file is not there any more: then the archive is not whole."""
        try:
            yield _header(ARCHIVE, len(self.first)) + self.first + _padding(len(self.first))
            for name, facts in self.files.items():
                yield from _entry(self.folder / name, name, int(facts["bytes"]))
            yield bytes(_END)
        finally:
            self.sent()


def archive_of(folder: Path, taken: Taken) -> Archive:
    """The archive of a checkpoint's folder. ManifestDamaged or CutDamaged where its lists cannot be read; no other file is looked at."""
    files = checkpoint_files(folder)
    facts = ArchiveFacts.model_validate({**taken.model_dump(), "versions": versions(), "files": files})
    return Archive(folder, facts.model_dump_json().encode(), files)


def _entry(path: Path, name: str, size: int) -> Iterator[bytes]:
    yield _header(name, size)
    sent = 0
    try:
        with path.open("rb") as file:
            while block := file.read(min(_BLOCK, size - sent)):
                sent += len(block)
                yield block
    except OSError as error:
        raise ArchiveInterrupted(f"{name} cannot be read: {error.strerror}") from error
    if sent != size:
        raise ArchiveInterrupted(f"{name} has {sent} bytes instead of {size}")
    yield _padding(size)


def _header(name: str, size: int) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size = size
    return entry.tobuf(tarfile.PAX_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % tarfile.BLOCKSIZE)
