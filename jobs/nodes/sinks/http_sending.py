"""What one task of Spark does with its rows: sends them and tells how many the server took."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from jobs.nodes.base import Batch, ConnectionSettings, Limits, NodeContext, Written
from jobs.nodes.columns import column
from jobs.nodes.http_client import HttpApi
from jobs.nodes.http_messages import HttpRequest, Refused
from jobs.nodes.json_options import JSON_AS_WRITTEN
from jobs.nodes.rejected_rows import RejectedRows, whole_row
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.sinks.http_api import HttpApiSinkConfig
from jobs.nodes.sinks.http_requests import Requests, Row, Unfit
from jobs.nodes.sinks.task_tally import SAMPLE_ROWS, sent_by_tasks, task_tally
from jobs.nodes.worker_errors import carried_out

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from jobs.nodes.sinks.http_plain import Signature


@dataclass(frozen=True)
class Outcome:
    """What became of the rows of one request; `reason` when they were rejected."""

    rows: Sequence[Row]
    reason: str = ""


class Receiver(Protocol):
    """One who wants each request proven by its body, and whose refusal may be meant for all of them. Goes to the tasks by value."""

    def proving(self, request: HttpRequest) -> HttpRequest:
        """The request with what proves it."""

    def check(self, refused: Refused) -> None:
        """NodeError where it is not these rows that were refused."""


@dataclass(frozen=True)
class Sending:
    """Goes to the tasks by value. `at_once`: requests of this task under way together; one keeps the order of its rows."""

    config: HttpApiSinkConfig
    connection: ConnectionSettings
    limits: Limits
    identity: str
    batch: str
    node_id: str
    at_once: int
    samples: int
    stops_at_rejected: bool
    note: RetryNote
    receiver: Receiver | None = None
    rejections: RejectedRows | None = None

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """`batches` have the columns of `sendable`; what comes out has those of RESULT."""
        with carried_out(self.node_id), task_tally(self.samples, self.rejections) as tally, self._api() as api:
            with closing(self._outcomes(api, self._rows(batches))) as outcomes:
                for outcome in outcomes:
                    tally.add([row.kept or row.text for row in outcome.rows], outcome.reason)
                    if tally.rejected and self.stops_at_rejected:
                        break
            api.rest()
        yield tally.as_batch()

    def _batch_told(self) -> str:
        """The run's generation and the batch."""
        return self.batch

    def _api(self) -> HttpApi:
        return HttpApi(
            self.connection,
            self.limits,
            attempts=self.config.attempts,
            timeout_seconds=self.config.timeout_seconds,
            requests_per_second=self.config.requests_per_second,
            most_connections=self.at_once,
            note=self.note,
        )

    def _rows(self, batches: Iterable[pa.RecordBatch], first: int = 0) -> Iterator[Row]:
        """Numbered by their place in the task, from `first` on: the same whenever the batch is made of the same rows in the same order."""
        from pyspark import TaskContext

        task = TaskContext.get()
        partition = task.partitionId() if task is not None else 0
        names = tuple(self.config.columns_used())
        number = first
        for batch in batches:
            kept = batch["kept"].to_pylist() if "kept" in batch.schema.names else repeat("", batch.num_rows)
            for text, used, whole in zip(batch["row"], batch["columns_used"], kept, strict=True):
                values = (value[len('{"v":') : -1] for value in used.as_py())
                yield Row(text.as_py(), dict(zip(names, values, strict=True)), f"{partition}-{number}", whole)
                number += 1

    def _outcomes(self, api: HttpApi, rows: Iterator[Row]) -> Generator[Outcome]:
        """Of each request, in the order of the rows."""
        groups = grouped(rows, self.config.rows_per_request)
        requests = Requests(self.config, identity=self.identity, batch=self._batch_told())
        accepted = frozenset(int(status) for status in self.config.accepted_statuses.split(",") if status)

        def sent(rows: list[Row]) -> Outcome:
            try:
                request = requests.of(rows)
            except Unfit as unfit:
                return Outcome(rows, str(unfit))
            if self.receiver is not None:
                request = self.receiver.proving(request)
            refused = api.send(request, accepted=accepted)
            if refused is not None and self.receiver is not None:
                self.receiver.check(refused)
            return Outcome(rows, f"the server answered {refused.words}" if refused else "")

        yield from map(sent, groups) if self.at_once == 1 else at_once_mapped(sent, groups, self.at_once)


