"""Rows as MySQL's INSERT takes them: Spark writes each as a line `(1,'text',x'00')`, and lines are sent as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any, BinaryIO

from jobs.nodes.columns import column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

#: Of one statement: well below the smallest usual max_allowed_packet, and soon sent, so that a client that freezes soon counts as dead.
_STATEMENT_BYTES = 1_000_000
#: Backslashes escape, for the sink sets its own sql_mode; a line break would end the line.
_ESCAPES = (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\0", "\\0"))


def insert_rows(cursor: Any, statement: str, lines: Iterable[str], at_a_time: int) -> int:
    """Send `lines` (`row_line`) behind `statement`: INSERT … VALUES; how many rows arrived."""
    rows = 0
    for part in _parts((line.encode() for line in lines), at_a_time):
        rows += cursor.execute(statement.encode() + b",".join(part))
    return rows


def insert_files(cursor: Any, statement: str, files: Iterable[BinaryIO | None]) -> int:
    """The same with the lines of `files`. None stands for "no file yet": the server hears of us, lest it takes us for frozen."""
    rows = 0
    for file in files:
        if file is None:
            cursor.execute("DO 0")
            continue
        while chunk := file.read(_STATEMENT_BYTES):
            lines = (chunk + file.readline()).rstrip(b"\n")
            rows += cursor.execute(statement.encode() + lines.replace(b"\n", b","))
    return rows


def _parts(lines: Iterable[bytes], at_a_time: int) -> Iterator[list[bytes]]:
    part: list[bytes] = []
    size = 0
    for line in lines:
        part.append(line)
        size += len(line)
        if size > _STATEMENT_BYTES or len(part) == at_a_time:
            yield part
            part, size = [], 0
    if part:
        yield part


def row_line(frame: DataFrame) -> Column:
    """A row of `frame` as SQL, without a line break."""
    from pyspark.sql import functions as F

    values = [F.coalesce(_literal(column(field.name), field.dataType), F.lit("NULL")) for field in frame.schema.fields]
    return F.concat(F.lit("("), F.concat_ws(",", *values), F.lit(")"))


def _literal(value: Column, spark_type: DataType) -> Column:
    """Times are text in UTC; numbers that are not whole are text too, since not all of them have a literal."""
    from pyspark.sql import functions as F

    name = spark_type.simpleString()
    if name in ("tinyint", "smallint", "int", "bigint"):
        return value.cast("string")
    if name == "boolean":
        return value.cast("int").cast("string")
    if name == "binary":
        return F.concat(F.lit("x'"), F.hex(value), F.lit("'"))
    if name == "timestamp":
        value = F.timestamp_add("MICROSECOND", F.unix_micros(value), F.lit("1970-01-01 00:00:00").cast("timestamp_ntz"))
    text = value.cast("string")
    escaped = (
        reduce(lambda found, escape: F.replace(found, F.lit(escape[0]), F.lit(escape[1])), _ESCAPES, text) if name == "string" else text
    )
    return F.concat(F.lit("'"), escaped, F.lit("'"))
