"""What is said of the functions of a Window reduce before anything runs."""

import re

import pytest

from jobs.nodes.user_python.reduce_code import DEFAULT_REDUCE_CODE, checked_reduce_code

START = "def start(): return 0\n"
ADD = "def add(value, row): return value + 1\n"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (START, "there is no function add: write def add(value, row)"),
        (START + ADD, "there is no function result: write def result(value)"),
        (START + ADD + "def reslt(value): return {}", "there is no function result: call the one in line 3 result instead of reslt"),
    ],
)
def test_a_function_that_is_called_too_is_not_taken_for_a_missing_one(code: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        checked_reduce_code(code)


def test_the_code_that_stands_there_at_first_is_taken() -> None:
    assert checked_reduce_code(DEFAULT_REDUCE_CODE) == DEFAULT_REDUCE_CODE
