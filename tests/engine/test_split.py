"""One input sent to several ports: read once, counted per port, and said while it is drawn where it does not hold."""

from typing import Any

import pytest

from jobs.engine.events import Noticed
from jobs.engine.failure import ExecutionFailure
from jobs.engine.preview import preview
from jobs.engine.validation import analyse
from jobs.nodes.base import Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, files, keep, numbers, windows
from tests.engine.nodes import CollectSink, SlowSink

pytestmark = pytest.mark.spark

BRANCHES = [{"name": "fizz", "condition": "id % 3 = 0"}, {"name": "buzz", "condition": "id % 5 = 0"}]
FIZZ = {number for number in range(1000) if number % 3 == 0}
BUZZ = {number for number in range(1000) if number % 5 == 0}


def split(match: str = "first", branches: Any = BRANCHES) -> tuple[str, dict[str, Any]]:
    return "flow.split", {"branches": branches, "match": match}


def ids(bench: Bench, name: str) -> list[int]:
    return sorted(row.id for row in bench.parquet(name))


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK"])
def test_each_row_leaves_by_one_port_and_the_input_is_read_once(bench: Bench, kind: str) -> None:
    nodes = {"gen": numbers(1000), "way": split(), "fizz": files("fizz"), "buzz": files("buzz"), "rest": files("rest")}
    heard = bench.completed(document(nodes, "gen>way, way.fizz>fizz, way.buzz>buzz, way.else>rest", type=kind))
    assert ids(bench, "fizz") == sorted(FIZZ)
    assert ids(bench, "buzz") == sorted(BUZZ - FIZZ)
    assert ids(bench, "rest") == sorted(set(range(1000)) - FIZZ - BUZZ)
    assert heard.rows("gen") == 1000
    assert (heard.rows("way", "rows_in"), heard.rows("way")) == (1000, 1000)
    assert (heard.rows("fizz"), heard.rows("buzz"), heard.rows("rest")) == (334, 133, 533)


def test_a_row_may_leave_by_every_port_it_meets_and_meet_itself_again_in_a_union(bench: Bench) -> None:
    """Nothing reads the port else: what leaves there ends, and still counts as gone through."""
    nodes = {"gen": numbers(1000), "way": split("all"), "all": ("flow.union", {}), "out": files("out")}
    heard = bench.completed(document(nodes, "gen>way, way.fizz>all, way.buzz>all, all>out"))
    assert ids(bench, "out") == sorted([*FIZZ, *BUZZ])
    assert (heard.rows("gen"), heard.rows("out")) == (1000, 534)
    assert heard.rows("way") == 534 + len(set(range(1000)) - FIZZ - BUZZ)


def test_a_stream_with_one_port_in_use_goes_on_through_it(bench: Bench) -> None:
    nodes = {"gen": numbers(1000), "way": split(), "few": keep("id < 100"), "out": files("out")}
    heard = bench.drained(bench.plan(document(nodes, "gen>way, way.buzz>few, few>out", type="STREAMING")), 1000)
    assert ids(bench, "out") == sorted(number for number in BUZZ - FIZZ if number < 100)
    assert (heard.rows("way"), heard.rows("few", "rows_in"), heard.rows("out")) == (1000, 133, len(ids(bench, "out")))


def test_a_stream_sends_its_ports_to_a_window_and_to_a_file(bench: Bench) -> None:
    nodes = {"gen": numbers(1000), "way": split(), "per": windows(), "counts": COLLECT, "rest": files("rest")}
    run, heard = bench.run(bench.plan(document(nodes, "gen>way, way.fizz>per, per>counts, way.else>rest", type="STREAMING")))
    with heard.changed:
        assert heard.changed.wait_for(lambda: heard.rows("per", "rows_in") >= len(FIZZ) and heard.rows("rest") >= 533, 90)
    run.stop()
    assert run.wait(30) == "stopped"
    assert ids(bench, "rest") == sorted(set(range(1000)) - FIZZ - BUZZ)
    assert heard.rows("per", "rows_in") == len(FIZZ)
    assert [event.message for event in heard.of(Noticed)] == ['"Gen" is read by 2 queries, each for itself and in its own time']


