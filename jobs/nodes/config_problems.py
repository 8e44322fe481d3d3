"""From a node's raw config to Problems placed on its fields, and to a config with every default written in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, to_jsonable_python

from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.dag.unknown_fields import names_known, unknown_words
from jobs.nodes.config_refused import ConfigRefused
from jobs.nodes.form import field_words
from jobs.nodes.pattern_words import pattern_words

#: A parameter's place; what stands there is known only when the job starts.
_PARAMETER = re.compile(r"(?<!\$)\$\{[A-Za-z0-9_]+\}")

#: pydantic's kinds of a value that is of another kind than its field.
_KINDS = {"tuple_type": "a list", "list_type": "a list", "dict_type": "an object", "string_type": "text", "bool_type": "true or false"}
_KINDS |= {
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
}
_KINDS |= {"float_type": "a number", "float_parsing": "a number", "model_type": "an object", "model_attributes_type": "an object"}


def config_problems(model: type[BaseModel], config: Mapping[str, Any]) -> list[Problem]:
    """Problems of `config` with pointers relative to it. A field that waits for a parameter is not judged."""
    try:
        model.model_validate(config)
    except ValidationError as error:
        details = error.errors(include_url=False)
        return [config_problem(model, detail) for detail in details if not _waits_for_parameter(model, detail) and not _is_echo(detail)]
    return []


def no_texts(model: type[BaseModel], config: Mapping[str, Any]) -> list[tuple[str | int, ...]]:
    """The places of `config` that hold something else than the text that belongs there."""
    try:
        model.model_validate(config)
    except ValidationError as error:
        return [detail["loc"] for detail in error.errors(include_url=False) if detail["type"] == "string_type"]
    return []


def config_resolved(model: type[BaseModel], config: Mapping[str, Any]) -> dict[str, Any]:
    """`config` with its defaults, as JSON; one that is not valid keeps what it holds and gains defaults at the top only."""
    try:
        resolved: dict[str, Any] = model.model_validate(config).model_dump(mode="json")
    except ValidationError:
        defaults = {
            name: to_jsonable_python(field.get_default(call_default_factory=True))
            for name, field in model.model_fields.items()
            if not field.is_required()
        }
        return {**defaults, **config}
    return resolved


def _waits_for_parameter(model: type[BaseModel], detail: ErrorDetails) -> bool:
    is_verbatim = bool(detail["loc"]) and detail["loc"][0] in getattr(model, "verbatim", ())
    return not is_verbatim and isinstance(detail["input"], str) and _PARAMETER.search(detail["input"]) is not None


def _is_echo(detail: ErrorDetails) -> bool:
    """A list that is long enough is called too short when its items have problems of their own."""
    return detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]


def config_problem(model: type[BaseModel], detail: ErrorDetails) -> Problem:
    """What one fault of a config is called, with a pointer relative to it."""
    missing = detail["type"] == "missing"
    refused = detail.get("ctx", {}).get("error")
    path = (*detail["loc"], *refused.path) if isinstance(refused, ConfigRefused) else detail["loc"]
    code = "config.missing" if missing else "config.invalid"
    return Problem(code=code, pointer=pointer_of(path), message=_sentence(model, detail))


def _sentence(model: type[BaseModel], detail: ErrorDetails) -> str:
    name = _place_words(detail["loc"])
    if detail["type"] == "missing":
        return _of_item(detail["loc"], f"{name} is required")
    if detail["type"] == "extra_forbidden":
        return unknown_words("setting", model, detail["loc"])
    if detail["type"] in ("string_too_short", "too_short") and not detail["input"]:
        return _of_item(detail["loc"], f"{name} must not be empty")
    if detail["type"] == "string_pattern_mismatch":
        return pattern_words(model, detail["loc"], name)
    if kind := _KINDS.get(detail["type"]):
        fields = ", ".join(names_known(model, detail["loc"])) if detail["type"].startswith("model") else ""
        return f"{name} must be {kind}" + (f" with {fields}" if fields else "")
    if bound := _bound_words(detail):
        return f"{name} must be {bound}"
    text = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "value_error":
        return text
    wanted = text.removeprefix("Input should be ")
    return f"{name} must be {wanted}" if wanted != text else f"{name}: {text[0].lower()}{text[1:]}"


def _bound_words(detail: ErrorDetails) -> str:
    given = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value for name, value in detail.get("ctx", {}).items()
    }
    match detail["type"]:
        case "greater_than":
            return f"greater than {given['gt']}"
        case "greater_than_equal":
            return f"greater than or equal to {given['ge']}"
        case "less_than":
            return f"less than {given['lt']}"
        case "less_than_equal":
            return f"less than or equal to {given['le']}"
        case "string_too_long":
            return f"no longer than {given['max_length']} characters"
    return ""


def _of_item(place: tuple[int | str, ...], words: str) -> str:
    """Said of a field of an item with its list, as in "columns 3: name is required"."""
    return f"{_place_words(place[:-1])}: {words}" if len(place) > 1 and isinstance(place[-2], int) else words


def _place_words(place: tuple[int | str, ...]) -> str:
    """What a sentence calls it: "order by", or "order by 2" for the second of them."""
    if not place:
        return "the settings"
    if isinstance(place[-1], int):
        return f"{_place_words(place[:-1])} {place[-1] + 1}"
    return field_words(place[-1])
