"""The sentences that the server says to people, found in its code: `frontend/src/api/sentences/zh.json` has them in Chinese.

A sentence stands here with {} for each value in it, as in "its table has more than {} rows; raise the limit, or join it".
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jobs.nodes.registry import REGISTRY

ROOT = Path(__file__).resolve().parent.parent
CHINESE = ROOT / "frontend" / "src" / "api" / "sentences" / "zh.json"
PACKAGES = ("jobs", "checkpoints")
#: What is said by others than pages: commands, scripts of plain PySpark, Django's admin, what is never told to a person.
_ELSEWHERE = ("/migrations/", "/management/", "/engine/script/", "/admin.py", "/driver/__main__.py")
#: An error of these is one of the product itself.
_INTERNAL = frozenset({"AssertionError", "RuntimeError", "TypeError", "NotImplementedError", "AttributeError", "KeyError"})
#: Whoever is called so gets what is told to people.
_TELLERS = frozenset(
    {"NodeError", "SystemAway", "SignInRefused", "reworded", "Problem", "Caution", "Noticed", "CheckStep", "Misfit", "ConfigKey"}
)
#: Here what is returned in words is what a connection's test saw.
_TESTS = "jobs/nodes/connections/"
#: A value that `format` puts in.
_NAMED = re.compile(r"\{[a-z0-9_]+\}")
_WORD = re.compile(r"(?<![a-z])[a-z]{2,}(?![a-z])")


@dataclass(frozen=True)
class Sentence:
    text: str
    #: Told to a person by its very place in the code.
    is_told: bool
    place: str


@cache
def sentences() -> tuple[Sentence, ...]:
    """Every text with at least two words in the code of the server, as often as it stands there."""
    return tuple(_sentences())


def _sentences() -> Iterator[Sentence]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = f"/{path.relative_to(ROOT)}"
            if not any(part in name for part in _ELSEWHERE):
                yield from _Finder(name[1:]).found_in(path.read_text())


def told() -> dict[str, str]:
    """What must have words in Chinese: sentence → a place in the code."""
    return {sentence.text: sentence.place for sentence in sentences() if sentence.is_told} | guarantees()


def guarantees() -> dict[str, str]:
    """What sources and sinks promise, by their docstrings: sentences → the node's type."""
    return {spec.guarantee: spec.type for spec in REGISTRY.catalogue().values() if spec.guarantee}


def chinese() -> dict[str, str]:
    words: dict[str, str] = json.loads(CHINESE.read_text())
    return words


class _Finder(ast.NodeVisitor):
    def __init__(self, name: str) -> None:
        self._name, self._above, self._found = name, [False], list[Sentence]()
        self._is_test = name.startswith(_TESTS)

    def found_in(self, text: str) -> list[Sentence]:
        self.visit(ast.parse(text))
        return self._found

    def visit(self, node: ast.AST) -> None:
        text = _text_of(node)
        if text is not None:
            for line in text.split(" · "):  # parts of a node's line in the editor, which are said each
                if " " in line and len(_WORD.findall(line)) > 1:
                    self._found.append(Sentence(line, self._above[-1], f"{self._name}:{getattr(node, 'lineno', 0)}"))
            for part in _values_in(node):
                self.generic_visit(part)
        elif not _is_silent(node):
            self._above.append(self._above[-1] or _tells(node) or (self._is_test and _answers(node)))
            self.generic_visit(node)
            self._above.pop()


def _tells(node: ast.AST) -> bool:
    call = node.exc if isinstance(node, ast.Raise) else node
    name = _called(call)
    return name not in _INTERNAL and bool(name) if isinstance(node, ast.Raise) else name in _TELLERS


def _answers(node: ast.AST) -> bool:
    return isinstance(node, ast.Return) and (isinstance(node.value, ast.IfExp) or bool(node.value and _text_of(node.value)))


def _called(node: ast.AST | None) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _is_silent(node: ast.AST) -> bool:
    """Docstrings, and what goes into logs."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "logger"
    )


def _text_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant):
        return _NAMED.sub("{}", node.value) if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_text_of(node.left), _text_of(node.right)]
        return None if parts == [None, None] else "".join("{}" if part is None else part for part in parts)
    return None


def _values_in(node: ast.AST) -> Iterator[ast.AST]:
    """What a text takes in, where further texts may stand."""
    if isinstance(node, ast.JoinedStr):
        yield from (part for part in node.values if isinstance(part, ast.FormattedValue))
    elif isinstance(node, ast.BinOp):
        for side in (node.left, node.right):
            if _text_of(side) is None:
                yield side
            else:
                yield from _values_in(side)
