"""From YAML text to plain JSON data, or Problems: the part of YAML 1.2 that means the same as JSON."""

import re
from typing import Any

import yaml

from jobs.dag.problems import Problem
from jobs.dag.reading import MAX_DEPTH, BadNumber, data_problems, decode, int_of, object_of, too_deep, unreadable
from jobs.dag.syntax_words import syntax_words

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,4})?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Refused(Exception):
    """The text uses what is not read here; carries the Problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def read_yaml(raw: bytes | str) -> tuple[Any, list[Problem]]:
    """The data of `raw`, as `reading.read_json`. Never raises.

    Refused: aliases (a few lines of them grow into gigabytes), tags, several documents in one text. Words such as `yes`, `no`
    and dates stay text, as YAML 1.2 has it.
    """
    text, problem = decode(raw)
    if problem is not None:
        return None, [problem]
    try:
        data = _Builder().build(text)
    except _Refused as refused:
        return None, [refused.problem]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return None, [unreadable(f"this is neither JSON nor YAML: {_where(error)}")]
    problems = data_problems(data)
    return (None if problems else data), problems


class _Builder:
    """Puts the parser's events together, one level of nesting a list on the stack: no recursion, nothing constructed by tag."""

    def __init__(self) -> None:
        self._open: list[tuple[bool, list[Any]]] = [(False, [])]

    def build(self, text: str) -> Any:
        documents = 0
        for event in yaml.parse(text, Loader=_LOADER):
            documents += isinstance(event, yaml.DocumentStartEvent)
            if documents > 1:
                raise _Refused(unreadable("the text holds several YAML documents: import one at a time"))
            self._take(event)
        values = self._open[0][1]
        return values[0] if values else None

    def _take(self, event: Any) -> None:
        if getattr(event, "anchor", None) is not None:
            raise _Refused(unreadable(f"the YAML{_line(event)} uses an anchor or alias (& or *): write the value out in each place"))
        if isinstance(event, yaml.ScalarEvent):
            self._add(_scalar(event))
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            _refuse_tag(event, event.implicit)
            if len(self._open) > MAX_DEPTH:
                raise _Refused(too_deep(()))
            self._open.append((isinstance(event, yaml.MappingStartEvent), []))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            is_mapping, values = self._open.pop()
            self._add(object_of(_pairs(values, event)) if is_mapping else values)

    def _add(self, value: Any) -> None:
        self._open[-1][1].append(value)


def _pairs(values: list[Any], event: Any) -> list[tuple[str, Any]]:
    keys = values[0::2]
    if any(isinstance(key, dict | list) for key in keys):
        raise _Refused(unreadable(f"the YAML{_line(event)} uses a list or a mapping as a key: keys must be text"))
    return [(_key(key), value) for key, value in zip(keys, values[1::2], strict=True)]


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, BadNumber):
        return key.text
    return {None: "null", True: "true", False: "false"}.get(key, str(key)) if isinstance(key, bool | None) else str(key)


def _scalar(event: yaml.ScalarEvent) -> Any:
    plain, quoted = event.implicit
    _refuse_tag(event, plain or quoted)
    return _unquoted(event.value) if plain else event.value


def is_text(unquoted: str) -> bool:
    """Whether that is read as text though it stands without quotes."""
    return isinstance(_unquoted(unquoted), str)


def _unquoted(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int_of(text)
    if _FLOAT.fullmatch(text) and len(text) < 400:
        return float(text)
    return BadNumber(text) if _NOT_FINITE.fullmatch(text) else text


def _refuse_tag(event: Any, implicit: bool) -> None:
    if not implicit and event.tag != "!":
        raise _Refused(unreadable(f"the YAML{_line(event)} uses the tag {str(event.tag)[:60]}: tags are not read"))


def _line(event: Any) -> str:
    return f" in line {event.start_mark.line + 1}" if event.start_mark is not None else ""


def _where(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    told = getattr(error, "problem", None) or getattr(error, "reason", None)
    return syntax_words(str(told), (mark.line + 1, mark.column + 1) if mark is not None else None)
