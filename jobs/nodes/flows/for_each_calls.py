"""What one task of Spark does with rows that are called for: the calls, and then the same rows with the reason of those refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from jobs.nodes.base import REJECTED, ConnectionSettings
from jobs.nodes.columns import column, rejected_schema
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.sinks.http_sending import Sending, at_once, sendable, sending_tasks
from jobs.nodes.user_python.calls import with_reasons
from jobs.nodes.user_python.workers import in_workers_shared
from jobs.nodes.worker_errors import carried_out

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from jobs.nodes.base import NodeContext
    from jobs.nodes.http_client import HttpApi

#: Under this name Spark hands the number of the batch to every task of a stream.
_BATCH_PROPERTY = "streaming.sql.batchId"


@dataclass(frozen=True)
class Calling(Sending):
    """`batch` of the parent is the run's generation here: the batch is known in the task alone."""

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """`batches` have the row's own columns, then `row` and `columns_used`; what comes out, the own ones and REJECTED."""
        gone = 0
        with carried_out(self.node_id), self._api() as api:
            for batch in batches:
                reasons = self._reasons(api, batch, gone)
                gone += batch.num_rows
                own = batch.slice(0, len(reasons)).columns[:-2]
                yield with_reasons(own, batch.schema.names[:-2], reasons)
                if len(reasons) < batch.num_rows or (self.stops_at_rejected and any(reasons)):
                    return
            api.rest()

    def _reasons(self, api: HttpApi, batch: pa.RecordBatch, gone: int) -> list[str | None]:
        """Of each row; of the first ones only, where the job ends with one that is refused."""
        reasons: list[str | None] = []
        with closing(self._outcomes(api, self._rows([batch], gone))) as outcomes:
            for outcome in outcomes:
                reasons += [outcome.reason or None] * len(outcome.rows)
                if outcome.reason and self.stops_at_rejected:
                    break
        return reasons

    def _batch_told(self) -> str:
        return f"{self.batch}/{batch_number()}"


def batch_number() -> str:
    """Of the batch whose rows the task this runs in has; "0" where there are no batches."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return (task.getLocalProperty(_BATCH_PROPERTY) if task is not None else None) or "0"


def rows_called(frame: DataFrame, context: NodeContext[Any], connection: ConnectionSettings) -> DataFrame:
    """Every task calls for its own rows. `frame` with the column REJECTED."""
    config = context.config
    tasks = sending_tasks(frame, config)
    calling = Calling(
        config=config,
        connection=connection,
        limits=context.limits,
        identity=f"{context.job_uid}/{context.node_id}",
        batch=context.generation,
        node_id=context.node_id,
        at_once=at_once(config, tasks),
        samples=0,
        stops_at_rejected=context.fails_at_rejected,
        note=RetryNote.of(context.work_dir),
    )
    given, made = _given(frame, config, tasks)
    return in_workers_shared(lambda: given.mapInArrow(lambda batches: calling.run(batches), made)).toDF(*frame.columns, REJECTED)


def rows_called_plainly(frame: DataFrame, context: NodeContext[Any], connection: ConnectionSettings) -> DataFrame:
    """The same in a script."""
    from jobs.nodes.sinks.http_plain import plain_sending

    tasks = sending_tasks(frame, context.config)
    sending = plain_sending(context, context.config, connection, at_once=at_once(context.config, tasks))
    given, made = _given(frame, context.config, tasks)
    return given.mapInArrow(sending.call, made).toDF(*frame.columns, REJECTED)


def _given(frame: DataFrame, config: Any, tasks: int) -> tuple[DataFrame, StructType]:
    """What the tasks get, and the columns of what they give."""
    own = [column(name).alias(f"c{place}") for place, name in enumerate(frame.columns)]
    return frame.select(*own, *sendable(frame, config)).coalesce(tasks), rejected_schema(frame.select(*own).schema)
