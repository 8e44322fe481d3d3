"""Counting batches once, and rates over a window."""

import pytest

from jobs.engine.events import BatchWritten, NodeCounts
from jobs.reporting.counts import Counts, Rates
from jobs.services.metrics import QueryCounts


def written(batch_id: int, rows: int, query: str = "out") -> BatchWritten:
    nodes = {"src": NodeCounts(None, rows), query: NodeCounts(rows, rows)}
    return BatchWritten(query, batch_id, rows_in=rows, rows_out=rows, rejected=1, nodes=nodes)


def test_batches_add_up_and_a_repeat_overwrites() -> None:
    counts = Counts([])
    for batch_id, rows in ((0, 10), (1, 20), (1, 25), (2, 5)):
        counts.batch(written(batch_id, rows))
    totals = counts.totals()
    assert (totals["in"], totals["out"], totals["rejected"]) == (40, 40, 3)
    assert totals["nodes"]["src"] == {"in": None, "out": 40, "rejected": 0}


def test_a_later_attempt_goes_on_from_what_was_kept() -> None:
    first = Counts([])
    first.batch(written(0, 10))
    kept: QueryCounts = first.batch(written(1, 20))
    second = Counts([kept])
    second.batch(written(1, 20))
    assert second.totals()["in"] == 30


def test_what_a_node_counts_besides_adds_up_and_a_repeat_overwrites() -> None:
    def ruled(batch_id: int, broken: dict[str, int]) -> BatchWritten:
        nodes = {"ask": NodeCounts(10, 9, 1, tallies=broken)}
        return BatchWritten("out", batch_id, rows_in=10, rows_out=9, rejected=1, nodes=nodes)

    counts = Counts([])
    counts.batch(ruled(0, {"a": 1, "b": 0}))
    counts.batch(ruled(1, {"a": 5, "b": 5}))
    kept = counts.batch(ruled(1, {"a": 2, "b": 3}))
    later = Counts([kept])
    later.batch(ruled(2, {"a": 4, "b": 0}))
    assert later.totals()["nodes"]["ask"] == {"in": 30, "out": 27, "rejected": 3, "tallies": {"a": 7, "b": 3}}


def test_queries_stand_side_by_side() -> None:
    counts = Counts([])
    counts.batch(written(0, 10, "a"))
    counts.batch(written(0, 7, "b"))
    assert set(counts.totals()["nodes"]) == {"src", "a", "b"}
    assert counts.totals()["nodes"]["src"]["out"] == 17


def test_rates_are_rows_over_the_window_and_fall_to_zero() -> None:
    rates = Rates(window=10)
    counts = Counts([])
    rates.note(counts.totals(), at=0)
    counts.batch(written(0, 100))
    rates.note(counts.totals(), at=5)
    assert rates.now(at=5)["in"] == pytest.approx(20)
    assert rates.now(at=5)["nodes"]["src"] == {"in": None, "out": pytest.approx(20)}
    assert rates.now(at=10)["in"] == pytest.approx(10)
    assert rates.now(at=30)["in"] == 0


def test_rows_of_a_batch_that_took_longer_than_the_window_did_not_come_within_it() -> None:
    rates = Rates(window=10)
    counts = Counts([])
    rates.note(counts.totals(), at=0)
    counts.batch(written(0, 5800))
    rates.note(counts.totals(), seconds=58, at=60)
    assert rates.now(at=60)["in"] == pytest.approx(100)
    assert rates.now(at=60)["nodes"]["src"] == {"in": None, "out": pytest.approx(100)}
    assert rates.now(at=71)["in"] == 0
