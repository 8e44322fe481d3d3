"""What is wrong in a node's config: said in words, at its field."""

from typing import Any

import pytest

from jobs.nodes.config_problems import config_problems, config_resolved
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
        ("sink.file", {"path": ""}, "/path", "path must not be empty"),
        ("flow.sort", {"order_by": [{"column": "id"}, {"order": "descending"}]}, "/order_by/1/column", "order by 2: column is required"),
        ("flow.expectations", {"rules": [{"name": "", "condition": "a"}]}, "/rules/0/name", "rules 1: name must not be empty"),
        (
            "source.delta",
            {"path": "in", "start": "time", "time": "soon"},
            "/time",
            "time must be a date such as 2026-01-31, or a time such as 2026-01-31T06:00:00Z",
        ),
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
            "flow.aggregate",
            {"aggregates": [{"name": "n"}, {"name": "mean", "function": "avg"}]},
            "/aggregates/1/column",
            "avg needs a column",
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


OFTEN = {"name": "a", "condition": "true"}
SESSION = {"time_column": "at", "kind": "session"}


@pytest.mark.parametrize(
    ("node_type", "config", "pointers"),
    [
        ("flow.split", {"branches": [OFTEN, OFTEN]}, ["/branches/1/name"]),
        ("flow.split", {"branches": [OFTEN, OFTEN | {"name": "else"}]}, ["/branches/1/name"]),
        ("flow.expectations", {"rules": [OFTEN, OFTEN]}, ["/rules/1/name"]),
        ("flow.stateful", {"keys": ["id"], "state": [{"name": "count"}, {"name": "count"}]}, ["/state/1/name"]),
        ("flow.select_fields", {"fields": [{"column": "a"}, {"column": "b", "name": "A"}]}, ["/fields/1/name"]),
        ("flow.aggregate", {"group_by": ["a", "b", "a"]}, ["/group_by/2"]),
        ("flow.aggregate", {"group_by": ["rows"], "aggregates": [{"name": "n"}, {"name": "rows"}]}, ["/aggregates/1/name"]),
        ("flow.window_aggregate", {"time_column": "at", "group_by": ["window_end"]}, ["/group_by/0"]),
        ("flow.window_reduce", {"time_column": "at", "columns": [{"name": "window_start"}]}, ["/columns/0/name"]),
        ("flow.window_aggregate", {"time_column": "at", "kind": "sliding", "window": "1 min", "slide": "1 h"}, ["/slide"]),
        ("flow.window_reduce", {"time_column": "at", "kind": "sliding", "window": "366 d", "slide": "1 ms"}, ["/slide"]),
        ("flow.window_reduce", {"time_column": "at", "kind": "sliding", "window": "30 d", "slide": "10 min"}, []),
        ("flow.window_aggregate", SESSION | {"emit": "update", "offset": "1s"}, ["/offset", "/group_by", "/emit"]),
    ],
)
def test_what_is_wrong_with_one_row_or_field_of_a_whole_is_told_there(node_type: str, config: dict[str, Any], pointers: list[str]):
    found = REGISTRY.get(node_type)
    assert found is not None
    assert [problem.pointer for problem in config_problems(found.Config, config)] == pointers


def test_a_session_comes_out_on_close_where_nothing_else_is_asked_for():
    found = REGISTRY.get("flow.window_aggregate")
    assert found is not None
    assert config_resolved(found.Config, SESSION | {"group_by": ["id"]})["emit"] == "close"
    assert config_resolved(found.Config, {"time_column": "at"})["emit"] == "update"
