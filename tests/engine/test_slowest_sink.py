"""Of several sinks the one that the batches wait for is named, and never one that only was the first to read the rows."""

import pytest

from jobs.engine.events import BatchCommitted, Noticed
from jobs.engine.slowest_sink import SlowestSink
from tests.engine.graphs import COLLECT, Bench, document, numbers


def test_a_sink_that_is_slow_in_every_batch_is_named_once() -> None:
    slowest = SlowestSink()
    told = [slowest.took({"a": 0.2, "b": 3.0}) for _ in range(6)]
    assert [notice is not None for notice in told] == [False, False, True, False, False, False]
    assert told[2] == Noticed("the batches wait for this sink: it took 3.0 s of the 3.2 s that all sinks took", "b", "warning")
    again = [slowest.took({"a": 9.0, "b": 3.0}) for _ in range(3)]
    assert [notice.node_id for notice in again if notice] == ["a"]


def test_what_the_first_sink_spends_on_the_rows_is_not_held_against_it() -> None:
    """Reading takes five seconds, whichever sink comes first."""
    slowest = SlowestSink()
    for _ in range(10):
        first, *others = slowest.last(["a", "b", "c"])
        assert slowest.took({first: 5.1} | dict.fromkeys(others, 0.1)) is None


@pytest.mark.parametrize("seconds", [{"a": 3.0}, {"a": 0.1, "b": 0.9}, {"a": 3.0, "b": 3.0}])
def test_one_sink_quick_ones_and_equal_ones_are_not_named(seconds: dict[str, float]) -> None:
    slowest = SlowestSink()
    assert [slowest.took(seconds) for _ in range(5)] == [None] * 5


@pytest.mark.spark
def test_a_slow_sink_beside_a_quick_one_is_named_while_it_runs(bench: Bench) -> None:
    nodes = {"gen": numbers(6000, 1000), "slow": ("sink.slow", {}), "quick": COLLECT}
    run, heard = bench.run(bench.plan(document(nodes, "gen>slow, gen>quick", type="STREAMING")))
    heard.wait_for(BatchCommitted, 5)
    run.stop()
    run.wait(30)
    (notice,) = heard.of(Noticed)
    assert (notice.node_id, notice.severity) == ("slow", "warning")
