"""The only way into the channel layer: closed messages, sent from one asyncio thread per process, never waited for."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal

from channels.layers import get_channel_layer
from pydantic import Field

from jobs.selectors.shapes.base import Shape
from jobs.selectors.shapes.checkpoint import CheckpointOut
from jobs.selectors.shapes.connection import ConnectionHealthOut
from jobs.selectors.shapes.execution import EventOut, ExecutionOut

logger = logging.getLogger(__name__)

OVERVIEW_GROUP = "overview"
#: What a consumer's method for these is called (`live_message`); it gets {"type", "text": JSON text, "project": slug, "number"}, the
#: last being that of the event it tells of, 0 where it tells of none.
HANDLER = "live.message"
#: Messages waiting to be sent by this process; past it they are dropped, and the browser reads again on the gap.
WAITING_MOST = 2000


def execution_group(execution_id: str) -> str:
    return f"execution.{execution_id}"


class NodeMetrics(Shape):
    """Totals and rates of one node; null where Spark cannot tell. A stream left out `late` and `timeless` rows.

    `outdated_since`: when the table beside it was read last, where it could not be read again (ISO 8601), else "".
    """

    rows_in: int | None = Field(serialization_alias="in")
    rows_out: int | None = Field(serialization_alias="out")
    rejected: int
    late: int = 0
    timeless: int = 0
    in_per_second: float | None
    out_per_second: float | None
    outdated_since: str = ""


class BatchUnderWay(Shape):
    """A batch that is being written since `since`; of the `tasks` that Spark runs for it now `tasks_done` are done.

    `rows_in`: how many of its rows have come in so far, in tasks that are done; no total counts them before the batch is written.
    """

    batch_id: int
    since: datetime
    tasks_done: int
    tasks: int
    rows_in: int = 0


class MetricsMessage(Shape):
    """Totals of an execution at `time`, and rates since the message before; `as_of_seq` is its newest event.

    `batch_id`, `batch_ms` and `durations_ms` are of the newest batch that Spark committed; `under_way` is one that is not written yet,
    told from its third second on, of several the one that lasts longest. Meanwhile `nodes` count its rows too; `nodes_written` are
    without them, which is what stays true where the driver dies.
    """

    type: Literal["metrics"] = "metrics"
    as_of_seq: int
    time: datetime
    rows_in: int
    rows_out: int
    rows_rejected: int
    in_per_second: float
    out_per_second: float
    processed_per_second: float
    rejected_per_second: float
    batch_id: int | None
    batch_ms: int | None
    durations_ms: dict[str, int]
    under_way: BatchUnderWay | None = None
    backlog: int | None
    buffer_size: int | None
    backpressure_status: str
    dropped: int
    watermark: str
    state_rows: int
    state_bytes: int
    nodes: dict[str, NodeMetrics]
    nodes_written: dict[str, NodeMetrics] = Field(default_factory=dict)


class EventMessage(Shape):
    """One row of the execution's history and the execution after it; `checkpoint` when the event is about one."""

    type: Literal["event"] = "event"
    seq: int
    event: EventOut
    execution: ExecutionOut
    checkpoint: CheckpointOut | None


class CheckpointMessage(Shape):
    """A checkpoint whose label, pin or being a savepoint somebody changed, which is no event of the execution."""

    type: Literal["checkpoint"] = "checkpoint"
    checkpoint: CheckpointOut


class PrintedMessage(Shape):
    """The first rows of a batch as a print sink shows them, each a JSON text."""

    type: Literal["printed"] = "printed"
    node_id: str
    batch_id: int
    rows: list[str]


class ProgressMessage(Shape):
    """How far a bounded run is; `total` is null where it is unknown."""

    type: Literal["progress"] = "progress"
    node_id: str
    done: int
    total: int | None
    unit: str


class SnapshotMessage(Shape):
    """The first message of a socket: all there is up to event `seq`."""

    type: Literal["snapshot"] = "snapshot"
    seq: int
    execution: ExecutionOut
    events: list[EventOut]
    checkpoints: list[CheckpointOut]
    metrics: MetricsMessage | None


