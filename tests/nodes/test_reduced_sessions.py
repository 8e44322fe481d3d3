"""Windows of one key in a job that ends: sessions all close at once, many take no longer each than few; which window leaves a row out."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pyarrow as pa
from pyspark.sql.types import StringType, StructField, StructType

from jobs.nodes.base import REJECTED
from jobs.nodes.user_python.kept import Declared
from jobs.nodes.user_python.keyed_batch import KeyedRows
from jobs.nodes.user_python.loaded import UserCode
from jobs.nodes.user_python.reducing import END, START, VALUE, ReducedCode
from jobs.nodes.user_python.rejecting import Rejecting

BEGIN, MOMENT = datetime(2026, 1, 1, tzinfo=UTC), pa.timestamp("us", tz="UTC")
CODE = """
def start(): return 0
def add(value, row): return value + row["n"]
def merge(one, other): return one + other
def result(value): return {"sum": value}
"""
REDUCED = ReducedCode(
    node_id="reduce",
    code=UserCode("Reduce", CODE),
    names=("time", "n", "key"),
    keys=("key",),
    rejecting=Rejecting(
        pa.schema([("window_start", MOMENT), ("window_end", MOMENT), ("key", pa.string()), ("sum", pa.int64())]),
        came=True,
    ),
    declared=(Declared(VALUE, "value", StructType([StructField("value", StringType())]), pa.string()),),
    mode="event",
    order="time",
    gap_ms=60_000,
)


def sessions(number: int) -> pa.RecordBatch:
    """Two rows of each session, the sessions an hour apart."""
    times = [BEGIN + timedelta(hours=session, seconds=second) for session in range(number) for second in (0, 30)]
    columns = [pa.array(times, MOMENT), pa.array(range(2 * number), pa.int64()), pa.array(["a"] * 2 * number)]
    return pa.RecordBatch.from_arrays(columns, ["time", "n", "key"])


def taken(number: int) -> float:
    batch, begun = sessions(number), time.process_time()
    list(KeyedRows(REDUCED).run([batch]))
    return time.process_time() - begun


def test_each_session_comes_out_once_in_order() -> None:
    (made,) = KeyedRows(REDUCED).run([sessions(3)])
    starts = [BEGIN + timedelta(hours=session) for session in range(3)]
    assert made.column("window_start").to_pylist() == starts
    assert made.column("window_end").to_pylist() == [start + timedelta(seconds=90) for start in starts]
    assert made.column("sum").to_pylist() == [1, 5, 9]


def test_the_sessions_of_a_key_cost_no_more_each_the_more_there_are() -> None:
    taken(10)
    few, many = (min(taken(number) for _ in range(3)) for number in (200, 400))
    assert many < 3 * few


def test_a_row_that_a_window_leaves_out_is_told_with_its_bounds() -> None:
    windows = replace(REDUCED, names=("time", "n", "key", START, END), keys=(START, END, "key"), gap_ms=0)
    starts = [BEGIN, BEGIN + timedelta(minutes=10)]  # it is in both
    columns = [*([value] * 2 for value in (BEGIN + timedelta(minutes=15), None, "a")), starts, [one + timedelta(hours=1) for one in starts]]
    kinds = (MOMENT, pa.int64(), pa.string(), MOMENT, MOMENT)
    batch = pa.RecordBatch.from_arrays([pa.array(*one) for one in zip(columns, kinds, strict=True)], list(windows.names))
    (made,) = KeyedRows(windows).run([batch])
    assert made.column("window_start").to_pylist() == starts
    assert made.column("window_end").to_pylist() == columns[-1]
    reason = "TypeError: unsupported operand type(s) for +: 'int' and 'NoneType', in line 3: def add(value, row): return value + row[\"n\"]"
    came = '{"time": "2026-01-01 00:15:00+00:00", "n": null, "key": "a"}'
    assert made.column(REJECTED).to_pylist() == [f"{reason}:\n{came}"] * 2
