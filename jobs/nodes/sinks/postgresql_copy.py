"""PostgreSQL's COPY of files that Spark wrote."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from jobs.nodes.sinks.jdbc_dialect import Refused
    from jobs.nodes.sinks.postgresql_tuples import Tuples

logger = logging.getLogger(__name__)

_CHUNK_MS = 10_000
_MOST_MS = 600_000
_TOO_LONG = "57014"
#: A letter that no text has, such as NUL, and a time that no column has.
_NO_PLACE = ("22021", "22008")


def copy_files(cursor: Any, table: str, files: Iterable[BinaryIO | None], tuples: Tuples, refused: Refused | None = None) -> int:
    """Send the lines of `files` into the columns of `tuples`, in their order; how many rows arrived.

    None stands for "no file yet": the server hears of us, lest it takes us for frozen. Lines with a text or a time that it has no place
    for go to `refused` where it is given.
    """
    rows = 0
    sending = _Sending(cursor, table, tuples, refused)
    for file in files:
        if file is None:
            cursor.execute("SELECT 1")
            continue
        for chunk in tuples.chunks(file):
            rows += sending.send(chunk)
    cursor.execute("SET LOCAL statement_timeout TO DEFAULT")
    return rows


class _Sending:
    """Chunks, each under a limit that a frozen client does not outlive; one that lives on gives a slow server twice as long.

    It ends at ten minutes, or at what a connection, a user or the server has for a statement, unless that is too short for a chunk.
    Each chunk that comes in quickly halves it again.
    """

    def __init__(self, cursor: Any, table: str, tuples: Tuples, refused: Refused | None) -> None:
        self._cursor, self._tuples, self._refused = cursor, tuples, refused
        self._statement = f"COPY {table} FROM STDIN (FORMAT binary)"
        cursor.execute("SELECT setting::bigint FROM pg_settings WHERE name = 'statement_timeout'")
        given = int(cursor.fetchone()[0])
        self._most_ms = max(_CHUNK_MS, min(given, _MOST_MS) if given else _MOST_MS)
        self._limit(_CHUNK_MS)

    def send(self, lines: bytes) -> int:
        """How many rows came in."""
        import psycopg2

        while lines:
            message = self._tuples.message(lines)
            self._cursor.execute("SAVEPOINT pipeline_chunk")
            begun = time.monotonic()
            try:
                self._cursor.copy_expert(self._statement, BytesIO(message), len(message))
            except psycopg2.Error as error:
                lines = self._to_send_again(lines, error, time.monotonic() - begun)
                continue
            rows = int(self._cursor.rowcount)
            self._cursor.execute("RELEASE SAVEPOINT pipeline_chunk")
            if self._ms > _CHUNK_MS and (time.monotonic() - begun) * 2000 < self._ms:
                self._limit(self._ms // 2)
            return rows
        return 0

    def _to_send_again(self, lines: bytes, error: Any, seconds: float) -> bytes:
        """Those lines that failed for no other reason than ours; else raises `error`."""
        if error.pgcode in _NO_PLACE and self._refused is not None:
            self._cursor.execute("ROLLBACK TO SAVEPOINT pipeline_chunk")
            if len(kept := self._tuples.storable(lines, self._refused)) < len(lines):
                return kept
        if error.pgcode != _TOO_LONG or not self._was_ours(seconds):
            raise error
        self._cursor.execute("ROLLBACK TO SAVEPOINT pipeline_chunk")
        self._limit(self._ms * 2)
        logger.warning("PostgreSQL is slow to take rows: %d kB are given %.0f seconds", len(lines) // 1000, self._ms / 1000)
        return lines

    def _limit(self, ms: int) -> None:
        self._ms = max(_CHUNK_MS, min(ms, self._most_ms))
        self._cursor.execute(f"SET LOCAL statement_timeout = {self._ms}")

    def _was_ours(self, seconds: float) -> bool:
        """Somebody else may cancel a statement too, and is obeyed."""
        return self._ms < self._most_ms and seconds * 1000 >= self._ms
