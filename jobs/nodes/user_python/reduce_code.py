"""What can be said of Python that reduces the rows of a window without running it: its functions."""

from __future__ import annotations

from jobs.nodes.user_python.code import Called, code_read, function_checked, no_function

START = Called((), name="start", gives=True, returns="{}")
ADD = Called(("value", "row"), name="add", gives=True, returns="value")
RESULT = Called(("value",), name="result", gives=True, returns="value")
MERGE = Called(("one", "other"), name="merge", gives=True, returns="one")

DEFAULT_REDUCE_CODE = """\
# value  what start begins with
# row    a dict: column → value
# Sessions: def merge(one, other)
# If add raises, it is rejected.


def start():
    return {"rows": 0}


def add(value, row):
    value["rows"] += 1
    return value


def result(value):
    return {"rows": value["rows"]}
"""


def checked_reduce_code(code: str) -> str:
    """`code`, if it can be read and holds the functions `start`, `add` and `result`; ValueError that names the line where it does not."""
    tree = code_read(code)
    for called in (START, ADD, RESULT):
        if not function_checked(tree, called):
            raise ValueError(no_function(tree, called, (START, ADD, RESULT, MERGE)))
    function_checked(tree, MERGE)
    return code


def has_merge(code: str) -> bool:
    try:
        return function_checked(code_read(code), MERGE)
    except ValueError:
        return False
