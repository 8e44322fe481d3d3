"""What Spark calls back in Python.

Spark keeps what it calls, and Python keeps the objects of Spark that it uses. Neither side's garbage collection sees a circle through
both, so one that is closed stays for the life of the process, with the query, its session and all they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakMethod

from pyspark.sql import DataFrame, SparkSession

from jobs.engine.progress import ProgressListener


def batch_callback(method: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
    """A function for foreachBatch that calls a bound method and does not keep its object.

    Of what the method raises only the words are raised: Spark's side keeps the error, and an error keeps the frames it came through.
    """
    reference = WeakMethod(method)

    def call(frame: DataFrame, batch_id: int) -> None:
        if words := _failure(reference, frame, batch_id):
            raise RuntimeError(words)

    return call


def _failure(reference: WeakMethod[Callable[[DataFrame, int], None]], frame: DataFrame, batch_id: int) -> str:
    method = reference()
    if method is None:
        return "the query was given up"
    try:
        method(frame, batch_id)
    except Exception as error:
        return str(error) or type(error).__name__
    return ""


@contextmanager
def listening(
    session: SparkSession, on_progress: Callable[[str], None], on_end: Callable[[str], None], on_idle: Callable[[str], None]
) -> Iterator[None]:
    """While inside, the callables hear of each executed batch (Spark's JSON), each end and each lack of input (run id) of its queries."""
    listener = ProgressListener(session._jvm, on_progress, on_end, on_idle)
    session.streams.addListener(listener)
    try:
        yield
    finally:
        session.streams.removeListener(listener)
        listener.forget()
        _connections_close(session)


def _connections_close(session: SparkSession) -> None:
    """Of the threads that called back: the query's has ended, and nobody but us would close its own, for which a thread waits here."""
    gateway: Any = session.sparkContext._gateway
    classes: Any = session._jvm
    classes.pipeline_web.IdleConnections.close(gateway.java_gateway_server.getCallbackClient())
