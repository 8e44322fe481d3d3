"""What is wrong with a person's Python is told with its line, and none of it runs."""

import re

import pytest
from pydantic import ValidationError

from jobs.nodes.config_problems import config_problems
from jobs.nodes.flows.python import PythonConfig
from jobs.nodes.user_python.code import DEFAULT_CODE, checked_code


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def process(row)\n    return row", "line 1: expected ':': def process(row)"),
        ("def process(row):\nreturn row", "line 2: expected an indented block after function definition on line 1: return row"),
        ("def process(row):\n    return row\nreturn 1", "line 3: 'return' outside function: return 1"),
        ("", "there is no function process: write def process(row)"),
        ("x = 1", "there is no function process: write def process(row)"),
        (
            "def a(row): return row\ndef procces(row): return row",
            "there is no function process: call the one in line 2 process instead of procces",
        ),
        ("class A:\n    def process(row): return row", "there is no function process: write def process(row)"),
        ("class process: pass", "line 1: process is a class; write a function: def process(row)"),
        ("async def process(row): return row", "line 1: process must be an ordinary function: leave async out"),
        ("\ndef process(): return 1", "line 2: process is called with one argument, and takes 0: write def process(row)"),
        ("def process(row, more): return row", "line 1: process is called with one argument, and takes 2: write def process(row)"),
        ("def process(row, *, more): return row", "line 1: process is called with one argument, and takes 2: write def process(row)"),
        ("def process(row):\n    row['a'] = 1", "line 1: process returns nothing: end it with return row"),
        ("def process(row):\n    def inner():\n        return row\n    inner()", "line 1: process returns nothing: end it with return row"),
        ("(" * 50_000, "line 1: too many nested parentheses"),
        ("x = " + "-" * 90_000 + "1", "the code is nested too deeply to be read"),
        ("a\x00b", "line 1: source code string cannot contain null bytes"),
    ],
)
def test_a_fault_is_told_with_its_line(code: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        checked_code(code)


@pytest.mark.parametrize(
    "code",
    [
        DEFAULT_CODE,
        "process = lambda row: row",
        "from mine import process",
        "from mine import work as process",
        "try:\n    from mine import process\nexcept ImportError:\n    def process(row): return row",
        "def process(row, more=1, *rest, named=2): return row",
        "def process(*rows): yield rows[0]",
        "@some.decorator\ndef process(a, b): pass",
        "def process(row):\n    raise NotImplementedError",
        "if True:\n    def process(row): return row",
        "raise SystemExit\ndef process(row): return row",
    ],
)
def test_code_that_can_be_called_is_taken_without_being_run(code: str) -> None:
    assert checked_code(code) == code


def test_a_dollar_and_braces_in_code_are_no_parameter_and_hide_no_fault() -> None:
    assert [problem.pointer for problem in config_problems(PythonConfig, {"code": "x = '${name}' +"})] == ["/code"]
    assert config_problems(PythonConfig, {"code": "def process(row):\n    return f'${row}'"}) == []


def test_an_unknown_type_is_told_on_its_column() -> None:
    (problem,) = config_problems(PythonConfig, {"columns": [{"name": "a", "type": "number"}]})
    assert problem.pointer == "/columns/0/type"
    with pytest.raises(ValidationError):
        PythonConfig(shape="rows")
