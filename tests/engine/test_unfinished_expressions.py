"""An expression that ends in the middle, which Spark takes for one with a name, is told to who draws it; what was published goes on."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from jobs.engine.validation import analyse
from jobs.nodes.base import Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, keep, numbers

pytestmark = pytest.mark.spark

COMPUTED = {"columns": [{"name": "more", "expression": "id + 1 more"}]}
RULES = {"rules": [{"name": "big", "condition": "id > 1 and", "action": "warn"}]}


@pytest.mark.parametrize(
    ("node", "pointer"),
    [
        (keep("id > 5 and"), "/nodes/flow/config/condition"),
        (keep("id > 5 or id < 2 as x"), "/nodes/flow/config/condition"),
        (("flow.compute_columns", COMPUTED), "/nodes/flow/config/columns/0/expression"),
        (("flow.expectations", RULES), "/nodes/flow/config/rules/0/condition"),
        (("flow.script", {"script": "if id > 5 and then id = 0"}), "/nodes/flow/config/script"),
    ],
)
def test_its_last_word_is_told(bench: Bench, node: Any, pointer: str) -> None:
    drawn = document({"gen": numbers(), "flow": node, "out": COLLECT}, "gen>flow, flow>out")
    (problem,) = analyse(bench.spark, drawn, connections={}, limits=Limits(), parameters={}, registry=REGISTRY).problems
    assert problem.pointer == pointer
    assert "would be a name for what stands before it, and do nothing: finish it, or leave that out" in problem.message


def test_an_arrow_that_no_function_takes_is_told(bench: Bench) -> None:
    alone = ("flow.compute_columns", {"columns": [{"name": "more", "expression": "x -> x + 1"}]})
    drawn = document({"gen": numbers(), "flow": alone, "out": COLLECT}, "gen>flow, flow>out")
    (problem,) = analyse(bench.spark, drawn, connections={}, limits=Limits(), parameters={}, registry=REGISTRY).problems
    assert problem.pointer == "/nodes/flow/config/columns/0/expression"
    assert "an arrow alone makes no value: hand it to a function, as in transform(list, x -> x + 1)" in problem.message


def test_a_whole_one_is_taken_in_a_thread_that_began_no_session(bench: Bench) -> None:
    drawn = document({"gen": numbers(), "flow": keep("id > 5"), "out": COLLECT}, "gen>flow, flow>out")
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(analyse, bench.spark, drawn, connections={}, limits=Limits(), parameters={}, registry=REGISTRY)
    assert not asked.result().problems


def test_a_run_goes_on_as_before(bench: Bench) -> None:
    drawn = document({"gen": numbers(6), "flow": keep("id > 2 and id < 5 and"), "out": COLLECT}, "gen>flow, flow>out")
    assert bench.completed(drawn).rows("flow") == 2
