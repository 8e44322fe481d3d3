"""The tables of a spool, and what its positions, gaps and marks tell."""

from __future__ import annotations

import sqlite3

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
"""


def waiting(database: sqlite3.Connection) -> int:
    """How many messages nobody reads yet, from the ends and the gaps: counting would walk over all of them for every message."""
    planned, newest = max(mark(database, "planned"), first_behind(database, 0) - 1), newest_position(database)
    return max(0, newest - planned - discarded(database, planned, newest))


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
