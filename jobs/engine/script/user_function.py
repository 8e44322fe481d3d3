"""A person's Python as one function of a script, which gives all that the code defines."""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Iterator

from jobs.engine.script.values import text_literal

_INDENT = "    "
#: What means another thing inside of a function than at the top of a module.
_OF_MODULES = {"globals", "locals", "vars", "exec", "eval", "__name__", "__file__"}


def user_function(name: str, code: str) -> str:
    """`def name(parameters)` around the lines of `code`, so that each is as far below the first as in the code."""
    lines = _indented(code)
    if _is_of_modules(ast.parse(code)) or not _says_the_same(lines, code):
        lines = [f"{_INDENT}names = {{'parameters': parameters}}".replace("'", '"')]
        return "\n".join([f"def {name}(parameters):", *lines, f"{_INDENT}exec({text_literal(code)}, names)", f"{_INDENT}return names"])
    return "\n".join([f"def {name}(parameters):", *lines, "", f"{_INDENT}return locals()"])


def _indented(code: str) -> list[str]:
    """Not inside of texts of several lines."""
    inside = {line for node in ast.walk(ast.parse(code)) for line in _lines_within(node)}
    return [line if number in inside else textwrap.indent(line, _INDENT) for number, line in enumerate(code.rstrip().splitlines(), 1)]


def _lines_within(node: ast.AST) -> Iterator[int]:
    is_text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
    if is_text and isinstance(node, ast.expr) and node.end_lineno is not None:
        yield from range(node.lineno + 1, node.end_lineno + 1)


def _says_the_same(lines: list[str], code: str) -> bool:
    try:
        (function,) = ast.parse("\n".join(["def named(parameters):", *lines])).body
        compile("\n".join(["def named(parameters):", *lines]), "code", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    assert isinstance(function, ast.FunctionDef)
    return [ast.dump(one) for one in function.body] == [ast.dump(one) for one in ast.parse(code).body]


def _is_of_modules(tree: ast.Module) -> bool:
    """Whether it may do something else where its names are those of a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global) or (isinstance(node, ast.Name) and node.id in _OF_MODULES):
            return True
        if isinstance(node, ast.ImportFrom) and (node.module == "__future__" or node.names[0].name == "*"):
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and hasattr(builtins, node.id):
            return True
    return False
