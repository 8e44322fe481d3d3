"""Parameters: values given when a job starts, used in configs as `${name}`.

A text that is nothing but `${name}` becomes the value with its type, in a field of text its text; within a longer text the value is
written in;
`$${name}` stays as the literal text `${name}`. In SQL a value within quotes stays a text, whatever it holds. Some fields have names of
their own, which the node fills in while it runs, such as `${cursor}`: a parameter of the same name comes first, and `$${name}` is left
to the node, which makes `${name}` of it.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from types import MappingProxyType
from typing import Any

from jobs.dag.document import DagDocument, Parameter, ParameterType
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.dag.sql_places import SqlDialect, sql_written

NO_SQL: Mapping[str, SqlDialect] = MappingProxyType({})
_PLACE = re.compile(r"(?P<escape>\$?)\$\{(?P<name>[^{}]*)\}")
_SAMPLES: Mapping[ParameterType, Any] = {"string": "", "integer": 1, "number": 1, "boolean": True}
_ARTICLES: Mapping[ParameterType, str] = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}


def resolve_parameters(document: DagDocument, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """The value of every parameter: what was given, else its default. Text is converted to the type where it spells it."""
    values: dict[str, Any] = {}
    problems = [
        _problem("parameter.unknown", name, f'the job has no parameter "{name}"; {_known(document)}')
        for name in given
        if name not in document.parameters
    ]
    for name, parameter in document.parameters.items():
        if name not in given and parameter.default is None:
            problems.append(_problem("parameter.missing", name, f'the parameter "{name}" has no default: give a value when starting'))
            continue
        try:
            values[name] = _typed(given.get(name, parameter.default), parameter.type)
        except ValueError:
            problems.append(_problem("parameter.invalid", name, f'the parameter "{name}" must be {_ARTICLES[parameter.type]}'))
    return values, problems


def default_problems(document: DagDocument) -> list[Problem]:
    """Parameters whose default is not of their type."""
    return [
        _problem("parameter.invalid", f"{name}/default", f'the default of the parameter "{name}" must be {_ARTICLES[parameter.type]}')
        for name, parameter in document.parameters.items()
        if parameter.default is not None and not _is_of(parameter.default, parameter.type)
    ]


def example_values(document: DagDocument) -> dict[str, Any]:
    """A value for each parameter with which a config can be checked before any start: its default, or one of its type."""
    return {
        name: parameter.default if parameter.default is not None else _SAMPLES[parameter.type]
        for name, parameter in document.parameters.items()
    }


def trial_values(document: DagDocument, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Values to check or preview a document with: what is given, in its type; else the default, or a value of the type."""
    examples = example_values(document)
    values, problems = resolve_parameters(document, {**examples, **given})
    return {**examples, **values}, [problem for problem in problems if problem.pointer in {_pointer(name) for name in given}]


def config_filled(
    config: Mapping[str, Any],
    values: Mapping[str, Any],
    verbatim: Set[str],
    own_places: Set[str],
    sql: Mapping[str, SqlDialect] = NO_SQL,
    no_texts: Callable[[Mapping[str, Any]], Iterable[tuple[str | int, ...]]] = lambda config: (),
) -> dict[str, Any]:
    """A node's config with its parameters filled in, but for the fields that stay as they are written.

    `own_places`: the fields in which the node fills in names itself. `sql`: those that hold SQL. `no_texts`: where a config holds something
    else than the text that belongs there, which is what a number becomes that was filled in.
    """
    filled = {
        key: item if key in verbatim else substitute(item, values, keeps_escapes=key in own_places, sql=sql.get(key))
        for key, item in config.items()
    }
    whole = dict(_wholes(config, values, verbatim))
    for path in no_texts(filled) if whole else ():
        if path in whole:
            _put(filled, path, _text_of(whole[path]))
    return filled


def _wholes(config: Mapping[str, Any], values: Mapping[str, Any], verbatim: Set[str]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The places that are nothing but a parameter which is no text, and its value."""
    for path, name in references({key: item for key, item in config.items() if key not in verbatim}):
        if name in values and not isinstance(values[name], str) and _at(config, path) == f"${{{name}}}":
            yield path, values[name]


def _at(config: Any, path: Iterable[str | int]) -> Any:
    for part in path:
        config = config[part]
    return config


def _put(config: Any, path: tuple[str | int, ...], value: str) -> None:
    _at(config, path[:-1])[path[-1]] = value


def substitute(config: Any, values: Mapping[str, Any], *, keeps_escapes: bool = False, sql: SqlDialect | None = None) -> Any:
    """`config` with every `${name}` of `values` filled in, at any depth, keys left alone. Unknown names stay as they are.

    `keeps_escapes`: `$${name}` stays, too, for the one who fills in what is left. `sql`: texts are SQL, and a value within quotes stays
    within them.
    """
    if isinstance(config, Mapping):
        return {key: substitute(item, values, keeps_escapes=keeps_escapes, sql=sql) for key, item in config.items()}
    if isinstance(config, list):
        return [substitute(item, values, keeps_escapes=keeps_escapes, sql=sql) for item in config]
    if not isinstance(config, str):
        return config
    whole = _PLACE.fullmatch(config)
    if whole and not whole["escape"] and whole["name"] in values:
        return values[whole["name"]]

    def filled(text: str, escaped: Callable[[str], str]) -> str:
        return _PLACE.sub(
            lambda match: match[0] if keeps_escapes and match["escape"] and match["name"] else _written(match, values, escaped), text
        )

    return sql_written(config, sql, filled) if sql and "${" in config else filled(config, str)


def references(config: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Each use of a parameter in `config`: where it stands and its name."""
    if isinstance(config, Mapping):
        for key, item in config.items():
            yield from references(item, (*path, key))
    elif isinstance(config, list):
        for index, item in enumerate(config):
            yield from references(item, (*path, index))
    elif isinstance(config, str):
        yield from ((path, match["name"]) for match in _PLACE.finditer(config) if not match["escape"])


def _written(match: re.Match[str], values: Mapping[str, Any], escaped: Callable[[str], str]) -> str:
    if match["escape"]:
        return match[0][1:]
    if match["name"] not in values:
        return match[0]
    return escaped(_text_of(values[match["name"]]))


def _text_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _typed(value: Any, kind: ParameterType) -> Any:
    if isinstance(value, str) and kind != "string":
        value = _spelled(value.strip(), kind)
    if not _is_of(value, kind):
        raise ValueError
    return value


def _spelled(text: str, kind: ParameterType) -> Any:
    if kind == "boolean":
        return {"true": True, "false": False}.get(text.lower(), text)
    if len(text) > 40:
        raise ValueError
    try:
        return int(text)
    except ValueError:
        return float(text)


def _is_of(value: Any, kind: ParameterType) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean" or isinstance(value, bool):
        return kind == "boolean" and isinstance(value, bool)
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return kind == "number" and isinstance(value, float) and math.isfinite(value)


def _known(document: DagDocument) -> str:
    names: Mapping[str, Parameter] = document.parameters
    return "it has " + ", ".join(f'"{name}"' for name in sorted(names)) if names else "it has none"


def _problem(code: str, name: str, message: str) -> Problem:
    return Problem(code=code, pointer=_pointer(name), message=message)


def _pointer(name: str) -> str:
    return pointer_of(("parameters", *name.split("/")))
