"""Tests of a job that have a clock: what goes by the time of day, time to live and timers, run at the times that the test gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.dag.document import DagDocument
from jobs.engine.pipeline_test import PipelineTestResult, pipeline_test_run
from tests.engine.graphs import document

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

Node = tuple[str, dict[str, Any]]
CLICKS: Node = ("source.mqtt", {"connection": "home", "topics": "clicks"})
OUT: Node = ("sink.kafka", {"connection": "main", "topic": "out"})
NOON = "2026-01-31 12:00:00"


def drawn(node: Node, test: dict[str, Any], type: str = "STREAMING", columns: str = "id long, page string", **settings: Any) -> DagDocument:
    given = {"name": "by the clock", "columns": {"clicks": columns}, "ordered": True, **test}
    nodes = {"clicks": CLICKS, "node": node, "out": OUT}
    return document(nodes, "clicks>node, node>out", type=type, tests=[given], settings=settings)


def run(spark: SparkSession, tmp_path: Path, read: DagDocument) -> PipelineTestResult:
    return pipeline_test_run(spark, read, 0, folder=tmp_path)


def came(result: PipelineTestResult, outlet: str = "out") -> list[dict[str, Any]]:
    assert result.message == "", result
    return next(one.rows for one in result.outlets if one.outlet == outlet)


def assert_passes(spark: SparkSession, tmp_path: Path, read: DagDocument) -> None:
    """Twice, as a test that passes once passes always."""
    for _ in range(2):
        result = run(spark, tmp_path, read)
        told = [*(problem.message for problem in result.problems), *(one.rows for one in result.outlets if not one.differences.none)]
        assert (result.status, result.message, told) == ("passed", "", [])


def ids(*numbers: int) -> list[dict[str, Any]]:
    return [{"id": number, "page": "home"} for number in numbers]


MINUTES: Node = ("flow.window_aggregate", {"time": "processing", "window": "1 min", "emit": "close", "aggregates": [{"name": "n"}]})


def test_windows_by_the_clock_hold_the_rows_of_the_batches_in_them(spark: SparkSession, tmp_path: Path) -> None:
    given = [ids(1, 2), ids(3), ids(4), ids(5)]
    clock = [NOON, "20s", "10 min", "2026-01-31 12:20:00"]
    closed = [
        {"window_start": "2026-01-31 12:00:00", "window_end": "2026-01-31 12:01:00", "n": 3},
        {"window_start": "2026-01-31 12:10:00", "window_end": "2026-01-31 12:11:00", "n": 1},
    ]
    assert_passes(spark, tmp_path, drawn(MINUTES, {"given": {"clicks": given}, "clock": clock, "expect": {"node": closed, "out": closed}}))


REDUCED: Node = ("flow.window_reduce", {"time": "processing", "window": "1 min"})


def test_reduced_windows_by_the_clock_close_as_it_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    test = {"given": {"clicks": [ids(1, 2), ids(3)]}, "clock": [NOON, "5 min"], "expect": {"out": []}}
    (row,) = came(run(spark, tmp_path, drawn(REDUCED, test)))
    assert (row["window_start"][11:19], row["rows"]) == ("12:00:00", 2)


def test_a_key_is_known_again_once_it_was_forgotten_by_the_clock(spark: SparkSession, tmp_path: Path) -> None:
    once: Node = ("flow.deduplicate", {"keys": ["id"], "time": "processing", "within": "1 h"})
    given = [ids(1), ids(1, 2), ids(3), ids(1)]
    clock = [NOON, "59 min", "4 h", "1s"]
    assert_passes(spark, tmp_path, drawn(once, {"given": {"clicks": given}, "clock": clock, "expect": {"out": ids(1, 2, 3, 1)}}))


COUNTING = """
def process(key, rows, state, timers):
    state.count.set(state.count.get(0) + len(rows))
    yield {"count": state.count.get()}
"""
QUIET = """
from datetime import timedelta

def process(key, rows, state, timers):
    for at in timers.list():
        timers.delete(at)
    timers.register(timers.now + timedelta(minutes=5))
    state.count.set(state.count.get(0) + len(rows))

def on_timer(key, timer, state, timers):
    yield {"count": state.count.get(), "at": timer}
    state.count.clear()
