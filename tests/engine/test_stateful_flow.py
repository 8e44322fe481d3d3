"""A person's own state per key in whole jobs: over batches and stops, by the clock and by event time, beside plain Python."""

import json
import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.engine.preview import preview
from jobs.nodes.base import Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, files, numbers, told_problems, windows
from tests.engine.nodes import CollectSink
from tests.engine.shuffled import START, Event, events, events_close, events_drop
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

GAP = timedelta(minutes=4)
#: Rows wait in a list until event time has passed them; then each session between gaps is told once.
SESSIONS = """
from datetime import timedelta

GAP = timedelta(minutes=4)


def process(key, rows, state, timers):
    for row in rows:
        if not state.seen.get(row["id"]):
            state.seen.put(row["id"], True)
            state.waiting.append(row["at"])
            timers.register(row["at"] + GAP)


def on_timer(key, timer, state, timers):
    waiting = sorted(state.waiting)
    until = next((place for place, (one, other) in enumerate(zip(waiting, waiting[1:]), 1) if other - one > GAP), len(waiting))
    if waiting and waiting[until - 1] + GAP <= timer:
        yield {"begin": waiting[0], "end": waiting[until - 1], "rows": until}
        state.waiting.set(waiting[until:])
"""
SEEN = {"name": "seen", "kind": "map", "key_type": "long", "type": "boolean"}
SESSION: dict[str, Any] = {
    "keys": ["key"],
    "time": "event",
    "time_column": "at",
    "late": "5 h",
    "state": [SEEN, {"name": "waiting", "kind": "list", "type": "timestamp"}],
    "columns": [{"name": "begin", "type": "timestamp"}, {"name": "end", "type": "timestamp"}, {"name": "rows", "type": "long"}],
    "code": SESSIONS,
}


def stateful(code: str = "", **config: Any) -> tuple[str, dict[str, Any]]:
    return "flow.stateful", {"keys": ["key"], **({"code": code} if code else {}), **config}


def sessions(rows: list[Event]) -> Counter[tuple[int, Any, Any, int]]:
    """By plain Python over all rows in the order of time, repeats left out."""
    found: list[tuple[int, Any, Any, int]] = []
    for row in sorted({row["id"]: row for row in rows}.values(), key=lambda one: (one["key"], one["at"])):
        if found and found[-1][0] == row["key"] and row["at"] - found[-1][2] <= GAP:
            key, begin, _, count = found.pop()
            found.append((key, begin, row["at"], count + 1))
        else:
            found.append((row["key"], row["at"], row["at"], 1))
    return Counter(found)


def told(generation: str) -> Counter[tuple[int, Any, Any, int]]:
    rows = [row for batch in list(CollectSink.rows[generation + "out"].values()) for row in batch if row.key != -1]
    return Counter((row.key, row.begin.astimezone(START.tzinfo), row.end.astimezone(START.tzinfo), row.rows) for row in rows)


ONCE = ("flow.deduplicate", {"keys": ["id"], "time_column": "at", "within": "5 h"})


