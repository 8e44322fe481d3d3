"""One attempt of one execution in this driver: from the claim to the status it ends in."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from django import db
from django.conf import settings
from django.db import connection

from checkpoints.coordinator import Coordinator
from jobs.driver.asked import checkpoint_settle
from jobs.driver.attempt_failure import attempt_failure, failure_kept
from jobs.driver.checkpointing import coordinator_of, end_check
from jobs.driver.corrections import Corrections
from jobs.driver.host import Host
from jobs.driver.insisting import insisted
from jobs.driver.logs import attempt_logger, attempt_logger_close
from jobs.driver.planning import plan_renewed
from jobs.driver.position import plan_with_position
from jobs.engine.events import each
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Plan
from jobs.engine.runner import Run
from jobs.models import Command, CommandKind, Execution, ExecutionStatus, TransitionRefused
from jobs.reporting import Reporter
from jobs.services.executions import (
    execution_attempt_failed,
    execution_complete,
    execution_hand_over,
    execution_stopped,
    execution_transition,
    status_asked_for,
)

logger = logging.getLogger(__name__)
T = TypeVar("T")

_POLL_SECONDS = 0.1
#: Instead of the grace period, where the batch cannot end because its target is away.
_AWAY_GRACE_SECONDS = 3
#: After a forced end, so long until the driver gives itself up to get rid of what hangs.
FORCED_SECONDS = 15.0
#: The end of an execution waits so long for the checkpoint that is being taken. A driver that ends has less: who goes on takes another.
LAST_CHECKPOINT_SECONDS = 60.0
_HANDED_OVER_CHECKPOINT_SECONDS = 3.0


class _StopAsked(Exception):
    """While a position was being put in place."""


class Attempt:
    """Runs in a thread of its own. `stop`, `hand_over`, `force` and `lose` return at once."""

    def __init__(self, execution: Execution, host: Host) -> None:
        self.execution = execution
        self.execution_id = execution.execution_id
        self.number = execution.attempt
        #: When its lease began, by this process's clock.
        self.claimed_at = time.monotonic()
        self._host = host
        self._log = attempt_logger(self.execution_id, self.number)
        self._run: Run | None = None
        self._coordinator: Coordinator | None = None
        self._lock = threading.Lock()
        self._stop_asked: float | None = None
        self._forced: float | None = None
        self._handing_over = ""
        self._is_over = False
        self._concluding = False
        self._lost = threading.Event()
        self._thread = threading.Thread(target=self._live, name=f"attempt {execution.job_name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def is_lost(self) -> bool:
        """Its lease must not be renewed any more: it ends without a word, and another attempt waits for the lease to run out."""
        return self._lost.is_set()

    def stop(self) -> None:
        """At the batch boundary; by force after the grace period, which is short where a target is away."""
        with self._lock:
            self._stop_asked = self._stop_asked or time.monotonic()
            if self._run:
                self._run.stop()

    def checkpoint(self, command: Command) -> bool:
        """Ask for a checkpoint behind the batch that is committed; False while nothing runs yet."""
        coordinator = self._coordinator
        if coordinator is None:
            return False
        savepoint = command.kind == CommandKind.SAVEPOINT
        label = str(command.detail.get("label", ""))
        done = coordinator.request("MANUAL", command.requested_by, savepoint, label)
        done.add_done_callback(partial(checkpoint_settle, command, actor=self._host.name, log=self._log))
        return True

    def hand_over(self, reason: str) -> None:
        """Stop at the batch boundary and let another driver go on."""
        self._handing_over = reason
        self.stop()

    def force(self) -> None:
        """End within seconds, in the middle of a batch."""
        with self._lock:
            if self._forced:
                return
            self._forced = time.monotonic()
            self._stop_asked = self._stop_asked or self._forced
            if self._run:
                self._run.interrupt()

    def lose(self, reason: str) -> None:
        """The lease is gone: end at once and write nothing more."""
        if self._lost.is_set():
            return
        self._lost.set()
        if not self._concluding:  # else its last status was written this very moment, or is refused
            self._log.error("this attempt lost its lease: %s", reason)
            self.force()

    def _live(self) -> None:
        try:
            self._log.info("attempt %d of version %d begins on %s", self.number, self.execution.version, self._host.name)
            self._work()
        except Exception:
            logger.exception("attempt %d of %s", self.number, self.execution_id)
            self._log.exception("the driver failed")
        finally:
            attempt_logger_close(self._log)
            self._host.attempt_ended(self)
            connection.close()

    def _work(self) -> None:
        reporter: Reporter | None = None
        failure: ExecutionFailure | None = None
        outcome = "stopped"
        try:
            plan = self._prepared(lambda: plan_with_position(self.execution, actor=self._host.name, log=self._log, pulse=self._pulse))
            reporter = self._prepared(lambda: self._reporter(plan))
            if not self._stop_asked:
                outcome = self._run_to_end(plan, reporter)
        except _StopAsked:
            pass
        except Exception as error:
            failure = attempt_failure(error)
        finally:
            self._is_over = True
            if reporter is not None:
                reporter.close()
        self._conclude(outcome, failure)

    def _prepared(self, act: Callable[[], T]) -> T:
        """A database that is away for a moment costs no attempt; one that is for longer takes the lease."""

        def tried() -> T:
            self._pulse()
            return act()

        return insisted(tried, given_up=lambda: time.monotonic() > self.claimed_at + settings.LEASE_SECONDS, log=self._log)

    def _pulse(self) -> None:
        if self._stop_asked:
            raise _StopAsked

    def _reporter(self, plan: Plan) -> Reporter:
        return Reporter(
            self.execution,
            self._host.writer,
            project=self.execution.job.project.slug,
            trigger_seconds=plan.settings.batch_seconds if plan.job_type == "STREAMING" else 1.0,
            log=self._log,
        )

    def _run_to_end(self, plan: Plan, reporter: Reporter) -> str:
        coordinator = self._coordinator = self._prepared(
            lambda: coordinator_of(self.execution, plan, actor=self._host.name, log=self._log, mark=self._is_marked)
        )
        coordinator.start()
        corrections = Corrections(self.execution)
        outcome = ""
        try:
            with self._lock:
                renewed = partial(plan_renewed, execution=self.execution)
                hear = each(coordinator.hear, corrections.hear, reporter)
                self._run = run = Run(self._host.spark, plan, hear, log=self._log, renewed=renewed)
                if self._stop_asked:
                    return "stopped"
                run.start()
            found = self._outcome_of(run, reporter, corrections)
            end_check(coordinator, found)
            outcome = "" if self._handing_over or self._forced else found
            return found
        finally:
            self._coordinator = None
            coordinator.close(outcome=outcome, timeout=self._checkpoint_patience())

    def _is_marked(self, batches: Mapping[str, int]) -> bool:
        return self._run is None or self._run.mark(batches)

    def _checkpoint_patience(self) -> float:
        return 0.0 if self._lost.is_set() else _HANDED_OVER_CHECKPOINT_SECONDS if self._handing_over else LAST_CHECKPOINT_SECONDS

    def _outcome_of(self, run: Run, reporter: Reporter, corrections: Corrections) -> str:
        try:
            return self._watch(run, reporter, corrections)
        finally:
            self._is_over = True
            if run.hanging:
                self._give_up()

    def _watch(self, run: Run, reporter: Reporter, corrections: Corrections) -> str:
        running = False
        connection.close()  # from here on it is asked seldom, and this may last for months
        while True:
            outcome = run.wait(_POLL_SECONDS if running else 0.02)
            if not running and (outcome or reporter.started.is_set()):
                running = True
                self._settle(self._is_running)
            if outcome:
                return outcome
            if running and not self._stop_asked and (corrected := corrections.found(run.plan)):
                self.hand_over(corrected)

    def press(self) -> None:
        """To be called now and then. A stop always ends: at the boundary, then by force, then with the whole process."""
        if self._is_over:  # what comes behind a run ends by itself
            return
        now, run = time.monotonic(), self._run
        if self._coordinator and self._coordinator.intolerable and not self._stop_asked:
            self.stop()
        grace = min(settings.STOP_GRACE_SECONDS, _AWAY_GRACE_SECONDS) if run and run.awaits_sink() else settings.STOP_GRACE_SECONDS
        if self._stop_asked and not self._forced and now - self._stop_asked > grace:
            self._log.warning("what is under way did not end within %d s: it is interrupted", grace)
            self.force()
        if self._forced and now - self._forced > FORCED_SECONDS:
            self._give_up()

    def _give_up(self) -> None:
        """Only the end of the process ends what hangs."""
        self._host.give_up(f"execution {self.execution_id} cannot be interrupted")

    @property
    def _own(self) -> dict[str, Any]:
        """What each change of its status says of who makes it."""
        return {"execution_id": self.execution_id, "attempt": self.number, "actor": self._host.name}

    def _is_running(self) -> None:
        try:
            execution_transition(expected=ExecutionStatus.INITIALIZING, to=ExecutionStatus.RUNNING, kind="started", **self._own)
        except TransitionRefused as refused:
            if refused.current != ExecutionStatus.RUNNING:  # else it was written, and the answer was lost
                raise

    def _conclude(self, outcome: str, failure: ExecutionFailure | None) -> None:
        if self._lost.is_set() or (failure and failure.fenced):
            self._log.warning("nothing is written: a newer attempt goes on")
            return
        if failure is not None and self._host.spark_died():
            self._host.give_up("Spark's JVM ended")
            return
        self._concluding = True
        if failure is not None:
            self._failed(failure)
        elif outcome == "completed":
            self._log.info("completed")
            self._settle(lambda: execution_complete(**self._own))
        elif self._handing_over and not self._settle(lambda: status_asked_for(self.execution_id)):
            self._log.info("handed over: %s", self._handing_over)
            self._settle(lambda: execution_hand_over(reason=self._handing_over, **self._own))
        else:
            reason = "by force: the batch that was under way is done again" if self._forced else ""
            self._log.info("stopped %s", reason)
            self._settle(lambda: execution_stopped(reason=reason, **self._own))

    def _failed(self, failure: ExecutionFailure) -> None:
        text = f"{failure.message}\n{failure.stack_trace}".rstrip()
        self._log.error("%s", text, extra={"node_id": failure.node_id})
        self._settle(lambda: execution_attempt_failed(**failure_kept(failure), **self._own))

    def _settle(self, write: Callable[[], Any]) -> Any:
        """Write a status, however long the database is away, until the lease is lost."""
        try:
            return None if self._lost.is_set() else insisted(write, given_up=self._lost.is_set, log=self._log)
        except (TransitionRefused, db.Error) as refused:
            self._log.warning("%s", refused)
            self._lost.set()
            self.force()
        return None
