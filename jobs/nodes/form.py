"""Hints that tell the browser's form how to draw a field; they travel inside the JSON Schema."""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints
from pydantic.json_schema import JsonSchemaValue

from jobs.dag.sql_places import SqlDialect

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
    half: bool = False,
    of_input: int = 0,
    takes_input: bool = False,
    after: str = "",
    allowed: str = "",
    language: str = "",
    sets: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """`json_schema_extra` of a field. `advanced` folds it away; `kinds` are connection kinds; `when` is "field=value" that shows it,
    or "field=one|two", several with & between.

    An advanced field stands with the others where `unfolds`, written as `when` is, holds. Two short ones (`half`) that follow each
    other share a line: of their descriptions, as of those of code, the first sentence is seen, the others unfold. `after`: the field
    behind which it stands, if not the one written before it. `takes_input`: this list of columns may be all that come in, and more.
    `of_input`: columns are offered of the first input alone, or of the second.
    `allowed` says in words what its pattern asks for: "a server's name or address". `language` is that of a code field, if not SQL.
    `sets`: value → other fields that a person who chooses it wants to be so.
    """
    given = {
        "x-widget": widget,
        "x-connection-kinds": list(kinds),
        "x-advanced": advanced,
        "x-when": when,
        "x-unfolds": unfolds,
        "x-half": half,
        "x-of-input": of_input,
        "x-takes-input": takes_input,
        "x-after": after,
        "x-allowed": allowed,
        "x-language": language,
        "x-sets": sets,
    }
    return {name: value for name, value in given.items() if value}


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
    written = schema.get("properties", {})
    fields = {name: written[name] for name in _in_order(written)}
    if fields:
        schema["properties"] = fields
    for order, (name, field) in enumerate(fields.items()):
        field.setdefault("x-order", order)
        if field.get("title", "") in ("", name.replace("_", " ").title()):
            words = field_words(name)
            field["title"] = words[:1].upper() + words[1:]
        if isinstance(field.get("items"), dict):
            _worded(field["items"])


def _in_order(fields: Mapping[str, dict[str, Any]]) -> list[str]:
    """As they are written, but those that are to stand behind another one there."""
    names = [name for name in fields if "x-after" not in fields[name]]
    for name, field in fields.items():
        if before := field.pop("x-after", ""):
            names.insert(names.index(before) + 1, name)
    return names


@cache
def sql_fields(model: type[BaseModel]) -> Mapping[str, SqlDialect]:
    """Fields of a config that hold SQL or an expression, at any depth → whose: a database's beside a connection, else Spark's."""
    schema = model.model_json_schema()
    fields = schema.get("properties", {})
    found = {name: _dialects(part, schema.get("$defs", {}), beside=fields.keys()) for name, part in fields.items()}
    return {name: "database" if "database" in dialects else "spark" for name, dialects in found.items() if dialects}


def _dialects(part: Any, definitions: Mapping[str, Any], beside: Collection[str]) -> set[SqlDialect]:
    """`beside`: the fields that stand with this one. `definitions`: those that no part around it is made by, or it would have no end."""
    if isinstance(part, list):
        return set().union(*(_dialects(item, definitions, beside) for item in part))
    if not isinstance(part, Mapping):
        return set()
    widget = part.get("x-widget")
    if widget in ("sql", "expression") or (widget == "code" and "x-language" not in part):
        return {"database" if widget == "sql" and "connection" in beside else "spark"}
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        part, definitions = definitions.get(name, {}), {other: one for other, one in definitions.items() if other != name}
    beside = part["properties"].keys() if "properties" in part else beside
    return set().union(*(_dialects(item, definitions, beside) for item in part.values()))
