"""Flows that remember keys, against a reference in plain Python: shuffled, repeated and late rows, in batches and in streams."""

import logging
import random
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from jobs.engine.failure import ExecutionFailure
from jobs.engine.validation import Analysis, analyse
from jobs.nodes.base import Limits
from tests.engine.graphs import COLLECT, Bench, document, files, keep, numbers, told_problems, windows
from tests.engine.nodes import CollectSink
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

#: How many inputs are drawn; all of them run in one job, told apart by the column `case`.
CASES = 60


def computed(**columns: str) -> tuple[str, dict[str, Any]]:
    return "flow.compute_columns", {"columns": [{"name": name, "expression": text} for name, text in columns.items()]}


def drawn(bench: Bench) -> dict[int, list[dict[str, Any]]]:
    """Random rows with repeated keys, equal values and nulls, by case; also as files that the job reads in any order."""
    chance = random.Random(20130101)
    cases: dict[int, list[dict[str, Any]]] = {}
    for case in range(CASES):
        keys = [None, *"abcd"[: chance.randint(1, 4)]]
        cases[case] = [
            {"case": case, "key": chance.choice(keys), "value": chance.choice([None, *range(6)]), "row": number}
            for number in range(chance.randint(1, 30))
        ]
    rows = [row for rows in cases.values() for row in rows]
    chance.shuffle(rows)
    schema = "case int, key string, value int, row int"
    bench.spark.createDataFrame(rows, schema).repartition(3).write.parquet(str(bench.files / "drawn"))
    return cases


def grouped(rows: list[dict[str, Any]]) -> dict[Any, list[dict[str, Any]]]:
    groups: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["key"]].append(row)
    return groups


def test_aggregates_ranks_and_deduplicated_rows_equal_the_reference(bench: Bench) -> None:
    cases = drawn(bench)
    values = [{"name": "n"}, {"name": "known", "function": "count", "column": "value"}] + [
        {"name": name, "function": name, "column": "value"} for name in ("sum", "min", "max", "avg")
    ]
    by = [{"column": "value", "order": "descending"}]
    nodes: dict[str, tuple[str, dict[str, Any]]] = {
        "in": ("source.file", {"path": "drawn", "format": "parquet"}),
        "sums": ("flow.aggregate", {"group_by": ["case", "key"], "aggregates": values}),
        "a": files("sums"),
        "top": ("flow.rank", {"keys": ["case", "key"], "order_by": [*by, {"column": "row"}], "rows": 2, "rank_column": "place"}),
        "b": files("top"),
        "tied": ("flow.rank", {"keys": ["case", "key"], "order_by": by, "ties": "keep"}),
        "c": files("tied"),
        "once": ("flow.deduplicate", {"keys": ["case", "key", "value"]}),
        "d": files("once"),
    }
    heard = bench.completed(document(nodes, "in>sums, sums>a, in>top, top>b, in>tied, tied>c, in>once, once>d"))
    sums, top, tied, once = (bench.parquet(name) for name in ("sums", "top", "tied", "once"))
    total = sum(map(len, cases.values()))
    assert [heard.rows(node) for node in ("in", "sums", "top", "tied", "once")] == [total, *map(len, (sums, top, tied, once))]
    for case, rows in cases.items():
        expected: dict[str, Any] = {"sums": {}, "top": {}, "tied": {}, "once": set()}
        for key, group in grouped(rows).items():
            known = [row["value"] for row in group if row["value"] is not None]
            whole = (sum(known), min(known), max(known), sum(known) / len(known)) if known else (None,) * 4
            expected["sums"][key] = (len(group), len(known), *whole)
            order = sorted(group, key=lambda row: (row["value"] is None, -(row["value"] or 0), row["row"]))
            expected["top"][key] = [row["row"] for row in order[:2]]
            expected["tied"][key] = {row["row"] for row in group if row["value"] == order[0]["value"]}
            expected["once"] |= {(key, row["value"]) for row in group}
        assert {row.key: (row.n, row.known, row["sum"], row["min"], row["max"], row.avg) for row in sums if row.case == case} == expected[
            "sums"
        ]
        for key in expected["top"]:
            placed = sorted((row.place, row.row) for row in top if (row.case, row.key) == (case, key))
            assert placed == list(enumerate(expected["top"][key], 1))
            assert {row.row for row in tied if (row.case, row.key) == (case, key)} == expected["tied"][key]
        found = [(row.key, row.value) for row in once if row.case == case]
        assert len(found) == len(set(found))
        assert set(found) == expected["once"]


