"""The disk that a spool takes: SQLite keeps the room of messages that went for new ones, and gives it back when told to only."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path

_MEGABYTE = 1024 * 1024
#: With less free than this nothing is taken, save into room that the file has already.
LEAST_FREE_BYTES = 256 * _MEGABYTE
#: What taking needs beside the file: SQLite writes ahead.
_AHEAD_BYTES = 32 * _MEGABYTE
#: Less is not worth the work.
_GIVEN_BACK_BYTES = 64 * _MEGABYTE


def free_bytes(folder: Path) -> int:
    """Of the disk of `folder`, whether it was made already or not."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return shutil.disk_usage(there).free


def can_write(free: int) -> bool:
    """Whether SQLite has what it needs to take anything at all: asked before a file is opened, which on a full disk fails."""
    return free >= _AHEAD_BYTES


def has_room(database: sqlite3.Connection, free: int) -> bool:
    """Whether messages may be taken: the disk has room, or the file has where messages went."""
    return free >= LEAST_FREE_BYTES or (can_write(free) and _sizes(database)[1] >= LEAST_FREE_BYTES)


def room_give_back(database: sqlite3.Connection, folder: Path) -> None:
    """Shrink the file where most of it is free, and the disk has room for what is moved. Not while others are at it: the next time then."""
    kept, free = _sizes(database)
    if free >= max(_GIVEN_BACK_BYTES, 4 * kept) and shutil.disk_usage(folder).free > 3 * kept + _AHEAD_BYTES:
        with suppress(sqlite3.OperationalError):
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _sizes(database: sqlite3.Connection) -> tuple[int, int]:
    """Bytes of the file that hold something, and that hold nothing any more."""
    size, pages, free = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count"))
    return size * (pages - free), size * free
