"""Tests in a document: how they are read, kept, and left behind by the drawing."""

from typing import Any

import pytest

from jobs.dag.document import DagDocument, canonical_json, logic_hash, parse_document
from jobs.dag.graph import structure_problems
from jobs.dag.pipeline_tests import PipelineTest
from tests.dag.graphs import CATALOGUE, node

TEST = {"name": "one", "given": {"read": [{"id": 1}]}, "expect": {"write": [{"id": 1}]}}


def document(*tests: Any, **more: Any) -> DagDocument:
    nodes = {"read": node("source.read"), "step": node("flow.step"), "write": node("sink.write"), **more}
    edges = {"e1": {"from": ["read", "out"], "to": ["step", "in"]}, "e2": {"from": ["step", "out"], "to": ["write", "in"]}}
    read, problems = parse_document({"name": "numbers", "type": "SQL_TASK", "nodes": nodes, "edges": edges, "tests": list(tests)})
    assert read is not None, problems
    return read


def told(read: DagDocument) -> dict[str, tuple[str, str]]:
    found = structure_problems(read, CATALOGUE)
    return {problem.pointer: (problem.severity, problem.code) for problem in found if problem.code.startswith("test.")}


def test_a_document_without_tests_is_written_as_ever() -> None:
    assert '"tests"' not in canonical_json(document())


def test_tests_are_kept_as_they_were_written_and_change_no_logic() -> None:
    batched = {**TEST, "name": "two", "given": {"read": [[{"id": 1}], []]}, "ordered": True, "columns": {"read": "id int"}}
    read = document(TEST, batched)
    again, _ = parse_document(canonical_json(read))
    assert again == read
    assert logic_hash(read) == logic_hash(document())
    assert [test.batches("read") for test in read.tests] == [[[{"id": 1}]], [[{"id": 1}], []]]
    assert told(read) == {}


@pytest.mark.parametrize(
    ("change", "pointer", "found"),
    [
        ({"given": {"gone": [], "read": []}}, "/tests/0/given/gone", ("warning", "test.unknown_node")),
        ({"given": {"step": [], "read": []}}, "/tests/0/given/step", ("warning", "test.unknown_node")),
        ({"columns": {"step": "id int"}}, "/tests/0/columns/step", ("warning", "test.unknown_node")),
        ({"given": {"read": [{"id": 1}, 2]}}, "/tests/0/given/read/1", ("error", "test.invalid")),
        ({"given": {"read": [[{"id": 1}, "x"]]}}, "/tests/0/given/read/0/1", ("error", "test.invalid")),
        ({"given": {"read": [[{"id": 1}], {"id": 2}]}}, "/tests/0/given/read/1", ("error", "test.invalid")),
        ({"given": {}}, "/tests/0/given", ("warning", "test.missing_rows")),
        ({"expect": {}}, "/tests/0/expect", ("warning", "test.expects_nothing")),
        ({"expect": {"write.out": []}}, "/tests/0/expect/write.out", ("warning", "test.unknown_node")),
        ({"expect": {"step.errors": []}}, "/tests/0/expect/step.errors", ("warning", "test.unknown_node")),
        ({"expect": {"gone": []}}, "/tests/0/expect/gone", ("warning", "test.unknown_node")),
        ({"clock": ["noon"]}, "/tests/0/clock/0", ("warning", "test.clock")),
        ({"clock": ["2026-01-31 12:00:00", "1 h"]}, "/tests/0/clock/1", ("warning", "test.clock")),
    ],
)
def test_what_a_test_says_wrongly_is_told_where_it_stands(change: dict[str, Any], pointer: str, found: tuple[str, str]) -> None:
    assert told(document({**TEST, **change})) == {pointer: found}


def test_rows_may_be_expected_at_any_port() -> None:
    assert told(document({**TEST, "expect": {"read.errors": [], "step": [], "step.out": [], "write": []}})) == {}


def test_two_tests_share_no_name() -> None:
    assert told(document(TEST, TEST)) == {f"/tests/{number}/name": ("error", "test.duplicate_name") for number in (0, 1)}


@pytest.mark.parametrize(
    ("test", "pointer"),
    [
        ({**TEST, "surprise": 1}, "/tests/0/surprise"),
        ({**TEST, "given": {"no id!": []}}, "/tests/0/given/no id!"),
        ({**TEST, "expect": {"write": [1]}}, "/tests/0/expect/write/0"),
        ({"given": {}}, "/tests/0/name"),
    ],
)
def test_the_shape_of_a_test_is_checked(test: dict[str, Any], pointer: str) -> None:
    read, problems = parse_document({"name": "numbers", "type": "SQL_TASK", "tests": [test]})
    assert read is None
    assert [(problem.code, problem.pointer) for problem in problems] == [("test.invalid", pointer)]


def test_there_are_at_most_a_hundred() -> None:
    tests = [{"name": f"test {number}"} for number in range(101)]
    assert parse_document({"name": "numbers", "type": "SQL_TASK", "tests": tests})[1][0].pointer == "/tests"
    assert PipelineTest(name="empty").batches("read") == [[]]
