"""The tables of a spool, and what its positions, gaps and marks tell."""

from __future__ import annotations

import sqlite3
import time

TABLES = """
CREATE TABLE IF NOT EXISTS message (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    received REAL NOT NULL,
    key TEXT,
    headers TEXT NOT NULL,
    value BLOB
);
CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY, received REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS seen_received ON seen (received);
CREATE TABLE IF NOT EXISTS gap (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS mark (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reader (
    name TEXT PRIMARY KEY, current INTEGER NOT NULL, at REAL NOT NULL, read INTEGER NOT NULL, planned INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS place (after INTEGER PRIMARY KEY, name TEXT NOT NULL);
"""
#: Asked for every few messages, in one statement: with each of them Python's lock changes hands, and a receiver that is busy with
#: others is slow to hand it back.
_UNREAD = """
SELECT max(
    coalesce((SELECT value FROM mark WHERE name = 'slowest' AND value != 0), (SELECT value FROM mark WHERE name = 'planned'), 0),
    coalesce((SELECT min(position) FROM message) - 1, newest)
), newest
FROM (SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'message'), 0) AS newest)
"""
#: What a reader of the attempt before had read holds for so long: those of this one may not all have begun.
_READERS_KEPT_SECONDS = 600.0


def planned(database: sqlite3.Connection, reader: str, after: int, upto: int) -> None:
    """The marks, now that a reader has read up to `after` and reads up to `upto`: each query of a source has its own.

    "read": what all of them have read. "slowest": what all of them read. "planned": what any reader reads.
    """
    now = time.time()
    database.execute("DELETE FROM reader WHERE NOT current AND at < ?", (now - _READERS_KEPT_SECONDS,))
    database.execute("INSERT OR REPLACE INTO reader VALUES (?, 1, ?, ?, ?)", (reader, now, after, upto))
    read, slowest = database.execute("SELECT min(read), min(planned) FROM reader WHERE current").fetchone()
    (highest,) = database.execute("SELECT max(planned) FROM reader").fetchone()
    for name, value in (("read", read), ("slowest", slowest), ("planned", highest)):
        mark_set(database, name, value)


def read_by_all(database: sqlite3.Connection) -> int:
    """What every reader has read, also those of the attempt before, of which not all may go on yet."""
    (lowest,) = database.execute("SELECT min(read) FROM reader").fetchone()
    return mark(database, "read") if lowest is None else int(lowest)


def waiting(database: sqlite3.Connection) -> int:
    """How many messages not all readers read yet, from the ends and the gaps: counting would walk over all of them for every message."""
    behind, newest = _unread(database)
    return max(0, newest - behind - discarded(database, behind, newest))


def waiting_elsewhere(database: sqlite3.Connection, place: str) -> int:
    """How many of them came from another place than `place`."""
    own = sum(end - begin - discarded(database, begin, end) for begin, end in stretches(database, place, *_unread(database)))
    return waiting(database) - own


def _unread(database: sqlite3.Connection) -> tuple[int, int]:
    """Behind which position messages wait, and the newest."""
    behind, newest = database.execute(_UNREAD).fetchone()
    return behind, newest


def discarded(database: sqlite3.Connection, after: int, upto: int) -> int:
    """How many of the positions `after` + 1 … `upto` were discarded."""
    covered, reached = 0, after
    gaps = "SELECT first, last FROM gap WHERE last > ? AND first <= ? ORDER BY first"
    for first, last in database.execute(gaps, (after, upto)).fetchall():
        begin, end = max(first - 1, reached), min(last, upto)
        covered += max(0, end - begin)
        reached = max(reached, end)
    return covered


def require_discarded(database: sqlite3.Connection, first: int, last: int) -> None:
    """LookupError where a position of `first` … `last` was not discarded: it should be there, and is not."""
    if first <= last and discarded(database, first - 1, last) < last - first + 1:
        raise LookupError(f"messages {first} to {last} are not kept any more")


def lacking(database: sqlite3.Connection, after: int, place: str) -> tuple[int, int] | None:
    """The first and the last position behind `after` that should be there and are not, as messages are trimmed from below."""
    own = stretches(database, place, after, first_behind(database, 0) - 1)
    gone = [(begin, end) for begin, end in own if discarded(database, begin, end) < end - begin]
    return (gone[0][0] + 1, gone[-1][1]) if gone else None


def place_told(database: sqlite3.Connection) -> str:
    """Where the messages come from that come now; "" where nobody said."""
    row = database.execute("SELECT name FROM place ORDER BY after DESC LIMIT 1").fetchone()
    return str(row[0]) if row else ""


def place_note(database: sqlite3.Connection, place: str) -> None:
    """From now on messages come from `place`: ids of another's say nothing of its own. All that came before anybody said is the first's."""
    is_first = not place_told(database)
    database.execute("INSERT OR REPLACE INTO place VALUES (?, ?)", (0 if is_first else newest_position(database), place))
    if not is_first:
        database.execute("DELETE FROM seen")


def stretches(database: sqlite3.Connection, place: str, after: int, upto: int) -> list[tuple[int, int]]:
    """Those of the positions `after` + 1 … `upto` that came from `place`, as pairs of the same kind; "": all of them."""
    told = database.execute("SELECT after, name FROM place ORDER BY after").fetchall() if place else []
    begins = told or [(0, place)]
    ends = [begin for begin, _ in begins[1:]] + [upto]
    own = [(max(begin, after), min(end, upto)) for (begin, name), end in zip(begins, ends, strict=True) if name == place]
    return [(begin, end) for begin, end in own if begin < end]


def first_behind(database: sqlite3.Connection, after: int) -> int:
    """The first position behind `after` that is kept; one behind the newest if none is."""
    row = database.execute("SELECT min(position) FROM message WHERE position > ?", (after,)).fetchone()
    return int(row[0]) if row[0] is not None else newest_position(database) + 1


def newest_position(database: sqlite3.Connection) -> int:
    """The newest there ever was; 0 if there was none."""
    row = database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'message'").fetchone()
    return int(row[0]) if row else 0


def mark(database: sqlite3.Connection, name: str) -> int:
    row = database.execute("SELECT value FROM mark WHERE name = ?", (name,)).fetchone()
    return int(row[0]) if row else 0


def mark_set(database: sqlite3.Connection, name: str, value: int) -> None:
    database.execute("INSERT OR REPLACE INTO mark (name, value) VALUES (?, ?)", (name, value))


def discard_oldest(database: sqlite3.Connection, count: int) -> int:
    """The oldest `count` messages that wait; how many there were."""
    under_way = mark(database, "planned")
    unread = "SELECT position FROM message WHERE position > ? ORDER BY position LIMIT 1 OFFSET ?"
    upto = (database.execute(unread, (under_way, count - 1)).fetchone() or (newest_position(database),))[0]
    database.execute("INSERT OR REPLACE INTO gap (first, last) VALUES (?, ?)", (under_way + 1, upto))
    return database.execute("DELETE FROM message WHERE position > ? AND position <= ?", (under_way, upto)).rowcount


def is_draining(database: sqlite3.Connection) -> bool:
    if not mark(database, "draining"):
        return False
    if waiting(database):
        return True
    mark_set(database, "draining", 0)
    return False