def grouped(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    """As many at a time, the last ones fewer."""
    while group := list(islice(rows, size)):
        yield group


def at_once_mapped(act: Callable[[list[Row]], Outcome], groups: Iterator[list[Row]], most: int) -> Iterator[Outcome]:
    """Outcomes in the order of `groups`, `most` under way and as many waiting, so that a slow one does not hold up the rest."""
    coming: deque[Future[Outcome]] = deque()
    with ThreadPoolExecutor(most) as pool:
        try:
            for group in groups:
                coming.append(pool.submit(act, group))
                if len(coming) >= 2 * most:
                    yield coming.popleft().result()
            while coming:
                yield coming.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def rows_sent(
    frame: DataFrame,
    batch: Batch,
    context: NodeContext[Any],
    config: HttpApiSinkConfig,
    connection: ConnectionSettings,
    receiver: Receiver | None = None,
) -> Written:
    """Every task sends its own rows and hands back counts, and some of what was rejected. `connection` is one of an HTTP API."""
    tasks = sending_tasks(frame, config)
    sending = Sending(
        config=config,
        connection=connection,
        limits=context.limits,
        identity=f"{context.job_uid}/{context.node_id}",
        batch=f"{context.generation}/{batch.batch_id}",
        node_id=context.node_id,
        at_once=at_once(config, tasks),
        samples=max(1, SAMPLE_ROWS // tasks),
        stops_at_rejected=batch.fails_at_rejected,
        note=RetryNote.of(context.work_dir),
        receiver=receiver,
        rejections=batch.rejections,
    )
    kept = [] if batch.rejections is None else [whole_row(frame).alias("kept")]
    return sent_by_tasks(frame.select(*sendable(frame, config), *kept).coalesce(tasks), sending)


def rows_sent_plainly(
    frame: DataFrame,
    context: NodeContext[Any],
    config: HttpApiSinkConfig,
    connection: ConnectionSettings,
    signature: Signature | None = None,
) -> None:
    """For `Sink.write_plainly`: the same, as a script does it."""
    from jobs.nodes.sinks.http_plain import plain_sending

    tasks = sending_tasks(frame, config)
    sending = plain_sending(context, config, connection, at_once=at_once(config, tasks), signature=signature)
    frame.select(*sendable(frame, config)).coalesce(tasks).foreachPartition(sending.send)


def sending_tasks(frame: DataFrame, config: HttpApiSinkConfig) -> int:
    """How many tasks send. With a pace it is one, since tasks know nothing of each other; else no more than may run at once."""
    if config.requests_per_second is not None:
        return 1
    if config.keep_order:
        return config.concurrency
    return max(1, min(config.concurrency, frame.sparkSession.sparkContext.defaultParallelism))


def at_once(config: HttpApiSinkConfig, tasks: int) -> int:
    """Requests that one of so many tasks may have under way together."""
    return 1 if config.keep_order else max(1, config.concurrency // tasks)


def sendable(frame: DataFrame, config: HttpApiSinkConfig) -> list[Column]:
    """`row`: the whole row as JSON, and what `values_used` gives of the templates; nulls kept in both."""
    from pyspark.sql import functions as F

    whole = F.to_json(F.struct(*(column(name) for name in frame.columns)), JSON_AS_WRITTEN)
    return [whole.alias("row"), values_used(frame, config.columns_used())]


def values_used(frame: DataFrame, names: Iterable[str]) -> Column:
    """`columns_used`: JSON texts of these columns of `frame` as an array, each as {"v": value}."""
    from pyspark.sql import functions as F

    each = [_value_used(frame, name) for name in names]
    return (F.array(*each) if each else F.array().cast("array<string>")).alias("columns_used")


def _value_used(frame: DataFrame, name: str) -> Column:
    """A time is written to the microsecond only where it has some: keys and addresses that are made of it stay what they were."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import TimestampNTZType, TimestampType

    value, one = column(name), F.struct(column(name).alias("v"))
    written = F.to_json(one, JSON_AS_WRITTEN)
    if not isinstance(frame.select(value).schema[0].dataType, TimestampType | TimestampNTZType):
        return written
    return F.when(value == F.date_trunc("millisecond", value), F.to_json(one, {"ignoreNullFields": "false"})).otherwise(written)
