"""Functions and classes of ours that a script takes along: their source as it stands, after all that it needs."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, count
from typing import Any

from jobs.engine.script.user_function import user_function
from jobs.engine.script.values import Unwritable
from jobs.nodes.plainly import UserCodeText

_OURS = "jobs"
_Defined = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


def is_ours(thing: Any) -> bool:
    return getattr(thing, "__module__", "").partition(".")[0] == _OURS


@dataclass
class Taken:
    """`sources`: name → its text, each behind those that it uses; `made`: those of a person's code; `imports`: the lines they need."""

    sources: dict[str, str] = field(default_factory=dict)
    made: dict[str, tuple[str, str]] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    _names: dict[tuple[str, str], str] = field(default_factory=dict)

    def take(self, thing: Any) -> str:
        """The name of a function or class of ours in the script."""
        return self._take(thing.__module__, thing.__qualname__)

    def made_once(self, code: UserCodeText, named: Callable[[], str]) -> str:
        """The name of the function that is made of a person's code for this script."""
        known = next((name for name in self.made if self.made[name] == (code.name, code)), None)
        if known is None:
            known = named()
            self.made[known] = (code.name, code)
            self.sources[known] = user_function(known, code)
        return known

    def texts(self) -> list[str]:
        """In an order that runs. A person's own code is the last: what raises below its first line is in it."""
        return [text for name, text in self.sources.items() if name not in self.made] + [self.sources[name] for name in self.made]

    def _take(self, module_name: str, name: str) -> str:
        module = _read(module_name)
        if (found := module.defined.get(name)) is None:
            return self._take_imported(module, name)
        if (known := self._names.get((module_name, name))) is not None:
            return known
        called = self._names[module_name, name] = self._free(name)
        used = [one for one in dict.fromkeys(_names_used(found)) if one in module.defined or one in module.imported]
        renamed = {one: now for one in used if (now := self._take(module_name, one)) != one}
        text = module.text_of(found)
        for one, now in ({name: called} | renamed).items():
            text = re.sub(rf"(?<![\w.]){one}\b", now, text)
        self.sources[called] = text
        return called

    def _take_imported(self, module: _Module, name: str) -> str:
        line, place, own_name = module.imported[name]
        if place.partition(".")[0] == _OURS:
            return self._take(place, own_name)
        self.imports.add(line)
        return name

    def _free(self, name: str) -> str:
        """Two modules may have private things of one name."""
        taken = {*self._names.values(), *self.made}
        return next(one for one in chain([name], (f"{name}_{number}" for number in count(2))) if one not in taken)


def names_imported(lines: Iterable[str]) -> set[str]:
    """What lines of imports make known."""
    imports = [found for found in ast.parse("\n".join(lines)).body if isinstance(found, ast.Import | ast.ImportFrom)]
    return {one.asname or one.name.partition(".")[0] for found in imports for one in found.names}


@dataclass(frozen=True)
class _Module:
    """`imported`: name → the line that brings it, the module it comes from, and its name there."""

    lines: list[str]
    defined: dict[str, _Defined]
    imported: dict[str, tuple[str, str, str]]

    def text_of(self, found: _Defined) -> str:
        """With decorators, and the comment that stands above."""
        first = min([found.lineno, *(one.lineno for one in getattr(found, "decorator_list", []))])
        while first > 1 and self.lines[first - 2].startswith("#"):
            first -= 1
        return "\n".join(self.lines[first - 1 : found.end_lineno])


@cache
def _read(module_name: str) -> _Module:
    text = inspect.getsource(importlib.import_module(module_name))
    defined: dict[str, _Defined] = {}
    imported: dict[str, tuple[str, str, str]] = {}
    for statement in _statements(ast.parse(text).body):
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            defined[statement.name] = statement
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            defined |= {target.id: statement for target in targets if isinstance(target, ast.Name)}
        elif isinstance(statement, ast.Import):
            imported |= {one.asname or one.name: (f"import {_as(one)}", one.name, one.name) for one in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            origin = str(statement.module)
            imported |= {one.asname or one.name: (f"from {origin} import {_as(one)}", origin, one.name) for one in statement.names}
    return _Module(text.splitlines(), defined, imported)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those below `if TYPE_CHECKING` too."""
    for statement in body:
        yield from statement.body if isinstance(statement, ast.If) else [statement]


def _as(one: ast.alias) -> str:
    return f"{one.name} as {one.asname}" if one.asname and one.asname != one.name else one.name


def _names_used(node: ast.AST) -> Iterator[str]:
    """Names that it reads, also for its annotations, which only people look at."""
    if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == _OURS:
        raise Unwritable(f"what imports {node.module} where it runs")
    if isinstance(node, ast.Name):
        yield node.id
    for _, value in ast.iter_fields(node):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST):
                yield from _names_used(one)
