"""A durable log of messages that their broker will not send again: appended first, acknowledged then, read by position.

One SQLite file per job and source node, on the disk of the host that receives. Positions count from 1 and are never used twice.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_BUSY_SECONDS = 20.0
_LEAST_FREE_BYTES = 256 * 1024 * 1024
#: An id that came again after so long is taken for a new message.
_IDS_KEPT_SECONDS = 7 * 24 * 3600.0

_TABLES = """
CREATE TABLE IF NOT EXISTS message (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    received REAL NOT NULL,
    key TEXT,
    headers TEXT NOT NULL,
    value BLOB
);
CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY, received REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS seen_received ON seen (received);
"""


@dataclass(frozen=True)
class Message:
    """`id`: by it a message that is sent again is told from a new one; "" if the sender gives none."""

    value: bytes | None
    key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True)
class Spooled:
    """A message with its position and the time (seconds since 1970) at which it was received."""

    position: int
    received: float
    key: str | None
    headers: Mapping[str, str]
    value: bytes | None


class SpoolFull(Exception):
    """The spool takes no more for now: nothing was appended. The text says why."""


def spool_path(data_dir: Path, job_uid: str, node_id: str) -> Path:
    return data_dir / "spool" / job_uid / f"{node_id}.sqlite3"


class Spool:
    """Safe to use from several processes and threads of one host. Each call opens the file for itself."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, messages: Sequence[Message], *, most: int | None = None) -> int:
        """Keep `messages`, all or none; how many were new. When it returns they survive the loss of power.

        SpoolFull where more than `most` would then be kept, or the disk has next to no room.
        """
        now = time.time()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(self.path.parent).free < _LEAST_FREE_BYTES:
            raise SpoolFull("the disk has next to no room")
        with self._opened(write=True) as database:
            if most is not None and _count(database) + len(messages) > most:
                raise SpoolFull(f"{most} messages are kept already")
            new = [message for message in messages if _is_new(database, message, now)]
            database.executemany(
                "INSERT INTO message (received, key, headers, value) VALUES (?, ?, ?, ?)",
                [(now, one.key, json.dumps(dict(one.headers), ensure_ascii=False), one.value) for one in new],
            )
        return len(new)

    def newest(self) -> int:
        """The position of the newest message there ever was; 0 if there was none."""
        with self._opened() as database:
            row = database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'message'").fetchone()
        return int(row[0]) if row else 0

    def oldest(self) -> int:
        """The position of the oldest message that is kept; one behind the newest if none is."""
        with self._opened() as database:
            row = database.execute("SELECT min(position) FROM message").fetchone()
        return int(row[0]) if row[0] is not None else self.newest() + 1

    def count(self) -> int:
        """How many messages are kept."""
        with self._opened() as database:
            return _count(database)

    def read(self, after: int, upto: int) -> Iterator[Spooled]:
        """Messages of the positions `after` + 1 … `upto`, in order. Raises LookupError where some of them are not kept any more."""
        with self._opened() as database:
            found = database.execute(
                "SELECT position, received, key, headers, value FROM message WHERE position > ? AND position <= ? ORDER BY position",
                (after, upto),
            )
            expected = after + 1
            for position, received, key, headers, value in found:
                if position != expected:
                    raise LookupError(f"messages {expected} to {position - 1} are not kept any more")
                expected += 1
                yield Spooled(position, received, key, json.loads(headers), value)
            if expected <= upto:
                raise LookupError(f"messages {expected} to {upto} are not kept any more")

    def trim(self, below: int) -> int:
        """Forget the messages before position `below`; how many."""
        with self._opened(write=True) as database:
            database.execute("DELETE FROM seen WHERE received < ?", (time.time() - _IDS_KEPT_SECONDS,))
            return database.execute("DELETE FROM message WHERE position < ?", (below,)).rowcount

    @contextmanager
    def _opened(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.executescript(_TABLES)
            if not write:
                yield database
                return
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                database.execute("ROLLBACK")
                raise


def _count(database: sqlite3.Connection) -> int:
    """From the ends: positions have no gaps, and counting them one by one would cost every append a walk over all."""
    oldest, newest = database.execute("SELECT (SELECT min(position) FROM message), (SELECT max(position) FROM message)").fetchone()
    return 0 if oldest is None else int(newest) - int(oldest) + 1


def _is_new(database: sqlite3.Connection, message: Message, now: float) -> bool:
    if not message.id:
        return True
    return database.execute("INSERT OR IGNORE INTO seen (id, received) VALUES (?, ?)", (message.id, now)).rowcount == 1
