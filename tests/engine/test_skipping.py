"""A query that is stopped behind a batch and started again, over and over, is to all others one that goes on."""

import pytest

from jobs.engine import receiving, skipping
from jobs.engine.events import QueryStarted
from tests.engine.graphs import COLLECT, Bench, document
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
        assert heard.changed.wait_for(lambda: RestlessNumbers.asked[plan.generation] >= 30, 90)
    run.stop()
    assert run.wait(30) == "stopped"
    told = [event.batch_id for event in heard.committed()]
    written = CollectSink.rows[plan.generation + "out"]
    assert told == sorted(written) == list(range(len(told)))
    ids = [row.id for batch in told for row in written[batch]]
    assert ids == list(range(len(ids)))
    assert len(heard.of(QueryStarted)) == 1
