"""Bytes that are no document: Problems, never a traceback."""

import json

import pytest

from jobs.dag.document import parse_document
from jobs.dag.reading_yaml import read_yaml


@pytest.mark.parametrize(
    ("raw", "code", "pointer", "words"),
    [
        (b"", "document.invalid", "", "line 1, column 1"),
        (b"null", "document.invalid", "", "JSON object"),
        (b"[]", "document.invalid", "", "JSON object"),
        (b'{"name": ', "document.invalid", "", "this is not JSON: in line 1, column 10: a value is missing"),
        (b'{"name": 1,}', "document.invalid", "", "this is not JSON: in line 1, column 1"),
        (b"\xff\xfe{", "document.invalid", "", "UTF-8"),
        (b"[" * 100_000, "document.too_large", "", "nested deeper"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "document.too_large", "", "nested deeper"),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "document.too_large", "/a/a/a/a", "nested deeper"),
        (b'{"n": NaN}', "document.invalid", "/n", "NaN"),
        (b'{"n": [1, -Infinity]}', "document.invalid", "/n/1", "-Infinity"),
        (b'{"n": 1e999}', "document.invalid", "/n", "finite"),
        (b'{"n": ' + b"9" * 100_000 + b"}", "document.invalid", "/n", "64 bits"),
        (b'{"n": 9223372036854775808}', "document.invalid", "/n", "64 bits"),
        (b'{"a": {"b": 1, "b": 2}}', "document.invalid", "/a/b", "more than once"),
        (b'{"n": "\\u0000"}', "document.invalid", "/n", "NUL"),
        (b'{"n": "\\ud800"}', "document.invalid", "/n", "surrogate"),
        (b'{"\\ud800": 1}', "document.invalid", "/?", "surrogate"),
        ("\ud800", "document.invalid", "", "surrogate"),
        (b" " * (1024 * 1024 + 1), "document.too_large", "", "1 MiB"),
        ({"name": {1, 2}}, "document.invalid", "", "not JSON"),
        ({"name": float("nan")}, "document.invalid", "/name", "NaN"),
    ],
)
def test_what_cannot_be_read_is_one_problem(raw, code, pointer, words):
    document, problems = parse_document(raw)
    assert document is None
    assert [(problem.code, problem.pointer) for problem in problems] == [(code, pointer)]
    assert words in problems[0].message
    problems[0].model_dump_json().encode()  # can be stored and sent


def test_data_that_contains_itself_is_refused():
    endless: dict[str, object] = {}
    endless["again"] = endless
    assert parse_document(endless)[0] is None


def test_a_document_of_exactly_one_mebibyte_is_read():
    text = json.dumps({"name": "big", "type": "SQL_TASK"})
    document, problems = parse_document(text + " " * (1024 * 1024 - len(text)))
    assert document is not None, problems


def test_yaml_reads_as_json_does():
    text = """
    # a comment
    words: [yes, no, on, 2013-01-01, 12:30:00, "5", ~, null, True, false]
    numbers: [1, -2, 0.5, 1e3]
    text: |
      two
      lines
    1: whole
    """
    assert read_yaml(text) == (
        {
            "words": ["yes", "no", "on", "2013-01-01", "12:30:00", "5", None, None, True, False],
            "numbers": [1, -2, 0.5, 1000.0],
            "text": "two\nlines\n",
            "1": "whole",
        },
        [],
    )


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("a: &bomb [1]\nb: [*bomb, *bomb]", "anchor or alias"),
        ("a: !!python/object/apply:os.system [ls]", "tag"),
        ("a: !!binary aGk=", "tag"),
        ("a: 1\na: 2", "more than once"),
        ("? [a, b]\n: 1", "as a key"),
        ("a\n---\nb", "several"),
        ("a: [1, 2", "this is neither JSON nor YAML: in line 2, column 1: a list is not closed; write a comma or ]"),
        ("a: b: c", "this is neither JSON nor YAML: in line 1, column 5: a colon stands where no key can; put the text in quotes"),
        ("a:\n\t- b", "this is neither JSON nor YAML: in line 2, column 1: no value begins with this character"),
        ("%YAML 9\n---\na: 1", "this is neither JSON nor YAML: in line 1, column 8: it cannot be read from there on"),
        ("a: \x01", "this is neither JSON nor YAML: it holds a control character"),
        ("a: .nan", "NaN".lower()),
        ("- " * 500 + "a", "nested deeper"),
        ("[" * 5_000, "nested deeper"),
        (b"\xff", "UTF-8"),
        ("a: " + "9" * 5_000, "64 bits"),
    ],
)
def test_yaml_that_could_do_harm_is_refused(raw, words):
    found, problems = read_yaml(raw)
    assert found is None
    assert words in problems[0].message


@pytest.mark.slow
def test_a_mebibyte_of_yaml_is_read_within_seconds():
    text = "\n".join(f"key_{number}: [a, b, c]" for number in range(40_000))
    found, problems = read_yaml(text)
    assert problems == []
    assert len(found) == 40_000
