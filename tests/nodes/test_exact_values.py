"""What Arrow would change of a value that a person's function returned: it rejects the row, wherever in a column the value stands."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy
import pandas
import pyarrow as pa
import pytest

from jobs.nodes.user_python.columns import array_of, batch_of, misfit

MOMENT = datetime(2026, 3, 1, 12, 30)
LIST, MAP, STRUCT = pa.list_(pa.int32()), pa.map_(pa.string(), pa.int64()), pa.struct([("a", pa.int64())])


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (1.5, pa.int64(), "1.5 is no bigint"),
        ([1, 1.5], LIST, "[1, 1.5] is no array<int>"),
        (numpy.array([1.5]), LIST, "array([1.5]) is no array<int>"),
        ("ab", pa.list_(pa.string()), "'ab' is no array<string>"),
        ({"a": 1.5}, STRUCT, "{'a': 1.5} is no struct<a:bigint>"),
        ((1.5,), STRUCT, "(1.5,) is no struct<a:bigint>"),
        ({"a": 1, "b": 2}, STRUCT, "{'a': 1, 'b': 2} is no struct<a:bigint>"),
        ({"a": 1.5}, MAP, "{'a': 1.5} is no map<string,bigint>"),
        ([("a", 1.5)], MAP, "[('a', 1.5)] is no map<string,bigint>"),
        ({1.5: "a"}, pa.map_(pa.int64(), pa.string()), "{1.5: 'a'} is no map<bigint,string>"),
        ([{"a": [1.5]}], pa.list_(pa.struct([("a", LIST)])), "[{'a': [1.5]}] is no array<struct<a:array<int>>>"),
        (MOMENT, pa.date32(), "datetime.datetime(2026, 3, 1, 12, 30) is no date"),
        (5.5, pa.date32(), "5.5 is no date"),
        ([MOMENT.replace(tzinfo=UTC)], pa.list_(pa.timestamp("us")), "is no array<timestamp_ntz>"),
        (MOMENT.replace(tzinfo=UTC), pa.timestamp("us"), "is no timestamp_ntz"),
        (pandas.Timestamp("2026-03-01 12:30:00.000000001"), pa.timestamp("us", tz="UTC"), "is no timestamp"),
        (1e39, pa.float32(), "1e+39 is no float"),
        (True, pa.float32(), "True is no float"),
        (True, pa.float64(), "True is no double"),
    ],
)
def test_what_would_be_changed_does_not_fit(value: Any, kind: pa.DataType, words: str) -> None:
    told = misfit({"v": value}, pa.schema([("v", kind)]))
    assert told.startswith("v: ")
    assert told.endswith(words)
    assert batch_of([{"v": None}, {"v": value}], pa.schema([("v", kind)])) is None


@pytest.mark.parametrize(
    ("value", "kind", "kept"),
    [
        (2.0, pa.int64(), 2),
        (Decimal(2), pa.int64(), 2),
        ([1.0, None, numpy.int64(2)], LIST, [1, None, 2]),
        (numpy.array([1, 2]), LIST, [1, 2]),
        ({"a": None}, STRUCT, {"a": None}),
        ({}, STRUCT, {"a": None}),
        ((1,), STRUCT, {"a": 1}),
        ({"a": 2.0}, MAP, [("a", 2)]),
        (MOMENT.replace(hour=0, minute=0), pa.date32(), date(2026, 3, 1)),
        (MOMENT, pa.timestamp("us"), MOMENT),
        (numpy.datetime64("2026-03-01T12:30:00", "us"), pa.timestamp("us"), MOMENT),
        (pandas.Timestamp(MOMENT), pa.timestamp("us", tz="UTC"), MOMENT.replace(tzinfo=UTC)),
        (timedelta(days=1), pa.duration("us"), timedelta(days=1)),
        (3.4028234e38, pa.float32(), pytest.approx(3.4028234e38)),
        (float("inf"), pa.float32(), float("inf")),
        (3, pa.float64(), 3.0),
    ],
)
def test_what_stays_as_it_is_fits(value: Any, kind: pa.DataType, kept: Any) -> None:
    assert array_of([value, None], kind).to_pylist() == [kept, None]
