"""Numbers of several types in one column, or compared: whether Spark keeps all their digits."""

from itertools import product

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
)

from jobs.nodes.meeting_types import alike, rounded_numbers

WHOLE, LONG_FRACTION = DecimalType(38, 0), DecimalType(38, 18)
NUMBERS: list[DataType] = [
    *(ByteType(), ShortType(), IntegerType(), LongType(), FloatType(), DoubleType()),
    *(DecimalType(*digits) for digits in ((1, 1), (10, 2), (20, 0), (28, 18), (38, 0), (38, 18), (38, 30), (38, 38))),
]


@pytest.mark.parametrize(
    ("kinds", "together"),
    [
        ([WHOLE, LONG_FRACTION], "decimal(38,0)"),
        ([LongType(), DecimalType(38, 30)], "decimal(38,18)"),
        ([IntegerType(), DecimalType(38, 30)], "decimal(38,28)"),
        ([ByteType(), DecimalType(38, 30), LongType()], "decimal(38,18)"),
        ([LongType(), DoubleType()], "double"),
        ([DecimalType(10, 2), FloatType()], "double"),
        ([WHOLE, LONG_FRACTION, DoubleType()], "double"),
    ],
)
def test_digits_that_the_type_of_all_cannot_hold_are_told(kinds: list[DataType], together: str) -> None:
    (found,) = rounded_numbers(kinds)
    assert (found.place, list(found.kinds), found.together.simpleString() if found.together else "double") == ("", kinds, together)


@pytest.mark.parametrize(
    "kinds",
    [
        [WHOLE, WHOLE],
        [LongType(), LONG_FRACTION],
        [DecimalType(10, 2), DecimalType(20, 0)],
        [IntegerType(), DoubleType()],
        [IntegerType(), FloatType()],
        [FloatType(), DoubleType()],
        [LongType(), StringType()],
    ],
)
def test_numbers_that_keep_their_digits_are_not_told(kinds: list[DataType]) -> None:
    assert rounded_numbers(kinds) == []


def test_digits_are_lost_inside_of_lists_maps_and_structs_too() -> None:
    def nested(number: DataType) -> StructType:
        inner = StructType().add("Net", number)
        return StructType().add("price", inner).add("all", ArrayType(number)).add("by", MapType(StringType(), number))

    assert [found.place for found in rounded_numbers([nested(WHOLE), nested(LONG_FRACTION)])] == ["price.Net", "all.element", "by.value"]


def test_structs_are_compared_whole_and_go_below_each_other_by_name() -> None:
    short, long = StructType().add("a", IntegerType()), StructType().add("a", LongType()).add("b", LongType())
    assert alike(short, long)
    assert not alike(short, long, whole=True)
    assert alike(short, StructType().add("A", LongType()), whole=True)


@pytest.mark.spark
def test_these_are_the_rules_of_spark(spark: SparkSession) -> None:
    """Of each pair: digits are lost where Spark's common type does not hold those of both."""
    columns = [f"CAST(NULL AS {kind.simpleString()})" for kind in NUMBERS]
    both = [f"coalesce({columns[one]}, {columns[other]}) AS `{one} {other}`" for one, other in product(range(len(NUMBERS)), repeat=2)]
    wider = spark.range(1).selectExpr(*both).schema
    for field in wider.fields:
        one, other = (NUMBERS[int(number)] for number in field.name.split())
        found = rounded_numbers([one, other])
        assert bool(found) == (not (_held(one, field.dataType) and _held(other, field.dataType))), (one, other, field.dataType)
        if found and found[0].together:
            assert found[0].together == field.dataType


def _held(kind: DataType, into: DataType) -> bool:
    """Whether `into`, to which Spark widens it, has a place for every digit of `kind`. A decimal is exact, floating point is not."""
    if isinstance(kind, DecimalType) and isinstance(into, DecimalType):
        return kind.scale <= into.scale and kind.precision - kind.scale <= into.precision - into.scale
    return not (isinstance(kind, LongType | DecimalType) and isinstance(into, FloatType | DoubleType))
