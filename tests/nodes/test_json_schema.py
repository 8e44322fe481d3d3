"""A JSON schema becomes columns; what cannot is said in words."""

import json
from typing import Any

import pytest

from jobs.nodes.json_schema import json_schema_columns


def columns(properties: dict[str, Any], **rest: Any) -> str:
    return json_schema_columns(json.dumps({"type": "object", "properties": properties, **rest})).simpleString()


@pytest.mark.parametrize(
    ("property_", "type_"),
    [
        ({"type": "integer"}, "bigint"),
        ({"type": "number"}, "double"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "string"}, "string"),
        ({"type": "string", "format": "date-time"}, "timestamp"),
        ({"type": "string", "format": "date"}, "date"),
        ({"type": "string", "format": "email"}, "string"),
        ({"type": ["null", "integer"]}, "bigint"),
        ({"type": ["string", "integer"]}, "string"),
        ({"oneOf": [{"type": "null"}, {"type": "number"}]}, "double"),
        ({"anyOf": [{"type": "string"}, {"type": "number"}]}, "string"),
        ({"enum": ["a", "b"]}, "string"),
        ({}, "string"),
        (True, "string"),
        ({"type": "array", "items": {"type": "integer"}}, "array<bigint>"),
        ({"type": "array"}, "array<string>"),
        ({"type": "object", "properties": {"city": {"type": "string"}}}, "struct<city:string>"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "map<string,bigint>"),
        ({"type": "object"}, "string"),
        ({"$ref": "#/$defs/money"}, "struct<amount:double>"),
        ({"type": "array", "items": {"$ref": "#/$defs/a~1b"}}, "array<boolean>"),
    ],
)
def test_a_property_becomes_a_column(property_: Any, type_: str) -> None:
    shared = {"money": {"type": "object", "properties": {"amount": {"type": "number"}}}, "a/b": {"type": "boolean"}}
    assert columns({"it": property_}, **{"$defs": shared}) == f"struct<it:{type_}>"


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("{", "no JSON"),
        ("[]", "an object with properties"),
        ('{"type": "string"}', "an object with properties"),
        ('{"$ref": "#/nowhere"}', "#/nowhere, which it does not have"),
        ('{"properties": {"a": {"$ref": "https://example.com/a.json"}}}', "https://example.com/a.json, which cannot be read"),
        ('{"properties": {"a": {"$ref": "#/properties/a"}}}', "refers to itself"),
        ('{"properties": {"a": {"$ref": "#"}}}', "refers to itself"),
    ],
)
def test_what_is_no_schema_of_columns_is_told(schema: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        json_schema_columns(schema)
