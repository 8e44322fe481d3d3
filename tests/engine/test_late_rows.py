"""What a stream leaves out as too late is counted at the node that left it out."""

import json
from typing import Any

import pytest

from tests.engine.graphs import COLLECT, Bench, Heard, document
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

COLUMNS = [{"name": "id", "type": "long"}, {"name": "key"}, {"name": "at", "type": "timestamp"}]
WINDOWS = ("flow.window_aggregate", {"time_column": "at", "window": "1 min", "late": "0s", "emit": "close", "aggregates": [{"name": "n"}]})
REDUCED = ("flow.window_reduce", {"time_column": "at", "window": "1 min", "late": "0s"})
ONCE = ("flow.deduplicate", {"keys": ["id"], "time_column": "at", "within": "1 min"})
PAIRS = ("flow.join", {"keys": [{"left": "key"}], "left_time": "at", "right_time": "at", "before": "1 min", "after": "1 min"})


def rows_drop(bench: Bench, folder: str, batches: list[list[tuple[int, str, str]]]) -> tuple[str, dict[str, Any]]:
    """Each batch in a file of its own; the source that reads one of them a batch."""
    target = bench.files / folder
    target.mkdir(exist_ok=True)
    for number, batch in enumerate(batches):
        lines = [json.dumps({"id": one, "key": key, "at": f"2024-03-01T{at}Z"}) for one, key, at in batch]
        (target / f"{number}.json").write_text("\n".join(lines) + "\n")
    return "source.file", {"path": folder, "format": "json", "columns": COLUMNS, "max_files_per_trigger": 1, "order": "name"}


EARLY = [(1, "a", "00:00:10"), (2, "b", "00:00:20")]
#: Spark calls late what is behind the time of the batch before the last.
LATER = [[(3, "a", "01:00:00")], [(7, "c", "01:00:01")]]
TOO_LATE = [(4, "a", "00:00:30"), (5, "b", "00:00:40"), (6, "b", "01:00:05")]


def run_until_read(bench: Bench, nodes: Any, edges: str, rows: int) -> Heard:
    return bench.drained(bench.plan(document(nodes, edges, type="STREAMING")), rows)


@pytest.mark.parametrize("step", [WINDOWS, REDUCED, ONCE])
def test_late_rows_are_counted_at_their_node(bench: Bench, step: Any) -> None:
    batches = [EARLY, *LATER, TOO_LATE]
    nodes = {"rows": rows_drop(bench, "rows", batches), "step": step, "out": COLLECT}
    heard = run_until_read(bench, nodes, "rows>step, step>out", 7)
    late = heard.rows("step", "late")
    assert 0 < late <= 2 if step is WINDOWS else late == 2
    assert heard.rows("rows", "late") == 0


def test_late_rows_of_a_join_are_counted(bench: Bench) -> None:
    batches = [EARLY, *LATER, TOO_LATE]
    nodes = {"left": rows_drop(bench, "left", batches), "right": rows_drop(bench, "right", batches), "both": PAIRS, "out": COLLECT}
    heard = run_until_read(bench, nodes, "left>both.left, right>both.right, both>out", 14)
    assert heard.rows("both", "late") == 4


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
