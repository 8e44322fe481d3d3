"""Rows by the hour that comes twice, and the one that does not come: windows, keys and order go by what has passed."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pyspark.sql.types import StringType, StructField, StructType

from jobs.nodes.user_python.kept import Declared, State, Store
from jobs.nodes.user_python.keyed import KeyedCode
from jobs.nodes.user_python.keyed_batch import KeyedRows
from jobs.nodes.user_python.loaded import UserCode
from jobs.nodes.user_python.memory import MemoryHandle
from jobs.nodes.user_python.reducing import END, START, VALUE, ReducedCode
from jobs.nodes.user_python.rejecting import Rejecting

BERLIN = "Europe/Berlin"
MOMENT = pa.timestamp("us", tz=BERLIN)
BOUNDS = [("window_start", MOMENT), ("window_end", MOMENT)]
MADE: list[tuple[str, pa.DataType]] = [("key", pa.string()), ("ids", pa.list_(pa.int64()))]
REDUCE = """
def start(): return []
def add(value, row): return [*value, row["id"]]
def merge(one, other): return one + other
def result(value): return {"ids": value}
"""
PROCESS = """
def process(key, rows, state, timers):
    yield {"ids": [row["id"] for row in rows]}
"""
KEPT = (Declared(VALUE, "value", StructType([StructField("value", StringType())]), pa.string()),)


def spring(hour: int, minute: int) -> datetime:
    """In UTC, where Berlin leaves an hour out at one o'clock."""
    return datetime(2024, 3, 31, hour, minute, tzinfo=UTC)


def autumn(hour: int, minute: int) -> datetime:
    """In UTC, where Berlin's clock shows the same from midnight to one o'clock and in the hour after."""
    return datetime(2024, 10, 27, hour, minute, tzinfo=UTC)


def told(keyed: KeyedCode, *columns: tuple[list[Any], pa.DataType]) -> list[dict[str, Any]]:
    batch = pa.RecordBatch.from_arrays([pa.array(*column) for column in columns], [f"c{number}" for number in range(len(columns))])
    return [row for made in KeyedRows(keyed).run([batch]) for row in made.to_pylist()]


def reduced(names: tuple[str, ...], keys: tuple[str, ...], gap_ms: int = 0) -> ReducedCode:
    rejecting = Rejecting(pa.schema([*BOUNDS, *MADE]), came=True)
    code = UserCode("Reduce", REDUCE)
    return ReducedCode("reduce", code, names, keys, rejecting, KEPT, "event", "at", BERLIN, gap_ms)


def window(row: dict[str, Any]) -> tuple[datetime, datetime, list[int]]:
    return row["window_start"].astimezone(UTC), row["window_end"].astimezone(UTC), row["ids"]


@pytest.mark.parametrize(
    ("times", "sessions"),
    [
        ([spring(0, 50), spring(1, 10)], [(spring(0, 50), spring(1, 40), [0, 1])]),
        ([autumn(0, 30), autumn(1, 35)], [(autumn(0, 30), autumn(1, 0), [0]), (autumn(1, 35), autumn(2, 5), [1])]),
        ([autumn(0, 50), autumn(1, 10)], [(autumn(0, 50), autumn(1, 40), [0, 1])]),
    ],
    ids=["spring", "autumn apart", "autumn together"],
)
def test_a_session_ends_when_its_gap_has_passed(times: list[datetime], sessions: list[Any]) -> None:
    keyed = reduced(("id", "at", "key"), ("key",), gap_ms=30 * 60_000)
    found = told(keyed, (list(range(len(times))), pa.int64()), (times, MOMENT), (["a"] * len(times), pa.string()))
    assert [window(row) for row in found] == sessions


def test_windows_of_the_hour_that_comes_twice_are_two() -> None:
    keyed = reduced(("id", "at", "key", START, END), (START, END, "key"))
    starts, ends = [autumn(0, 0), autumn(1, 0)], [autumn(0, 30), autumn(1, 30)]
    times = [autumn(0, 5), autumn(1, 5)]
    found = told(keyed, ([0, 1], pa.int64()), (times, MOMENT), (["a", "a"], pa.string()), (starts, MOMENT), (ends, MOMENT))
    assert [window(row) for row in found] == [(starts[0], ends[0], [0]), (starts[1], ends[1], [1])]


def test_rows_of_a_key_are_handed_over_in_the_order_in_which_they_happened() -> None:
    keyed = KeyedCode(
        "own", UserCode("Own", PROCESS), ("id", "at", "key"), ("key",), Rejecting(pa.schema(MADE), came=True), (), "none", "at", BERLIN
    )
    (row,) = told(keyed, ([0, 1], pa.int64()), ([autumn(0, 45), autumn(1, 15)], MOMENT), (["a", "a"], pa.string()))
    assert row["ids"] == [0, 1]


def test_a_map_holds_both_times_that_the_clock_shows_alike() -> None:
    schema: Any = None  # what is in memory has none
    store = Store.of(MemoryHandle(), (Declared("by", "map", schema, pa.int64(), schema, MOMENT),), ZoneInfo(BERLIN))
    pieces = store.pieces()
    State(pieces).by.put(autumn(0, 30), 1)
    State(pieces).by.put(autumn(1, 30), 2)
    unsaved = State(pieces).by.items()
    for piece in pieces.values():
        piece.store()
    kept = State(store.pieces()).by
    assert (kept.get(autumn(0, 30)), kept.get(autumn(1, 30)), len(kept)) == (1, 2, 2)
    shown = [("2024-10-27T02:30:00+02:00", 1), ("2024-10-27T02:30:00+01:00", 2)]
    assert [(key.isoformat(), value) for key, value in unsaved] == [(key.isoformat(), value) for key, value in kept.items()] == shown
