"""A stream with state that reads one source along several ways: each way has all of its rows, also of what is kept or copied here."""

import json
from typing import Any

import pytest

from jobs.engine.plan import Plan
from jobs.nodes.backpressure import Backpressure
from jobs.nodes.spool import Message, Spool, spool_path
from tests.engine.graphs import COLLECT, Bench, document, keep
from tests.engine.nodes import CollectSink
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

ID = [{"name": "id", "type": "long"}]
SOURCES: dict[str, Any] = {
    "kept": ("source.webhook", {"connection": "sender", "columns": ID}),
    "copied": ("source.file", {"path": "numbers", "format": "json", "order": "name", "columns": ID, "list_every_seconds": 1}),
}


def planned(bench: Bench, source: str) -> Plan:
    total = ("flow.aggregate", {"group_by": ["id"], "aggregates": [{"name": "times", "function": "count"}]})
    nodes = {"read": SOURCES[source], "even": keep("id % 2 = 0"), "all": keep("id > 0"), "both": ("flow.union", {}), "count": total}
    edges = "read>even, read>all, even>both, all>both, both>count, count>out"
    return bench.plan(document({**nodes, "out": COLLECT}, edges, type="STREAMING"))


@pytest.mark.parametrize("source", SOURCES)
def test_each_way_has_every_row(bench: Bench, source: str) -> None:
    plan = planned(bench, source)
    lines = [json.dumps({"id": number}) for number in range(1, 5)]
    Spool(spool_path(bench.root, plan.job_uid, "read")).take([Message(line.encode()) for line in lines], Backpressure())
    (bench.files / "numbers").mkdir()
    (bench.files / "numbers" / "a.json").write_text("\n".join(lines))

    def counted() -> dict[int, int]:
        batches = CollectSink.rows.get(plan.generation + "out", {})
        return {row.id: row.times for number in sorted(batches) for row in batches[number]}

    run, _ = bench.run(plan)
    wait_until(lambda: counted() == {1: 1, 2: 2, 3: 1, 4: 2}, seconds=90, what="both ways")
    run.stop()
    assert run.wait(60) == "stopped"
