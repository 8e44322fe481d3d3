"""Messages that are kept here, in jobs that need all rows at once: each run takes what came since the one before, and lets it go."""

import json
import uuid
from typing import Any

import pytest

from jobs.dag.document import DagDocument
from jobs.engine.events import QueryStarted
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Plan
from jobs.engine.runner import Run
from jobs.engine.validation import analyse
from jobs.nodes.backpressure import Backpressure
from jobs.nodes.base import Limits
from jobs.nodes.spool import Message, Spool, Standing, spool_path
from tests.engine.graphs import COLLECT, REGISTRY, Bench, Nodes, document, keep
from tests.engine.nodes import CollectSink

pytestmark = pytest.mark.spark

FULL = Backpressure("BUFFER", 4)


def hook(**more: Any) -> tuple[str, dict[str, Any]]:
    return "source.webhook", {"connection": "sender", "columns": [{"name": "id", "type": "long"}], **more}


SUM = ("flow.aggregate", {"aggregates": [{"name": "total", "function": "sum", "column": "id"}]})


@pytest.fixture
def spool(bench: Bench) -> Spool:
    return Spool(spool_path(bench.root, bench.plan(summed()).job_uid, "hook"))


def summed(where: str = "true", **source: Any) -> DagDocument:
    nodes = {"hook": hook(**source), "some": keep(where), "sum": SUM, "out": COLLECT}
    return document(nodes, "hook>some, some>sum, sum>out", type="SQL_TASK")


def sent(spool: Spool, *numbers: int) -> int:
    """How many of these found room."""
    return spool.take([Message(json.dumps({"id": number}).encode()) for number in numbers], FULL).new


def ran(bench: Bench, plan: Plan) -> list[Any]:
    run, _ = bench.run(plan)
    assert run.wait(90) == "completed"
    return totals(plan)


def totals(plan: Plan) -> list[Any]:
    return [row.total for row in CollectSink.rows[plan.generation + "out"][0]]


@pytest.mark.parametrize("start", ["earliest", "latest"])
def test_each_run_reads_what_came_since_the_one_before_and_makes_room(bench: Bench, spool: Spool, start: str) -> None:
    assert sent(spool, 1, 2, 3, 4, 5) == 4
    assert ran(bench, bench.plan(summed(start=start))) == [10]
    assert (spool.last_read(), spool.standing()) == (4, Standing(waiting=0, dropped=0, overrun=False))
    assert sent(spool, 100, 200) == 2
    assert ran(bench, bench.plan(summed(start=start))) == [300]
    assert ran(bench, bench.plan(summed(start=start))) == [None]


def test_of_what_was_read_no_more_is_kept_than_asked_for(bench: Bench, spool: Spool) -> None:
    sent(spool, 1, 2, 3, 4)
    ran(bench, bench.plan(summed(max_kept=1)))
    assert [message.position for message in spool.read(spool.oldest() - 1, spool.newest())] == [4]


def test_a_run_that_failed_reads_the_same_again_whatever_came_meanwhile(bench: Bench, spool: Spool) -> None:
    generation = str(uuid.uuid4())
    sent(spool, 1, 2)
    failing, _ = bench.run(bench.plan(summed(where="raise_error('wrong') is null"), generation=generation))
    with pytest.raises(ExecutionFailure):
        failing.wait(90)
    sent(spool, 100)
    assert ran(bench, bench.plan(summed(), generation=generation, attempt=2)) == [3]
    assert ran(bench, bench.plan(summed())) == [100]


def test_what_a_run_wrote_that_was_asked_to_stop_is_read(bench: Bench, spool: Spool) -> None:
    sent(spool, 1, 2)

    def stop_at(event: Any) -> None:
        if isinstance(event, QueryStarted):
            run.stop()

    plan = bench.plan(summed())
    run = Run(bench.spark, plan, stop_at, registry=REGISTRY)
    run.start()
    assert (run.wait(90), totals(plan), spool.last_read()) == ("completed", [3], 2)


def test_a_run_that_is_asked_to_stop_before_it_reads_is_stopped(bench: Bench, spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    sent(spool, 1, 2)
    begin, plan = CollectSink.begin, bench.plan(summed())

    def stopping(self: CollectSink, *given: Any) -> None:
        begin(self, *given)
        run.stop()

    monkeypatch.setattr(CollectSink, "begin", stopping)
    run, _ = bench.run(plan)
    assert (run.wait(90), spool.last_read()) == ("stopped", 0)


def test_that_rows_are_read_anew_each_time_is_said_where_they_are_not_to_be(bench: Bench) -> None:
    bench.spark.range(3).write.format("delta").save(str(bench.files / "orders"))
    orders = ("source.delta", {"path": str(bench.files / "orders"), "incremental": True})

    def told(nodes: Nodes, edges: str) -> list[tuple[str | None, str]]:
        read, limits = document(nodes, edges, type="SQL_TASK"), Limits(file_roots=(bench.files,))
        problems = analyse(bench.spark, read, connections={}, limits=limits, parameters={}, registry=REGISTRY).problems
        return [(one.node_id, one.pointer) for one in problems]

    assert told({"orders": orders, "sum": SUM, "out": COLLECT}, "orders>sum, sum>out") == [("orders", "/nodes/orders/config/incremental")]
    assert told({"orders": orders, "out": COLLECT}, "orders>out") == []
