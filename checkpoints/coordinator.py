"""Takes the checkpoints of one execution, in a thread of its own: when its triggers are due, when asked, and when it is stopped.

One at a time, off the batches' way; a second request waits its turn. A checkpoint is whole when every query of the job gave its cut:
otherwise it fails with the phase and the cause, and the job lives on, until more fail in a row than it tolerates.
"""

from __future__ import annotations

import errno
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from checkpoints.job_cut import JobCut, JobQuery, Phases, RunFacts
from checkpoints.ledger import Ledger, LedgerRefused, Ticket
from checkpoints.placing import Placing
from checkpoints.spark_folder import last_committed
from checkpoints.stores.base import CheckpointStorage
from checkpoints.told import Told
from checkpoints.triggers import Due, Standing, Triggers, next_due
from checkpoints.written import Written
from jobs.engine.events import BatchWritten, EngineEvent

logger = logging.getLogger(__name__)

#: An attempt outlives a database that is away for about as long.
_TELLING_SECONDS = 30.0
_TELLING_PAUSE_SECONDS = 1.0
_COMMIT_LOOK_SECONDS = 0.05
#: What the job itself asks for: only these count among its failures in a row, and wait for its pause.
_OF_THE_JOB = ("INTERVAL", "ROWS", "PAGE")


class CheckpointFailed(Exception):
    """A checkpoint that was asked for could not be taken; the text is the reason."""


class NothingToCut(Exception):
    """The job has nothing that a checkpoint could hold."""


@dataclass(frozen=True)
class _Request:
    origin: str
    requested_by: str = ""
    savepoint: bool = False
    label: str = ""
    #: Only if something was committed since the one that was taken meanwhile.
    unless_held: bool = False
    done: Future[Ticket] = field(default_factory=Future)


