"""Keys of a stream in the hour that comes twice: Python takes the second for the first, and each must have a state of its own."""

import json
from datetime import UTC, datetime

import pytest

from tests.engine.graphs import COLLECT, Bench, Nodes, document
from tests.engine.nodes import CollectSink
from tests.engine.shuffled import COLUMNS
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

#: In Berlin the clock shows half past two at both.
TWICE = [datetime(2024, 10, 27, hour, 30, tzinfo=UTC) for hour in (0, 1)]
PROCESS = """
def process(key, rows, state, timers):
    state.count.set(state.count.get(0) + len(rows))
    yield {"count": state.count.get(), "shown": key.isoformat()}
"""
REDUCE = """
def start(): return 0
def add(value, row): return value + 1
def result(value): return {"count": value}
"""
COUNT = {"name": "count", "type": "long"}


def test_each_has_its_own_state_and_window(bench: Bench) -> None:
    folder = bench.files / "seen"
    folder.mkdir()
    for number in range(2):
        rows = [{"key": 1, "at": at.isoformat(), "id": number} for at in TWICE]
        (folder / f"{number}.json").write_text("\n".join(map(json.dumps, rows)) + "\n")
    windows = {"time_column": "at", "window": "30 min", "emit": "update", "late": "1 d", "code": REDUCE, "columns": [COUNT]}
    nodes: Nodes = {
        "seen": ("source.file", {"path": "seen", "format": "json", "columns": COLUMNS, "max_files_per_trigger": 1}),
        "own": ("flow.stateful", {"keys": ["at"], "code": PROCESS, "columns": [COUNT, {"name": "shown"}]}),
        "states": COLLECT,
        "reduced": ("flow.window_reduce", windows),
        "windows": COLLECT,
    }
    settings = {"time_zone": "Europe/Berlin"}
    edges = "seen>own, own>states, seen>reduced, reduced>windows"
    plan = bench.plan(document(nodes, edges, type="STREAMING", settings=settings))

    def told(sink: str) -> list[tuple[datetime, int]]:
        rows = [row for batch in dict(CollectSink.rows[plan.generation + sink]).values() for row in batch]
        time = "at" if sink == "states" else "window_start"
        return sorted((row[time].astimezone(UTC), row["count"]) for row in rows)

    expected = [(at, count) for at in TWICE for count in (1, 2)]
    run, _ = bench.run(plan)
    wait_until(lambda: len(told("states")) == len(told("windows")) == len(expected), seconds=90, what="the rows of both queries")
    run.stop()
    assert run.wait(30) == "stopped"
    assert told("states") == expected
    assert told("windows") == expected
    shown = {row.shown for batch in CollectSink.rows[plan.generation + "states"].values() for row in batch}
    assert shown == {"2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00"}
