"""What a stream leaves out as too late is counted at the node that left it out."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from jobs.engine.late_rows import stateful_nodes
from jobs.engine.steps import Steps
from tests.engine.graphs import COLLECT, REGISTRY, Bench, Heard, document, files, numbers, told_problems, windows
from tests.engine.nodes import CollectSink
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

COLUMNS = [{"name": "id", "type": "long"}, {"name": "key"}, {"name": "at", "type": "timestamp"}]
BY_MINUTE = {"time_column": "at", "window": "1 min", "late": "0s", "emit": "close", "aggregates": [{"name": "n"}]}
WINDOWS: tuple[str, dict[str, Any]] = ("flow.window_aggregate", BY_MINUTE)
REDUCED = ("flow.window_reduce", {"time_column": "at", "window": "1 min", "late": "0s"})
SESSIONS = ("flow.window_aggregate", {**BY_MINUTE, "kind": "session", "group_by": ["key"]})
ONCE = ("flow.deduplicate", {"keys": ["id"], "time_column": "at", "within": "1 min"})
PAIRS = ("flow.join", {"keys": [{"left": "key"}], "left_time": "at", "right_time": "at", "before": "1 min", "after": "1 min"})


def rows_drop(bench: Bench, folder: str, batches: Sequence[Sequence[tuple[int, str, str | None]]]) -> tuple[str, dict[str, Any]]:
    """Each batch in a file of its own; the source that reads one of them a batch."""
    target = bench.files / folder
    target.mkdir(exist_ok=True)
    for number, batch in enumerate(batches):
        lines = [json.dumps({"id": one, "key": key, "at": at and f"2024-03-01T{at}Z"}) for one, key, at in batch]
        (target / f"{number}.json").write_text("\n".join(lines) + "\n")
    return "source.file", {"path": folder, "format": "json", "columns": COLUMNS, "max_files_per_trigger": 1, "order": "name"}


EARLY = [(1, "a", "00:00:10"), (2, "b", "00:00:20")]
#: Spark calls late what is behind the time of the batch before the last.
LATER = [[(3, "a", "01:00:00")], [(7, "c", "01:00:01")]]
TOO_LATE = [(4, "a", "00:00:30"), (5, "b", "00:00:40"), (6, "b", "01:00:05")]


def run_until_read(bench: Bench, nodes: Any, edges: str, rows: int) -> Heard:
    return bench.drained(bench.plan(document(nodes, edges, type="STREAMING")), rows)


@pytest.mark.parametrize("step", [WINDOWS, SESSIONS, REDUCED, ONCE])
def test_late_rows_are_counted_at_their_node(bench: Bench, step: Any) -> None:
    batches = [EARLY, *LATER, TOO_LATE]
    nodes = {"rows": rows_drop(bench, "rows", batches), "step": step, "out": COLLECT}
    heard = run_until_read(bench, nodes, "rows>step, step>out", 7)
    late = heard.rows("step", "late")
    assert 0 < late <= 2 if step is WINDOWS or step is SESSIONS else late == 2
    assert heard.rows("rows", "late") == 0


def test_a_row_of_windows_that_slide_counts_for_each_that_had_closed(bench: Bench) -> None:
    sliding = ("flow.window_reduce", {**REDUCED[1], "kind": "sliding", "window": "2 min", "slide": "1 min"})
    nodes = {"rows": rows_drop(bench, "rows", [EARLY, *LATER, TOO_LATE, [(7, "a", "00:59:30")]]), "step": sliding, "out": COLLECT}
    heard = run_until_read(bench, nodes, "rows>step, step>out", 8)
    assert heard.rows("step", "late") == 2 * 2 + 1


def test_late_rows_of_a_join_are_counted(bench: Bench) -> None:
    batches = [EARLY, *LATER, TOO_LATE]
    nodes = {"left": rows_drop(bench, "left", batches), "right": rows_drop(bench, "right", batches), "both": PAIRS, "out": COLLECT}
    heard = run_until_read(bench, nodes, "left>both.left, right>both.right, both>out", 14)
    assert heard.rows("both", "late") == 4


#: Left and right ids of what comes out of the keys a, b and n.
FOUND: dict[str, set[tuple[Any, Any]]] = {
    "inner": {(3, 3)},
    "left": {(3, 3), (1, None)},
    "right": {(3, 3), (None, 102)},
    "full": {(3, 3), (1, None), (None, 102)},
    "semi": {(3, None)},
}


@pytest.mark.parametrize("kind", ["full", *(pytest.param(kind, marks=pytest.mark.faults) for kind in ("inner", "left", "right", "semi"))])
def test_late_and_timeless_rows_of_a_join_are_counted_and_neither_kept_nor_given_out(bench: Bench, kind: str) -> None:
    """Not even by an outer join, which would else keep those without a time for ever, for a partner that may yet come."""
    ends = [[(20, "z", "03:00:00")], [(21, "z", "03:00:01")]]
    left: list[Any] = [[(1, "a", "00:00:10"), (5, "n", None)], *LATER, [(4, "a", "00:00:30"), (6, "n", None), (8, "n", None)], *ends]
    right: list[Any] = [[(102, "b", "00:00:10"), (105, "n", None)], *LATER, [(104, "b", "00:00:30")], *ends]
    nodes = {
        "left": rows_drop(bench, "left", left),
        "right": rows_drop(bench, "right", right),
        "both": (PAIRS[0], {**PAIRS[1], "kind": kind}),
    }
    read = document({**nodes, "out": COLLECT}, "left>both.left, right>both.right, both>out", type="STREAMING")
    plan = bench.plan(read)
    run, heard = bench.run(plan)

    def found() -> set[tuple[Any, Any]]:
        rows = [row for batch in list(CollectSink.rows[plan.generation + "out"].values()) for row in batch if row.key in "abn"]
        return {(row.id, None if kind == "semi" else row.right_id) for row in rows}

    def is_done() -> bool:
        """What is kept at the end are the rows of the key z, which still wait."""
        return heard.rows("both", "rows_in") == 16 and found() >= FOUND[kind] and heard.committed()[-1].operators[0]["rows"] <= 4

    wait_until(is_done, seconds=60, what="all rows, and that none but the last are kept")
    run.stop()
    assert run.wait(30) == "stopped"
    assert found() == FOUND[kind]
    assert (heard.rows("both", "late"), heard.rows("both", "timeless")) == (2, 4)


def test_of_two_nodes_that_keep_state_each_has_its_own(bench: Bench) -> None:
    """Spark lists the operators of a query from its end on."""
    batches = [EARLY, *LATER, TOO_LATE]
    once = ("flow.deduplicate", {"keys": ["id"]})
    nodes = {"rows": rows_drop(bench, "rows", batches), "once": once, "minutes": WINDOWS, "out": COLLECT}
    run, heard = bench.run(bench.plan(document(nodes, "rows>once, once>minutes, minutes>out", type="STREAMING")))
    wait_until(lambda: bool(heard.committed()) and heard.rows("rows") >= 7, seconds=60, what="all rows")
    run.stop()
    assert run.wait(30) == "stopped"
    assert heard.rows("once", "late") == 0
    assert 0 < heard.rows("minutes", "late") <= 2
    kept = {operator["node_id"]: operator["rows"] for operator in heard.committed()[-1].operators}
    assert kept["once"] == 7, "every id is remembered, and the windows that are over are not"
    assert kept["minutes"] < 7


def test_of_two_inputs_each_has_its_own_however_they_were_drawn(bench: Bench) -> None:
    """Spark lists what stands before the left input first."""
    once = ("flow.deduplicate", {"keys": ["id"]})
    nodes = {"left": rows_drop(bench, "left", [EARLY]), "right": rows_drop(bench, "right", [TOO_LATE]), "few": once, "many": once}
    nodes |= {"both": PAIRS, "out": COLLECT}
    edges = "right>many, many>both.right, left>few, few>both.left, both>out"
    run, heard = bench.run(bench.plan(document(nodes, edges, type="STREAMING")))
    wait_until(lambda: bool(heard.committed()) and heard.rows("many") >= 3, seconds=60, what="all rows")
    run.stop()
    assert run.wait(30) == "stopped"
    kept = {operator["node_id"]: operator["rows"] for operator in heard.committed()[-1].operators}
    assert (kept["few"], kept["many"]) == (2, 3)


def test_of_the_inputs_of_a_query_none_is_given_what_another_keeps(bench: Bench) -> None:
    once = ("flow.deduplicate", {"keys": ["id"]})
    both = ("flow.sql", {"query": "SELECT id FROM many UNION ALL SELECT id FROM few"})
    nodes = {"gen": numbers(None), "few": once, "many": once, "both": both, "out": COLLECT}
    steps = Steps(bench.plan(document(nodes, "gen>few, gen>many, few>both, many>both, both>out", type="STREAMING")), REGISTRY)
    assert stateful_nodes(steps, "both") == ("", "")


#: Row by row: what is late of a window, and when.
EACH_WINDOW: dict[str, dict[str, Any]] = {
    "tumbling": {},
    "sliding": {"kind": "sliding", "window": "2 min", "slide": "1 min"},
    "session": {"kind": "session", "window": "1 min", "group_by": ["key"]},
    "shifted": {"offset": "15s"},
}
MERGING = """
def start():
    return 0


