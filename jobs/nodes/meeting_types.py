"""Types whose values meet in one column or in a comparison: whether they mean the same, and whether numbers keep their digits."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, DecimalType

_MOST_DIGITS = 38


@dataclass(frozen=True)
class Rounded:
    """Numbers of several types that meet in one that does not hold all their digits."""

    #: Of a field inside of the value, such as "price.net" or "prices.element"; "" for the value itself.
    place: str
    kinds: tuple[DataType, ...]
    #: A decimal, or None for floating point.
    together: DecimalType | None


def rounded_numbers(kinds: Sequence[DataType]) -> list[Rounded]:
    """The numbers that lose digits where values of `kinds` meet, also inside of lists, maps and structs, whose fields go by name."""
    met: dict[str, list[tuple[str, DataType]]] = {}
    for kind in kinds:
        for place, number in _numbers(kind, ""):
            met.setdefault(place.lower(), []).append((place, number))
    return [found for numbers in met.values() for found in _rounded(numbers[0][0], [number for _, number in numbers])]


def alike(one: DataType, other: DataType, *, whole: bool = False) -> bool:
    """Whether a value of the one means the same among values of the other, also inside of lists, maps and structs.

    `whole`: structs have the same fields, as they need to be compared; else they go by name, and one may lack some.
    """
    from pyspark.sql.types import ArrayType, MapType, NullType, StructType

    if isinstance(one, NullType) or isinstance(other, NullType):
        return True
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        return alike(one.elementType, other.elementType, whole=whole)
    if isinstance(one, MapType) and isinstance(other, MapType):
        return alike(one.keyType, other.keyType, whole=whole) and alike(one.valueType, other.valueType, whole=whole)
    if isinstance(one, StructType) and isinstance(other, StructType):
        if whole:
            pairs = zip(one.fields, other.fields, strict=False)
            return len(one) == len(other) and all(alike(field.dataType, second.dataType, whole=True) for field, second in pairs)
        kinds = {field.name.lower(): field.dataType for field in one.fields}
        return all(alike(kinds.get(field.name.lower(), field.dataType), field.dataType) for field in other.fields)
    return _family(one) is _family(other)


def _family(kind: DataType) -> type[DataType]:
    """The same for types of which one takes the values of the other."""
    from pyspark.sql.types import DateType, NumericType, TimestampNTZType, TimestampType

    families: tuple[tuple[type[DataType], ...], ...] = ((NumericType,), (TimestampType, TimestampNTZType, DateType))
    return next((members[0] for members in families if isinstance(kind, members)), type(kind))


def _numbers(kind: DataType, place: str) -> Iterator[tuple[str, DataType]]:
    """(place, type) of each number in values of `kind`; inside of lists and maps places are called as Spark does."""
    from pyspark.sql.types import ArrayType, MapType, NumericType, StructType

    parts: list[tuple[str, DataType]] = []
    if isinstance(kind, NumericType):
        yield place, kind
    elif isinstance(kind, ArrayType):
        parts = [("element", kind.elementType)]
    elif isinstance(kind, MapType):
        parts = [("key", kind.keyType), ("value", kind.valueType)]
    elif isinstance(kind, StructType):
        parts = [(field.name, field.dataType) for field in kind.fields]
    for name, inner in parts:
        yield from _numbers(inner, f"{place}.{name}" if place else name)


def _rounded(place: str, kinds: Sequence[DataType]) -> Iterator[Rounded]:
    """What is lost by Spark's rules: beside floating point all become double, and of a decimal the digits before the point stay."""
    from pyspark.sql.types import DecimalType, DoubleType, FloatType, LongType

    if any(isinstance(kind, FloatType | DoubleType) for kind in kinds):
        if any(isinstance(kind, LongType | DecimalType) for kind in kinds):
            yield Rounded(place, tuple(dict.fromkeys(kinds)), None)
        return
    before, behind = (max(digits) for digits in zip(*(_digits(kind) for kind in kinds), strict=True))
    if before + behind > _MOST_DIGITS:
        yield Rounded(place, tuple(dict.fromkeys(kinds)), DecimalType(_MOST_DIGITS, _MOST_DIGITS - before))


def _digits(exact: DataType) -> tuple[int, int]:
    """How many digits an exact number has before and behind the point, where it meets a decimal (Spark's DecimalType.forType)."""
    from pyspark.sql.types import ByteType, DecimalType, IntegerType, ShortType

    if isinstance(exact, DecimalType):
        return exact.precision - exact.scale, exact.scale
    whole: Collection[tuple[type[DataType], int]] = ((ByteType, 3), (ShortType, 5), (IntegerType, 10))
    return next((digits for kind, digits in whole if isinstance(exact, kind)), 20), 0
