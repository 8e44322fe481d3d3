"""Values as Python text: what is handed to PySpark's functions, with an environment variable in the place of each secret."""

from __future__ import annotations

import ast
import datetime
import decimal
import re
import tokenize
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from jobs.engine.script.code import Code
from jobs.nodes.columns import quoted
from jobs.nodes.plainly import STAND_IN, ScriptText

_SHORT = 60


class Unwritable(Exception):
    """A value that no text stands for."""


def secrets_from_environment(text: str) -> tuple[str, list[str]]:
    """`text`, where whole quoted stand-ins became variables of the environment, and the names of all that it takes from there."""
    text = re.sub(rf"(['\"]){STAND_IN.pattern}\1", r'os.environ["\2"]', text)
    return text, sorted(set(re.findall(r'os\.environ\["(\w+)"\]', text)))


def place_named(code: str, place: str, variable: str) -> str:
    """`code`, whose texts have `variable` where they had `place`."""
    lines = code.split("\n")
    tokens = tokenize.generate_tokens(StringIO(code).readline)
    for token in reversed([one for one in tokens if one.type == tokenize.STRING and place in one.string]):
        (first, start), (last, end) = token.start, token.end
        lines[first - 1 : last] = [lines[first - 1][:start] + _split(token.string, place, variable) + lines[last - 1][end:]]
    return "\n".join(lines)


def _split(literal: str, place: str, variable: str) -> str:
    between = [text_literal(part) for part in ast.literal_eval(literal).split(place)]
    written = [part for one in between for part in (variable, one) if part != '""'][1:]
    return written[0] if len(written) == 1 else f"({' + '.join(written)})"


def value_code(value: Any, imports: set[str]) -> Code:
    """`value` as an expression; adds the import lines that it needs to `imports`. Unwritable where there is none."""
    if isinstance(value, ScriptText):
        return Code(value.code)
    if isinstance(value, str):
        return Code(_text(value, imports))
    if value is None or isinstance(value, bool | int | float | bytes):
        return Code(repr(value))
    if isinstance(value, DataType):
        return _ddl(value)
    if isinstance(value, Mapping):
        pairs = (f"{value_code(key, imports).text()}: {value_code(one, imports).text()}" for key, one in value.items())
        return Code(f"{{{', '.join(pairs)}}}")
    if isinstance(value, Sequence):
        inside = ", ".join(value_code(one, imports).text() for one in value)
        return Code(f"({inside}{',' if len(value) == 1 else ''})" if isinstance(value, tuple) else f"[{inside}]")
    return _imported(value, imports)


def _imported(value: Any, imports: set[str]) -> Code:
    """What needs an import line."""
    if isinstance(value, datetime.datetime | datetime.date | datetime.timedelta):
        imports.add("import datetime")
        return Code(repr(value))
    if isinstance(value, decimal.Decimal):
        imports.add("from decimal import Decimal")
        return Code(repr(value))
    if isinstance(value, type):
        imports.add(f"from {value.__module__} import {value.__name__}")
        return Code(value.__name__)
    raise Unwritable(f"a {type(value).__name__}")


def _text(value: str, imports: set[str]) -> str:
    parts = STAND_IN.split(value)
    if len(parts) == 1:
        return text_literal(value)
    imports.add("import os")
    written = [f'os.environ["{part}"]' if number % 2 else text_literal(part) for number, part in enumerate(parts) if part]
    return written[0] if len(written) == 1 else f"({' + '.join(written)})"


def text_literal(text: str) -> str:
    """Several lines stay several lines where that is the same text."""
    if (
        "\n" in text
        and len(text) > _SHORT
        and '"""' not in text
        and "\\" not in text
        and not text.endswith('"')
        and text.replace("\n", "").isprintable()
    ):
        return f'"""{text}"""'
    if '"' not in text and "\\" not in text and text.isprintable():
        return f'"{text}"'
    return repr(text)


def _ddl(kind: DataType) -> Code:
    if not isinstance(kind, StructType):
        return Code(text_literal(_type(kind)))
    columns = [f"{_name(field.name)} {_type(field.dataType)}{'' if field.nullable else ' NOT NULL'}" for field in kind.fields]
    pieces = tuple(text_literal(column + ", ") for column in columns[:-1]) + tuple(text_literal(column) for column in columns[-1:])
    return Code(text_literal(", ".join(columns)), pieces=pieces if len(columns) > 1 else ())


def _type(kind: DataType) -> str:
    """As SQL writes it, with names in it quoted where they need it."""
    if isinstance(kind, StructType):
        parts = (f"{_name(one.name)}:{_type(one.dataType)}{'' if one.nullable else ' NOT NULL'}" for one in kind.fields)
        return f"struct<{', '.join(parts)}>"
    if isinstance(kind, ArrayType):
        return f"array<{_type(kind.elementType)}>"
    if isinstance(kind, MapType):
        return f"map<{_type(kind.keyType)}, {_type(kind.valueType)}>"
    return kind.simpleString()


def _name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else quoted(name)
