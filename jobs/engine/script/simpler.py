"""The same said in fewer words: what a person would write for `F.col("`carrier`")`, and lists of such columns."""

from __future__ import annotations

import re
from dataclasses import replace

from jobs.engine.script.code import Call, Code
from jobs.nodes.base import REJECTED

_QUOTED = re.compile(r'"`([A-Za-z_]\w*)`"', re.ASCII)
_PLAIN = re.compile(r'"([A-Za-z_]\w*)"', re.ASCII)
_REJECTED = f'"{REJECTED}"'
#: They take the names of columns for the columns.
_TAKE_NAMES = frozenset({"select", "groupBy", "partitionBy", "struct"})


def simplified(code: Code, call: Call) -> Code:
    """`code` with `call` behind it. What goes along with the reason of a rejected row is read by a run alone."""
    if call.name == "alias" and call.arguments[0].base == _REJECTED:
        call = replace(call, keywords=())
    if call.name == "col" and code.base == "F" and not code.calls and (name := _QUOTED.fullmatch(call.arguments[0].base)):
        return Code("F", (Call("col", (Code(f'"{name[1]}"'),)),))
    if call.name == "alias" and not call.keywords and _column_name(code) == call.arguments[0].base:
        return code
    if call.name in _TAKE_NAMES:
        return code.then(
            replace(
                call,
                arguments=tuple(Code(plain) if (plain := _column_name(one)) else one for one in call.arguments),
            )
        )
    return code.then(call)


def _column_name(code: Code) -> str:
    """The quoted name of a plain column, "" of anything else."""
    if not code.calls and (quoted := _QUOTED.fullmatch(code.base)):
        return f'"{quoted[1]}"'
    if code.base == "F" and len(code.calls) == 1 and code.calls[0].name == "col" and _PLAIN.fullmatch(code.calls[0].arguments[0].base):
        return code.calls[0].arguments[0].base
    return ""
