"""Joined streams against pairs found by plain Python: rows in any order, over a stop, each pair and each lone row once."""

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from tests.engine.graphs import COLLECT, Bench, document
from tests.engine.nodes import CollectSink
from tests.engine.shuffled import Event, events, events_close, events_drop
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

BEFORE, AFTER = timedelta(minutes=5), timedelta(minutes=20)
ROWS = 120


def expected(kind: str, left: list[Event], right: list[Event]) -> Counter[tuple[Any, Any]]:
    pairs = [
        (one["id"], other["id"])
        for one in left
        for other in right
        if one["key"] is not None and one["key"] == other["key"] and one["at"] - BEFORE <= other["at"] <= one["at"] + AFTER
    ]
    found = Counter(pairs)
    if kind in ("left", "full"):
        found += Counter((one["id"], None) for one in left if one["id"] not in {pair[0] for pair in pairs})
    if kind in ("right", "full"):
        found += Counter((None, other["id"]) for other in right if other["id"] not in {pair[1] for pair in pairs})
    return Counter((one, None) for one in {pair[0] for pair in pairs}) if kind == "semi" else found


ONCE = ("flow.deduplicate", {"keys": ["id"], "time_column": "at", "within": "5 h"})


@pytest.mark.parametrize(
    ("kind", "once"),
    [
        ("inner", ""),
        pytest.param("left", "", marks=pytest.mark.faults),
        pytest.param("right", "", marks=pytest.mark.faults),
        pytest.param("full", "", marks=pytest.mark.faults),
        ("semi", ""),
        pytest.param("inner", "orders payments", marks=pytest.mark.faults),
        ("full", "payments"),
        ("left", "orders"),
    ],
)
def test_a_join_of_streams_equals_the_pairs(bench: Bench, kind: str, once: str) -> None:
    """`once`: the inputs that come twice, and are deduplicated by the same time."""
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    chance = random.Random(seed)
    left, right = events(chance, ROWS), events(chance, ROWS, first=1000)
    for row in left[::8] + right[::8]:
        row["key"] = None
    join: dict[str, Any] = {"kind": kind, "keys": [{"left": "key"}], "left_time": "at", "right_time": "at", "late": "4 h"}
    given = {name: rows * (1 + (name in once)) for name, rows in (("orders", left), ("payments", right))}
    for rows in given.values():
        chance.shuffle(rows)
    nodes = {
        **{name: events_drop(bench, name, rows) for name, rows in given.items()},
        **{f"{name}_once": ONCE for name in once.split()},
        "both": ("flow.join", {**join, "before": "5 min", "after": "20 min"}),
        "out": COLLECT,
    }
    edges = [f"{name}>{name}_once" for name in once.split()]
    edges += [
        f"{name}_once>both.{port}" if name in once else f"{name}>both.{port}" for name, port in (("orders", "left"), ("payments", "right"))
    ]
    read = document(nodes, ", ".join([*edges, "both>out"]), type="STREAMING")
    plan = bench.plan(read)
    bench.drained(plan, ROWS)
    events_close(bench, "orders")
    events_close(bench, "payments")
    wanted = expected(kind, left, right)

    def told() -> Counter[tuple[Any, Any]]:
        rows = [row for batch in list(CollectSink.rows[plan.generation + "out"].values()) for row in batch]
        return Counter((row.id, None if kind == "semi" else row.right_id) for row in rows if row.key != -1)

    run, _ = bench.run(bench.plan(read, generation=plan.generation, attempt=2))
    wait_until(lambda: told().total() >= wanted.total(), seconds=90, what="every pair")
    run.stop()
    assert run.wait(30) == "stopped"
    assert told() == wanted
