"""A JSON schema as the columns that messages of it become."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_MOST_DEPTH = 30
_Schema = Mapping[str, Any]


def json_schema_check(text: str) -> dict[str, Any]:
    """The schema of an object that `text` holds; ValueError in words when it holds none."""
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the JSON schema is no JSON ({error})") from None
    if not isinstance(schema, dict) or not isinstance(_resolved(schema, schema).get("properties"), dict):
        raise ValueError("the JSON schema must be of an object with properties")
    return schema


def json_schema_columns(text: str) -> StructType:
    """A column for each property, all nullable; ValueError where the schema refers to itself or to elsewhere.

    Times and dates are such where their format says so. What has no one type – a choice between several, anything at all – becomes
    the text of its JSON.
    """
    from pyspark.sql.types import StructType

    whole = json_schema_check(text)
    columns = _type(whole, whole, _MOST_DEPTH)
    assert isinstance(columns, StructType)
    return columns


def _type(schema: Any, whole: _Schema, depth: int) -> DataType:
    from pyspark.sql import types as T

    if not isinstance(schema, Mapping):
        return T.StringType()
    if not depth:
        raise ValueError("the JSON schema is nested too deep, or refers to itself: list the columns instead")
    schema = _resolved(schema, whole)
    if isinstance(schema.get("properties"), Mapping):
        fields = schema["properties"].items()
        return T.StructType([T.StructField(str(name), _type(one, whole, depth - 1)) for name, one in fields])
    kind = _kind(schema)
    if kind == "array":
        return T.ArrayType(_type(schema.get("items"), whole, depth - 1))
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return T.MapType(T.StringType(), _type(schema["additionalProperties"], whole, depth - 1))
    if kind == "string":
        return {"date-time": T.TimestampType(), "date": T.DateType()}.get(str(schema.get("format")), T.StringType())
    return {"integer": T.LongType(), "number": T.DoubleType(), "boolean": T.BooleanType()}.get(kind, T.StringType())


def _resolved(schema: _Schema, whole: _Schema) -> _Schema:
    """What is meant: behind references within `whole`, and where the one other choice is null."""
    for _ in range(_MOST_DEPTH):
        if "$ref" in schema:
            schema = _referred(str(schema["$ref"]), whole)
        elif len(choices := [one for key in ("oneOf", "anyOf") for one in schema.get(key, ()) if one != {"type": "null"}]) == 1:
            schema = choices[0]
        else:
            return schema
    raise ValueError("the JSON schema refers to itself: list the columns instead")


def _referred(address: str, whole: _Schema) -> _Schema:
    found: Any = whole
    if not address.startswith("#"):
        raise ValueError(f"the JSON schema refers to {address}, which cannot be read: list the columns instead")
    for part in address.removeprefix("#").strip("/").split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, Mapping) and part else found
    if not isinstance(found, Mapping):
        raise ValueError(f"the JSON schema refers to {address}, which it does not have")
    return found


def _kind(schema: _Schema) -> str:
    given = schema.get("type")
    kinds = [given] if isinstance(given, str) else [kind for kind in given or () if kind != "null"]
    return kinds[0] if len(kinds) == 1 else ""
