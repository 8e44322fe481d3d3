"""A driver runs thousands of executions: of one that ended, no query stays in Spark's memory."""

import gc
import threading
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.engine import callbacks
from jobs.engine.events import BatchCommitted
from jobs.engine.failure import ExecutionFailure
from jobs.engine.query import StreamQuery
from jobs.engine.whole import WholeQuery
from jobs.nodes.base import ConnectionSettings
from tests.engine.graphs import COLLECT, Bench, document, keep, numbers
from tests.nodes.api_server import api_server, paged
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark
IDS = [{"name": "id", "type": "long"}]


def weakly(spark: SparkSession, query: StreamQuery | WholeQuery) -> Any:
    """Java's weak reference to a query of Spark, which holds its log, its sources and its state."""
    java: Any = spark._jvm
    assert isinstance(query, StreamQuery)
    assert query._query is not None
    return java.java.lang.ref.WeakReference(query._query._jsq)


def gone(spark: SparkSession, reference: Any) -> bool:
    gc.collect()
    java: Any = spark._jvm
    java.java.lang.System.gc()
    return reference.get() is None


def completed(bench: Bench) -> Any:
    run, _ = bench.run(bench.plan(document({"gen": numbers(100, 50), "odd": keep("id % 2 = 1"), "out": COLLECT}, "gen>odd, odd>out")))
    assert run.wait(60) == "completed"
    return weakly(bench.spark, run._queries[0])


def stopped(bench: Bench) -> Any:
    read = document({"gen": numbers(None, 50, per_second=500), "out": COLLECT}, "gen>out", type="STREAMING")
    run, heard = bench.run(bench.plan(read))
    heard.wait_for(BatchCommitted, 2)
    run.stop()
    assert run.wait(60) == "stopped"
    return weakly(bench.spark, run._queries[0])


def failed(bench: Bench) -> Any:
    run, _ = bench.run(bench.plan(document({"gen": numbers(100, 50), "out": ("sink.fail", {})}, "gen>out")))
    with pytest.raises(ExecutionFailure):
        run.wait(60)
    return weakly(bench.spark, run._queries[0])


def test_no_thread_of_a_source_holds_the_session_of_an_execution_that_ended(bench: Bench) -> None:
    """Of a source in Python: each has a process of its own."""
    java: Any = bench.spark._jvm

    def begun_and_ended() -> Any:
        with api_server(paged(20)) as server:
            config = {"connection": "api", "path": "things", "page_size": 10, "records_pointer": "/results", "columns": IDS}
            plan = bench.plan(document({"api": ("source.http_api", config), "out": COLLECT}, "api>out"))
            allowed = replace(plan.limits, http_allowed_hosts=(server.host,))
            plan = replace(plan, connections={"api": ConnectionSettings("api", "http_api", {"base_url": server.url})}, limits=allowed)
            run, heard = bench.run(plan)
            assert run.wait(60) == "completed"
            assert heard.rows("out") == 20
            return java.java.lang.ref.WeakReference(run._queries[0]._spark._jsparkSession)

    _, session, _ = begun_and_ended(), begun_and_ended(), begun_and_ended()  # Spark's own threads hold that of the first and the last
    wait_until(lambda: gone(bench.spark, session), seconds=60, what="the session of the execution that ended is let go")


def test_no_thread_waits_for_calls_of_a_query_that_ended(bench: Bench) -> None:
    """Each has a connection, too; that of the last is closed with the next."""
    completed(bench)
    before = called_back()
    for _ in range(4):
        completed(bench)
    assert called_back() <= before + 1


def called_back() -> int:
    """Threads that wait for calls of Spark's."""
    return sum(thread.name.endswith("(run)") for thread in threading.enumerate())


def test_no_listener_stays_of_executions_that_ended(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callbacks, "_ALONE_SECONDS", 0.0)
    completed(bench)
    before = told_of_streams(bench.spark)
    for _ in range(3):
        completed(bench)
    assert told_of_streams(bench.spark) <= before


def told_of_streams(spark: SparkSession) -> int:
    """Of whom Spark tells each what happens to streams: a session has one."""
    java: Any = spark._jvm
    bus = java.org.apache.spark.sql.execution.streaming.runtime.StreamingQueryListenerBus
    kind = java.scala.reflect.ClassTag.apply(java.java.lang.Class.forName(bus._fqn))
    return int(spark.sparkContext._jsc.sc().listenerBus().findListenersByClass(kind).size())


def test_no_job_stays_of_rows_that_were_read_part_by_part(bench: Bench) -> None:
    database = ConnectionSettings("db", "sqlite", {"path": str(bench.files / "numbers.sqlite")})
    plan = bench.plan(document({"gen": numbers(300, 100), "out": ("sink.jdbc", {"connection": "db", "table": "numbers"})}, "gen>out"))
    run, _ = bench.run(replace(plan, connections={"db": database}))
    assert run.wait(60) == "completed"
    held = bench.spark.sparkContext._jsc.sc().dagScheduler().activeQueryToJobs()
    wait_until(held.isEmpty, seconds=20, what="Spark holds no job that ended")


@pytest.mark.parametrize("ended", [completed, stopped, failed])
def test_the_query_of_an_execution_that_ended_is_let_go(bench: Bench, ended: Any) -> None:
    reference = ended(bench)
    wait_until(lambda: gone(bench.spark, reference), seconds=60, what="Spark's query is let go")