def test_the_ports_have_schemas_and_a_condition_that_does_not_hold_is_told_on_its_row(bench: Bench) -> None:
    limits = Limits(file_roots=(bench.files,), data_dir=bench.root)

    def analysed(branches: Any) -> Any:
        read = document({"gen": numbers(), "way": split("first", branches), "out": COLLECT}, "gen>way, way.late>out")
        return analyse(bench.spark, read, connections={}, limits=limits, parameters={}, registry=REGISTRY)

    good = analysed([{"name": "late", "condition": "value > 1"}])
    assert good.problems == []
    assert set(good.schemas["way"]) == {"in", "late", "else"}
    assert good.schemas["way"]["late"] == good.schemas["gen"]["out"]
    (problem,) = analysed([{"name": "late", "condition": "true"}, {"name": "odd", "condition": "valeu > 1"}]).problems
    assert (problem.code, problem.pointer) == ("column.unknown", "/nodes/way/config/branches/1/condition")
    assert problem.message == '"Way": odd: there is no column valeu; did you mean value? The columns are id, time, key, value'


def test_an_edge_at_a_port_that_is_gone_is_a_problem_that_names_it(bench: Bench) -> None:
    read = document({"gen": numbers(), "way": split(), "out": COLLECT}, "gen>way, way.late>out")
    found = analyse(bench.spark, read, connections={}, limits=Limits(), parameters={}, registry=REGISTRY).problems
    (problem,) = [one for one in found if one.edge_id]
    assert (problem.code, problem.pointer) == ("edge.unknown_port", "/edges/e2/from")
    assert problem.message == '"Way" has no port "late"; it has "fizz", "buzz", "else"'
    assert problem.node_id == "way"


def test_a_preview_shows_the_rows_of_each_port(bench: Bench) -> None:
    read = document({"gen": numbers(), "way": split("all"), "out": COLLECT}, "gen>way, way.fizz>out")
    shown = preview(bench.spark, read, "way", rows=16, connections={}, limits=Limits(), registry=REGISTRY)
    found = {port: [row["id"] for row in table["rows"]] for port, table in shown["ports"].items()}
    assert found == {"fizz": [0, 3, 6, 9, 12, 15], "buzz": [0, 5, 10, 15], "else": [1, 2, 4, 7, 8, 11, 13, 14]}
    assert shown["out"] is None


def test_a_row_that_is_sent_by_the_time_leaves_by_one_port_however_long_a_sink_takes(bench: Bench) -> None:
    """Every other second all rows leave by the first port, to a sink that takes longer than a second."""
    even = [{"name": "even", "condition": "second(current_timestamp()) % 2 = 0"}]
    nodes = {"gen": numbers(3600, 600), "way": split(branches=even), "even": ("sink.slow", {}), "odd": COLLECT}
    plan = bench.plan(document(nodes, "gen>way, way.even>even, way.else>odd", type="STREAMING"))
    bench.drained(plan, 3600)
    odd = [row.id for batch in CollectSink.rows[plan.generation + "odd"].values() for row in batch]
    assert sorted(SlowSink.took[plan.generation] + odd) == list(range(3600))


def test_a_batch_has_one_time_for_all_its_sinks_and_when_it_is_begun_again(bench: Bench) -> None:
    stamp = ("flow.compute_columns", {"columns": [{"name": "seen", "expression": "now()"}]})
    nodes = {"gen": numbers(), "one": stamp, "two": stamp, "a": COLLECT, "b": COLLECT, "c": ("sink.fail", {})}
    read = document(nodes, "gen>one, gen>two, one>a, two>b, gen>c", type="STREAMING")

    def failed(attempt: int) -> dict[int, set[Any]]:
        """Batch → the times of its rows."""
        plan = bench.plan(read, generation="one-time", attempt=attempt)
        run, _ = bench.run(plan)
        with pytest.raises(ExecutionFailure):
            run.wait(90)
        sinks = [CollectSink.rows[plan.generation + sink] for sink in ("a", "b")]
        return {batch: {row.seen for sink in sinks for row in sink.get(batch, [])} for batch in (0, 1)}

    first, again = failed(1), failed(2)  # the sink that fails comes after the others but where it was the quickest before
    assert (len(first[0]), len(first[1] | again[1])) == (1, 1)