"""


def stateful(code: str, *columns: str, ttl: str = "", time: str = "none") -> Node:
    made = [{"name": "count", "type": "long"}, *({"name": name, "type": "timestamp"} for name in columns)]
    config = {"keys": ["page"], "state": [{"name": "count", "ttl": ttl}], "columns": made, "time": time, "code": code}
    return ("flow.stateful", config)


def test_a_value_is_forgotten_once_its_time_to_live_has_passed_on_the_clock(spark: SparkSession, tmp_path: Path) -> None:
    test = {"given": {"clicks": [ids(1), ids(2), ids(3)]}, "clock": [NOON, "30 min", "61 min"]}
    expected = [{"page": "home", "count": count} for count in (1, 2, 1)]
    assert_passes(spark, tmp_path, drawn(stateful(COUNTING, ttl="1 h"), {**test, "expect": {"out": expected}}))


def test_timers_by_the_clock_fire_before_the_rows_that_come_after_them(spark: SparkSession, tmp_path: Path) -> None:
    """In the last batch nothing comes: only time passes."""
    test = {"given": {"clicks": [ids(1, 2), ids(3), ids(4), []]}, "clock": [NOON, "1 min", "10 min", "5 min"]}
    expected = [
        {"page": "home", "count": 3, "at": "2026-01-31 12:06:00"},
        {"page": "home", "count": 1, "at": "2026-01-31 12:16:00"},
    ]
    assert_passes(spark, tmp_path, drawn(stateful(QUIET, "at", time="processing"), {**test, "expect": {"node": expected, "out": expected}}))


def test_a_clock_that_goes_on_behind_the_last_rows_lets_timers_fire(spark: SparkSession, tmp_path: Path) -> None:
    test = {"given": {"clicks": ids(1, 2)}, "clock": [NOON, "4 min", "1 min"]}
    expected = [{"page": "home", "count": 2, "at": "2026-01-31 12:05:00"}]
    assert_passes(spark, tmp_path, drawn(stateful(QUIET, "at", time="processing"), {**test, "expect": {"out": expected}}))
    early = {**test, "clock": [NOON, "4 min"], "expect": {"out": []}}
    assert_passes(spark, tmp_path, drawn(stateful(QUIET, "at", time="processing"), early))


ASKED: dict[str, Any] = {
    "columns": [
        {"name": "at", "expression": "current_timestamp()"},
        {"name": "bare", "expression": "date_add(current_date, 1)"},
        {"name": "now", "expression": "now() + interval 1 hour"},
        {"name": "here", "expression": "localtimestamp()"},
    ]
}
BERLIN = [
    {"id": 1, "at": f"{NOON}+00:00", "bare": "2026-02-01", "now": "2026-01-31 13:00:00+00:00", "here": "2026-01-31 13:00:00"},
    {"id": 2, "at": "2026-01-31 23:30:00+00:00", "bare": "2026-02-02", "now": "2026-02-01 00:30:00+00:00", "here": "2026-02-01 00:30:00"},
]


def test_expressions_are_told_the_time_of_their_batch_in_the_jobs_zone(spark: SparkSession, tmp_path: Path) -> None:
    test = {"given": {"clicks": [[{"id": 1}], [{"id": 2}]]}, "clock": ["2026-01-31 13:00:00", "11.5 h"], "expect": {"out": BERLIN}}
    read = drawn(("flow.compute_columns", ASKED), test, columns="id long", time_zone="Europe/Berlin")
    assert_passes(spark, tmp_path, read)


def test_behind_what_keeps_state_the_time_is_that_of_the_batch_too(spark: SparkSession, tmp_path: Path) -> None:
    """Ahead of it Spark's streaming tells the time, behind it each batch does."""
    nodes = {
        "clicks": CLICKS,
        "before": ("flow.compute_columns", {"columns": [{"name": "before", "expression": "current_timestamp()"}]}),
        "once": ("flow.deduplicate", {"keys": ["id"]}),
        "after": (
            "flow.sql",
            {"query": "select id, before, current_timestamp as after from (select * from input where now() > before - interval 1 second)"},
        ),
        "out": OUT,
    }
    test = {"name": "both", "given": {"clicks": [ids(1), ids(2)]}, "columns": {"clicks": "id long, page string"}, "clock": [NOON, "1 h"]}
    same = [
        {"id": number, "before": f"2026-01-31 {hour}:00:00", "after": f"2026-01-31 {hour}:00:00"} for number, hour in ((1, 12), (2, 13))
    ]
    expect = {"expect": {"after": same, "out": same}}
    read = document(nodes, "clicks>before, before>once, once>after, after>out", type="STREAMING", tests=[test | expect])
    assert_passes(spark, tmp_path, read)


@pytest.mark.parametrize("type", ["SQL_TASK", "BATCH_ROLLER"])
def test_a_job_that_ends_is_told_the_one_time_of_its_clock(spark: SparkSession, tmp_path: Path, type: str) -> None:
    recent: Node = ("flow.filter_rows", {"condition": "at > current_timestamp() - interval 1 day"})
    rows = [{"id": 1, "at": "2026-01-30 11:59:59"}, {"id": 2, "at": "2026-01-30 12:00:01"}]
    test = {"given": {"rows": rows}, "columns": {"rows": "id long, at timestamp"}, "clock": [NOON], "expect": {"out": rows[1:]}}
    source = ("source.file", {"path": "rows", "format": "csv"})
    nodes = {"rows": source, "recent": recent, "out": ("sink.file", {"path": "out", "format": "csv"})}
    assert_passes(spark, tmp_path, document(nodes, "rows>recent, recent>out", type=type, tests=[{"name": "recent", **test}]))


def test_state_of_a_job_that_ends_goes_by_the_clock_of_its_test(spark: SparkSession, tmp_path: Path) -> None:
    code = "def process(key, rows, state, timers):\n    yield {'count': len(rows), 'at': timers.now}\n"
    test = {"given": {"clicks": ids(1, 2)}, "clock": [NOON], "expect": {"out": [{"page": "home", "count": 2, "at": NOON}]}}
    nodes = {"clicks": ("source.file", {"path": "clicks", "format": "csv"}), "node": stateful(code, "at", time="processing")}
    test = {"name": "counts", "columns": {"clicks": "id long, page string"}, **test}
    read = document({**nodes, "out": OUT}, "clicks>node, node>out", type="SQL_TASK", tests=[test])
    assert_passes(spark, tmp_path, read)


def test_without_a_clock_windows_and_timers_by_it_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    for node, words in ((MINUTES, "its windows go by the clock"), (stateful(QUIET, "at", time="processing"), "its timers go by the clock")):
        result = run(spark, tmp_path, drawn(node, {"given": {"clicks": ids(1)}, "expect": {"out": []}}))
        assert (result.status, result.node_id, words in result.message) == ("error", "node", True)
        assert "give the test a clock" in result.message
