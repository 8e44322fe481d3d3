"""A durable log of messages that their broker will not send again: appended first, acknowledged then, read by position.

One SQLite file per job and source node, on the disk of the host that receives. Positions count from 1 and are never used twice.
A reader says what it has read and what it reads now; what lies behind that waits, and a `Backpressure` bounds it.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from jobs.nodes.backpressure import Backpressure
from jobs.nodes.job_folders import folders_by_job
from jobs.nodes.spool_messages import Message as Message
from jobs.nodes.spool_messages import Spooled as Spooled
from jobs.nodes.spool_messages import Standing as Standing
from jobs.nodes.spool_messages import Taken as Taken
from jobs.nodes.spool_positions import (
    TABLES,
    discard_oldest,
    discarded,
    first_behind,
    is_draining,
    lacking,
    mark,
    mark_set,
    newest_position,
    place_note,
    place_told,
    planned,
    read_by_all,
    require_discarded,
    stretches,
    waiting,
    waiting_elsewhere,
)
from jobs.nodes.spool_space import can_write, free_bytes, has_room, room_give_back

_BUSY_SECONDS = 20.0
#: Of four values each, as far as SQLite takes so many values in one statement.
_INSERTED_TOGETHER = 2_000
_VALUES = 4
#: Made once: `json.dumps` would make an encoder for every message.
_as_json = json.JSONEncoder(ensure_ascii=False).encode
_NO_HEADERS = "{}"
_NO_ROOM = Backpressure("BUFFER", 0)
#: An id that came again after so long is taken for a new message.
_IDS_KEPT_SECONDS = 7 * 24 * 3600.0


class SpoolFull(Exception):
    """The spool takes no more for now: nothing was appended. The text says why."""


def spool_path(data_dir: Path, job_uid: str, node_id: str) -> Path:
    return data_dir / "spool" / job_uid / f"{node_id}.sqlite3"


def spools_by_job(data_dir: Path) -> dict[str, Path]:
    """Uid of a job → the folder of its spools on this host."""
    return folders_by_job(data_dir / "spool")


class Spool:
    """Safe to use from several processes and threads of one host. Each call opens the file for itself, but inside `held_open`.

    `place`: where the messages come from, such as a queue. Those that came from another are not its own; "": all are.
    """

    def __init__(self, path: Path, place: str = "") -> None:
        self.path = path
        self._place = place
        self._held: sqlite3.Connection | None = None

    @contextmanager
    def held_open(self) -> Iterator[None]:
        """The calls inside share one line to the file, which saves its last user the work of closing it: make them one after another."""
        with self._connected() as database:
            self._held = database
            try:
                yield
            finally:
                self._held = None

    def take(self, messages: Sequence[Message], backpressure: Backpressure, *, whole: bool = False) -> Taken:
        """Keep what there is room for, in order; `whole`: all or none, where the rest would have to come again.

        When it returns, what is kept survives the loss of power.
        A message whose id was seen is done with, and takes no room. SpoolFull where the disk has next to no room.
        """
        now = time.time()
        free = free_bytes(self.path.parent)
        if not can_write(free):
            raise SpoolFull("the disk has next to no room")
        with self._opened(write=True) as database:
            if not has_room(database, free):
                raise SpoolFull("the disk has next to no room")
            if mark(database, "overrun"):
                return Taken(0, 0, overrun=True, refused="the job has failed for want of room")
            if backpressure.strategy == "ERROR" and is_draining(database):
                return replace(_take(database, messages, _NO_ROOM, now, whole), refused="what waited when the job failed is read first")
            return _take(database, messages, backpressure, now, whole)

    def plan(self, after: int, upto: int, reader: str = "") -> None:
        """By one of the readers the messages up to `after` are read, those up to `upto` are being read: they are never discarded."""
        with self._opened(write=True) as database:
            planned(database, reader, after, upto)

    def last_read(self) -> int:
        """The position of the last message that is read for certain; 0 if none is."""
        with self._opened() as database:
            return mark(database, "read")

    def standing(self) -> Standing:
        with self._opened() as database:
            wait = waiting(database)
            draining = wait > 0 and bool(mark(database, "draining"))
            return Standing(wait, mark(database, "dropped"), bool(mark(database, "overrun")), draining)

    def begin(self) -> int:
        """Another attempt begins, with readers of its own; how many messages wait that are left out, as they came from another place.

        After an overrun it takes messages once what waits is read: the next message would find no room at once.
        """
        with self._opened(write=True) as database:
            moves = bool(self._place) and place_told(database) != self._place
            if moves:
                place_note(database, self._place)
            strange = waiting_elsewhere(database, self._place) if moves else 0
            database.execute("UPDATE reader SET current = 0")
            if mark(database, "overrun"):
                mark_set(database, "overrun", 0)
                mark_set(database, "draining", 1)
            return strange

    def newest_own(self, most: int) -> list[Spooled]:
        """At most `most` of the newest messages; none where the newest came from another place."""
        with self._opened() as database:
            newest, kept_from = newest_position(database), first_behind(database, 0) - 1
            own = stretches(database, self._place, max(kept_from, newest - most), newest)
            is_here = place_told(database) in ("", self._place)
        return list(self.read(*own[-1])) if own and is_here else []

    def own(self, after: int, upto: int) -> list[tuple[int, int]]:
        """Those of the positions `after` + 1 … `upto` that did not come from another place, as pairs of the same kind."""
        with self._opened() as database:
            return stretches(database, self._place, after, upto)

    def newest(self) -> int:
        """The position of the newest message there ever was; 0 if there was none."""
        with self._opened() as database:
            return newest_position(database)

    def oldest(self) -> int:
        """The position of the oldest message that is kept; one behind the newest if none is."""
        with self._opened() as database:
            return first_behind(database, 0)

    def first_behind(self, position: int) -> int:
        """The position of the first own message behind `position` that was not discarded; one behind the newest if there is none."""
        with self._opened() as database:
            upto = database.execute("SELECT max(last) FROM gap WHERE first <= ? + 1", (position,)).fetchone()[0]
            behind, newest = max(position, upto or 0), newest_position(database)
            own = stretches(database, self._place, behind, newest)
            return (own[0][0] if own else max(behind, newest)) + 1

    def lacking(self, after: int) -> tuple[int, int] | None:
        """The first and the last own position behind `after` that is not kept any more, and was not discarded; None: all are kept."""
        with self._opened() as database:
            return lacking(database, after, self._place)

    def count(self) -> int:
        """How many messages are kept."""
        with self._opened() as database:
            oldest, newest = first_behind(database, 0), newest_position(database)
            return newest - oldest + 1 - discarded(database, oldest - 1, newest)

    def read(self, after: int, upto: int) -> Iterator[Spooled]:
        """Messages of the positions `after` + 1 … `upto`, in order, without those that were discarded.

        Raises LookupError where some of them are not kept any more.
        """
        with self._opened() as database:
            found = database.execute(
                "SELECT position, received, key, headers, value FROM message WHERE position > ? AND position <= ? ORDER BY position",
                (after, upto),
            )
            expected = after + 1
            for position, received, key, headers, value in found:
                require_discarded(database, expected, position - 1)
                expected = position + 1
                yield Spooled(position, received, key, json.loads(headers), value)
            require_discarded(database, expected, upto)

    def trim(self, below: int) -> int:
        """Forget the messages before position `below`; how many. None of a spool that never came so far: they were read of another."""
        with self._opened(write=True) as database:
            if below > newest_position(database) + 1:
                return 0
            database.execute("DELETE FROM seen WHERE received < ?", (time.time() - _IDS_KEPT_SECONDS,))
            database.execute("DELETE FROM gap WHERE last < ?", (below,))
            trimmed = database.execute("DELETE FROM message WHERE position < ?", (below,)).rowcount
        if trimmed:
            with self._opened() as database:
                room_give_back(database, self.path.parent)
        return trimmed

    def trim_read(self, most: int) -> int:
        """Forget the oldest of the messages that were read, where more than `most` of them are kept; how many."""
        with self._opened() as database:
            below = read_by_all(database) + 1 - most
            oldest = first_behind(database, 0)
        return self.trim(below) if oldest < below else 0

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        with closing(connection) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.executescript(TABLES)
            yield database

    @contextmanager
    def _opened(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        if self._held is not None and not self.path.exists():
            raise FileNotFoundError(f"{self.path} was removed while messages were being received")
        with nullcontext(self._held) if self._held is not None else self._connected() as database:
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


def _take(database: sqlite3.Connection, messages: Sequence[Message], backpressure: Backpressure, now: float, whole: bool) -> Taken:
    room = max(0, backpressure.buffer_size - waiting(database))
    if whole and backpressure.refuses and sum(not _is_known(database, message) for message in messages) > room:
        return _refused(database, Taken(0, 0), backpressure)
    new: list[Message] = []
    done = dropped = 0
    for message in messages:
        is_full = len(new) >= room and backpressure.strategy != "LATEST"
        if is_full and backpressure.refuses and not _is_known(database, message):
            break
        done += 1
        if _is_new(database, message, now):
            if is_full:
                dropped += 1
            else:
                new.append(message)
    together = min(_INSERTED_TOGETHER, database.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // _VALUES)
    for first in range(0, len(new), together):
        _insert(database, new[first : first + together], now)
    if backpressure.strategy == "LATEST" and len(new) > room:
        dropped = discard_oldest(database, len(new) - room)
    if dropped:
        mark_set(database, "dropped", mark(database, "dropped") + dropped)
    taken = Taken(done, len(new), dropped)
    return _refused(database, taken, backpressure) if done < len(messages) else taken


def _refused(database: sqlite3.Connection, taken: Taken, backpressure: Backpressure) -> Taken:
    if overrun := backpressure.strategy == "ERROR":
        mark_set(database, "overrun", 1)
    return replace(taken, overrun=overrun, refused=f"at most {backpressure.buffer_size} messages wait to be read")


def _insert(database: sqlite3.Connection, messages: Sequence[Message], now: float) -> None:
    """In one statement: for each one Python's lock changes hands, and a receiver that works meanwhile is slow to hand it back."""
    rows = ", ".join(["(?, ?, ?, ?)"] * len(messages))
    values = [value for one in messages for value in (now, one.key, _as_json(one.headers) if one.headers else _NO_HEADERS, one.value)]
    database.execute(f"INSERT INTO message (received, key, headers, value) VALUES {rows}", values)


def _is_known(database: sqlite3.Connection, message: Message) -> bool:
    return bool(message.id) and database.execute("SELECT 1 FROM seen WHERE id = ?", (message.id,)).fetchone() is not None


def _is_new(database: sqlite3.Connection, message: Message, now: float) -> bool:
    if not message.id:
        return True
    return database.execute("INSERT OR IGNORE INTO seen (id, received) VALUES (?, ?)", (message.id, now)).rowcount == 1
