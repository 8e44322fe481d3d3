"""Overlapping windows and sessions of a stream against plain Python: rows in any order, over a stop, each window once."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.engine.graphs import COLLECT, Bench, document, numbers, told_problems, windows
from tests.engine.nodes import CollectSink
from tests.engine.shuffled import START, Event, events, events_close, events_drop
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

ROWS = 240
Window = tuple[datetime, datetime, int, int, int, int]


def sliding(rows: list[Event], length: timedelta, slide: timedelta) -> list[tuple[datetime, datetime, int, list[Event]]]:
    found: dict[tuple[datetime, int], list[Event]] = {}
    for row in rows:
        begin = row["at"] - (row["at"] - START) % slide
        while begin > row["at"] - length:
            found.setdefault((begin, row["key"]), []).append(row)
            begin -= slide
    return [(begin, begin + length, key, inside) for (begin, key), inside in found.items()]


def sessions(rows: list[Event], gap: timedelta) -> list[tuple[datetime, datetime, int, list[Event]]]:
    found: list[tuple[datetime, datetime, int, list[Event]]] = []
    for row in sorted(rows, key=lambda one: (one["key"], one["at"])):
        if found and found[-1][2] == row["key"] and row["at"] <= found[-1][1]:
            begin, _, key, inside = found.pop()
            found.append((begin, row["at"] + gap, key, [*inside, row]))
        else:
            found.append((row["at"], row["at"] + gap, row["key"], [row]))
    return found


def expected(kind: str, rows: list[Event]) -> Counter[Window]:
    """Begin, end, key, rows, and the ids of the first and the last of them by time."""
    groups = sliding(rows, timedelta(minutes=30), timedelta(minutes=10)) if kind == "sliding" else sessions(rows, timedelta(minutes=4))
    return Counter(
        (begin, end, key, len(inside), min(inside, key=lambda one: one["at"])["id"], max(inside, key=lambda one: one["at"])["id"])
        for begin, end, key, inside in groups
    )


#: Counts the rows and holds the ids of the first and the last of them, as AGGREGATES do.
REDUCE = """
def start():
    return {"n": 0, "a": None, "z": None}


def add(value, row):
    one = (row["at"], row["id"])
    return {"n": value["n"] + 1, "a": min(value["a"] or one, one), "z": max(value["z"] or one, one)}


def merge(one, other):
    return {"n": one["n"] + other["n"], "a": one["a"], "z": other["z"]}


def result(value):
    return {"n": value["n"], "a": value["a"][1], "z": value["z"][1]}