class Coordinator:
    """`queries` are all queries of the job by key; without any (a job read whole) every request is refused.

    Without a trigger, checkpoints are taken on request only. `timeout` in seconds. `tolerable_failures`: of checkpoints that the
    triggers asked for, so many in a row may fail; -1 any number. With one more `intolerable` says so, and the triggers rest.
    `rows_before`: source rows of the execution's earlier attempts. `kept`: query → its batch in the newest complete checkpoint of the
    generation, where there is one. `notify` hears of each complete checkpoint the position of every
    source by node; what it raises is logged: the checkpoint stays good, and the next one tells more. `storage` takes what was cut. `mark`
    hears query → batch before the cut behind them; where it says False, newer ones are taken.
    """

    def __init__(
        self,
        ledger: Ledger,
        facts: RunFacts,
        queries: Mapping[str, JobQuery],
        *,
        triggers: Triggers,
        timeout: float = 300.0,
        tolerable_failures: int = -1,
        rows_before: int = 0,
        kept: Mapping[str, int] | None = None,
        notify: Callable[[Mapping[str, Any]], None] = lambda positions: None,
        storage: CheckpointStorage | None = None,
        mark: Callable[[Mapping[str, int]], bool] = lambda batches: True,
    ) -> None:
        self._ledger, self._queries = ledger, dict(queries)
        self._triggers, self._timeout, self._tolerable = triggers, timeout, tolerable_failures
        self._cut = JobCut(facts)
        self._notify, self._mark = notify, mark
        self._placing = Placing(storage)
        self._changed = threading.Condition()
        self._written, self._rows_before = Written(facts.sources), rows_before
        self._told = Told()
        self._kept = dict(kept or {})
        self._resumed = {key: last_committed(query.folder) for key, query in self._queries.items()}
        self._waiting: deque[_Request] = deque()
        self._closing = False
        self._begun, self._ended = time.monotonic(), -math.inf
        self._failed_in_a_row = 0
        #: Why the job cannot go on without its checkpoints, "" while it can.
        self.intolerable = ""
        self._thread = threading.Thread(target=self._run, name=f"checkpoints {facts.execution_id}", daemon=True)

    def start(self) -> None:
        """Begin to listen. A freshly resumed job is due one interval from now, and only if its newest checkpoint lacks something."""
        self._thread.start()

    def hear(self, event: EngineEvent) -> None:
        """What the run reports. That Spark committed a batch is read in the query's folder: its report may come much later."""
        self._told.hear(event)
        if isinstance(event, BatchWritten):
            with self._changed:
                self._written.add(event)
                self._changed.notify_all()

    def request(self, origin: str = "MANUAL", requested_by: str = "", savepoint: bool = False, label: str = "") -> Future[Ticket]:
        """Ask for a checkpoint now; an idle query gives its last committed batch. Returns at once.

        The future gives the ticket once it is COMPLETED, or raises CheckpointFailed (or NothingToCut) with the reason.
        """
        request = _Request(origin, requested_by, savepoint, label)
        with self._changed:
            if self._closing:
                request.done.set_exception(CheckpointFailed("the execution is ending"))
            else:
                self._waiting.append(request)
                self._changed.notify_all()
        return request.done

    def close(self, *, outcome: str = "", timeout: float | None = None) -> None:
        """End, behind the checkpoint that is being taken and those asked for. Waits `timeout` seconds (default: that of a checkpoint).

        `outcome` "stopped" or "completed": the run ended so, in good order. If something was committed since the newest checkpoint, a
        last one is taken: of a stop always, of a completed run where each page is to have its own.
        """
        with self._changed:
            last = {"stopped": "STOP", "completed": "PAGE" if self._triggers.each_page else ""}.get(outcome, "")
            if last and not self._closing:
                self._waiting.append(_Request(last, unless_held=True))
            self._closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(self._timeout if timeout is None else timeout)

    def _run(self) -> None:
        while (request := self._next()) is not None:
            try:
                self._take(request)
            except Exception as error:
                logger.warning("no checkpoint could begin: %s", error)
                if not request.done.done():
                    request.done.set_exception(CheckpointFailed(str(error)))

    def _next(self) -> _Request | None:
        """Waits for the next checkpoint to take; None at the end."""
        with self._changed:
            while True:
                if self._waiting:
                    request = self._waiting.popleft()
                    if request.unless_held and self._is_held():
                        continue
                    return request
                if self._closing:
                    return None
                due = self._next_due()
                wait = due.at - time.monotonic() if due else None
                if due and wait is not None and wait <= 0:
                    return _Request(due.origin)
                self._changed.wait(wait)

    def _next_due(self) -> Due | None:
        if self.intolerable:
            return None
        written = self._written
        return next_due(self._triggers, Standing(self._begun, self._ended, written.rows, written.batches, self._is_unprotected()))

    def _is_unprotected(self) -> bool:
        """Whether any query is beyond the newest checkpoint."""
        return any(max(self._resumed[key], self._written.newest(key)) > self._kept.get(key, -1) for key in self._queries)

    def _is_held(self) -> bool:
        """Whether the newest checkpoint has all that Spark committed."""
        return all(last_committed(query.folder) <= self._kept.get(key, -1) for key, query in self._queries.items())

    def _take(self, request: _Request) -> None:
        if refused := self._refused():
            request.done.set_exception(NothingToCut(refused))
            return
        with self._changed:
            self._begun = time.monotonic()
            self._written.begin_anew()
        phases = Phases(self._timeout)
        ticket = self._ledger.begin(
            origin=request.origin, requested_by=request.requested_by, savepoint=request.savepoint, label=request.label
        )
        try:
            batches, rows = self._batches(phases)
            while not self._mark(batches):
                batches, rows = self._batches(phases)
            told = self._told.as_it_stands()
            result = self._cut.take(ticket, self._queries, batches, phases, rows=rows, told=told, savepoint=request.savepoint)
            result = self._placing.put(ticket, result, phases, savepoint=request.savepoint)
        except Exception as error:
            self._failed(ticket, phases, error, request)
            return
        finally:
            self._ended = time.monotonic()
        try:
            is_told = self._tell(lambda: self._ledger.complete(ticket, result), f"checkpoint {ticket.number} is complete")
        except LedgerRefused as refused:
            self._placing.take_back(ticket)
            request.done.set_exception(CheckpointFailed(str(refused)))
            return
        if is_told:
            self._kept |= batches
            self._failed_in_a_row = 0
            request.done.set_result(ticket)
            self._notified(ticket, result.state_data["sources"])
        else:  # its row stays PENDING until the next one begins or the attempt is over, which take the files away
            self._count(request, "it could not be recorded")
            request.done.set_exception(CheckpointFailed("it could not be recorded"))

    def _notified(self, ticket: Ticket, positions: Mapping[str, Any]) -> None:
        try:
            self._notify(positions)
        except Exception as error:
            logger.warning("checkpoint %s is complete, but was not told on: %s", ticket.number, error)

    def _refused(self) -> str:
        if not self._queries:
            return "the job reads everything at once: it has no position to keep"
        if not any((query.folder / "offsets").is_dir() for query in self._queries.values()):
            return "the job has not committed anything yet"
        return ""

    def _failed(self, ticket: Ticket, phases: Phases, error: Exception, request: _Request) -> None:
        reason = f"{phases.words()}: {_sentence(error)}"
        logger.warning("checkpoint %s failed while %s", ticket.number, reason)
        with suppress(LedgerRefused):
            self._tell(lambda: self._ledger.fail(ticket, reason, phases.milliseconds()), f"checkpoint {ticket.number} failed")
        self._count(request, reason)
        request.done.set_exception(CheckpointFailed(reason))

    def _count(self, request: _Request, reason: str) -> None:
        """One more failure; the job's end where it is one too many."""
        self._failed_in_a_row += request.origin in _OF_THE_JOB
        failed, tolerable = self._failed_in_a_row, self._tolerable
        if 0 <= tolerable < failed and not self.intolerable:
            one = f"a checkpoint failed while {reason}, and the job tolerates no failure"
            many = f"{failed} checkpoints in a row failed, the last one while {reason}, and the job tolerates {tolerable}"
            self.intolerable = many if tolerable else one

    def _batches(self, phases: Phases) -> tuple[dict[str, int], int]:
        """The batch to cut each query behind, and the execution's source rows up to there.

        One that is in its very first batch is waited for; one that never began gives -1.
        """
        phases.step("wait")
        found: dict[str, int] = {}
        rows = self._rows_before
        for key, query in self._queries.items():
            with self._changed:
                while (batch := self._batch(key, query)) is None:
                    phases.step("wait")
                    self._changed.wait(_COMMIT_LOOK_SECONDS)
                rows += self._written.rows_until(key, batch)
            found[key] = batch
        return found, rows

    def _batch(self, key: str, query: JobQuery) -> int | None:
        """The newest committed batch; None: the first is under way, or the one that is written is just about to be committed.

        While it is looked for no other batch can become written, for who writes tells so first.
        """
        committed = last_committed(query.folder)
        is_first = committed < 0 and (query.folder / "offsets" / "0").exists()
        is_due = is_first or committed < self._written.newest(key)
        return None if is_due and not self._closing else committed

    def _tell(self, call: Callable[[], None], what: str) -> bool:
        """The ledger's database may be away for a moment. What it never hears, the reconciler finds out. Raises LedgerRefused."""
        deadline = time.monotonic() + _TELLING_SECONDS
        while True:
            try:
                call()
                return True
            except Exception as error:
                logger.warning("the ledger could not be told that %s: %s", what, error)
                if isinstance(error, LedgerRefused):
                    raise
            if time.monotonic() > deadline:
                return False
            time.sleep(_TELLING_PAUSE_SECONDS)


def _sentence(error: Exception) -> str:
    """What the system says in its own words, without the numbers and paths of its message."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower() if error.errno == errno.ENOSPC else f"{error.strerror.lower()} ({error.filename})"
    return str(error) or type(error).__name__
