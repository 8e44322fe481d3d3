"""What a text that does not match its pattern should have been, in words instead of the pattern."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from jobs.nodes.form import form_schema


def pattern_words(model: type[BaseModel], place: Sequence[int | str], name: str) -> str:
    """A sentence from the field's own words and example: "host must be a server's name or address, such as db.example.com"."""
    field = _field(form_schema(model), place)
    allowed = field.get("x-allowed", "")
    examples = field.get("examples", [])
    example = examples[0] if examples and isinstance(examples[0], str) else ""
    if allowed:
        return f"{name} must be {allowed}" + (f", such as {example}" if example and "such as" not in allowed else "")
    if suggested := field.get("x-suggestions"):
        return f"{name} must be one like {', '.join(suggested)}"
    return f"{name} is not of the form that is needed here" + (f"; an example: {example}" if example else "")


def _field(schema: Mapping[str, Any], place: Sequence[int | str]) -> Mapping[str, Any]:
    """The field's schema, of "a text or null" the text's; empty where the way to it branches otherwise."""
    found: Mapping[str, Any] = schema
    for step in place:
        below: Any = found.get("items", {}) if isinstance(step, int) else found.get("properties", {}).get(step, {})
        if not isinstance(below, Mapping):
            return {}
        found = _not_null(below)
    return found


def _not_null(field: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = [choice for choice in field.get("anyOf", []) if choice.get("type") != "null"]
    return choices[0] if len(choices) == 1 else field
