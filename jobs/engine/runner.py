"""One attempt of one execution: its queries from start to end, and what became of it."""

from __future__ import annotations

import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping, Set
from typing import Any, Literal

from pyspark.sql import SparkSession

from jobs.engine.awaiting import answers_await, awaited
from jobs.engine.callbacks import listening
from jobs.engine.clocked import ClockedQuery
from jobs.engine.events import BatchWritten, Report
from jobs.engine.failure import AtNode, ExecutionFailure, failure_of
from jobs.engine.files_beside import files_listed_anew
from jobs.engine.grouping import is_whole, query_plans
from jobs.engine.plan import Plan
from jobs.engine.progress import committed, progressed
from jobs.engine.query import StreamQuery
from jobs.engine.readings import readings_told
from jobs.engine.real_time import RealTimeQuery, TaskSlots
from jobs.engine.receiving import Receiving
from jobs.engine.rolling_back import sinks_roll_back
from jobs.engine.session import execution_session, session_enter
from jobs.engine.settling import sinks_begin, sinks_close, sinks_mark, sinks_settle, sinks_settle_last, sources_complete
from jobs.engine.steps import Steps
from jobs.engine.turns import StartTurn
from jobs.engine.under_way import under_way_told
from jobs.engine.unread import unread_told
from jobs.engine.vanished import sources_check
from jobs.engine.whole import WholeQuery
from jobs.nodes.registry import REGISTRY, NodeRegistry

logger = logging.getLogger(__name__)
Outcome = Literal["completed", "stopped"]

_POLL_SECONDS = 0.5
#: How long an interrupted or failing query may take to end before the run stops waiting for it.
_FORCED_SECONDS = 5.0
_LAST_EVENTS_SECONDS = 5.0
_CHECK_SECONDS = 2.0


