"""Rows beside rows, and values in the types of columns, without Spark."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as T

from jobs.engine.row_differences import MOST_SHOWN, ComparedRow, RowDifferences, row_differences
from jobs.engine.typed_values import Misfit, comparable, type_shown_by, typed

COLUMNS = ["id", "name", "city"]
BERLIN = ZoneInfo("Europe/Berlin")


def rows(*values: tuple[Any, ...]) -> list[ComparedRow]:
    return [ComparedRow(dict(zip(COLUMNS, row, strict=False)), row) for row in values]


def found(expected: list[ComparedRow], actual: list[ComparedRow], *, ordered: bool = False) -> RowDifferences:
    return row_differences(expected, actual, COLUMNS, ordered=ordered)


def test_rows_count_as_often_as_they_stand_there() -> None:
    one, other = (1, "Ada", "Rome"), (7, "Kurt", "Oslo")
    assert found(rows(one, other), rows(other, one)).none
    twice = found(rows(one), rows(one, one))
    assert (twice.missing_rows, twice.unexpected_rows, twice.differing_rows) == (0, 1, 0)


def test_a_row_that_differs_in_some_columns_is_set_beside_the_one_it_is_most_like() -> None:
    expected = rows((1, "Ada", "Rome"), (2, "Kurt", "Oslo"))
    actual = rows((2, "Kurt", "Wien"), (9, "Emmy", "Bern"), (1, "Ada", "Roma"))
    differences = found(expected, actual)
    pairs = {(row.expected["id"], row.actual["id"], *row.columns) for row in differences.differing}
    assert pairs == {(1, 1, "city"), (2, 2, "city")}
    assert (differences.unexpected, differences.missing_rows) == ([{"id": 9, "name": "Emmy", "city": "Bern"}], 0)


def test_rows_that_agree_in_less_than_half_of_the_columns_stand_alone() -> None:
    differences = found(rows((1, "Ada", "Rome")), rows((1, "Kurt", "Oslo")))
    assert (differences.missing_rows, differences.unexpected_rows, differences.differing_rows) == (1, 1, 0)


def test_another_order_matters_only_where_it_is_asked_for() -> None:
    expected, actual = rows((1, "a", "x"), (2, "b", "y"), (3, "c", "z")), rows((1, "a", "x"), (3, "c", "z"), (2, "b", "y"))
    assert found(expected, actual).none
    assert found(expected, actual, ordered=True).first_out_of_order == 2
    assert found(expected, expected, ordered=True).none


def test_at_most_twenty_rows_are_shown_and_all_are_counted() -> None:
    differences = found(rows(*((number, f"n{number}", "x") for number in range(50))), [])
    assert (differences.missing_rows, len(differences.missing)) == (50, MOST_SHOWN)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2))), st.lists(st.tuples(*[st.integers(0, 2)] * 3)))
def test_every_row_is_told_once(expected: list[Any], actual: list[Any]) -> None:
    differences = found(rows(*expected), rows(*actual))
    same = len(expected) - differences.missing_rows - differences.differing_rows
    assert same == len(actual) - differences.unexpected_rows - differences.differing_rows
    assert differences.none == (sorted(expected) == sorted(actual))


@pytest.mark.parametrize(
    ("value", "kind", "made"),
    [
        (None, T.LongType(), None),
        ("12", T.LongType(), 12),
        (12.0, T.IntegerType(), 12),
        ("TRUE", T.BooleanType(), True),
        (3, T.DoubleType(), 3.0),
        ("-Infinity", T.DoubleType(), float("-inf")),
        (3.4028235e38, T.FloatType(), 3.4028235e38),
        ("12.5", T.DecimalType(10, 2), Decimal("12.50")),
        ("12345678901.123456789012345678", T.DecimalType(38, 18), Decimal("12345678901.123456789012345678")),
        ("-" + "9" * 38, T.DecimalType(38, 0), Decimal("-" + "9" * 38)),
        ("0." + "1" * 38, T.DecimalType(38, 38), Decimal("0." + "1" * 38)),
        ("2026-01-31", T.DateType(), date(2026, 1, 31)),
        ("2026-01-31 12:00:00", T.TimestampType(), datetime(2026, 1, 31, 11, tzinfo=UTC)),
        ("2026-01-31T12:00:00.000001Z", T.TimestampType(), datetime(2026, 1, 31, 12, 0, 0, 1, tzinfo=UTC)),
        ("2026-01-31T12:00:00", T.TimestampNTZType(), datetime(2026, 1, 31, 12)),
        ("YQ==", T.BinaryType(), bytearray(b"a")),
        (["1", None], T.ArrayType(T.LongType()), [1, None]),
        ('["1", null, 9007199254740993]', T.ArrayType(T.LongType()), [1, None, 9007199254740993]),
        (
            '{"a": 0.5, "b": "[1]"}',
            T.StructType([T.StructField("a", T.DoubleType()), T.StructField("b", T.StringType())]),
            {"a": 0.5, "b": "[1]"},
        ),
        ("[1]", T.StringType(), "[1]"),
        ({"7": "2026-01-31"}, T.MapType(T.IntegerType(), T.DateType()), {7: date(2026, 1, 31)}),
        ({"a": 1}, T.StructType([T.StructField("a", T.DoubleType()), T.StructField("b", T.StringType())]), {"a": 1.0, "b": None}),
    ],
)
def test_a_value_is_made_of_its_columns_type(value: Any, kind: T.DataType, made: Any) -> None:
    assert typed(value, kind, BERLIN) == made


@pytest.mark.parametrize(
    ("value", "kind", "words", "path"),
    [
        (300, T.ByteType(), "300 is no tinyint: it takes a whole number of 8 bits", ()),
        (True, T.LongType(), "true is no bigint: it takes a whole number of 64 bits", ()),
        (7, T.StringType(), "7 is no string: it takes text; write it in quotes", ()),
        (7, T.TimestampType(), "7 is no timestamp: it takes a time such as 2026-01-31 12:00:00", ()),
        ("2026-01-31T12:00:00Z", T.TimestampNTZType(), '"2026-01-31T12:00:00Z" is no timestamp_ntz: it takes a time without a zone', ()),
        ("NaN", T.DecimalType(3, 1), '"NaN" is no decimal(3,1): it takes a number such as 1.5', ()),
        (
            "9" * 39,
            T.DecimalType(38, 0),
            f'"{"9" * 39}" is no decimal(38,0): it takes a number of at most 38 digits, 0 of them behind the point',
            (),
        ),
        (
            "0." + "1" * 19,
            T.DecimalType(38, 18),
            f'"0.{"1" * 19}" is no decimal(38,18): it takes a number of at most 38 digits, 18 of them behind the point',
            (),
        ),
        ([1, {"a": 1}], T.ArrayType(T.LongType()), '{"a": 1} is no bigint: it takes a whole number of 64 bits', (1,)),
        ({"x": [None, True, "ä"]}, T.StringType(), '{"x": [null, true, "ä"]} is no string: it takes text; write it in quotes', ()),
        (1e39, T.FloatType(), "1e+39 is no float: it takes a number of at most 3.4e38", ()),
        ("-1e39", T.FloatType(), '"-1e39" is no float: it takes a number of at most 3.4e38', ()),
        ("1e400", T.DoubleType(), '"1e400" is no double: it takes a number of at most 1.8e308', ()),
        ({"b": 1}, T.StructType([T.StructField("a", T.LongType())]), "there is no field b; the fields are a", ("b",)),
        (1, T.ArrayType(T.LongType()), "1 is no array<bigint>: it takes a list in JSON", ()),
        ("a|b", T.ArrayType(T.StringType()), '"a|b" is no array<string>: it takes a list in JSON', ()),
        (
            "0001-01-01 00:00:00",
            T.TimestampType(),
            '"0001-01-01 00:00:00" is no timestamp: it takes a time of the years 1 to 9999 in UTC',
            (),
        ),
        ("[1]", T.MapType(T.StringType(), T.LongType()), "[1] is no map<string,bigint>: it takes an object in JSON", ()),
    ],
)
def test_a_value_that_does_not_fit_says_why_and_where(value: Any, kind: T.DataType, words: str, path: tuple[Any, ...]) -> None:
    with pytest.raises(Misfit) as caught:
        typed(value, kind, BERLIN)
    assert (caught.value.message, caught.value.path) == (words, path)


def test_floating_numbers_are_compared_in_twelve_digits_and_decimals_in_all() -> None:
    assert comparable(0.1 + 0.2) == comparable(0.3)
    assert comparable(Decimal("1.00000000000000001")) != comparable(Decimal(1))
    assert comparable({"b": [1.0], "a": None}) == comparable({"a": None, "b": [1.0 + 1e-15]})


def test_rows_show_the_types_of_their_columns() -> None:
    shown: list[list[Any]] = [[True, None], [1], [1, 2.5], ["x"], [None], [[1], []], [{"a": 1}, {"b": "x"}], [{}]]
    assert [type_shown_by(values).simpleString() for values in shown] == [
        "boolean",
        "bigint",
        "double",
        "string",
        "string",
        "array<bigint>",
        "struct<a:bigint,b:string>",
        "map<string,string>",
    ]
    with pytest.raises(Misfit, match="several types"):
        type_shown_by([1, "x"])
