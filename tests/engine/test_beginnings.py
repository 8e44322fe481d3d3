"""Where the queries of one source begin that begin at different times."""

import json
import uuid
from dataclasses import replace
from typing import Any

import pytest

from jobs.nodes.backpressure import Backpressure
from jobs.nodes.spool import Message, Spool, spool_path
from tests.engine.graphs import COLLECT, Bench, document
from tests.engine.nodes import CollectSink

pytestmark = pytest.mark.spark

HOOK = ("source.webhook", {"connection": "sender", "columns": [{"name": "id", "type": "long"}]})
SUM = ("flow.aggregate", {"aggregates": [{"name": "total", "function": "sum", "column": "id"}]})


def test_a_sink_with_a_query_of_its_own_is_filled_from_what_is_kept_and_the_others_go_on(bench: Bench) -> None:
    generation = str(uuid.uuid4())
    spool = Spool(spool_path(bench.root, bench.plan(document({"hook": HOOK, "out": COLLECT}, "hook>out")).job_uid, "hook"))

    def ran(attempt: int, nodes: dict[str, Any], edges: str, *received: int) -> None:
        spool.take([Message(json.dumps({"id": number}).encode()) for number in received], Backpressure())
        read = document({"hook": HOOK, "out": COLLECT, **nodes}, f"hook>out{edges}", type="STREAMING")
        run, _ = bench.run(replace(bench.plan(read, generation=generation, attempt=attempt), until_drained=True))
        assert run.wait(90) == "completed"

    def written(sink: str) -> list[list[Any]]:
        return [[row[0] for row in rows] for _, rows in sorted(CollectSink.rows[generation + sink].items())]

    ran(1, {}, "", 1, 2, 3, 4)
    spool.trim(3)
    ran(2, {"sum": SUM, "total": COLLECT}, ", hook>sum, sum>total", 5)
    assert (written("out"), written("total")) == ([[1, 2, 3, 4], [5]], [[3 + 4 + 5]])