@pytest.mark.parametrize(
    "once", [pytest.param(False, id="alone", marks=pytest.mark.faults), pytest.param(True, id="behind deduplicated rows")]
)
@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6))
def test_sessions_of_shuffled_and_repeated_rows_are_those_of_sorted_ones(bench: Bench, once: bool, seed: int) -> None:
    chance = random.Random(seed)
    rows = events(chance, 120, keys=3)
    rows = rows + chance.sample(rows, 30)
    chance.shuffle(rows)
    folder = f"seen{seed}"
    nodes = {"seen": events_drop(bench, folder, rows), **({"once": ONCE} if once else {}), "own": stateful(**SESSION), "out": COLLECT}
    edges = "seen>once, once>own, own>out" if once else "seen>own, own>out"
    read = document(nodes, edges, type="STREAMING")
    plan = bench.plan(read)
    bench.drained(plan, len(rows) // 3)
    events_close(bench, folder)
    wanted = sessions(rows)
    run, _ = bench.run(bench.plan(read, generation=plan.generation, attempt=2))
    wait_until(lambda: told(plan.generation).total() >= wanted.total(), seconds=90, what="every session")
    run.stop()
    assert run.wait(30) == "stopped"
    assert told(plan.generation) == wanted
    whole = bench.plan(document(nodes, edges, type="BATCH_ROLLER"))
    ended, _ = bench.run(whole)
    assert ended.wait(90) == "completed"
    assert told(whole.generation) == wanted, "a job that ends tells the same"


TYPES = """
from datetime import date, datetime, timezone
from decimal import Decimal


def process(key, rows, state, timers):
    name, day, at = key
    before = [state.at.get(), list(state.days), dict(state.sums.items()), state.raw.get(b"none")]
    state.at.set(rows[0]["time"])
    state.days.append(day)
    state.sums.put(day, state.sums.get(day, Decimal("0.5")) + 1)
    state.raw.set(b"x")
    assert rows[0]["known"] == {"k": [{"a": 1}]}, rows[0]
    assert at.utcoffset() is not None and (state.at.get() - at).total_seconds() < 1e9
    yield {"told": repr([type(before[0]).__name__, str(before[0]), before[1:]])}
"""


def test_all_types_come_back_from_the_state_as_they_were_kept(bench: Bench) -> None:
    made = {
        "name.of": "'a'",
        "day": "date'2026-01-02'",
        "at": "timestamp'2026-07-01 12:00:00.5'",
        "time": "timestamp'2026-07-01 12:00:00.000001'",
        "known": "map('k', array(named_struct('a', 1)))",
    }
    compute = ("flow.compute_columns", {"columns": [{"name": name, "expression": text} for name, text in made.items()]})
    kept = [
        {"name": "at", "type": "timestamp"},
        {"name": "days", "kind": "list", "type": "date"},
        {"name": "sums", "kind": "map", "key_type": "date", "type": "decimal(5, 1)", "ttl": "7 d"},
        {"name": "raw", "type": "binary"},
    ]
    own = stateful(TYPES, keys=["name.of", "DAY", "at"], state=kept, columns=[{"name": "told"}])
    nodes = {"gen": numbers(None, batch=1), "made": compute, "own": own, "out": COLLECT}
    plan = bench.plan(document(nodes, "gen>made, made>own, own>out", type="STREAMING", settings={"time_zone": "America/New_York"}))
    bench.drained(plan, 3)
    batches = CollectSink.rows[plan.generation + "out"]
    first, second, third = (batches[number][0] for number in range(3))
    assert first["name.of"] == "a"
    assert first.told == repr(["NoneType", "None", [[], {}, b"none"]])
    moment = "2026-07-01 12:00:00.000001-04:00"
    assert second.told.startswith(f"['datetime', '{moment}', [[datetime.date(2026, 1, 2)], ")
    assert "datetime.date(2026, 1, 2): Decimal('1.5')" in second.told
    assert "Decimal('2.5')" in third.told
    assert third.told.endswith(" b'x']]")


CLOCK = """
from datetime import timedelta


def process(key, rows, state, timers):
    state.count.set(state.count.get(0) + len(rows))
    if not timers.list():
        timers.register(timers.now + timedelta(milliseconds=200))


def on_timer(key, timer, state, timers):
    assert timer <= timers.now
    yield {"count": state.count.get(0)}
    state.count.clear()
"""


def test_timers_by_the_clock_fire_without_rows_and_each_row_is_counted_once(bench: Bench) -> None:
    nodes = {"gen": numbers(60, batch=20), "key": KEYED, "own": stateful(CLOCK, time="processing"), "out": COLLECT}
    plan = bench.plan(document(nodes, "gen>key, key>own, own>out", type="STREAMING"))
    run, heard = bench.run(plan)

    def counted() -> int:
        return sum(row["count"] for batch in list(CollectSink.rows[plan.generation + "out"].values()) for row in batch)

    wait_until(lambda: counted() >= 60, seconds=90, what="all rows in what timers told")
    run.stop()
    assert run.wait(30) == "stopped"
    assert (counted(), heard.rows("own")) == (60, heard.rows("out"))


KEYED = ("flow.compute_columns", {"columns": [{"name": "key", "expression": "id % 3"}]})
FAILS = """
def process(key, rows, state, timers):
    seen = state.count.get(0) + len(rows)
    state.count.set(seen)
    for row in rows:
        if row["id"] == 31:
            raise ValueError(key)
        yield {"count": seen}
"""


def test_a_call_that_raises_leaves_the_state_as_it_was_and_its_rows_are_rejected(bench: Bench) -> None:
    nodes = {"gen": numbers(None, batch=15), "key": KEYED, "own": stateful(FAILS), "out": COLLECT}
    plan = bench.plan(document(nodes, "gen>key, key>own, own>out", type="STREAMING"))
    heard = bench.drained(plan, 60)
    batches = CollectSink.rows[plan.generation + "out"]
    counts = [sorted({(row.key, row["count"]) for row in batches[number]}) for number in range(4)]
    assert counts == [[(0, 5), (1, 5), (2, 5)], [(0, 10), (1, 10), (2, 10)], [(0, 15), (2, 15)], [(0, 20), (1, 15), (2, 20)]]
    assert sum(batch.nodes["own"].rejected for batch in heard.batches().values()) == 5


TIMED = "def process(key, rows, state, timers): pass\ndef on_timer(key, timer, state, timers): pass"


def by_event(column: str) -> tuple[str, dict[str, Any]]:
    return stateful(TIMED, keys=["n"], time="event", time_column=column)


@pytest.mark.parametrize(
    ("above", "node", "words"),
    [
        (windows(emit="close"), stateful(keys=["n"]), ""),
        (windows(), stateful(keys=["n"]), 'it keeps state, and "Sum" before it sends'),
        (windows(emit="close"), by_event("window_end"), 'it goes by event time, and so does "Sum" before it'),
        (("flow.deduplicate", {"keys": ["id"], "time_column": "time"}), by_event("time"), ""),
        (("flow.deduplicate", {"keys": ["id"], "time": "processing"}), by_event("time"), 'and so does "Sum" before it'),
    ],
)
def test_what_a_stream_cannot_do_is_told_while_it_is_drawn(bench: Bench, above: Any, node: Any, words: str) -> None:
    named = ("flow.compute_columns", {"columns": [{"name": "n", "expression": "1"}]})
    nodes = {"gen": numbers(None), "sum": above, "named": named, "own": node, "out": COLLECT}
    found = [one for one in told_problems(bench, nodes, "gen>sum, sum>named, named>own, own>out") if one[1] == "error"]
    assert [node_id for node_id, _, _ in found] == (["own"] if words else [])
    assert all(words in message for _, _, message in found)


def test_state_in_memory_is_refused_and_state_without_an_end_is_warned_of(bench: Bench) -> None:
    nodes = {"gen": numbers(None), "key": KEYED, "own": stateful(), "out": COLLECT}
    edges = "gen>key, key>own, own>out"
    (warned,) = told_problems(bench, nodes, edges)
    assert warned[:2] == ("own", "warning")
    assert "a stream remembers count of every key for ever: give it a time to live" in warned[2]
    (refused, *_) = told_problems(bench, nodes, edges, settings={"state_store": "memory"})
    assert refused[:2] == ("own", "error")
    assert "set the state store to rocksdb" in refused[2]
    lives = stateful(state=[{"name": "count", "ttl": "1 d"}])
    assert told_problems(bench, nodes | {"own": lives}, edges) == []
    assert told_problems(bench, nodes | {"gen": numbers(40)}, edges, type="BATCH_ROLLER") == []


def test_a_name_that_the_store_of_a_stream_cannot_take_is_told_while_it_is_drawn(bench: Bench) -> None:
    named = stateful("def process(key, rows, state, timers): state.default.set(1)", state=[{"name": "default", "ttl": "1 d"}])
    nodes, edges = {"gen": numbers(None), "key": KEYED, "own": named, "out": COLLECT}, "gen>key, key>own, own>out"
    assert told_problems(bench, nodes, edges) == [
        ("own", "error", '"Own": a stream\'s store keeps the name default for itself: choose another one')
    ]
    assert told_problems(bench, nodes | {"gen": numbers(40)}, edges, type="BATCH_ROLLER") == []


def test_a_preview_shows_what_a_key_would_tell(bench: Bench) -> None:
    drawn = document({"gen": numbers(), "key": KEYED, "own": stateful(), "out": COLLECT}, "gen>key, key>own, own>out", type="STREAMING")
    found = preview(bench.spark, drawn, "own", rows=6, connections={}, limits=Limits(), registry=REGISTRY)
    assert sorted((row["key"], row["count"]) for row in found["out"]["rows"]) == [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]


def test_a_failing_row_is_kept_as_it_came(bench: Bench) -> None:
    nodes = {"gen": numbers(40), "key": KEYED, "own": stateful(FAILS), "out": files("good"), "bad": files("bad")}
    bench.completed(document(nodes, "gen>key, key>own, own>out, own.errors>bad"))
    bad = bench.parquet("bad")
    assert {row.key for row in bad} == {1}
    came = [json.loads(row.rejected_reason.partition(":\n")[2]) for row in bad]
    assert sorted(row["id"] for row in came) == list(range(1, 40, 3))
