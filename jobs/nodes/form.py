"""Hints that tell the browser's form how to draw a field; they travel inside the JSON Schema."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints
from pydantic.json_schema import JsonSchemaValue

Widget = Literal["expression", "sql", "column", "columns", "connection", "path", "code", "duration", "textarea", "mapping"]

#: A column's name: anything that is not empty and holds no line break.
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[^\r\n]+$")]


#: Words of field names that are written in capitals.
_CAPITALS = frozenset({"api", "csv", "http", "https", "id", "jdbc", "json", "sql", "tls", "uri", "url", "utc"})


def field_words(name: str) -> str:
    """A field's name within a sentence: "base_url" is "base URL"."""
    return " ".join(word.upper() if word in _CAPITALS else word for word in name.split("_"))


def hints(
    widget: Widget | None = None,
    *,
    advanced: bool = False,
    kinds: tuple[str, ...] = (),
    when: str = "",
    unfolds: str = "",
    allowed: str = "",
    language: str = "",
    sets: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """`json_schema_extra` of a field. `advanced` folds it away; `kinds` are connection kinds; `when` is "field=value" that shows it.

    An advanced field stands with the others where `unfolds`, written as `when` is, holds.
    `allowed` says in words what its pattern asks for: "a server's name or address". `language` is that of a code field, if not SQL.
    `sets`: value → other fields that a person who chooses it wants to be so.
    """
    found: dict[str, Any] = {}
    if widget is not None:
        found["x-widget"] = widget
    if kinds:
        found["x-connection-kinds"] = list(kinds)
    if advanced:
        found["x-advanced"] = True
    if when:
        found["x-when"] = when
    if unfolds:
        found["x-unfolds"] = unfolds
    if allowed:
        found["x-allowed"] = allowed
    if language:
        found["x-language"] = language
    if sets:
        found["x-sets"] = sets
    return found


def connection_field(*kinds: str) -> Any:
    """A required reference to a connection of one of `kinds`, by its name."""
    return Field(
        min_length=1,
        description="Where the system is and how to sign in.",
        examples=["warehouse"],
        json_schema_extra=hints("connection", kinds=kinds),
    )


def form_schema(model: type[BaseModel], *, summary: str = "", address: str = "") -> JsonSchemaValue:
    """JSON Schema of `model` without references, in sentence case, its fields numbered in the order they are written."""
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    inlined: JsonSchemaValue = _inlined(schema, definitions)
    inlined.pop("description", None)
    _worded(inlined)
    if summary:
        inlined["x-summary"] = summary
    if address:
        inlined["x-address"] = address
    return inlined


def _inlined(part: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(part, list):
        return [_inlined(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    reference = part.get("$ref")
    if isinstance(reference, str):
        target = definitions[reference.rsplit("/", 1)[-1]]
        return _inlined({**target, **{key: value for key, value in part.items() if key != "$ref"}}, definitions)
    return {key: _inlined(value, definitions) for key, value in part.items()}


def _worded(schema: dict[str, Any]) -> None:
    """Titles in sentence case, abbreviations in capitals, and `x-order`, here and in the rows of a list."""
    for order, (name, field) in enumerate(schema.get("properties", {}).items()):
        field.setdefault("x-order", order)
        if field.get("title", "") in ("", name.replace("_", " ").title()):
            words = field_words(name)
            field["title"] = words[:1].upper() + words[1:]
        if isinstance(field.get("items"), dict):
            _worded(field["items"])
