"""Values as a test writes them in JSON, made into values of a column's type."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, tzinfo
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from pyspark.sql import types as T

_INTEGERS: Mapping[type[T.DataType], int] = {T.ByteType: 8, T.ShortType: 16, T.IntegerType: 32, T.LongType: 64}
_SHOWN = 60
#: Of 32 bits; Spark makes infinity of more.
_LARGEST_FLOAT = 3.4028235e38
#: Python's own rounds to 28 digits; a decimal of Spark's has up to 38.
_ALL_DIGITS = Context(prec=100)


class Misfit(Exception):
    """A value that a column cannot hold: `path` leads to it inside the value, `message` says why in one sentence."""

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def typed(value: Any, kind: T.DataType, zone: tzinfo) -> Any:
    """`value` as Spark takes it for a column of `kind`: times with a zone, decimals of its scale. Misfit where it does not fit.

    Numbers, times and truth may be written as text, and lists and objects as JSON within one, as CSV holds them. Times without a
    zone are of `zone`.
    """
    if value is None:
        return None
    if isinstance(value, str) and isinstance(kind, T.ArrayType | T.MapType | T.StructType):
        value = _within_text(value)
    if isinstance(kind, T.ArrayType):
        return _array(value, kind, zone)
    if isinstance(kind, T.MapType):
        return _map(value, kind, zone)
    if isinstance(kind, T.StructType):
        return _struct(value, kind, zone)
    if isinstance(kind, T.DecimalType):
        return _decimal(value, kind)
    if isinstance(kind, T.TimestampType):
        return _instant(value, kind, zone)
    return _SIMPLE.get(type(kind), _unwritable)(value, kind)


def json_read(text: str) -> Any:
    """A row that Spark wrote as JSON, its numbers as people write them: 100.0 is 100, and one that a browser would round stays text."""
    return json.loads(text, parse_float=_fraction, parse_int=_integer)


def _fraction(text: str) -> float | int | str:
    number = float(text)
    if Decimal(text) != Decimal(repr(number)):
        return text
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _integer(text: str) -> int | str:
    return int(text) if abs(int(text)) < 2**53 else text


def comparable(value: Any) -> Any:
    """A typed value as something that can be compared and hashed; floating numbers count as equal in twelve digits."""
    if isinstance(value, float):
        return format(value, ".12g")
    if isinstance(value, Mapping):
        return tuple(sorted(((str(key), comparable(item)) for key, item in value.items())))
    if isinstance(value, list):
        return tuple(comparable(item) for item in value)
    return bytes(value) if isinstance(value, bytearray) else value


def type_shown_by(values: list[Any]) -> T.DataType:
    """The type of a column whose values are `values`, where nothing else tells it: the narrowest of boolean, bigint, double,
    string, array and struct that holds all of them; where they are nothing but empty objects, a map. Misfit where none does."""
    there = [value for value in values if value is not None]
    for is_one, kind in _SHOWN_BY:
        if there and all(is_one(value) for value in there):
            return kind
    if there and all(isinstance(value, list) for value in there):
        return T.ArrayType(type_shown_by([item for value in there for item in value]))
    if there and all(isinstance(value, Mapping) for value in there):
        names = dict.fromkeys(name for value in there for name in value)
        fields = [T.StructField(name, type_shown_by([value.get(name) for value in there])) for name in names]
        return T.StructType(fields) if fields else T.MapType(T.StringType(), T.StringType())  # no file holds a struct without fields
    if not there:
        return T.StringType()
    raise Misfit("its values are of several types: say the column's type under columns")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_SHOWN_BY: tuple[tuple[Callable[[Any], bool], T.DataType], ...] = (
    (lambda value: isinstance(value, bool), T.BooleanType()),
    (lambda value: _is_number(value) and isinstance(value, int), T.LongType()),
    (_is_number, T.DoubleType()),
    (lambda value: isinstance(value, str), T.StringType()),
)


def _within_text(text: str) -> Any:
    """The JSON that `text` holds; `text` itself where it holds none."""
    try:
        return json_read(text)
    except ValueError:
        return text


def _array(value: Any, kind: T.ArrayType, zone: tzinfo) -> list[Any]:
    if not isinstance(value, list):
        raise _misfit(value, kind, "a list in JSON")
    return [_inside(place, item, kind.elementType, zone) for place, item in enumerate(value)]


def _map(value: Any, kind: T.MapType, zone: tzinfo) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise _misfit(value, kind, "an object in JSON")
    return {_inside(key, key, kind.keyType, zone): _inside(key, item, kind.valueType, zone) for key, item in value.items()}


def _struct(value: Any, kind: T.StructType, zone: tzinfo) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _misfit(value, kind, "an object in JSON")
    for name in value:
        if name not in kind.names:
            raise Misfit(f"there is no field {name}; the fields are {', '.join(kind.names)}", (name,))
    return {field.name: _inside(field.name, value.get(field.name), field.dataType, zone) for field in kind.fields}


def _inside(place: str | int, value: Any, kind: T.DataType, zone: tzinfo) -> Any:
    try:
        return typed(value, kind, zone)
    except Misfit as misfit:
        raise Misfit(misfit.message, (place, *misfit.path)) from None


def _text(value: Any, kind: T.DataType) -> str:
    if not isinstance(value, str):
        raise _misfit(value, kind, "text; write it in quotes")
    return value


def _boolean(value: Any, kind: T.DataType) -> bool:
    known = {"true": True, "false": False}.get(str(value).lower()) if isinstance(value, str | bool) else None
    if known is None:
        raise _misfit(value, kind, "true or false")
    return known


def _whole(value: Any, kind: T.DataType) -> int:
    try:
        number = value if isinstance(value, int) else int(value) if isinstance(value, str) or float(value).is_integer() else None
    except (TypeError, ValueError, OverflowError):
        number = None
    bits = _INTEGERS[type(kind)]
    if number is None or isinstance(value, bool) or not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise _misfit(value, kind, f"a whole number of {bits} bits")
    return int(number)


def _floating(value: Any, kind: T.DataType) -> float:
    try:
        if isinstance(value, bool):
            raise ValueError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _misfit(value, kind, "a number such as 1.5") from None
    if _overflows(value, number, kind):
        raise _misfit(value, kind, f"a number of at most {'3.4e38' if isinstance(kind, T.FloatType) else '1.8e308'}")
    return number


def _overflows(value: Any, number: float, kind: T.DataType) -> bool:
    """Whether a number that is written out would become infinite."""
    if math.isinf(number):
        return isinstance(value, str) and "inf" not in value.lower()
    return isinstance(kind, T.FloatType) and abs(number) > _LARGEST_FLOAT


def _decimal(value: Any, kind: T.DecimalType) -> Decimal:
    try:
        if isinstance(value, bool):
            raise ValueError
        number = Decimal(str(value))
        if not number.is_finite():
            raise ValueError
        fits = number.copy_abs() < Decimal(10) ** (kind.precision - kind.scale)
        scaled = number.quantize(Decimal(1).scaleb(-kind.scale), context=_ALL_DIGITS) if fits else None
    except (ValueError, InvalidOperation):
        raise _misfit(value, kind, "a number such as 1.5") from None
    if scaled is None or scaled != number:
        raise _misfit(value, kind, f"a number of at most {kind.precision} digits, {kind.scale} of them behind the point")
    return scaled


def _date(value: Any, kind: T.DataType) -> date:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise _misfit(value, kind, "a date such as 2026-01-31") from None


def _moment(value: Any, kind: T.DataType) -> datetime:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _misfit(value, kind, "a time such as 2026-01-31 12:00:00") from None


def _instant(value: Any, kind: T.DataType, zone: tzinfo) -> datetime:
    moment = _moment(value, kind)
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        raise _misfit(value, kind, "a time of the years 1 to 9999 in UTC") from None


def _zoneless(value: Any, kind: T.DataType) -> datetime:
    moment = _moment(value, kind)
    if moment.tzinfo is not None:
        raise _misfit(value, kind, "a time without a zone")
    return moment


def _bytes(value: Any, kind: T.DataType) -> bytearray:
    try:
        return bytearray(base64.b64decode(value, validate=True))
    except (TypeError, ValueError, binascii.Error):
        raise _misfit(value, kind, "bytes written as base64") from None


def _unwritable(value: Any, kind: T.DataType) -> Any:
    raise Misfit(f"a value of type {kind.simpleString()} cannot be written in JSON: leave it null")


_SIMPLE: Mapping[type[T.DataType], Callable[[Any, T.DataType], Any]] = {
    T.StringType: _text,
    T.VarcharType: _text,
    T.CharType: _text,
    T.BooleanType: _boolean,
    **dict.fromkeys(_INTEGERS, _whole),
    T.FloatType: _floating,
    T.DoubleType: _floating,
    T.DateType: _date,
    T.TimestampNTZType: _zoneless,
    T.BinaryType: _bytes,
}


def _misfit(value: Any, kind: T.DataType, wanted: str = "") -> Misfit:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    quoted = f'"{shown}"' if isinstance(value, str) else shown
    name = kind.simpleString() if len(kind.simpleString()) <= _SHOWN else kind.typeName()
    return Misfit(f"{quoted} is no {name}: it takes {wanted}" if wanted else f"{quoted} is no {name}")
