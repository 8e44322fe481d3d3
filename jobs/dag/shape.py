"""Faults in the shape of a document, told in plain words on their node, edge and field."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.dag.reading import MAX_PROBLEMS
from jobs.dag.unknown_fields import unknown_words

MAX_NODES = 500
MAX_EDGES = 1000
MAX_TESTS = 100

_KINDS = {
    "missing": 'the field "{field}" is missing',
    "bool_type": '"{field}" must be true or false',
    "bool_parsing": '"{field}" must be true or false',
    "string_type": '"{field}" must be text',
    "int_type": '"{field}" must be a whole number',
    "int_parsing": '"{field}" must be a whole number',
    "int_from_float": '"{field}" must be a whole number',
    "float_type": '"{field}" must be a number',
    "float_parsing": '"{field}" must be a number',
    "dict_type": '"{field}" must be an object',
    "list_type": '"{field}" must be a list',
    "model_type": '"{field}" must be an object',
    "model_attributes_type": '"{field}" must be an object',
}
_WORDS = {
    "tuple_type": '"{field}" must be a list of a node id and a port name',
    "too_short": '"{field}" must be a list of a node id and a port name',
    "too_long": '"{field}" must be a list of a node id and a port name',
}
_PATTERNS = {
    "name": 'the name "{value}" must be lower-case letters, digits and hyphens, beginning with a letter or digit, at most 200',
    "nodes": 'the node id "{value}" must be 1 to 64 letters, digits or underscores',
    "edges": 'the edge id "{value}" must be 1 to 64 letters, digits or underscores',
    "parameters": 'the parameter name "{value}" must be letters, digits or underscores, not beginning with a digit',
    "tests": '"{value}" must be the id of a node, or in expect an id and a port, as in "parse.errors"',
}
_CODES = {
    "nodes": "node.invalid",
    "edges": "edge.invalid",
    "settings": "settings.invalid",
    "parameters": "parameter.invalid",
    "tests": "test.invalid",
}


def size_problems(data: Any) -> list[Problem]:
    """More nodes, edges or tests than a canvas, a reader or a plan can hold."""
    if not isinstance(data, Mapping):
        return [Problem(code="document.invalid", message="a document is a JSON object with name, type, nodes and edges")]
    problems = []
    for key, most in (("nodes", MAX_NODES), ("edges", MAX_EDGES), ("tests", MAX_TESTS)):
        part = data.get(key)
        if isinstance(part, Mapping | list) and len(part) > most:
            message = f"the document has {len(part):,} {key}; at most {most:,} are allowed: split it into several jobs"
            problems.append(Problem(code="document.too_large", pointer=f"/{key}", message=message))
    return problems


def shape_problems(model: type[BaseModel], error: ValidationError) -> list[Problem]:
    """One Problem per fault pydantic found in what should be `model`, a document or a part of one; at most MAX_PROBLEMS."""
    faults = error.errors(include_url=False, include_context=True)
    return [_problem(model, fault) for fault in faults[:MAX_PROBLEMS]]


def _problem(model: type[BaseModel], fault: ErrorDetails) -> Problem:
    path = [part for part in fault["loc"] if part != "[key]"]
    part = str(path[0]) if path else ""
    owner = str(path[1]) if len(path) > 1 else None
    return Problem(
        code=_CODES.get(part, "document.invalid"),
        node_id=owner if part == "nodes" else None,
        edge_id=owner if part == "edges" else None,
        pointer=pointer_of(path),
        message=_words(model, fault, path),
    )


def _words(model: type[BaseModel], fault: ErrorDetails, path: list[str | int]) -> str:
    field = str(path[-1]) if path else "document"
    if fault["type"] == "extra_forbidden":
        return unknown_words("field", model, path)
    if fault["type"] == "string_pattern_mismatch":
        known = _PATTERNS.get(str(path[0]), '"{value}" is not allowed here')
        return known.format(value=_short(fault["input"]))
    known = _WORDS.get(fault["type"], "").replace("{field}", _short(field))
    return known or value_words(field, fault) or f'"{_short(field)}": {fault["msg"]}'


def value_words(field: str, fault: ErrorDetails) -> str:
    """What a value of another kind, choice or size should be; "" for faults of other sorts. `fault` with input and context."""
    if fault["type"] == "literal_error":
        return f'"{field}" is {_short(fault["input"])!r}; it must be {fault["ctx"]["expected"]}'
    return _KINDS.get(fault["type"], "").replace("{field}", _short(field)) or _size_words(field, fault)


def _size_words(field: str, fault: ErrorDetails) -> str:
    """What a text, a list or a number that is too long, short, large or small may be; "" for faults of other sorts."""
    given = {name: f"{value:,}" if isinstance(value, int) else value for name, value in fault.get("ctx", {}).items()}
    match fault["type"]:
        case "string_too_long":
            return f'"{_short(field)}" is too long: at most {given["max_length"]} characters'
        case "string_too_short":
            return f'"{_short(field)}" must not be empty'
        case "too_long":
            return f'"{_short(field)}" has too many entries: at most {given["max_length"]}'
        case "too_short":
            return f'"{_short(field)}" has too few entries: at least {given["min_length"]}'
        case "greater_than_equal":
            return f'"{_short(field)}" must be {given["ge"]} or more'
        case "less_than_equal":
            return f'"{_short(field)}" must be {given["le"]} or less'
    return ""


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"
