"""A query that is stopped behind a batch and started again, over and over, is to all others one that goes on."""

import threading

import pytest

from jobs.engine import receiving, skipping
from jobs.engine.events import QueryStarted
from jobs.engine.query import StreamQuery
from tests.engine.graphs import COLLECT, Bench, document, numbers
from tests.engine.nodes import CollectSink, RestlessNumbers

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_rows_come_once_and_in_order_however_often_it_pauses(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(skipping, "REST_SECONDS", 0.0)
    endless = ("source.restless", {"total_rows": None, "rows_per_batch": 10})
    nodes = {"numbers": endless, "out": COLLECT}
    plan = bench.plan(document(nodes, "numbers>out", type="STREAMING", settings={"trigger_interval": "0ms"}))
    run, heard = bench.run(plan)
    with heard.changed:
        assert heard.changed.wait_for(lambda: RestlessNumbers.asked[plan.generation] >= 12, 90)
    run.stop()
    assert run.wait(30) == "stopped"
    told = [event.batch_id for event in heard.committed()]
    written = CollectSink.rows[plan.generation + "out"]
    assert told == sorted(written) == list(range(len(told)))
    ids = [row.id for batch in told for row in written[batch]]
    assert ids == list(range(len(ids)))
    assert len(heard.of(QueryStarted)) == 1


def test_a_pause_that_is_asked_for_while_another_ends_is_not_taken_for_the_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    launch, paused, first = StreamQuery._launch, threading.Event(), ""

    def launched(query: StreamQuery) -> None:
        launch(query)
        if first and query.run_id != first and not paused.is_set():
            assert query.request_pause(lambda batch: paused.set())

    monkeypatch.setattr(StreamQuery, "_launch", launched)
    nodes = {"numbers": numbers(None), "out": COLLECT}
    run, heard = bench.run(bench.plan(document(nodes, "numbers>out", type="STREAMING", settings={"trigger_interval": "0ms"})))
    with heard.changed:
        assert heard.changed.wait_for(lambda: len(heard.committed()) > 1, 60)
    (query,) = run._queries
    assert isinstance(query, StreamQuery)
    first = query.run_id
    assert query.request_pause(lambda batch: None)
    assert paused.wait(60)
    told = len(heard.committed())
    with heard.changed:
        assert heard.changed.wait_for(lambda: len(heard.committed()) > told + 1, 60)
    run.stop()
    assert run.wait(30) == "stopped"
