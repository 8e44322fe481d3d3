"""A clock that stands: at the time a test gives, for Spark's streaming; at a batch's time, for what asks for the time in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from jobs.nodes.base import Routed
from jobs.nodes.plan_patterns import plan_holds


class SparkClock:
    """What a query takes for the machine's clock."""

    def __init__(self, spark: SparkSession, milliseconds: int) -> None:
        session: Any = spark
        self._jvm = session._jvm
        self._clock = self._jvm.org.apache.spark.util.ManualClock(milliseconds)

    def set(self, milliseconds: int) -> None:
        self._clock.setTime(milliseconds)

    def start(self, writer: DataStreamWriter, frame: DataFrame, name: str, folder: str) -> StreamingQuery:
        """`writer` of `frame`, which calls back batch by batch, as a query by this clock: Spark offers that to its own tests only."""
        java: Any = writer._jwrite
        jvm, session = self._jvm, cast(Any, frame.sparkSession)
        none, data = jvm.scala.Option.empty(), cast(Any, frame)._jdf
        sink = jvm.org.apache.spark.sql.execution.streaming.sources.ForeachBatchSink(_field(java, "foreachBatchWriter"), data.exprEnc())
        options, mode, trigger = _field(java, "extraOptions").originalMap(), _field(java, "outputMode"), _field(java, "trigger")
        named, placed = jvm.scala.Some(name), jvm.scala.Some(folder)
        streams = session._jsparkSession.streams()
        return StreamingQuery(
            streams.startQuery(named, none, placed, data, options, sink, mode, False, True, trigger, self._clock, none, none)
        )


def clock_set(
    made: DataFrame | dict[str, DataFrame] | Routed, milliseconds: int | None, time_zone: str
) -> DataFrame | dict[str, DataFrame] | Routed:
    """The same frames, in which the current time is `milliseconds` since 1970, the current day that of `time_zone`.

    None: the frames are streaming ones, to which Spark tells the time of each batch.
    """
    if isinstance(made, Routed):
        return replace(made, frame=_set(made.frame, milliseconds, time_zone))
    if isinstance(made, dict):
        return {port: _set(frame, milliseconds, time_zone) for port, frame in made.items()}
    return _set(made, milliseconds, time_zone)


def asks_for_time(frame: DataFrame) -> bool:
    """Whether the current time or day stands in what makes its rows."""
    return plan_holds(frame, "CURRENT_LIKE")


def _set(frame: DataFrame, milliseconds: int | None, time_zone: str) -> DataFrame:
    if not asks_for_time(frame):
        return frame
    session: Any = frame.sparkSession
    jvm, plan = session._jvm, cast(Any, frame)._jdf.queryExecution().analyzed()
    catalyst = jvm.org.apache.spark.sql.catalyst
    parse = session._jsparkSession.sessionState().sqlParser().parseExpression
    # Of all that asks for the time, Spark's streaming overlooks now().
    of_batch = {"Now": catalyst.expressions.CurrentTimestamp()}
    times = of_batch if milliseconds is None else {kind: parse(text) for kind, text in _literals(milliseconds, time_zone).items()}
    ensure_callback_server_started(session.sparkContext._gateway)  # type: ignore[no-untyped-call]
    replacing = _Replacing(lambda expression: times.get(str(expression.getClass().getSimpleName())))
    changed = plan.transformAllExpressionsWithSubqueries(replacing)
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, changed), frame.sparkSession)


def _literals(milliseconds: int, time_zone: str) -> dict[str, str]:
    """What Spark calls the current time → the same as SQL."""
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC).replace(microsecond=milliseconds % 1000 * 1000)
    here = moment.astimezone(ZoneInfo(time_zone))
    at = f"TIMESTAMP_LTZ '{moment.isoformat()}'"
    return {
        "CurrentTimestamp": at,
        "Now": at,
        "LocalTimestamp": f"TIMESTAMP_NTZ '{here.replace(tzinfo=None).isoformat()}'",
        "CurrentDate": f"DATE '{here.date().isoformat()}'",
    }


class _Replacing:
    """A function of Scala that puts what `found` gives in an expression's place."""

    def __init__(self, found: Callable[[Any], Any]) -> None:
        self._found = found

    def applyOrElse(self, expression: Any, otherwise: Any) -> Any:  # noqa: N802
        return self._found(expression) or otherwise.apply(expression)

    class Java:
        implements = ("scala.PartialFunction",)


def _field(java: Any, name: str) -> Any:
    """A private field of an object of Spark's."""
    field = java.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return field.get(java)
