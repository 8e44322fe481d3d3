"""What can be said of Python that keeps state without running it: its functions, and the state it names."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterator

from jobs.nodes.user_python.code import Called, code_read, function_checked, no_function

OF_KEY = Called(("key", "rows", "state", "timers"))
ON_TIMER = Called(("key", "timer", "state", "timers"), name="on_timer")

DEFAULT_STATE_CODE = """\
# key    its value, or a tuple
# rows   dicts: column → value
# state  what was kept of the key
# timers.register(time) calls
#   on_timer, named below
# Yield the rows that go on.


def process(key, rows, state, timers):
    count = state.count.get(0)
    for row in rows:
        count += 1
        yield {"count": count}
    state.count.set(count)
"""


def checked_state_code(code: str, names: Collection[str] | None) -> str:
    """`code`, if it can be read and holds a function `process` of a key, and names no state but `names` (None: not known).

    ValueError that names the line where it does not.
    """
    tree = code_read(code)
    if not function_checked(tree, OF_KEY):
        raise ValueError(no_function(tree, OF_KEY, (ON_TIMER,)))
    function_checked(tree, ON_TIMER)
    if names is not None:
        for name, line in _named(tree):
            if name not in names:
                raise ValueError(f"line {line}: {unknown_state(name, names)}")
    return code


def unknown_state(name: str, names: Collection[str]) -> str:
    """That nothing of this `name` is kept, and what may have been meant."""
    near = difflib.get_close_matches(name, names, n=1)
    known = f"did you mean {near[0]}?" if near else f"there is {', '.join(names)}" if names else "the state is empty"
    return f"nothing is kept under the name {name}: {known}"


def has_on_timer(code: str) -> bool:
    try:
        return function_checked(code_read(code), ON_TIMER)
    except ValueError:
        return False


def _named(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(name, line) of each `state.name` in the functions that are called, whatever they call their third argument."""
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name in (OF_KEY.name, ON_TIMER.name) and len(function.args.args) > 2:
            state = function.args.args[2].arg
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == state:
                    yield node.attr, node.lineno
