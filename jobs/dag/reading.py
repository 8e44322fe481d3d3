"""From bytes to plain JSON data, or Problems: whatever arrives, nothing here raises."""

import json
import math
from collections.abc import Mapping
from typing import Any

from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.dag.storable import storable
from jobs.dag.syntax_words import syntax_words

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 64
MAX_PROBLEMS = 200
_INT64 = 2**63


class ReadObject(dict[str, Any]):
    """A JSON object that remembers the keys it was given more than once."""

    repeated: tuple[str, ...] = ()


class BadNumber:
    """Stands where a number stood that no computer column can hold."""

    def __init__(self, text: str) -> None:
        self.text = text if len(text) <= 24 else text[:20] + "…"


def read_json(raw: bytes | str | Mapping[str, Any]) -> tuple[Any, list[Problem]]:
    """The data of `raw` and what is wrong with it as JSON; data is None when it cannot be read at all.

    Refused with a pointer: repeated keys, NaN and infinities, integers beyond 64 bits, characters that cannot be stored
    (NUL, half a surrogate pair), nesting deeper than MAX_DEPTH, more than MAX_BYTES.
    """
    text, problem = _text_of(raw)
    if problem is not None:
        return None, [problem]
    try:
        data = json.loads(text, object_pairs_hook=object_of, parse_int=int_of, parse_constant=BadNumber)
    except RecursionError:
        return None, [too_deep(())]
    except ValueError as error:
        return None, [unreadable(f"this is not JSON: {_where(error)}")]
    problems = data_problems(data)
    return (None if problems else data), problems


def unreadable(message: str) -> Problem:
    """The Problem of a text that cannot be read at all."""
    return Problem(code="document.invalid", message=message)


def decode(raw: bytes | str) -> tuple[str, Problem | None]:
    """`raw` as text: at most MAX_BYTES of UTF-8, with or without a byte order mark."""
    if isinstance(raw, str):
        try:
            raw = raw.encode()
        except UnicodeEncodeError:
            return "", unreadable("the text holds half a surrogate pair and cannot be stored: remove the broken character")
    if len(raw) > MAX_BYTES:
        return "", Problem(code="document.too_large", message=f"the document has {len(raw):,} bytes; at most 1 MiB is allowed")
    try:
        return bytes(raw).decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        return "", unreadable(f"the document is not UTF-8 text (byte {error.start}): save it as UTF-8")


def data_problems(data: Any) -> list[Problem]:
    """Everything in plain data (dicts, lists, scalars) that JSON, 64-bit columns or a database text cannot hold."""
    problems: list[Problem] = []
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
    while pending and len(problems) < MAX_PROBLEMS:
        path, value = pending.pop()
        if isinstance(value, dict | list) and len(path) >= MAX_DEPTH:
            return [*problems, too_deep(path[:4])]
        message = _fault(value)
        if message:
            problems.append(Problem(code="document.invalid", pointer=pointer_of(path), message=message))
        elif isinstance(value, dict):
            problems.extend(_key_problems(path, value))
            pending.extend(((*path, str(key)), item) for key, item in value.items())
        elif isinstance(value, list):
            pending.extend(((*path, index), item) for index, item in enumerate(value))
    return problems


def _text_of(raw: bytes | str | Mapping[str, Any]) -> tuple[str, Problem | None]:
    if isinstance(raw, bytes | bytearray | str):
        return decode(raw)
    try:
        return decode(json.dumps(dict(raw)))
    except RecursionError:
        return "", too_deep(())
    except (TypeError, ValueError) as error:
        return "", unreadable(f"the document holds something that is not JSON: {error}")


def object_of(pairs: list[tuple[str, Any]]) -> ReadObject:
    """The object of `pairs`, with a note of the keys that come again."""
    result = ReadObject(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        result.repeated = tuple(dict.fromkeys(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return result


def int_of(text: str) -> int | BadNumber:
    """The integer `text` spells, or what stands for one that is far too long."""
    return int(text) if len(text) <= 20 else BadNumber(text)


def _fault(value: Any) -> str:
    if isinstance(value, BadNumber):
        return f"the number {value.text} cannot be used: numbers are finite, and integers have at most 64 bits"
    if isinstance(value, bool | dict | list | None):
        return ""
    if isinstance(value, int):
        return "" if -_INT64 <= value < _INT64 else "integers have at most 64 bits"
    if isinstance(value, float):
        return "" if math.isfinite(value) else "numbers must be finite: NaN and infinities are not allowed"
    if isinstance(value, str):
        return _text_fault(value)
    return f"{type(value).__name__} is not a JSON value"


def _text_fault(value: str) -> str:
    if "\x00" in value:
        return "the text holds a NUL character, which no database stores: remove it"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "the text holds half a surrogate pair: remove the broken character"
    return ""


def _key_problems(path: tuple[str | int, ...], value: dict[Any, Any]) -> list[Problem]:
    faults = [(key, f'"{key}" is given more than once') for key in getattr(value, "repeated", ())]
    faults += [(key, "keys must be text" if not isinstance(key, str) else _text_fault(key)) for key in value]
    return [
        Problem(code="document.invalid", pointer=storable(pointer_of((*path, str(key)))), message=storable(message))
        for key, message in faults
        if message
    ]


def too_deep(path: tuple[str | int, ...]) -> Problem:
    """The Problem of data nested beyond MAX_DEPTH."""
    return Problem(
        code="document.too_large", pointer=storable(pointer_of(path)), message=f"the document is nested deeper than {MAX_DEPTH} levels"
    )


def _where(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return syntax_words(error.msg, (error.lineno, error.colno))
    return "a value in it cannot be read"
