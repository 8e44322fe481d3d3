"""Which columns of a record do not hold the values that came for them; worked out for rows that are rejected, and for no others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import StructType

_SENTENCE = "{column} should be {type}, not {value}"
_SHOWN_CHARACTERS = 60
_NAMED_COLUMNS = 5


def misfit_told(
    words: str, text: Column, held: Mapping[str, Column], schema: StructType, format: str, options: Mapping[str, str] | None = None
) -> Column:
    """`words`, and the first columns of `schema` for which `text` has values that are not `held`, with their types and these values.

    Only JSON and CSV tell it; other formats, and what is no record at all, leave `words` alone. `options` are those that read CSV.
    """
    from pyspark.sql import functions as F

    if format not in ("json", "csv") or not held:
        return F.lit(words)
    lost = F.array(*(F.when(held[field.name].isNull(), F.lit(field.name)) for field in schema.fields))
    given, is_value, shown = _json(text) if format == "json" else _csv(text, schema, options or {})
    unheld = F.filter(given, lambda pair: F.array_contains(lost, pair.getField("key")) & is_value(pair.getField("value")))
    types = F.create_map(*(F.lit(part) for field in schema.fields for part in (field.name, field.dataType.simpleString())))
    sentences = F.transform(
        F.slice(unheld, 1, _NAMED_COLUMNS),
        lambda pair: _sentence(pair.getField("key"), F.element_at(types, pair.getField("key")), shown(pair.getField("value"))),
    )
    return F.concat_ws(": ", F.lit(words), F.nullif(F.array_join(sentences, "; "), F.lit("")))


def _sentence(name: Column, kind: Column, value: Column) -> Column:
    from pyspark.sql import functions as F

    is_long = F.length(value) > _SHOWN_CHARACTERS
    short = F.when(is_long, F.concat(F.substring(value, 1, _SHOWN_CHARACTERS), F.lit("…"))).otherwise(value)
    typed = F.replace(F.lit(_SENTENCE), F.lit("{type}"), kind)
    return F.replace(F.replace(typed, F.lit("{column}"), name), F.lit("{value}"), short)


_Given = tuple["Column", "Callable[[Column], Column]", "Callable[[Column], Column]"]


def _json(text: Column) -> _Given:
    """Names with values, what tells that one is none, and how one is shown."""
    from pyspark.sql import functions as F

    return F.map_entries(F.from_json(text, "map<string, variant>")), lambda value: ~F.is_variant_null(value), F.to_json


def _csv(text: Column, schema: StructType, options: Mapping[str, str]) -> _Given:
    """A line with more or fewer values has none that belong to a column."""
    from pyspark.sql import functions as F

    names = [f"_{number}" for number in range(len(schema.fields))]
    given: Any = {**options, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt"}
    line = F.from_csv(text, ", ".join(f"{name} string" for name in (*names, "_corrupt")), given)
    pairs = [
        F.struct(F.lit(field.name).alias("key"), line.getField(name).alias("value"))
        for field, name in zip(schema.fields, names, strict=True)
    ]
    whole = F.when(line.getField("_corrupt").isNull(), F.array(*pairs))
    return whole, lambda value: value.isNotNull(), lambda value: F.concat(F.lit('"'), value, F.lit('"'))
