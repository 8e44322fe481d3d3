"""Rows as tuples of PostgreSQL's binary COPY: Spark makes them (`jobs/engine/CopyTuples.java`), and files of them are sent as they are."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from jobs.nodes.columns import column
from jobs.nodes.java_class import java_class
from jobs.nodes.sinks.jdbc_dialect import Refused, row_shown
from jobs.nodes.sinks.postgresql_times import TIME_OUT_OF_RANGE, number_is_stored

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: More than most files hold, and what a server takes in a few seconds: a client that freezes in the middle soon counts as dead.
_CHUNK_BYTES = 4_000_000
_HEADER, _TRAILER = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_NUMBERS = {"boolean": ">?", "tinyint": ">h", "smallint": ">h", "int": ">i", "bigint": ">q", "float": ">f", "double": ">d"}
#: Units since the year 2000, as numpy names them.
_TIMES: Mapping[str, Literal["D", "us"]] = {"date": "D", "timestamp": "us", "timestamp_ntz": "us"}
NUL_IN_TEXT = "a text holds the character NUL, which PostgreSQL cannot store"


def tuple_line(frame: DataFrame) -> Column:
    """A row of `frame` (of any columns but nested ones) without the first byte of its tuple, which stands in `tuple_end`."""
    from pyspark.sql import Column
    from pyspark.sql import functions as F

    row = F.struct(*(column(name) for name in frame.columns))
    return Column(java_class(frame.sparkSession, "CopyTuples").of(row._jc, frame.schema.json()))


def tuple_end(fields: int) -> str:
    """What Spark writes behind each line of so many columns: the byte with which the next tuple begins."""
    return chr(fields >> 8)


@dataclass(frozen=True)
class Tuples:
    """What files of lines hold: the columns, and their types in Spark's words where rows are looked at."""

    names: Sequence[str]
    kinds: Sequence[str] = ()

    def chunks(self, lines: BinaryIO) -> Iterator[bytes]:
        """Whole lines of a file, most often all at once."""
        rest = b""
        while more := lines.read(_CHUNK_BYTES):
            chunk = rest + more
            whole = len(chunk) if len(more) < _CHUNK_BYTES else max((end for end, _ in self._rows(chunk)), default=0)
            if whole:
                yield chunk[:whole]
            rest = chunk[whole:]

    def message(self, chunk: bytes) -> bytes:
        """Lines as COPY takes them."""
        return b"".join((_HEADER, tuple_end(len(self.names)).encode(), memoryview(chunk)[:-1], _TRAILER))

    def storable(self, chunk: bytes, refused: Refused) -> bytes:
        """The lines but for those with a text or a time that PostgreSQL has no place for, which go to `refused`."""
        kept, begin = [], 0
        for end, fields in self._rows(chunk):
            if words := next(filter(None, map(_fault, self.kinds, fields)), ""):
                refused.add(words, lambda fields=fields: row_shown(self.names, [*map(_value, self.kinds, fields)]))  # type: ignore[misc]
            else:
                kept.append(chunk[begin:end])
            begin = end
        return b"".join(kept)

    def _rows(self, chunk: bytes) -> Iterator[tuple[int, list[bytes | None]]]:
        """Each whole line: where it ends, and its fields."""
        begin = 0
        while True:
            fields: list[bytes | None] = []
            at = begin + 1
            for _ in self.names:
                size = int.from_bytes(chunk[at : at + 4], signed=True)
                at += 4
                fields.append(None if size < 0 else chunk[at : at + size])
                at += max(size, 0)
            if at >= len(chunk):
                return
            begin = at + 1
            yield begin, fields


def _fault(kind: str, field: bytes | None) -> str:
    if field is None or kind in _NUMBERS or kind == "binary" or kind.startswith("decimal"):
        return ""
    if kind in _TIMES:
        return "" if number_is_stored(int.from_bytes(field, signed=True), kind) else TIME_OUT_OF_RANGE
    return NUL_IN_TEXT if b"\0" in field else ""


def _value(kind: str, field: bytes | None) -> Any:
    if field is None or kind == "binary":
        return field
    if packed := _NUMBERS.get(kind):
        return struct.unpack(packed, field)[0]
    if unit := _TIMES.get(kind):
        import numpy

        return str(numpy.datetime64("2000-01-01", unit) + int.from_bytes(field, signed=True))
    return _decimal(field) if kind.startswith("decimal") else field.decode("utf-8", "replace")


def _decimal(field: bytes) -> str:
    """Of digits to the base of 10,000, which may go on behind the last place."""
    digits, weight, sign, places = struct.unpack_from(">HhHH", field)
    whole = "".join(f"{digit:04}" for digit in struct.unpack_from(f">{digits}h", field, 8))
    return f"{Decimal((int(sign != 0), tuple(map(int, whole)), 4 * (weight - digits + 1))):.{places}f}"
