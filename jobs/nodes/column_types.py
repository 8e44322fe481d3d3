"""Spark's types as a form takes them, checked without Spark: the web process has none."""

from __future__ import annotations

import re

SIMPLE_TYPES = (
    *("string", "boolean", "byte", "short", "int", "integer", "long", "bigint"),
    *("float", "double", "date", "timestamp", "timestamp_ntz", "binary"),
)
#: As Spark calls byte and short where it shows them.
_OTHER_NAMES = ("tinyint", "smallint")
_NAMES = "|".join(sorted((*SIMPLE_TYPES, *_OTHER_NAMES), key=len, reverse=True))
_LEAF = re.compile(rf"(?:{_NAMES}|decimal\( ?\d{{1,2}} ?, ?\d{{1,2}} ?\))(?![A-Za-z0-9_(])")
_OPENING = re.compile(r"array<|map<string, ?|struct<")
_FIELD = re.compile(r" ?(?:[A-Za-z_][A-Za-z0-9_]*|`(?:[^`\r\n]|``)+`) ?: ?")
#: Deeper ones would ask for deeper calls.
_MOST_LEVELS = 20


class _NoType(Exception):
    """`at`: from where on the text is none."""

    def __init__(self, at: int) -> None:
        self.at = at


def type_checked(text: str) -> str:
    """`text` if it is a type, such as "array<struct<id: long, price: decimal(18, 2)>>"; ValueError in words if not."""
    try:
        if (end := _type_end(text, 0, 0)) < len(text):
            raise _NoType(end)
    except _NoType as wrong:
        raise ValueError(
            f'from "{text[wrong.at : wrong.at + 40] or "(its end)"}" on this is no type; types are {", ".join(SIMPLE_TYPES)}, '
            "decimal(18, 2), array<type>, map<string, type> and struct<name: type, other: type>"
        ) from None
    return text


def _type_end(text: str, at: int, level: int) -> int:
    """Where the type that begins at `at` ends."""
    if leaf := _LEAF.match(text, at):
        return leaf.end()
    opening = _OPENING.match(text, at)
    if opening is None or level >= _MOST_LEVELS:
        raise _NoType(at)
    inner = _fields_end if opening[0] == "struct<" else _type_end
    return _past(">", text, inner(text, opening.end(), level + 1))


def _fields_end(text: str, at: int, level: int) -> int:
    while True:
        field = _FIELD.match(text, at)
        if field is None:
            raise _NoType(at)
        at = _type_end(text, field.end(), level)
        if not text.startswith(",", at):
            return at
        at += 1


def _past(sign: str, text: str, at: int) -> int:
    if not text.startswith(sign, at):
        raise _NoType(at)
    return at + 1
