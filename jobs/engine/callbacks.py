"""What Spark calls back in Python.

Spark keeps what it calls, and Python keeps the objects of Spark that it uses. Neither side's garbage collection sees a circle through
both, so one that is closed stays for the life of the process, with the query, its session and all they hold.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import WeakMethod

from pyspark.sql import DataFrame, SparkSession

from jobs.engine.progress import ProgressListener

logger = logging.getLogger(__name__)

#: A session that was made a moment ago may yet be listened to.
_ALONE_SECONDS = 60.0


def batch_callback(method: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
    """A function for foreachBatch that calls a bound method and does not keep its object.

    Of what the method raises only the words are raised: Spark's side keeps the error, and an error keeps the frames it came through.
    """
    reference = WeakMethod(method)
    remember = cache(_connection_remember)

    def call(frame: DataFrame, batch_id: int) -> None:
        remember(frame.sparkSession.sparkContext)
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
        with _for_no_run_to_end():
            _leave(session)


@contextmanager
def _for_no_run_to_end() -> Iterator[None]:
    """What would fail inside where Spark is another one: it would hold more than it need."""
    try:
        yield
    except Exception as error:
        logger.debug("what Spark holds of an execution cannot be let go: %s", error)


def _leave(session: SparkSession) -> None:
    """Take from Spark what it would hold for ever of executions: listeners, and the connections of threads that called back and ended,
    for each of which a thread waits here."""
    context: Any = session.sparkContext
    context._jvm.pipeline_web.LeftListeners.leave(context._jsc.sc(), _ALONE_SECONDS)
    context._jvm.pipeline_web.LeftConnections.close(_client(context))


def _connection_remember(context: Any) -> None:
    """This call's, so that it is closed once the thread of Spark's that calls has ended."""
    with _for_no_run_to_end():
        context._jvm.pipeline_web.LeftConnections.remember(_client(context))


def _client(context: Any) -> Any:
    return context._gateway.java_gateway_server.getCallbackClient()
