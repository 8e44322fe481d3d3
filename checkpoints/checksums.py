"""SHA-256 of files, taken while they are read or copied for whatever reason.

Measured on the machine of the benchmarks: 1.7 GB/s, so it is taken of every file, linked ones too. A file that was hashed for
an earlier checkpoint and has the same inode, size and time since is not read again: Spark never changes a finished file, and new
ones are in the page cache when they are read.
"""

from __future__ import annotations

import hashlib
import os
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from checkpoints.hadoop_checksums import hadoop_checksum
from checkpoints.threads import Pulse, all_done, no_pulse

#: Small enough to stay in the processor's cache from one use to the next.
_BLOCK = 1 << 20
#: (device, inode, size, modification time in ns)
FileKey = tuple[int, int, int, int]
#: What is known of files: SHA-256, hex.
Digests = dict[FileKey, str]


def file_key(path: Path) -> FileKey:
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def file_digest(path: Path, pulse: Pulse = no_pulse) -> str:
    """SHA-256 of a file, hex."""
    with path.open("rb", buffering=0) as file:
        return _digest(_blocks(file, pulse))


def spark_file_digest(path: Path, pulse: Pulse = no_pulse) -> str:
    """SHA-256 of a file that Spark wrote, hex, and the file is on disk. ChecksumWrong if Hadoop's checksum beside it does not fit."""
    with path.open("rb", buffering=0) as file:
        digest = _digest(_proven(path, _blocks(file, pulse)))
        os.fsync(file.fileno())  # Spark closes its files without a sync
    return digest


def spark_file_copy(source: Path, target: Path, pulse: Pulse = no_pulse) -> str:
    """As `copy_with_digest`, of a file that Spark wrote. ChecksumWrong if Hadoop's checksum beside it does not fit."""
    return _copied(source, target, lambda blocks: _proven(source, blocks), pulse)


def copy_with_digest(source: Path, target: Path, pulse: Pulse = no_pulse) -> str:
    """A copy on disk, written through; the SHA-256 of what was read."""
    return _copied(source, target, lambda blocks: blocks, pulse)


def files_copy(folder: Path, target: Path, files: Mapping[str, Mapping[str, Any]], pulse: Pulse = no_pulse) -> list[str]:
    """Copies of `files`, path → {"sha256"}, below `target`, on disk; what is wrong with them, a sentence a file, in their order."""
    for place in {(target / name).parent for name in files}:
        place.mkdir(parents=True, exist_ok=True)
    copies = [partial(_file_copy, folder / name, target / name, name, str(facts["sha256"])) for name, facts in files.items()]
    return [problem for problem in all_done(copies, pulse) if problem]


def _file_copy(source: Path, target: Path, name: str, sha256: str, pulse: Pulse) -> str:
    """What is wrong with it, "" for nothing."""
    try:
        return "" if copy_with_digest(source, target, pulse) == sha256 else f"{name} is damaged: its checksum does not fit"
    except FileNotFoundError:
        return f"{name} is missing"


Blocks = Iterator[memoryview]
_kept = threading.local()


def _blocks(file: BinaryIO, pulse: Pulse) -> Blocks:
    """Each is good until the next is asked for."""
    view = _buffer()
    while size := file.readinto(view):  # type: ignore[attr-defined]
        pulse()
        yield view[:size]


def _buffer() -> memoryview:
    """This thread's own: to get and give back memory for every file costs more than to copy it."""
    if not hasattr(_kept, "buffer"):
        _kept.buffer = memoryview(bytearray(_BLOCK))
    found: memoryview = _kept.buffer
    return found


def _digest(blocks: Blocks) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()


def _proven(path: Path, blocks: Blocks) -> Blocks:
    """The same; ChecksumWrong behind the last of them if Hadoop's checksum does not fit."""
    checksum = hadoop_checksum(path)
    size = crc = 0
    for block in blocks:
        if checksum:
            size, crc = size + len(block), zlib.crc32(block, crc)
        yield block
    if checksum:
        checksum.compare(size, crc)


def _copied(source: Path, target: Path, seen: Callable[[Blocks], Blocks], pulse: Pulse) -> str:
    with source.open("rb", buffering=0) as reading, target.open("xb", buffering=0) as writing:
        digest = _digest(_written(writing, seen(_blocks(reading, pulse))))
        os.fsync(writing.fileno())
    return digest


def _written(file: BinaryIO, blocks: Blocks) -> Blocks:
    for block in blocks:
        rest = block
        while len(rest):
            rest = rest[file.write(rest) :]
        yield block