class Run:
    """Runs a Plan. `report` is called from several threads, in order within a query; it must not block long.

    It hears BatchWritten before Spark commits the batch, so no count is lost between the two, and BatchCommitted off the query's thread
    when Spark tells, which may be much later. What it raises is logged and changes nothing.
    """

    def __init__(
        self,
        spark: SparkSession,
        plan: Plan,
        report: Report,
        *,
        registry: NodeRegistry = REGISTRY,
        log: logging.Logger | None = None,
        renewed: Callable[[Plan], Plan] = lambda plan: plan,
    ) -> None:
        """`renewed` hands over the plan as it stands now, while systems are waited for: their connections may have been corrected."""
        self.plan = plan
        #: True when the run ended by force while something of it still hangs: only the end of the process ends that.
        self.hanging = False
        self._spark = spark
        self._steps = Steps(plan, registry, log or logging.getLogger("pipeline.job"))
        self._report_to, self._renewed = report, renewed
        self._queries: list[StreamQuery | WholeQuery] = []
        self._changed = threading.Event()
        self._ended = threading.Event()
        self._stopping = threading.Event()
        self._forced_at: float | None = None
        self._checked_at = time.monotonic()
        self._outcome: Outcome = "completed"
        self._cause: BaseException | None = None
        self._failure: ExecutionFailure | None = None
        self._news: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._ends_heard: set[str] = set()
        self._turn = StartTurn()
        self._receiving: Receiving
        self._slots: TaskSlots | None = None
        self._away: Set[str] = frozenset()

    def start(self) -> None:
        """Begin in a thread of its own; whatever goes wrong is raised by `wait`."""
        threading.Thread(target=self._run, name=f"run {self.plan.job_name}", daemon=True).start()

    def wait(self, timeout: float | None = None) -> Outcome | None:
        """How it ended, None if it has not within `timeout` seconds. Raises ExecutionFailure if it failed."""
        if not self._ended.wait(timeout):
            return None
        if self._failure is not None:
            raise self._failure
        return self._outcome

    def stop(self) -> None:
        """End behind the batch that is being written; its position is kept in the live folder. Returns at once."""
        self._stopping.set()
        for query_ in self._queries:
            query_.request_stop()
        self._changed.set()

    def interrupt(self) -> None:
        """End within seconds, in the middle of a batch if need be. Returns at once; then see `wait` and `hanging`."""
        self._stopping.set()
        self._forced_at = self._forced_at or time.monotonic()
        for query_ in self._queries:
            query_.force_stop()
        self._changed.set()

    def awaits_sink(self) -> bool:
        """Whether the system behind a sink does not answer: a batch that is being written does not end by itself."""
        return not self._away.isdisjoint(self._steps.sinks)

    def mark(self, batches: Mapping[str, int]) -> bool:
        """Whether a checkpoint may be cut behind `batches` (query → batch); else some sink needs a newer one."""
        return sinks_mark(self._steps, self._queries, batches)

    def _run(self) -> None:
        news = threading.Thread(target=self._tell, name=f"news {self.plan.job_name}", daemon=True)
        news.start()
        try:
            self._outcome = self._attempt()
        except BaseException as error:
            self._failure = failure_of(error, self.plan, self._away)
        finally:
            self._news.put(None)
            news.join(_LAST_EVENTS_SECONDS)
            self._ended.set()

    def _attempt(self) -> Outcome:
        session = execution_session(self._spark, self.plan)
        session_enter(session, self.plan)
        if answering := answers_await(self._steps, self._report, self._stopping, self._renewed):
            self._steps, self.plan = answering, answering.plan
            self._receiving = Receiving(self._steps, self._report)
            with self._receiving.begun():
                if self.plan.job_type != "STREAMING":
                    self._receiving.await_bounded(self._stopping)
                self._read(session)
        return self._conclude()

    def _read(self, session: SparkSession) -> None:
        """Every query from its start to its end."""
        self._turn.take(self._stopping.is_set)
        try:
            with listening(session, self._progress_heard, self._end_heard, self._idle_heard):
                self._begin(session)
                try:
                    self._go(session)
                except Exception as error:  # also of a query that did not start: others have
                    self._cause = self._cause or error
                    self._watch(session)
                self._await_last_events()
            if not self.hanging and ((cause := self._first_cause()) or self._forced_at is None):
                sinks_settle_last(self._steps, self._queries, session, cause)
        finally:
            self._turn.give_back()
            sinks_close(self._steps)
            for query_ in self._queries:
                query_.close()

    def _begin(self, session: SparkSession) -> None:
        """Build every frame, then let every sink raise its fence and go back if it is to, before any row moves."""
        if is_whole(self._steps):
            whole = WholeQuery(self._steps, session, self._report, self._changed.set)
            self._queries = [whole]  # which is closed whatever its sinks say
            sinks_begin(self._steps, session, whole.plan.sinks, whole.frames())
            return
        streams = self._streams(session)
        self._queries = [*streams]
        sinks_roll_back(self._steps, streams, self._report)

    def _go(self, session: SparkSession) -> None:
        if not self._stopping.is_set():
            for query_ in self._queries:
                query_.start()
        if self._stopping.is_set():  # a stop that came while starting
            self.interrupt() if self._forced_at else self.stop()
        with (
            unread_told(self._steps, self._report),
            under_way_told(self._spark, self._steps, self._queries, self._report),
            files_listed_anew(session, self.plan, self._queries),
            awaited(self._steps, self._report) as self._away,
        ):
            self._watch(session)

    def _streams(self, session: SparkSession) -> list[StreamQuery]:
        plans = query_plans(self._steps)
        kind = RealTimeQuery if self.plan.is_real_time else ClockedQuery if self.plan.clock else StreamQuery
        self._slots = TaskSlots(self._steps, plans, session) if self.plan.is_real_time else None
        queries = []
        for plan in plans:
            query_ = kind(self._steps, plan, session, self._report, self._changed.set)
            frame = query_.build()
            sinks_begin(self._steps, session, plan.sinks, query_.empty_branches(frame))
            self._receiving.follow(query_)
            queries.append(query_)
        readings_told(self._steps, plans, self._report)
        return queries

    def _watch(self, session: SparkSession) -> None:
        """Until every query ended. The first failure stops the others."""
        while any(query_.is_active() for query_ in self._queries):
            self._changed.wait(_POLL_SECONDS)
            self._changed.clear()
            if self._forced_at is None and (cause := self._first_cause() or self._receiving.failure or self._checked(session)) is not None:
                self._cause, self._forced_at = cause, time.monotonic()
                for query_ in self._queries:
                    query_.force_stop()
            if self._forced_at is not None and time.monotonic() - self._forced_at > _FORCED_SECONDS:
                self.hanging = any(query_.is_active() for query_ in self._queries)
                return

    def _first_cause(self) -> BaseException | None:
        """Why a query ended that nobody cut short. Once others are cut, what they say is a consequence."""
        ended = [query_.ended_by() for query_ in self._queries if not query_.is_active() and not query_.was_cut_short()]
        return self._cause or next((error for error in ended if error is not None), None)

    def _checked(self, session: SparkSession) -> BaseException | None:
        """Every few seconds: what a source misses, for a stream without input would else just be idle; what sinks do beside batches."""
        if time.monotonic() - self._checked_at < _CHECK_SECONDS or self._stopping.is_set():
            return None
        self._checked_at = time.monotonic()
        try:
            sources_check(self._steps)
            if self._slots:
                self._slots.check()
            sinks_settle(self._steps, self._queries, session)
        except AtNode as error:
            return error
        return None

    def _conclude(self) -> Outcome:
        if (cause := self._first_cause()) is not None:
            raise cause
        if self._stopping.is_set():
            if not self._queries or any(query_.was_cut_short() for query_ in self._queries):
                return "stopped"
        elif self.plan.job_type == "STREAMING" and not self.plan.until_drained:
            raise ExecutionFailure("the stream ended without being asked to; it is started again", kind="system")
        sources_complete(self._steps, self._queries)
        return "completed"

    def _progress_heard(self, progress: str) -> None:
        self._news.put(lambda: self._committed(json.loads(progress)))

    def _end_heard(self, run_id: str) -> None:
        self._ends_heard.add(run_id)
        self._changed.set()

    def _idle_heard(self, run_id: str) -> None:
        self._turn.give_back()  # what has nothing to read has started as well

    def _await_last_events(self) -> None:
        """Spark's listener lags behind: wait until it told each end, for then it has told each batch."""
        deadline = time.monotonic() + _LAST_EVENTS_SECONDS
        expected = {one.run_id for one in self._queries if isinstance(one, StreamQuery) and not one.is_active() and one.run_id}
        while not expected <= self._ends_heard and time.monotonic() < deadline:
            self._changed.wait(0.05)
            self._changed.clear()

    def _committed(self, progress: dict[str, Any]) -> None:
        query_ = next((one for one in self._queries if isinstance(one, StreamQuery) and one.ran_as(str(progress["runId"]))), None)
        if query_ is None:
            return
        query_.heard(progress)
        counts = query_.sinks.counts_of(int(progress["batchId"]))
        event = committed(
            query_.key,
            progress,
            names=query_.source_names,
            order=query_.source_order,
            stateful=query_.stateful,
            nodes=counts or {},
            rows_in=query_.sinks.rows_in(counts),
        )
        self._receiving.committed(event)
        for news in (event, *progressed(event)):
            self._report(news)

    def _report(self, event: Any) -> None:
        if isinstance(event, BatchWritten):
            self._turn.give_back()
        try:
            self._report_to(event)
        except Exception:
            logger.exception("reporting %s", type(event).__name__)

    def _tell(self) -> None:
        while (news := self._news.get()) is not None:
            try:
                news()
            except Exception:
                logger.exception("telling of a batch")
