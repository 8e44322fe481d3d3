"""What stands in a row that XML cannot hold: characters of values, and keys of maps, which become names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from jobs.nodes.columns import column
from jobs.nodes.nested_values import fields_apart, type_inside
from jobs.nodes.record_names import xml_name_pattern

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, StructField

_CONTROL = r"[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]"
_NAME = r"\A" + xml_name_pattern(r"\x{10000}-\x{EFFFF}") + r"\z"


def unwritable_in_xml(fields: Sequence[StructField]) -> Column | None:
    """Why a row cannot be XML, null where it can; None where every row can."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import MapType, StringType

    reasons = []
    for field in fields:
        value = column(field.name)
        if _holds(field.dataType, StringType):
            words = f"{field.name}: XML cannot hold its control character; take it out before, such as with regexp_replace"
            reasons.append(F.when(_anywhere(value, field.dataType, StringType, lambda text: text.rlike(_CONTROL)), F.lit(words)))
        if _holds(field.dataType, MapType):
            words = f"{field.name}: XML cannot name an element as one of its keys; rename the key before, or make it text with to_json"
            reasons.append(F.when(_anywhere(value, field.dataType, MapType, _has_odd_key), F.lit(words)))
    return F.coalesce(*reasons) if reasons else None


def _has_odd_key(value: Column) -> Column:
    """A key without a value makes no element."""
    from pyspark.sql import functions as F

    def is_odd(entry: Column) -> Column:
        return entry.getField("value").isNotNull() & ~entry.getField("key").cast("string").rlike(_NAME)

    return F.exists(F.map_entries(value), is_odd)


def _anywhere(value: Column, kind: DataType, wanted: type[DataType], test: Callable[[Column], Column]) -> Column:
    """Whether `test` is true of `value`, which is of `kind`, or of one inside of it; only those of the kind `wanted` are asked."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import MapType, StructType

    found = [test(value)] if isinstance(kind, wanted) else []
    if isinstance(kind, StructType):
        parts = zip(fields_apart(value, kind), kind.fields, strict=True)
        found += [_anywhere(part, field.dataType, wanted, test) for part, field in parts if _holds(field.dataType, wanted)]
    elif (inner := type_inside(kind)) is not None and _holds(inner, wanted):
        items = F.map_values(value) if isinstance(kind, MapType) else value
        found.append(F.exists(items, lambda item: _anywhere(item, inner, wanted, test)))
    return reduce(or_, found)


def _holds(kind: DataType, wanted: type[DataType]) -> bool:
    from pyspark.sql.types import StructType

    if isinstance(kind, wanted):
        return True
    if isinstance(kind, StructType):
        return any(_holds(field.dataType, wanted) for field in kind.fields)
    inner = type_inside(kind)
    return inner is not None and _holds(inner, wanted)
