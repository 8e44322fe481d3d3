"""A driver runs thousands of executions: of one that ended, no query stays in Spark's memory."""

import gc
import time
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.engine.events import BatchCommitted
from jobs.engine.failure import ExecutionFailure
from jobs.engine.query import StreamQuery
from jobs.engine.whole import WholeQuery
from tests.engine.graphs import COLLECT, Bench, document, keep, numbers

pytestmark = pytest.mark.spark


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


@pytest.mark.parametrize("ended", [completed, stopped, failed])
def test_the_query_of_an_execution_that_ended_is_let_go(bench: Bench, ended: Any) -> None:
    reference = ended(bench)
    deadline = time.monotonic() + 60
    while not gone(bench.spark, reference):
        assert time.monotonic() < deadline, "Spark's query is still held"
