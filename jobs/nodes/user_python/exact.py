"""What Arrow would change of a person's value, without a word, on its way into a column. Scripts take it along: nothing is cached."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from numbers import Real
from typing import Any

import pyarrow as pa

#: From here on a number is nearer to infinity than to the largest one of 32 bits.
_BEYOND_FLOAT = 3.4028235677973366e38
_NONE = type(None)


class Misfit(Exception):
    """A value that its column cannot hold as it is."""


def exact_check(values: Sequence[Any], kind: pa.DataType) -> None:
    """Misfit, TypeError or ValueError where Arrow would change one of `values`. Whether it must look at them is known by `kind`."""
    if not _is_watched(kind):
        return
    if pa.types.is_nested(kind):
        for inner, inner_kind in _inside([value for value in values if value is not None], kind):
            exact_check(inner, inner_kind)
        return
    known, keeps = _leaf(kind)
    looked_at = set(map(type, values)) - known
    if looked_at and not all(keeps(value) for value in values if type(value) in looked_at and value is not None):
        raise Misfit


def _is_watched(kind: pa.DataType) -> bool:
    return any(is_one(kind) for is_one in (pa.types.is_nested, pa.types.is_integer, pa.types.is_floating, pa.types.is_temporal))


def _inside(values: Iterable[Any], kind: pa.DataType) -> Iterator[tuple[list[Any], pa.DataType]]:
    """All that stands inside `values`, kind by kind."""
    if pa.types.is_map(kind):
        pairs = [pair for value in values for pair in (value.items() if isinstance(value, Mapping) else value)]
        yield [key for key, _ in pairs], kind.key_type
        yield [item for _, item in pairs], kind.item_type
    elif pa.types.is_struct(kind):
        names = [field.name for field in kind]
        rows = [_fields(value, names) for value in values]
        for field in kind:
            yield [row.get(field.name) for row in rows], field.type
    else:
        yield [item for value in values for item in _items(value)], kind.value_type


def _items(value: Any) -> Iterable[Any]:
    """Arrow would take a text apart into its letters."""
    if isinstance(value, str | bytes):
        raise Misfit
    items: Iterable[Any] = value
    return items


def _fields(value: Any, names: list[str]) -> Mapping[str, Any]:
    """Arrow would leave out a field that is not declared."""
    if isinstance(value, tuple):
        return dict(zip(names, value, strict=True))
    found = value if isinstance(value, Mapping) else dict(value)
    if not found.keys() <= set(names):
        raise Misfit
    return found


def _leaf(kind: pa.DataType) -> tuple[frozenset[type], Callable[[Any], bool]]:
    """The types of which every value stays as it is, and whether a value of another does."""
    if pa.types.is_integer(kind):
        return frozenset({int, _NONE}), _is_whole
    if pa.types.is_floating(kind):
        return (frozenset({_NONE}), _fits_float) if kind == pa.float32() else (frozenset({float, int, _NONE}), _is_no_truth)
    if pa.types.is_date(kind):
        return frozenset({date, _NONE}), _is_day
    if pa.types.is_timestamp(kind):
        return (frozenset({_NONE}), _is_zoneless) if kind.tz is None else (frozenset({datetime, _NONE}), _is_moment)
    return frozenset({timedelta, _NONE}), _is_moment


def _is_whole(value: Any) -> bool:
    return not isinstance(value, str | bytes) and bool(value == value // 1)


def _is_no_truth(value: Any) -> bool:
    return not isinstance(value, bool)


def _fits_float(value: Any) -> bool:
    return not isinstance(value, bool) and not _BEYOND_FLOAT <= abs(value) < math.inf


def _is_day(value: Any) -> bool:
    return value.time() == time_of_day.min if isinstance(value, datetime) else _is_moment(value)


def _is_zoneless(value: Any) -> bool:
    return getattr(value, "tzinfo", None) is None and _is_moment(value)


def _is_moment(value: Any) -> bool:
    """Nothing below a microsecond, which pandas knows, nor below the unit of a number."""
    if isinstance(value, datetime | timedelta):
        return not (getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0))
    return not isinstance(value, Real | Decimal) or _is_whole(value)