"""
AGGREGATES = [{"name": "n"}, {"name": "a", "function": "first", "column": "id"}, {"name": "z", "function": "last", "column": "id"}]
FLOWS: dict[str, dict[str, Any]] = {
    "flow.window_aggregate": {"aggregates": AGGREGATES},
    "flow.window_reduce": {"code": REDUCE, "columns": [{"name": name, "type": "long"} for name in "naz"]},
}


@pytest.mark.each_once
@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize(
    ("kind", "late_then"), [("sliding", "4 h"), ("session", "4 h"), ("sliding", "5 h")], ids=["sliding", "session", "later rows are taken"]
)
def test_windows_of_shuffled_rows_are_those_of_sorted_ones(bench: Bench, kind: str, late_then: str, flow: str) -> None:
    """`late_then`: behind the stop, where what was kept goes on under another one, too."""
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    rows = events(random.Random(seed), ROWS, keys=3)
    rows = list({(row["key"], row["at"]): row for row in rows}.values())  # two of one moment would both be first
    window: dict[str, Any] = {"kind": kind, "window": "30 min" if kind == "sliding" else "4 min", "slide": "10 min", "late": "4 h"}
    nodes = {
        "seen": events_drop(bench, "seen", rows),
        "windows": (flow, {**window, **FLOWS[flow], "time_column": "at", "group_by": ["key"], "emit": "close"}),
        "out": COLLECT,
    }
    edges = "seen>windows, windows>out"
    plan = bench.plan(document(nodes, edges, type="STREAMING"))
    bench.drained(plan, ROWS // 3)
    events_close(bench, "seen")
    wanted = expected(kind, rows)

    def told() -> Counter[Window]:
        found = [row for batch in list(CollectSink.rows[plan.generation + "out"].values()) for row in batch if row.key != -1]
        return Counter((_utc(row.window_start), _utc(row.window_end), row.key, row.n, row.a, row.z) for row in found)

    nodes["windows"][1]["late"] = late_then
    run, _ = bench.run(bench.plan(document(nodes, edges, type="STREAMING"), generation=plan.generation, attempt=2))
    wait_until(lambda: told().total() >= wanted.total(), seconds=90, what="every window")
    run.stop()
    assert run.wait(30) == "stopped"
    assert told() == wanted


@pytest.mark.parametrize(
    "window",
    [
        {"kind": "tumbling"},
        pytest.param({"kind": "sliding", "slide": "7 min", "offset": "2 min"}, marks=pytest.mark.faults),
        {"kind": "session"},
        pytest.param({"kind": "tumbling", "emit": "update"}, marks=pytest.mark.faults),
    ],
    ids=["tumbling", "sliding", "session", "updates"],
)
def test_the_same_rows_are_too_late_for_a_reduced_window(bench: Bench, window: dict[str, Any]) -> None:
    """Of what comes far apart, Spark's own windows leave out what has closed before."""
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    rows = events(random.Random(seed), ROWS, keys=2)
    kind, source = events_drop(bench, "seen", list({(row["key"], row["at"]): row for row in rows}.values()))
    events_close(bench, "seen")
    nodes = {"seen": (kind, {**source, "order": "name"})}
    more = {"window": "12 min", "late": "20 min", "time_column": "at", "group_by": ["key"], "emit": "close"}
    nodes |= {"own": ("flow.window_reduce", {**more, **window, **FLOWS["flow.window_reduce"]}), "out": COLLECT}
    nodes |= {"sparks": ("flow.window_aggregate", {**more, **window, "aggregates": AGGREGATES}), "wanted": COLLECT}
    plan = bench.plan(document(nodes, "seen>own, own>out, seen>sparks, sparks>wanted", type="STREAMING"))

    def told(sink: str) -> Counter[Window]:
        rows = [row for batch in list(CollectSink.rows[plan.generation + sink].values()) for row in batch]
        return Counter((_utc(row.window_start), _utc(row.window_end), row.key, row.n, row.a, row.z) for row in rows)

    def is_over(sink: str) -> bool:
        return sum(one[2] == -1 for one in told(sink)) == (2 if window.get("emit") == "update" else 1)

    run, heard = bench.run(plan)
    wait_until(lambda: is_over("out") and is_over("wanted"), seconds=90, what="the windows that close all others")
    run.stop()
    assert run.wait(30) == "stopped"
    assert told("out") == told("wanted")
    assert heard.rows("own", "late") > 0


def _utc(time: datetime) -> datetime:
    """Spark hands times over in the machine's own zone."""
    return time.astimezone(UTC)


@pytest.mark.parametrize("emit", ["close", "update"])
def test_windows_of_the_clock_hold_what_was_read_in_them(bench: Bench, emit: str) -> None:
    window = {
        "time": "processing",
        "window": "1s",
        "emit": emit,
        "aggregates": [{"name": "n"}, {"name": "newest", "function": "max", "column": "id"}],
    }
    nodes = {"gen": numbers(None, 20, 40), "seconds": ("flow.window_aggregate", window), "out": COLLECT}
    plan = bench.plan(document(nodes, "gen>seconds, seconds>out", type="STREAMING"))
    batches = CollectSink.rows[plan.generation + "out"]
    run, _ = bench.run(plan)
    wait_until(lambda: len({row.window_start for batch in list(batches.values()) for row in batch}) >= 3, seconds=60, what="three windows")
    run.stop()
    assert run.wait(30) == "stopped"
    rows = [row for number in sorted(batches) for row in batches[number]]
    assert all(row.window_end - row.window_start == timedelta(seconds=1) and row.window_start.microsecond == 0 for row in rows)
    last = {row.window_start: row for row in rows}
    assert emit == "update" or len(last) == len(rows), "a window comes out once"
    in_order = [last[start] for start in sorted(last)]
    assert [row.newest + 1 for row in in_order] == [sum(row.n for row in in_order[: number + 1]) for number in range(len(in_order))]


def test_windows_that_overlap_hundreds_of_times_are_warned_of(bench: Bench) -> None:
    nodes = {"gen": numbers(None), "sums": windows("1 d", kind="sliding", slide="1 min"), "out": COLLECT}
    (told,) = told_problems(bench, nodes, "gen>sums, sums>out")
    assert told[:2] == ("sums", "warning")
    assert "each row is taken into 1,440 windows" in told[2]