def times(rows: int) -> list[tuple[int, int, int]]:
    """(id, key, second): every key comes often, most rows out of order, some far too late; what `ARRIVING` computes."""
    return [(number, number * 7 % 23, number * 10 + number * 37 % 101 - (900 if number % 19 == 0 else 0)) for number in range(rows)]


ARRIVING = computed(
    key="id * 7 % 23", second="id * 10 + id * 37 % 101 - if(id % 19 = 0, 900, 0)", at="timestamp_seconds(1357000000 + second)"
)


def test_a_stream_lets_a_key_through_again_only_after_the_time_and_never_loses_one(bench: Bench) -> None:
    nodes = {
        "gen": numbers(600, batch=50),
        "times": ARRIVING,
        "once": ("flow.deduplicate", {"keys": ["key"], "time_column": "at", "within": "2 min"}),
        "out": files("out"),
    }
    heard = bench.drained(bench.plan(document(nodes, "gen>times, times>once, once>out", type="STREAMING")), 600)
    came: dict[int, list[int]] = defaultdict(list)
    found = bench.parquet("out")
    for row in found:
        came[row.key].append(row.second)
    assert {(row.id, row.key, row.second) for row in found} <= set(times(600))
    for seconds in came.values():
        in_order = sorted(seconds)
        assert all(later - earlier > 120 for earlier, later in pairwise(in_order))
    assert set(came) == set(range(23))
    assert heard.rows("once") == len(found) < 600
    late = {row[0] for row in times(600) if row[0] >= 300 and row[0] % 19 == 0}
    assert not late & {row.id for row in found}, "a row 15 minutes behind came through"
    assert min(map(len, came.values())) > 3, "keys are forgotten"


PAIRS = computed(pair="id div 2", one="'one'", at="timestamp_seconds(1357000000 + (id div 2) * 10 + (id div 2) * 37 % 101)")
ONCE = ("flow.deduplicate", {"keys": ["pair"], "time_column": "at", "within": "2 min"})
BEHIND = "gen>pairs, pairs>once, once>some, some>n, n>out"


