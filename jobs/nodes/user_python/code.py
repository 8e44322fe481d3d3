"""What can be said of a person's Python without running it: whether it can be read, and whether it holds the function that is called."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass

#: The one function that is called.
FUNCTION = "process"


@dataclass(frozen=True)
class Called:
    """A function that is called, with these arguments. `gives`: without a return or yield it would be of no use."""

    arguments: tuple[str, ...]
    name: str = FUNCTION
    gives: bool = False
    returns: str = "row"

    @property
    def written(self) -> str:
        return f"def {self.name}({', '.join(self.arguments)})"

    @property
    def count(self) -> str:
        return {0: "no argument", 1: "one argument"}.get(len(self.arguments), f"{len(self.arguments)} arguments")


OF_ROW = Called(("row",), gives=True)
#: Called for what it does.
OF_EACH = Called(("row",))

DEFAULT_CODE = """\
# row: column → value. Return
#   a row           it goes on
#   a list of rows  each goes on
#   (or yield them)
#   True or False   keep or not
#   None            left out
# A row that raises is rejected.


def process(row):
    return row
"""

DEFAULT_ARROW_CODE = """\
# batch: a pyarrow RecordBatch.
# Return
#   a batch, Table  it goes on
#   a list of them  each goes on
#   (or yield them)
#   None            left out
# What it raises ends the job.


def process(batch):
    return batch
"""

DEFAULT_PANDAS_CODE = """\
# frame: a pandas DataFrame.
# Return
#   a frame         it goes on
#   a list of them  each goes on
#   (or yield them)
#   None            left out
# What it raises ends the job.


def process(frame):
    return frame
"""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def checked_code(code: str) -> str:
    """`code`, if it can be read and holds a function `process` of one argument; ValueError that names the line where it does not."""
    return checked_code_of(code, OF_ROW)


def checked_code_of(code: str, called: Called) -> str:
    """`code`, if it can be read and holds the function that is `called`; ValueError that names the line where it does not."""
    tree = code_read(code)
    if not function_checked(tree, called):
        raise ValueError(no_function(tree, called))
    return code


def function_checked(tree: ast.Module, called: Called) -> bool:
    """Whether `tree` names such a function; ValueError with the line where it could not be called so."""
    found = [where for name, where in _names(tree.body) if name == called.name]
    if not found:
        return False
    last = found[-1]
    if isinstance(last, ast.ClassDef):
        raise ValueError(f"line {last.lineno}: {called.name} is a class; write a function: {called.written}")
    if isinstance(last, _Function):
        _check_function(last, called)
    return True


def code_read(code: str) -> ast.Module:
    """ValueError with the line where it is not Python."""
    try:
        tree = ast.parse(code)
        compile(tree, "code", "exec", dont_inherit=True)
    except SyntaxError as error:
        line = error.lineno or 1
        shown = "".join(code.splitlines()[line - 1 : line]).strip()
        raise ValueError(f"line {line}: {error.msg}" + (f": {shown[:200]}" if shown else "")) from None
    except (RecursionError, MemoryError):
        raise ValueError("the code is nested too deeply to be read") from None
    return tree


def _names(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """What the module itself defines, assigns or imports, in the order of the lines; also below if, try, with and loops."""
    for statement in body:
        if isinstance(statement, _Function | ast.ClassDef):
            yield statement.name, statement
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name.partition(".")[0], statement) for alias in statement.names)
        targets = (
            statement.targets if isinstance(statement, ast.Assign) else [statement.target] if isinstance(statement, ast.AnnAssign) else []
        )
        yield from ((target.id, statement) for target in targets if isinstance(target, ast.Name))
        for part in ("body", "orelse", "finalbody"):
            yield from _names(getattr(statement, part, []))
        for handler in getattr(statement, "handlers", []):
            yield from _names(handler.body)


def no_function(tree: ast.Module, called: Called, others: Collection[Called] = ()) -> str:
    """That it is missing, and which one may have been meant: none of the `others`, which are called as well."""
    taken = {other.name for other in others}
    defined = [statement for statement in tree.body if isinstance(statement, _Function)]
    functions = [(statement.name, statement.lineno) for statement in defined if statement.name not in taken]
    near = difflib.get_close_matches(called.name, [name for name, _ in functions], n=1, cutoff=0.6) or [name for name, _ in functions[:1]]
    wanted = f"there is no function {called.name}"
    if not near:
        return f"{wanted}: write {called.written}"
    line = next(line for name, line in functions if name == near[0])
    return f"{wanted}: call the one in line {line} {called.name} instead of {near[0]}"


def _check_function(function: _Function, called: Called) -> None:
    at = f"line {function.lineno}"
    if isinstance(function, ast.AsyncFunctionDef):
        raise ValueError(f"{at}: {called.name} must be an ordinary function: leave async out")
    if function.decorator_list:  # what it takes and gives is then the decorator's affair
        return
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    required = len(positional) - len(arguments.defaults)
    given = len(called.arguments)
    takes_them = required <= given and (len(positional) >= given or arguments.vararg)
    needs_more = any(default is None for default in arguments.kw_defaults)
    if not takes_them or needs_more:
        count = required + sum(default is None for default in arguments.kw_defaults)
        raise ValueError(f"{at}: {called.name} is called with {called.count}, and takes {count}: write {called.written}")
    if called.gives and not any(_gives(node) for node in _own_nodes(function)):
        raise ValueError(f"{at}: {called.name} returns nothing: end it with return {called.returns}")


def _own_nodes(function: _Function) -> Iterator[ast.AST]:
    """Everything inside of `function` but what functions inside of it hold."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _Function | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def _gives(node: ast.AST) -> bool:
    """A function that only raises may be on its way to being written, but it says what it does."""
    return isinstance(node, ast.Yield | ast.YieldFrom | ast.Raise) or (isinstance(node, ast.Return) and node.value is not None)
