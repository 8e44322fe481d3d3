"""One streaming query of an execution: started on its live folder, stopped at a batch boundary or by force."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from jobs.engine.callbacks import batch_callback
from jobs.engine.counts import Counter
from jobs.engine.events import NodeCounts, QueryStarted, Report
from jobs.engine.failure import StopRequested
from jobs.engine.fan_out import FanOut
from jobs.engine.files_beside import relations_beside
from jobs.engine.frames import Frames
from jobs.engine.grouping import QueryPlan, query_folder
from jobs.engine.progress import last_committed, last_execution, streaming_leaves
from jobs.engine.row_counter import RowCounter
from jobs.engine.session import session_enter
from jobs.engine.steps import Steps
from jobs.engine.vanished import sources_check
from jobs.nodes.hadoop_paths import hadoop_path

logger = logging.getLogger(__name__)
_COMMIT_SECONDS = 20.0
_POLL_SECONDS = 0.02
#: How Spark recognises that a Python batch was interrupted because its query was stopped.
_INTERRUPTED = "py4j.protocol.Py4JJavaError: An error occurred while calling the batch: java.lang.InterruptedException"


class StreamQuery:
    """Guarantee: after `request_stop` no further batch is written; a batch that was written is committed if the sinks let it end.

    Between two batches it may be stopped and started again (`request_pause`); to all others it is one query that goes on.
    """

    def __init__(self, steps: Steps, plan: QueryPlan, spark: SparkSession, report: Report, on_change: Callable[[], None]) -> None:
        self.plan = plan
        self.folder: Path = steps.plan.locations.live / query_folder(plan.key)
        self.source_names: dict[str, str] = {}
        self.source_order: tuple[str, ...] = ()
        self.failure: BaseException | None = None
        self.beside: Sequence[Any] = ()
        #: Hears of each batch that was planned before it begins, and may ask for a pause in front of it.
        self.before_batch: Callable[[int], object] = lambda batch_id: None
        self._steps, self._spark, self._report, self._on_change = steps, spark, report, on_change
        self._counter = self._counting()
        self._fan_out = FanOut(steps, plan, self._counter, report, self._go_on)
        self.sinks, self.stateful = self._fan_out.sinks, self._fan_out.stateful
        self._query: StreamingQuery | None = None
        self._started = threading.Event()
        self._stopping = threading.Event()
        self._forced = threading.Event()
        self._pausing = threading.Event()
        #: Held by who stops the query, so that nobody starts it again meanwhile.
        self._ending = threading.Lock()
        self._run_ids: set[str] = set()
        self.writing: tuple[int, float] | None = None
        self._begun = self._written = -1

    @property
    def key(self) -> str:
        return self.plan.key

    @property
    def run_id(self) -> str:
        return str(self._query.runId) if self._query else ""

    @property
    def job_group(self) -> str:
        return self.run_id

    def ran_as(self, run_id: str) -> bool:
        """Whether Spark's run of this id is, or was, this query."""
        return run_id in self._run_ids

    def build(self) -> DataFrame:
        """The streaming frame; its schema is what every batch will have."""
        frames = Frames(
            self._steps,
            self._spark,
            self._counter,
            mode="stream",
            counted=frozenset(self.plan.nodes),
            within=self.plan.streaming,
            query_dir=self.folder,
        )
        self._frame = self._fan_out.frontier(frames)
        self.source_names = frames.source_names
        self.source_order = streaming_leaves(self._frame)
        self.beside = relations_beside(self._frame)
        return self._frame

    def _counting(self) -> Counter:
        return RowCounter(self._steps.read_within)

    def empty_branches(self, frame: DataFrame) -> Frames:
        """The frames behind the frontier without any rows, for their schemas."""
        return self._fan_out.empty_branches(self._spark, frame.schema)

    def start(self) -> None:
        """Go on behind the last committed batch of the live folder, unless it was asked to stop by now."""
        self._report(QueryStarted(self.key, self.plan.sinks, last_committed(self.folder)))
        with self._ending:  # who asks it to stop meanwhile finds it started
            if not self._stopping.is_set():
                self._launch()

    def _launch(self) -> None:
        self._counter.begin()
        writer = self._writer().option("checkpointLocation", hadoop_path(self.folder)).queryName(self._name())
        self._query = self._started_by(writer)
        self._run_ids.add(self.run_id)
        self._pausing.clear()
        self._started.set()

    def _writer(self) -> DataStreamWriter:
        writer = self._frame.writeStream.foreachBatch(batch_callback(self._batch)).outputMode(self.plan.output_mode)
        plan = self._steps.plan
        if plan.job_type == "STREAMING" and not plan.until_drained:
            return writer.trigger(processingTime=f"{max(0, round(plan.settings.trigger_interval * 1000))} milliseconds")
        return writer.trigger(availableNow=True)

    def _name(self) -> str:
        return f"{self._steps.plan.job_name}/{self.key}/{self._steps.plan.generation}"

    def _started_by(self, writer: DataStreamWriter) -> StreamingQuery:
        return writer.start()

    def heard(self, progress: Mapping[str, Any]) -> None:
        """Spark's report of a batch that it has committed: what the batch wrote was told while it wrote."""

    def so_far(self) -> Mapping[str, NodeCounts]:
        """What has passed of the batch that is being written."""
        return self._fan_out.so_far()

    def committed(self) -> int:
        """The newest batch that Spark committed, -1 if none."""
        return last_committed(self.folder)

    def close(self) -> None:
        """Let go of what was kept between batches."""
        self._fan_out.close()

    def is_active(self) -> bool:
        """Spark calls a query ended as soon as it was asked to, although a batch may still be writing."""
        return self._pausing.is_set() or self._is_running()

    def _is_running(self) -> bool:
        return self._query is not None and (bool(self._query.isActive) or self.writing is not None)

    def ended_by(self) -> BaseException | None:
        """Why it ended, None if well: what a batch raised, rather than what Spark made of it."""
        if isinstance(self.failure, StopRequested):
            return None
        return self.failure or (self._query.exception() if self._query else None)

    def was_cut_short(self) -> bool:
        return self._stopping.is_set()

    def request_stop(self) -> None:
        """End behind the batch that is being written, if any. Returns at once."""
        if not self._stopping.is_set():
            self._stopping.set()
            threading.Thread(target=self._stop, name=f"stop {self.key}", daemon=True).start()

    def request_pause(self, act: Callable[[int], None]) -> bool:
        """Stop behind the batch that is being written, call `act` with its number, and start again. Returns at once.

        `act` is not called where the batch behind may have been begun. What it raises ends the query. False: it is ending, or pauses.
        """
        if self._stopping.is_set() or self._pausing.is_set():
            return False
        self._pausing.set()
        threading.Thread(target=self._pause, args=(act,), name=f"pause {self.key}", daemon=True).start()
        return True

    def force_stop(self) -> None:
        """Cancel what runs in Spark and end. Returns at once; a sink that hangs outside Spark may go on hanging."""
        self._stopping.set()
        self._forced.set()
        threading.Thread(target=self._cut, name=f"cut {self.key}", daemon=True).start()

    def _stop(self) -> None:
        with self._ending:
            self._stop_at_boundary()

    def _stop_at_boundary(self) -> bool:
        self._await_boundary()
        return self._end()

    def _await_boundary(self) -> None:
        """Until the batch that is being written, if any, is committed."""
        while self.writing is not None and self._is_running():
            time.sleep(_POLL_SECONDS)
        deadline = time.monotonic() + _COMMIT_SECONDS
        while self._is_running() and self._written > last_committed(self.folder) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    def _pause(self, act: Callable[[int], None]) -> None:
        with self._ending:
            try:
                if not self._stop_at_boundary():
                    raise TimeoutError(f"query {self.key} does not stop behind its batch")
                if not self._stopping.is_set() and (self.failure is None or isinstance(self.failure, StopRequested)):
                    self._act_and_go_on(act)  # from its start on the next pause may be asked for, which is not to be forgotten
                else:
                    self._pausing.clear()
            except BaseException as error:
                self.failure = error
                self._pausing.clear()
        self._on_change()

    def _act_and_go_on(self, act: Callable[[int], None]) -> None:
        if self._begun == self._written == last_committed(self.folder):
            act(self._written)
        self.failure = None
        self._started.clear()
        session_enter(self._spark, self._steps.plan)
        self._launch()

    def _cut(self) -> None:
        cut = self._query
        self._cut_now()
        with self._ending:
            if self._query is not cut:  # it was started again at this very moment
                self._cut_now()

    def _cut_now(self) -> None:
        if self._query is not None:
            try:
                self._spark.sparkContext.cancelJobGroup(self.job_group)
            except Exception as error:  # Spark itself is ending
                logger.info("the work of query %s cannot be cancelled: %s", self.key, str(error).partition("\n")[0])
            self._end()

    def _end(self) -> bool:
        """Whether Spark is done with it."""
        try:
            if self._query is not None:
                self._query.stop()
        except Exception as error:  # it did not end within Spark's stop time-out: the runner sees that it is still active
            logger.warning("query %s does not stop: %s", self.key, error)
            return False
        finally:
            self._on_change()
        return True

    def _go_on(self) -> None:
        """A batch cut by force goes to no further sink and is not committed."""
        if self._forced.is_set():
            raise StopRequested

    def _batch(self, frame: DataFrame, batch_id: int) -> None:
        """What goes wrong stays here and Spark hears one line: a long text would overflow its search for an interruption in it."""
        self._started.wait(timeout=60)
        try:
            self.writing = (batch_id, time.monotonic())  # before it looks whether to end, as who asks looks at it after: one sees the other
            self.before_batch(batch_id)
            if self._is_to_end():
                self.writing = None
                self._await_end()
                raise StopRequested
            self._begun = batch_id
            sources_check(self._steps, last_execution(self._query) if self._query else None)
            assert self._query is not None
            self._fan_out.write(frame, batch_id, self._query)
            self._go_on()
            self._written = batch_id
        except BaseException as error:
            self.failure = error
            raise RuntimeError(_INTERRUPTED if self._is_to_end() else f"{type(error).__name__} in batch {batch_id}") from None
        finally:
            self.writing = None

    def _is_to_end(self) -> bool:
        return self._stopping.is_set() or self._pausing.is_set()

    def _await_end(self) -> None:
        """Until Spark knows that the query is to end: what is raised after that is no error to it."""
        deadline = time.monotonic() + _COMMIT_SECONDS
        while self._query is not None and self._query.isActive and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