def add(value, row):
    return value + 1


def merge(one, other):
    return one + other


def result(value):
    return {"rows": value}
"""


@pytest.mark.each_once
@pytest.mark.parametrize("flow", ["flow.window_aggregate", "flow.window_reduce"])
@pytest.mark.parametrize("window", EACH_WINDOW)
def test_late_rows_are_led_on_as_they_came(bench: Bench, window: str, flow: str) -> None:
    """The second of them is in a window that is still open: none but the first goes on."""
    own: dict[str, Any] = {"aggregates": [{"name": "n"}]} if flow == "flow.window_aggregate" else {"code": MERGING}
    config = {"time_column": "at", "window": "1 min", "late": "0s", "emit": "close", **own, **EACH_WINDOW[window]}
    batches = [EARLY, *LATER, TOO_LATE, [(8, "d", "02:00:00")], [(9, "d", "02:00:01")], [(10, "e", "00:30:00"), (11, "d", "02:00:02")]]
    nodes = {"rows": rows_drop(bench, "rows", batches), "step": (flow, config), "out": files("out"), "late": files("late")}
    heard = run_until_read(bench, nodes, "rows>step, step>out, step.late>late", 11)
    assert sorted((row.id, row.key, row.at.strftime("%H:%M:%S")) for row in bench.parquet("late")) == [
        (4, "a", "00:00:30"),
        (5, "b", "00:00:40"),
        (10, "e", "00:30:00"),
    ]
    assert heard.rows("step", "late") == 3
    assert heard.rows("late") == 3
    assert heard.rows("rows") == 11, "a batch that is read twice counts once"
    assert sum(row["n" if "n" in row else "rows"] for row in bench.parquet("out")) >= 3


def test_late_rows_alone_may_be_led_on_and_go_through_flows(bench: Bench) -> None:
    keep = ("flow.filter_rows", {"condition": "key = 'b'"})
    nodes = {"rows": rows_drop(bench, "rows", [EARLY, *LATER, TOO_LATE]), "step": WINDOWS, "b": keep, "late": files("late")}
    run_until_read(bench, nodes, "rows>step, step.late>b, b>late", 7)
    assert [row.id for row in bench.parquet("late")] == [5]


def test_a_batch_that_is_written_again_leads_the_same_rows_on(bench: Bench) -> None:
    """The attempt before ended when its sinks had all rows of the batch, and before Spark committed it."""
    nodes = {"rows": rows_drop(bench, "rows", [EARLY, *LATER, TOO_LATE]), "step": WINDOWS, "out": COLLECT, "late": COLLECT}
    edges = "rows>step, step>out, step.late>late"
    plan = bench.plan(document(nodes, edges, type="STREAMING"))
    bench.drained(plan, 7)
    led_on = CollectSink.rows[plan.generation + "late"]
    before = {number: rows for number, rows in led_on.items() if rows}
    (batch,) = before
    for folder, first in (("commits", batch), ("offsets", batch + 1)):
        for file in plan.locations.live.glob(f"*/{folder}/*"):
            if file.name.isdigit() and int(file.name) >= first:
                file.unlink()
    led_on.clear()
    again = bench.plan(document(nodes, edges, type="STREAMING"), generation=plan.generation, attempt=2)
    run, _ = bench.run(again)
    wait_until(lambda: batch in led_on, seconds=60, what="the batch")
    run.stop()
    assert run.wait(30) == "stopped"
    assert {number: rows for number, rows in led_on.items() if rows} == before


@pytest.mark.parametrize(
    ("more", "edges", "told"),
    [
        (
            {"again": ("flow.deduplicate", {"keys": ["n"]})},
            "rows>step, step>again, again>out, step.late>late",
            "what stands behind it keeps state",
        ),
        ({"both": ("flow.union", {})}, "rows>step, step.late>both, rows>both, both>late, step>out", "needs a query of its own"),
    ],
)
def test_late_rows_that_cannot_be_led_on_are_told_while_the_job_is_drawn(bench: Bench, more: Any, edges: str, told: str) -> None:
    nodes = {"rows": numbers(None), "step": windows(emit="close"), "out": COLLECT, "late": COLLECT, **more}
    problems = told_problems(bench, nodes, edges)
    assert any(node == "step" and severity == "error" and told in words for node, severity, words in problems), problems


def test_a_job_that_ends_has_no_late_rows(bench: Bench) -> None:
    nodes = {"rows": rows_drop(bench, "rows", [EARLY, *LATER, TOO_LATE]), "step": WINDOWS, "out": COLLECT, "late": files("late")}
    heard = bench.completed(document(nodes, "rows>step, step>out, step.late>late"))
    assert heard.rows("late") == 0
    assert bench.parquet("late") == []


STREAKS = ("flow.stateful", {"keys": ["key"], "time": "event", "time_column": "at"})
SLIDING = ("flow.window_aggregate", {**BY_MINUTE, "kind": "sliding", "window": "3 min", "slide": "2 min"})
REDUCED_SESSIONS = (
    "flow.window_reduce",
    {
        "time_column": "at",
        "window": "1 min",
        "late": "0s",
        "kind": "session",
        "group_by": ["key"],
        "code": "def start():\n    return 0\n\n\ndef add(value, row):\n    return value + 1\n\n\n"
        "def merge(one, other):\n    return one + other\n\n\ndef result(value):\n    return {'rows': value}\n",
    },
)


@pytest.mark.parametrize(
    "step", [WINDOWS, REDUCED_SESSIONS, STREAKS, *(pytest.param(one, marks=pytest.mark.faults) for one in (SLIDING, SESSIONS, REDUCED))]
)
def test_rows_without_a_time_are_counted_apart_from_late_ones(bench: Bench, step: Any) -> None:
    batches: list[Any] = [[*EARLY, (10, "n", None)], *LATER, [(11, "n", None), (12, "a", None), (6, "b", "01:00:05")]]
    positive = ("flow.filter_rows", {"condition": "id > 0"})
    nodes = {"rows": rows_drop(bench, "rows", batches), "few": positive, "step": step, "out": COLLECT}
    heard = run_until_read(bench, nodes, "rows>few, few>step, step>out", 8)
    assert (heard.rows("step", "timeless"), heard.rows("step", "late"), heard.rows("few", "timeless")) == (3, 0, 0)


def test_rows_without_a_time_do_not_go_on_as_late_ones(bench: Bench) -> None:
    batches: list[Any] = [[*EARLY, (10, "n", None)], *LATER, [*TOO_LATE, (11, "n", None)]]
    nodes = {"rows": rows_drop(bench, "rows", batches), "step": WINDOWS, "out": files("out"), "late": files("late")}
    heard = run_until_read(bench, nodes, "rows>step, step>out, step.late>late", 9)
    assert [row.id for row in bench.parquet("late")] == [4, 5]
    assert (heard.rows("step", "timeless"), heard.rows("step", "late")) == (2, 2)


@pytest.mark.parametrize("step", [WINDOWS, REDUCED, STREAKS])
def test_rows_without_a_time_are_counted_in_a_job_that_ends_by_itself(bench: Bench, step: Any) -> None:
    nodes = {"rows": rows_drop(bench, "rows", [[*EARLY, (10, "n", None)], [(11, "n", None)]]), "step": step, "out": COLLECT}
    for kind in ("SQL_TASK", "BATCH_ROLLER"):
        run, heard = bench.run(bench.plan(document(nodes, "rows>step, step>out", type=kind)))
        assert run.wait(60) == "completed"
        assert (heard.rows("step", "rows_in"), heard.rows("step", "timeless")) == (4, 2)


def test_a_row_as_old_as_the_newest_before_it_is_not_late(bench: Bench) -> None:
    """Each key in a batch of its own, and all at one time."""
    batches = [[(number, key, "00:00:10")] for number, key in enumerate("abcde")]
    own = ("flow.stateful", {**STREAKS[1], "late": "0s"})
    nodes = {name: rows_drop(bench, name, batches) for name in ("left", "right")}
    nodes |= {"own": own, "both": PAIRS, "one": COLLECT, "two": COLLECT}
    plan = bench.plan(document(nodes, "left>own, own>one, left>both.left, right>both.right, both>two", type="STREAMING"))
    run, heard = bench.run(plan)
    wait_until(lambda: heard.rows("own", "rows_in") == 5 and heard.rows("both", "rows_in") == 10, seconds=90, what="all rows")
    run.stop()
    assert run.wait(30) == "stopped"
    assert (heard.rows("own", "late"), heard.rows("both", "late")) == (0, 0)
    assert (heard.rows("one"), heard.rows("two")) == (5, 5)
