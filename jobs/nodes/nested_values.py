"""Values inside of lists, maps and structs, and which of them a cast loses."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from jobs.nodes.columns import type_text

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, StructType

#: A colon so early stands behind an hour ("10:00", "T10:00"): a date before it has a year of four digits at least.
_TIME_ALONE = 4


def is_nested(kind: DataType) -> bool:
    return kind.typeName() in ("array", "map", "struct")


def fields_apart(value: Column, kind: StructType) -> list[Column]:
    """The fields of the struct `value`, in order; where Spark takes two of their names for one, by their place."""
    names = list(kind.names)
    if len({name.lower() for name in names}) < len(names):
        names = [f"f{place}" for place in range(len(names))]
        types = (type_text(field.dataType) for field in kind.fields)
        value = value.cast(f"struct<{','.join(f'{name}:{text}' for name, text in zip(names, types, strict=True))}>")
    return [value.getField(name) for name in names]


def type_inside(kind: DataType) -> DataType | None:
    """The type of the items of a list, or of the values of a map."""
    from pyspark.sql.types import ArrayType, MapType

    if isinstance(kind, ArrayType):
        return kind.elementType
    return kind.valueType if isinstance(kind, MapType) else None


def may_lose(kind: DataType, target: DataType) -> bool:
    """Whether `lost_inside` has anything to look at."""
    pairs = _pairs(kind, target)
    return kind != target if pairs is None else any(may_lose(*pair) for pair in pairs)


def lost_inside(value: Column, kind: DataType, target: DataType) -> Column:
    """Whether a cast that Spark tries loses `value`, which is of `kind`, or a value within it (`_lost`); true, or else false or null."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StructType

    pairs = _pairs(kind, target)
    if pairs is None:
        return _lost(value, kind, target)
    if isinstance(kind, StructType):
        parts = fields_apart(value, kind)
        return _any([lost_inside(part, *pair) for part, pair in zip(parts, pairs, strict=True) if may_lose(*pair)])
    lists = [F.map_keys(value), F.map_values(value)] if isinstance(kind, MapType) else [value]
    assert isinstance(kind, ArrayType | MapType)
    return _any([_lost_among(items, *pair) for items, pair in zip(lists, pairs, strict=True) if may_lose(*pair)])


def _lost(value: Column, kind: DataType, target: DataType) -> Column:
    """Whether it becomes null, or something else: a finite number infinite, a time of day one of the day of the run."""
    from pyspark.sql import functions as F

    cast, come, goes = value.try_cast(type_text(target)), kind.typeName(), target.typeName()
    gone = cast.isNull()
    if goes in ("float", "double") and come in ("double", "string"):
        infinite = F.lit("Infinity").cast("double")
        is_finite = ~F.contains(F.lower(value), F.lit("inf")) if come == "string" else F.abs(value) < infinite
        gone = gone | ((F.abs(cast) == infinite) & is_finite)
    elif goes == "timestamp" and come == "string":
        gone = gone | F.locate(":", F.ltrim(value)).between(1, _TIME_ALONE)
    return value.isNotNull() & gone


def _lost_among(items: Column, kind: DataType, target: DataType) -> Column:
    from pyspark.sql import functions as F

    return F.exists(items, lambda item: lost_inside(item, kind, target))


def _any(found: list[Column]) -> Column:
    from pyspark.sql import functions as F

    return reduce(or_, found) if found else F.lit(False)


def _pairs(kind: DataType, target: DataType) -> list[tuple[DataType, DataType]] | None:
    """The types that values inside of one of `kind` have, each with the one it is to have; None where it is cast as a whole."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(kind, ArrayType) and isinstance(target, ArrayType):
        return [(kind.elementType, target.elementType)]
    if isinstance(kind, MapType) and isinstance(target, MapType):
        return [(kind.keyType, target.keyType), (kind.valueType, target.valueType)]
    if isinstance(kind, StructType) and isinstance(target, StructType) and len(kind.fields) == len(target.fields):
        return [(one.dataType, other.dataType) for one, other in zip(kind.fields, target.fields, strict=True)]
    return None
