"""SHA-256 of files, and Hadoop's own checksums beside them.

Measured on the machine of the benchmarks: SHA-256 1.9 GB/s, so it is taken of every file, linked ones too. A file that was hashed for
an earlier checkpoint and has the same inode, size and time since is not read again: Spark never changes a finished file, and new
ones are in the page cache when they are read. Hadoop's checksum (CRC-32 of each 512 bytes) proves that a file is what Spark wrote.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_BLOCK = 1 << 20
#: (device, inode, size, modification time in ns)
FileKey = tuple[int, int, int, int]
#: What is known of files: SHA-256, hex.
Digests = dict[FileKey, str]
#: Called between blocks; may raise to end the work.
Pulse = Callable[[], None]


class ChecksumWrong(Exception):
    """A file is not what Spark wrote."""


def no_pulse() -> None:
    """Never ends the work."""


def file_key(path: Path) -> FileKey:
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def file_digest(path: Path, pulse: Pulse = no_pulse) -> str:
    """SHA-256 of a file, hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            pulse()
            digest.update(block)
    return digest.hexdigest()


def copy_with_digest(source: Path, target: Path, pulse: Pulse = no_pulse) -> str:
    """A copy on disk, written through; the SHA-256 of what was read."""
    digest = hashlib.sha256()
    with source.open("rb") as reading, target.open("xb") as writing:
        while block := reading.read(_BLOCK):
            pulse()
            digest.update(block)
            writing.write(block)
        writing.flush()
        os.fsync(writing.fileno())
    return digest.hexdigest()


def hadoop_check(path: Path) -> None:
    """ChecksumWrong if Hadoop's `.<name>.crc` stands beside the file and does not fit it."""
    beside = path.with_name(f".{path.name}.crc")
    try:
        raw = beside.read_bytes()
    except FileNotFoundError:
        return
    if raw[:4] != b"crc\0" or len(raw) < 8:
        raise ChecksumWrong(f"{beside.name} is not a checksum file")
    size = struct.unpack(">I", raw[4:8])[0]
    with path.open("rb") as file:
        if size == 0 or _blockwise(file, size) != raw[8:]:
            raise ChecksumWrong(f"{path.name} is not what Spark wrote: its checksum does not fit")


def _blockwise(file: BinaryIO, size: int) -> bytes:
    sums = bytearray()
    while chunk := file.read(size * 2048):
        view = memoryview(chunk)
        for start in range(0, len(chunk), size):
            sums += zlib.crc32(view[start : start + size]).to_bytes(4, "big")
    return bytes(sums)
