"""A driver runs thousands of executions: of one that ended, no query stays in Spark's memory."""

import gc
import queue
import threading
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.engine import callbacks
from jobs.engine.events import BatchCommitted
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Plan
from jobs.engine.query import StreamQuery
from jobs.engine.references import _read
from jobs.engine.runner import Run
from jobs.engine.whole import WholeQuery
from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.kept_references import Keeping
from tests.engine.graphs import COLLECT, Bench, document, keep, numbers
from tests.engine.nodes import CollectSink
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


def kept_frames(spark: SparkSession) -> int:
    session: Any = spark._jsparkSession
    return int(session.sharedState().cacheManager().numCachedEntries())


def refused(bench: Bench, monkeypatch: pytest.MonkeyPatch, plan: Plan) -> None:
    def begin(*_: Any) -> None:
        raise NodeError("it takes nothing", permanent=True, kind="user")

    monkeypatch.setattr(CollectSink, "begin", begin)
    run, _ = bench.run(plan)
    with pytest.raises(ExecutionFailure, match=r"it takes nothing"):
        run.wait(60)


def stopped_before_it_starts(bench: Bench, monkeypatch: pytest.MonkeyPatch, plan: Plan) -> None:
    runs: queue.Queue[Run] = queue.Queue()
    monkeypatch.setattr(CollectSink, "begin", lambda *_: runs.get(timeout=60).stop())
    run, heard = bench.run(plan)
    runs.put(run)
    runs.put(run)
    assert run.wait(60) is not None
    assert heard.rows("out") == 0


def completed_whole(bench: Bench, monkeypatch: pytest.MonkeyPatch, plan: Plan) -> None:
    run, heard = bench.run(plan)
    assert run.wait(60) == "completed"
    assert (heard.rows("out"), heard.rows("also")) == (100, 100)


@pytest.mark.parametrize("ended", [refused, stopped_before_it_starts, completed_whole])
def test_rows_that_several_sinks_read_are_let_go_however_the_run_ends(bench: Bench, monkeypatch: pytest.MonkeyPatch, ended: Any) -> None:
    """Also where no batch began."""
    before = kept_frames(bench.spark)
    sort = ("flow.sort", {"order_by": [{"column": "id"}]})
    read = document(
        {"gen": numbers(100, 100), "sort": sort, "out": COLLECT, "also": COLLECT}, "gen>sort, sort>out, sort>also", type="SQL_TASK"
    )
    ended(bench, monkeypatch, bench.plan(read))
    assert kept_frames(bench.spark) == before


def test_a_table_beside_a_stream_that_cannot_be_read_is_not_kept(spark: SparkSession) -> None:
    before = kept_frames(spark)
    with pytest.raises(NodeError, match=r"more than 2 rows"):
        _read(lambda: spark.range(3), Keeping(60, 2), "table")
    with pytest.raises(Exception, match=r"it is gone"):
        _read(lambda: spark.range(1).where("raise_error('it is gone') IS NULL"), Keeping(60, 2), "table")
    assert kept_frames(spark) == before


@pytest.mark.parametrize("ended", [completed, stopped, failed])
def test_the_query_of_an_execution_that_ended_is_let_go(bench: Bench, ended: Any) -> None:
    reference = ended(bench)
    wait_until(lambda: gone(bench.spark, reference), seconds=60, what="Spark's query is let go")
