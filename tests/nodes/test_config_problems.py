"""What is wrong in a node's config: said in words, at its field."""

from typing import Any

import pytest

from jobs.nodes.config_problems import config_problems
from jobs.nodes.registry import REGISTRY


@pytest.mark.parametrize(
    ("node_type", "config", "pointer", "sentence"),
    [
        ("flow.join", {"keys": ["id"]}, "/keys/0", "keys 1 must be an object with left, right"),
        ("flow.sort", {"order_by": [{"column": "id"}, "key"]}, "/order_by/1", "order by 2 must be an object with column, order, empty"),
        ("flow.sort", {"order_by": "id"}, "/order_by", "order by must be a list"),
        ("flow.filter_rows", {"condition": 5}, "/condition", "condition must be text"),
        ("source.generator", {"total_rows": "many"}, "/total_rows", "total rows must be a whole number"),
        ("source.generator", {"total_rows": 1.5}, "/total_rows", "total rows must be a whole number"),
        ("sink.file", {"path": "out", "roll_seconds": "x"}, "/roll_seconds", "roll seconds must be a number"),
        ("sink.file", {"path": "out", "partition_by": [1]}, "/partition_by/0", "partition by 1 must be text"),
        ("flow.rate_limit", {"rows_per_second": -1}, "/rows_per_second", "rows per second must be greater than 0"),
        ("flow.sample", {"percent": 500}, "/percent", "percent must be less than or equal to 100"),
        (
            "flow.stateful",
            {"keys": ["id"], "state": [{"name": "count", "type": "lng"}]},
            "/state/0/type",
            "type must be one like string, boolean, int, long, double, date, timestamp, binary, decimal(18, 2)",
        ),
        (
            "flow.stateful",
            {"keys": ["id"], "state": [{"name": "count", "ttl": "0s"}]},
            "/state/0/ttl",
            '"0s" is no time at all: it must be longer',
        ),
        (
            "flow.window_aggregate",
            {"time_column": "at", "window": "1 parsec"},
            "/window",
            '"1 parsec" is no duration: write a number and a unit, such as "500ms", "60s", "5 min" or "1 h"',
        ),
    ],
)
def test_a_value_of_another_kind_is_told_with_what_belongs_there(node_type: str, config: dict[str, Any], pointer: str, sentence: str):
    found = REGISTRY.get(node_type)
    assert found is not None
    problems = config_problems(found.Config, config)
    assert [(problem.pointer, problem.message) for problem in problems] == [(pointer, sentence)]
