"""Python text of calls: chains such as `rows.filter(…).select(…)`, laid out in lines that can be read."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_WIDTH = 110
_STEP = "    "
_LINE = "\n"
#: Around texts of several lines, which stay as they are.
QUOTES = '"""'
#: What functions are called on: it never stands alone in a line.
MODULES = frozenset({"F", "Window", "avro"})


@dataclass(frozen=True)
class Call:
    """`.name(arguments)` behind what it is called on, itself called where the name is ""; `keywords` are (name, value)."""

    name: str
    arguments: tuple[Code, ...] = ()
    keywords: tuple[tuple[str, Code], ...] = ()

    @property
    def opening(self) -> str:
        return f".{self.name}(" if self.name else "("

    def parts(self) -> list[tuple[str, Code]]:
        """What stands before each argument, and the argument."""
        return [("", argument.bare()) for argument in self.arguments] + [(f"{name}=", value.bare()) for name, value in self.keywords]


@dataclass(frozen=True)
class Code:
    """An expression: `base` as it stands, and the calls behind it. `pieces`: a long text, which Python puts together.

    `grouped`: it stands in brackets, which it needs only beside an operator.
    """

    base: str
    calls: tuple[Call, ...] = ()
    pieces: tuple[str, ...] = ()
    grouped: bool = False

    def then(self, call: Call) -> Code:
        return replace(self, calls=(*self.calls, call))

    def text(self) -> str:
        """In one line, but for texts that have several."""
        return self.base + "".join(f"{call.opening}{_joined(call)})" for call in self.calls)

    def bare(self) -> Code:
        """Without brackets that it does not need where it stands alone."""
        return Code(self.base[1:-1]) if self.grouped and not self.calls else self

    def then_called(self, arguments: tuple[Code, ...]) -> Code:
        """The call of a function of this name."""
        return Code(f"{self.text()}({', '.join(argument.text() for argument in arguments)})")


def identifier(name: str, other: str) -> str:
    """`name` as Python likes it; `other` where nothing of it is left."""
    found = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or re.sub(r"[^a-z0-9]+", "_", other.lower()).strip("_")
    return f"rows_{found}" if not found or found[0].isdigit() else found


def operation(left: Code, sign: str, right: Code) -> Code:
    return Code(f"({left.text()} {sign} {right.text()})", grouped=True)


def assignment(name: str, code: Code) -> str:
    """`name = code`, in as many lines as it needs."""
    if _fits(code, len(name) + 3):
        return f"{name} = {code.text()}"
    if len(_behind_module(code).calls) == 1:
        return "\n".join(_laid_out(code, 0, f"{name} = "))
    return "\n".join([f"{name} = (", *_laid_out(code, 1), ")"])


def statement(code: Code) -> str:
    if _fits(code, 0):
        return code.text()
    return "\n".join(["(", *_laid_out(code, 1), ")"]) if len(_behind_module(code).calls) > 1 else "\n".join(_laid_out(code, 0))


def _joined(call: Call) -> str:
    return ", ".join(before + argument.text() for before, argument in call.parts())


def _fits(code: Code, used: int) -> bool:
    text = code.text()
    if _LINE in text and QUOTES not in text and code.calls:
        return False
    return used + max(len(line) for line in text.split("\n")) <= _WIDTH and not (len(code.calls) > 3 and len(text) > _WIDTH - _WIDTH // 3)


def _laid_out(code: Code, depth: int, before: str = "", after: str = "") -> list[str]:
    """Lines at `depth`, with `before` in the first and `after` at the end of the last; one inside brackets may break anywhere."""
    indent = _STEP * depth
    if _fits(code, len(indent) + len(before) + len(after)) or not (code.calls or code.pieces):
        text = code.text()
        return [f"{indent}{before}{text if QUOTES in text else text.replace(_LINE, _LINE + indent)}{after}"]
    if code.pieces:
        *first, last = code.pieces
        return [f"{indent}{before}(", *(f"{indent}{_STEP}{piece}" for piece in first), f"{indent}{_STEP}{last}", f"{indent}){after}"]
    if len(code.calls) == 1:
        return _call_laid_out(f"{before}{code.base}", code.calls[0], depth, after)
    if code.base in MODULES:
        lines = _call_laid_out(f"{before}{code.base}", code.calls[0], depth, "")
    else:
        lines = [f"{indent}{before}{code.base}"]
    for number, call in enumerate(_behind_module(code).calls, 1):
        end = after if number == len(_behind_module(code).calls) else ""
        lines += _call_laid_out("", call, depth + 1 if before else depth, end)
    return lines


def _behind_module(code: Code) -> Code:
    """The first call on a module stays with it."""
    return replace(code, calls=code.calls[1:]) if code.base in MODULES and len(code.calls) > 1 else code


def _call_laid_out(before: str, call: Call, depth: int, after: str) -> list[str]:
    indent = _STEP * depth
    short = f"{indent}{before}{call.opening}{_joined(call)}){after}"
    if not call.parts() or max(len(line) for line in short.split("\n")) <= _WIDTH:
        return [short]
    lines = [f"{indent}{before}{call.opening}"]
    if len(call.parts()) == 1 and call.arguments and call.arguments[0].pieces:
        return [*lines, *(f"{indent}{_STEP}{piece}" for piece in call.arguments[0].pieces), f"{indent}){after}"]
    for name, argument in call.parts():
        lines += _laid_out(argument, depth + 1, name, ",")
    return [*lines, f"{indent}){after}"]
