"""PostgreSQL's COPY: Spark writes each row as a line of text into files, and files are sent as they are."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from functools import reduce
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO

from jobs.nodes.columns import column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

    from jobs.nodes.sinks.jdbc_dialect import Refused

logger = logging.getLogger(__name__)

#: Small enough for a second, so that a client that freezes in the middle soon counts as dead and lets go of its locks.
_CHUNK_BYTES = 1_000_000
_CHUNK_MS = 10_000
_MOST_MS = 600_000
_TOO_LONG = "57014"
TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})
#: With the offset, a time means the same in every zone; five letters are needed for offsets with seconds.
_TIME_WITH_OFFSET = "yyyy-MM-dd HH:mm:ss.SSSSSSXXXXX"
NUL_IN_TEXT = "a text holds the character NUL, which PostgreSQL cannot store"
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))


def copy_files(cursor: Any, statement: str, files: Iterable[BinaryIO | None], refused: Refused | None = None) -> int:
    """Send the lines of `files` (`copy_line`), in their order; how many rows arrived. `statement`: COPY … FROM STDIN.

    None stands for "no file yet": the server hears of us, lest it takes us for frozen. Lines with NUL go to `refused` where it is given.
    """
    rows = 0
    sending = _Sending(cursor, statement)
    for file in files:
        if file is None:
            cursor.execute("SELECT 1")
            continue
        for chunk in _chunks(file):
            sent = chunk if refused is None or b"\0" not in chunk else _without_nul(chunk, refused)
            rows += sending.send(sent)
    cursor.execute("SET LOCAL statement_timeout TO DEFAULT")
    return rows


class _Sending:
    """Chunks, each under a limit that a frozen client does not outlive; one that lives on gives a slow server twice as long.

    It ends at ten minutes, or at what a connection, a user or the server has for a statement, unless that is too short for a chunk.
    Each chunk that comes in quickly halves it again.
    """

    def __init__(self, cursor: Any, statement: str) -> None:
        self._cursor, self._statement = cursor, statement
        cursor.execute("SELECT setting::bigint FROM pg_settings WHERE name = 'statement_timeout'")
        given = int(cursor.fetchone()[0])
        self._most_ms = max(_CHUNK_MS, min(given, _MOST_MS) if given else _MOST_MS)
        self._limit(_CHUNK_MS)

    def send(self, chunk: bytes) -> int:
        """How many rows came in."""
        import psycopg2

        while True:
            self._cursor.execute("SAVEPOINT pipeline_chunk")
            begun = time.monotonic()
            try:
                self._cursor.copy_expert(self._statement, BytesIO(chunk), max(len(chunk), 1))
            except psycopg2.Error as error:
                if error.pgcode != _TOO_LONG or not self._was_ours(time.monotonic() - begun):
                    raise
                self._cursor.execute("ROLLBACK TO SAVEPOINT pipeline_chunk")
                self._limit(self._ms * 2)
                logger.warning("PostgreSQL is slow to take rows: %d kB are given %.0f seconds", len(chunk) // 1000, self._ms / 1000)
                continue
            rows = int(self._cursor.rowcount)
            self._cursor.execute("RELEASE SAVEPOINT pipeline_chunk")
            if self._ms > _CHUNK_MS and (time.monotonic() - begun) * 2000 < self._ms:
                self._limit(self._ms // 2)
            return rows

    def _limit(self, ms: int) -> None:
        self._ms = max(_CHUNK_MS, min(ms, self._most_ms))
        self._cursor.execute(f"SET LOCAL statement_timeout = {self._ms}")

    def _was_ours(self, seconds: float) -> bool:
        """Somebody else may cancel a statement too, and is obeyed."""
        return self._ms < self._most_ms and seconds * 1000 >= self._ms


def _without_nul(chunk: bytes, refused: Refused) -> bytes:
    kept = []
    for line in chunk.splitlines(keepends=True):
        if b"\0" in line:
            refused.add(NUL_IN_TEXT, lambda line=line: _line_shown(line, is_kept=refused.every is not None))  # type: ignore[misc]
        else:
            kept.append(line)
    return b"".join(kept)


def _line_shown(line: bytes, *, is_kept: bool) -> str:
    """The line, or the text that was kept of the row: JSON, in which nothing but backslashes is escaped, behind the other columns."""
    text = line.decode("utf-8", "replace").rstrip("\n")
    return text.rpartition("\t")[2].replace("\\\\", "\\") if is_kept else text


def _chunks(lines: BinaryIO) -> Iterator[bytes]:
    while chunk := lines.read(_CHUNK_BYTES):
        yield chunk + lines.readline()


def copy_line(frame: DataFrame) -> Column:
    """A row of `frame` in COPY's text format, without the line break."""
    from pyspark.sql import functions as F

    values = [F.coalesce(_text(column(field.name), field.dataType), F.lit("\\N")) for field in frame.schema.fields]
    return F.concat_ws("\t", *values)


def _text(value: Column, spark_type: DataType) -> Column:
    from pyspark.sql import functions as F

    name = spark_type.simpleString()
    if name == "binary":
        return F.concat(F.lit("\\\\x"), F.hex(value))
    if name in TIMES:
        return time_text(value, name)
    if name == "string":
        return reduce(lambda text, escape: F.replace(text, F.lit(escape[0]), F.lit(escape[1])), _ESCAPES, value)
    return value.cast("string")


def time_text(value: Column, name: str) -> Column:
    """A value of a type in TIMES as PostgreSQL reads it, of any year."""
    from pyspark.sql import functions as F

    return _year_first(F.date_format(value, _TIME_WITH_OFFSET) if name == "timestamp" else value.cast("string"))


def _year_first(text: Column) -> Column:
    """Years beyond 9999 without their plus; those before 1 as PostgreSQL counts them, where no year 0 lies between."""
    from pyspark.sql import functions as F

    zero = F.concat(F.lit("0001"), F.substring(text, 5, 100), F.lit(" BC"))
    counted = F.lpad((F.substring(text, 2, 4).cast("int") + 1).cast("string"), 4, "0")
    before = F.concat(counted, F.substring(text, 6, 100), F.lit(" BC"))
    return F.when(text.startswith("0000-"), zero).when(text.startswith("-"), before).otherwise(F.ltrim(text, F.lit("+")))