class OverviewSnapshot(Shape):
    """The first message of the overview: every unfinished execution and each job's latest, up to event row `number`."""

    type: Literal["snapshot"] = "snapshot"
    number: int
    executions: list[ExecutionOut]


class OverviewExecution(Shape):
    """An execution changed; `number` is the id of the event's row."""

    type: Literal["execution"] = "execution"
    number: int
    execution: ExecutionOut


class OverviewRates(Shape):
    """Rows per second of one execution at `time`."""

    type: Literal["rates"] = "rates"
    time: datetime
    execution_id: str
    job_name: str
    in_per_second: float
    out_per_second: float
    rejected_per_second: float
    backlog: int | None


class OverviewConnection(Shape):
    """A connection was tried."""

    type: Literal["connection"] = "connection"
    connection: ConnectionHealthOut


#: What one who watches an execution hears after the snapshot.
ExecutionNews = EventMessage | MetricsMessage | CheckpointMessage | PrintedMessage | ProgressMessage
ExecutionMessage = Annotated[SnapshotMessage | ExecutionNews, Field(discriminator="type")]
OverviewMessage = Annotated[OverviewSnapshot | OverviewExecution | OverviewRates | OverviewConnection, Field(discriminator="type")]


def message_text(message: Shape) -> str:
    """The JSON text of a message as a socket carries it."""
    return message.model_dump_json(by_alias=True)


def execution_message(execution_id: str, message: ExecutionNews, *, project: str) -> None:
    """Send to everybody who watches the execution. Returns at once; lost if Redis is away."""
    _publish(execution_group(execution_id), message, project, message.seq if isinstance(message, EventMessage) else 0)


def overview_message(message: OverviewExecution | OverviewRates | OverviewConnection, *, project: str) -> None:
    """Send to everybody who watches the overview; the consumer drops what is not of its user's projects."""
    _publish(OVERVIEW_GROUP, message, project, message.number if isinstance(message, OverviewExecution) else 0)


class _Publisher:
    """One thread with an event loop that sends what is put in, in order."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._dropping = False
        self._waiting: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue(WAITING_MOST)
        threading.Thread(target=self._run, name="broadcast", daemon=True).start()

    def put(self, group: str, message: dict[str, Any]) -> None:
        self._loop.call_soon_threadsafe(self._put, group, message)

    def flush(self, timeout: float) -> bool:
        """Wait until all that was put in is sent; False after `timeout` seconds."""
        waiting = asyncio.run_coroutine_threadsafe(self._waiting.join(), self._loop)
        try:
            waiting.result(timeout)
        except TimeoutError:
            return False
        return True

    def _put(self, group: str, message: dict[str, Any]) -> None:
        try:
            self._waiting.put_nowait((group, message))
            self._dropping = False
        except asyncio.QueueFull:
            if not self._dropping:
                logger.warning("live messages wait for Redis: they are dropped until it answers")
            self._dropping = True

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._send_all())

    async def _send_all(self) -> None:
        layer = get_channel_layer()
        failing = False
        while True:
            group, message = await self._waiting.get()
            try:
                if layer is not None:
                    await layer.group_send(group, message)
                failing = False
            except Exception as error:  # whatever the network does, the engine goes on; said once per outage
                if not failing:
                    logger.warning("live messages cannot be sent: %s", error)
                failing = True
            finally:
                self._waiting.task_done()


_publisher: _Publisher | None = None
_making = threading.Lock()


def _publish(group: str, message: Shape, project: str, number: int) -> None:
    _current().put(group, {"type": HANDLER, "text": message_text(message), "project": project, "number": number})


def _current() -> _Publisher:
    global _publisher
    with _making:
        if _publisher is None:
            _publisher = _Publisher()
        return _publisher


def flush(timeout: float = 2.0) -> bool:
    """Before a process ends: wait for what is on its way."""
    return _publisher is None or _publisher.flush(timeout)


def _forget() -> None:
    global _publisher, _making
    _publisher, _making = None, threading.Lock()


_after_fork: Callable[[], None] = _forget
os.register_at_fork(after_in_child=_after_fork)