@pytest.mark.parametrize("kind", [pytest.param("tumbling", marks=pytest.mark.faults), "session"])
def test_windows_behind_deduplicated_rows_go_by_the_same_time_and_count_each_once(bench: Bench, kind: str) -> None:
    """Also over a stop between two rows of a pair."""
    config = {"time_column": "at", "kind": kind, "window": "1 min" if kind == "tumbling" else "9 s", "emit": "close", "group_by": ["one"]}
    count = ("flow.window_aggregate", {**config, "aggregates": [{"name": "n"}]})
    nodes = {"gen": numbers(600, batch=75), "pairs": PAIRS, "once": ONCE, "some": keep("pair % 7 > 0"), "n": count, "out": files("out")}
    read = document(nodes, BEHIND, type="STREAMING")
    first = bench.plan(read)
    bench.drained(first, 300)
    bench.drained(replace(bench.plan(read, generation=first.generation, attempt=2), fresh=False), 300)
    seconds = sorted(pair * 10 + pair * 37 % 101 for pair in range(300) if pair % 7 > 0)
    expected: dict[tuple[int, int], int] = {}
    if kind == "tumbling":
        for begin in range(1357000000 // 60 * 60, 1357003300, 60):
            expected[(begin, begin + 60)] = sum(begin <= 1357000000 + second < begin + 60 for second in seconds)
    else:
        began, last = seconds[0], seconds[0]
        for second in [*seconds[1:], 10**6]:
            if second - last >= 9:
                expected[(1357000000 + began, 1357000000 + last + 9)] = sum(began <= one <= last for one in seconds)
                began = second
            last = second
    found = {(row.window_start.timestamp(), row.window_end.timestamp()): row.n for row in bench.parquet("out")}
    newest = max(end for _, end in found)
    assert found == {window: count for window, count in expected.items() if count and window[1] <= newest}
    assert 1357000000 + max(seconds) - 900 < newest <= 1357000000 + max(seconds) - 120


def test_a_window_that_cannot_go_by_the_time_of_deduplicated_rows_says_so(bench: Bench) -> None:
    told = 'it goes by event time, and so does "Once" before it'
    anew = "a node before goes by at too, which is made anew on the way"
    for config, between, words in (
        ({"emit": "update"}, keep("pair > 0"), "it keeps state|" + told),
        ({"emit": "close", "time_column": "read"}, computed(read="current_timestamp()"), told),
        ({"emit": "close"}, computed(at="at + interval 1 hour"), anew),
        ({"emit": "close"}, computed(more="pair + 1"), ""),
    ):
        count = ("flow.window_aggregate", {"time_column": "at", "window": "1 min", "aggregates": [{"name": "n"}], **config})
        nodes = {"gen": numbers(600), "pairs": PAIRS, "once": ONCE, "some": between, "n": count, "out": COLLECT}
        errors = [message for node, severity, message in told_problems(bench, nodes, BEHIND) if (node, severity) == ("n", "error")]
        assert bool(errors) == bool(words), errors
        assert not words or any(part in errors[0] for part in words.split("|")), errors


def test_a_stream_without_a_time_lets_each_key_through_once_for_ever(bench: Bench) -> None:
    nodes = {"gen": numbers(400, batch=50), "times": ARRIVING, "once": ("flow.deduplicate", {"keys": ["key"]}), "out": files("out")}
    heard = bench.drained(bench.plan(document(nodes, "gen>times, times>once, once>out", type="STREAMING")), 400)
    assert sorted(row.key for row in bench.parquet("out")) == list(range(23))
    assert (heard.rows("once", "rows_in"), heard.rows("once")) == (400, 23)


def test_by_the_clock_a_key_comes_through_again_when_it_was_forgotten(bench: Bench) -> None:
    now = computed(five="id % 5", read="current_timestamp()")
    once = ("flow.deduplicate", {"keys": ["five"], "time": "processing", "within": "1500 ms"})
    nodes = {"gen": numbers(None, 20, per_second=40), "now": now, "once": once, "out": COLLECT}
    plan = bench.plan(document(nodes, "gen>now, now>once, once>out", type="STREAMING"))
    run, _ = bench.run(plan)

    def came() -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = defaultdict(list)
        for rows in list(CollectSink.rows[plan.generation + "out"].values()):
            for row in rows:
                found[row.five].append(row.read)
        return found

    wait_until(lambda: sum(len(times) >= 3 for times in came().values()) == 5, seconds=60, what="each key three times")
    run.stop()
    assert run.wait(30) == "stopped"
    for times in came().values():
        assert all((later - earlier).total_seconds() > 1.5 for earlier, later in pairwise(sorted(times)))


def test_a_stream_goes_on_with_the_keys_and_sums_it_had_when_it_stopped(bench: Bench) -> None:
    sums = ("flow.aggregate", {"group_by": ["key"], "aggregates": [{"name": "n"}, {"name": "ids", "function": "sum", "column": "id"}]})
    once = ("flow.deduplicate", {"keys": ["key"]})
    nodes = {"gen": numbers(400, batch=100), "times": ARRIVING, "sums": sums, "a": files("sums"), "once": once, "b": files("once")}
    read = document(nodes, "gen>times, times>sums, sums>a, times>once, once>b", type="STREAMING", settings={"trigger_interval": "2s"})
    run, heard = bench.run(bench.plan(read, generation="5d0f6c3e-0000-4000-8000-00000000000a"))
    with heard.changed:
        assert heard.changed.wait_for(lambda: heard.rows_in() >= 100, 60)
    run.stop()
    assert run.wait(60) == "stopped"
    again, heard = bench.run(bench.plan(read, generation="5d0f6c3e-0000-4000-8000-00000000000a", attempt=2))

    def last() -> dict[int, tuple[int, int]]:
        return {row.key: (row.n, row.ids) for row in sorted(bench.parquet("sums"), key=lambda row: row.n)}

    reference = {key: [number for number in range(400) if number * 7 % 23 == key] for key in range(23)}
    expected = {key: (len(ids), sum(ids)) for key, ids in reference.items()}
    with heard.changed:
        heard.changed.wait_for(lambda: last() == expected, 60)
    again.stop()
    assert again.wait(60) == "stopped"
    assert last() == expected
    assert sorted(row.key for row in bench.parquet("once")) == list(range(23))


def analysis(bench: Bench, nodes: Any, edges: str, type: str = "STREAMING") -> Analysis:
    limits = Limits(file_roots=(bench.files,), data_dir=bench.root)
    return analyse(bench.spark, document(nodes, edges, type=type), connections={}, limits=limits, parameters={})


def test_state_that_grows_is_told_on_the_field_that_bounds_it(bench: Bench) -> None:
    nodes = {
        "gen": numbers(None),
        "sums": ("flow.aggregate", {"group_by": ["key"]}),
        "a": files("a"),
        "once": ("flow.deduplicate", {"keys": ["id"]}),
        "b": files("b"),
        "bounded": ("flow.deduplicate", {"keys": ["id"], "time_column": "time"}),
        "c": files("c"),
    }
    edges = "gen>sums, sums>a, gen>once, once>b, gen>bounded, bounded>c"
    found = analysis(bench, nodes, edges).problems
    grows = [one for one in found if one.code == "state.grows"]
    assert [(one.severity, one.pointer) for one in grows] == [
        ("warning", "/nodes/once/config/time_column"),
        ("warning", "/nodes/sums/config/group_by"),
    ]
    assert (
        'remembers every id for ever: name the time column, or go by the clock: then one is forgotten after the time "within"'
        in grows[0].message
    )
    assert analysis(bench, {**nodes, "gen": numbers(10)}, edges, "BATCH_ROLLER").problems == []


MORE = ("flow.compute_columns", {"columns": [{"name": "more", "expression": "1"}]})


def test_changes_that_would_stand_side_by_side_in_a_target_are_told(bench: Bench) -> None:
    def told(before: Any, out: Any, type: str = "STREAMING") -> list[tuple[str, str, str | None]]:
        nodes = {"gen": numbers(None if type == "STREAMING" else 9), "counts": before, "all": MORE, "out": out}
        found = analysis(bench, nodes, "gen>counts, counts>all, all>out", type).problems
        assert [one.message for one in found if "sends a group again each time it changes" not in one.message] == []
        return [(one.severity, one.code, one.node_id) for one in found]

    warned = [("warning", "updates.appended", "out")]
    assert told(windows(), files("out")) == warned
    assert told(windows(), files("out"), "BATCH_ROLLER") == []
    assert told(windows(emit="close"), files("out")) == []
    assert told(windows(), ("sink.none", {})) == []
    drawn = {"gen": numbers(None), "counts": windows(), "print": COLLECT, "all": MORE, "out": files("out")}
    found = analysis(bench, drawn, "gen>counts, counts>print, counts.late>all, all>out").problems
    assert [one.code for one in found if one.node_id == "out"] == []  # what came too late comes once, as it was
    delta = {"path": str(bench.files / "table")}
    assert told(windows(), ("sink.delta", delta)) == warned
    assert told(windows(), ("sink.delta", delta | {"mode": "upsert", "keys": ["window_start"]})) == []


@pytest.mark.parametrize(
    ("before", "keys", "left_out"),
    [
        (windows(group_by=["key", "value"]), ["window_start", "key"], "value"),
        (windows(group_by=["key"], emit="close"), ["window_start"], "key"),
        (("flow.aggregate", {"group_by": ["key", "value"]}), ["KEY", "value"], ""),
        (windows(group_by=["key"]), ["key"], ""),  # the last window of each key may be what is wanted
    ],
)
def test_groups_that_would_take_the_place_of_each_other_are_told(bench: Bench, before: Any, keys: list[str], left_out: str) -> None:
    delta = {"path": str(bench.files / "table"), "mode": "upsert", "keys": keys}
    nodes = {"gen": numbers(None), "counts": before, "all": MORE, "out": ("sink.delta", delta)}
    found = [one for one in analysis(bench, nodes, "gen>counts, counts>all, all>out").problems if one.code != "state.grows"]
    assert [(one.severity, one.pointer) for one in found] == ([("warning", "/nodes/out/config/keys")] if left_out else [])
    assert all(f"and the keys leave out {left_out}: of groups that differ" in one.message for one in found)


@pytest.mark.parametrize(
    ("before", "picking", "is_told"),
    [
        (windows(), keep("n > 15"), True),
        (windows(), ("flow.split", {"branches": [{"name": "many", "condition": "n > 15"}]}), True),
        (windows(), ("flow.expectations", {"rules": [{"name": "many", "condition": "n > 15"}]}), True),
        (windows(), ("flow.sql", {"query": "SELECT * FROM input WHERE n > 15"}), True),
        (MORE, ("flow.sql", {"query": "SELECT key, count(*) AS n FROM input GROUP BY key HAVING count(*) > 15"}), True),
        (MORE, ("flow.sql", {"query": "SELECT key, count(*) AS n FROM input WHERE id > 15 GROUP BY key"}), False),
        (windows(), MORE, False),
        (windows(emit="close"), keep("n > 15"), False),
    ],
)
def test_groups_that_would_stay_in_a_table_when_they_no_longer_come_are_told(
    bench: Bench, before: Any, picking: Any, is_told: bool
) -> None:
    delta = {"path": str(bench.files / "table"), "mode": "upsert", "keys": ["n"]}
    nodes = {"gen": numbers(None), "counts": before, "few": picking, "out": ("sink.delta", delta)}
    way = "few.many>out" if picking[0] == "flow.split" else "few>out"
    found = [one for one in analysis(bench, nodes, f"gen>counts, counts>few, {way}").problems if one.code == "updates.picked"]
    assert [(one.severity, one.node_id) for one in found] == ([("warning", "out")] if is_told else [])
    assert all('and "Few" looks at it each time: one that no longer comes here stays' in one.message for one in found)


def test_a_list_that_grows_for_ever_is_told_also_without_groups(bench: Bench) -> None:
    nodes = {
        "gen": numbers(None),
        "ids": ("flow.aggregate", {"aggregates": [{"name": "ids", "function": "collect", "column": "id"}]}),
        "out": ("sink.none", {}),
    }
    (problem,) = analysis(bench, nodes, "gen>ids, ids>out").problems
    assert (problem.severity, problem.code, problem.pointer) == ("warning", "state.grows", "/nodes/ids/config/aggregates")
    assert "a stream keeps every value of id for ever" in problem.message
    assert analysis(bench, {**nodes, "gen": numbers(10)}, "gen>ids, ids>out", "BATCH_ROLLER").problems == []


@pytest.mark.parametrize("before", [("flow.aggregate", {}), windows()])
def test_state_behind_a_node_that_sends_groups_again_is_refused_while_it_is_drawn(bench: Bench, before: Any) -> None:
    nodes = {"gen": numbers(None), "sums": before, "once": ("flow.deduplicate", {}), "out": files("out")}
    (problem,) = analysis(bench, nodes, "gen>sums, sums>once, once>out").problems
    assert (problem.severity, problem.node_id) == ("error", "once")
    assert '"Once": it keeps state, and "Sums" before it sends a group again each time it changes' in problem.message
    assert analysis(bench, {**nodes, "gen": numbers(9)}, "gen>sums, sums>once, once>out", "BATCH_ROLLER").problems == []


def rules(*given: tuple[str, str, str]) -> tuple[str, dict[str, Any]]:
    return "flow.expectations", {"rules": [{"name": name, "condition": condition, "action": action} for name, condition, action in given]}


def test_rules_warn_and_reject_and_every_batch_says_how_many_rows_broke_which(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    asked = rules(("small", "id < 150", "warn"), ("even", "id % 2 = 0", "drop"), ("any", "id >= 0", "warn"))
    nodes = {"gen": numbers(200, batch=100), "ask": asked, "out": files("out"), "bad": files("bad")}
    with caplog.at_level(logging.INFO, logger="pipeline.job"):
        heard = bench.completed(document(nodes, "gen>ask, ask>out, ask.errors>bad"))
    assert (heard.rows("ask", "rows_in"), heard.rows("ask"), heard.rows("ask", "rejected")) == (200, 100, 100)
    tallies = [batch.nodes["ask"].tallies for _, batch in sorted(heard.batches().items())]
    assert tallies == [{"small": 0, "even": 50, "any": 0}, {"small": 50, "even": 50, "any": 0}]
    assert sorted(row.id for row in bench.parquet("out")) == list(range(0, 200, 2))
    assert {row.rejected_reason for row in bench.parquet("bad")} == {'it breaks the rule "even"'}
    assert [record.message for record in caplog.records if "the rule" in record.message] == [
        'the rule "even" (drop): 50 of 100 rows',
        'the rule "small" (warn): 50 of 100 rows',
        'the rule "even" (drop): 50 of 100 rows',
    ]


def test_a_rule_that_fails_ends_the_job_with_the_rule_and_the_row(bench: Bench) -> None:
    nodes = {"gen": numbers(100, batch=50), "ask": rules(("under 70", "id < 70", "fail")), "out": files("out")}
    run, _ = bench.run(bench.plan(document(nodes, "gen>ask, ask>out")))
    with pytest.raises(ExecutionFailure) as caught:
        run.wait(60)
    found = caught.value
    assert (found.node_id, found.kind, found.permanent) == ("ask", "user", True)
    assert found.message.startswith('"Ask": a row breaks the rule "under 70": {"id":7')
    assert found.message.endswith("mend the data, or let the rule warn or drop")
    assert sorted(row.id for row in bench.parquet("out")) == list(range(50))
