"""A driver process: one warm Spark session, the executions it holds, and the leases it keeps."""

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from django import db
from django.conf import settings
from django.db import close_old_connections, connection
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from jobs import broadcast
from jobs.driver.attempt import Attempt
from jobs.driver.exits import HANGING, LEASE_LOST, SPARK_DIED
from jobs.driver.spark import spark_start
from jobs.driver.usage import UsageMeter
from jobs.driver.warming import driver_warm
from jobs.models import Command, CommandKind, Driver, DriverKind
from jobs.nodes.registry import REGISTRY
from jobs.nodes.user_python.worker_memory import memory_limit
from jobs.reporting import Writer
from jobs.services.commands import command_settle, commands_take
from jobs.services.drivers import DriverUsage, driver_drain, driver_heartbeat, driver_ready
from jobs.services.executions import execution_claim, leases_renew
from jobs.services.executions.claiming import driver_name

logger = logging.getLogger(__name__)

#: A dedicated driver without its execution ends after this.
IDLE_SECONDS = 60.0
_WATCH_SECONDS = 0.25


class DriverProcess:
    """`serve` returns when the process is to end; `stop` may be called from any thread or signal handler."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.name = driver_name(driver)
        self.spark: SparkSession
        self.writer = Writer()
        self.exit_code = 0
        self.is_open = False
        self._attempts: dict[str, Attempt] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._reason = ""
        self._renewed = time.monotonic()
        self._idle_since = time.monotonic()
        self._ran = False
        self._meter = UsageMeter()

    def open(self, work_dir: Path, *, memory: str) -> None:
        """Build the Spark session, warm what the first run needs, and be READY."""
        threading.Thread(target=self._renew_for_ever, name="leases", daemon=True).start()
        threading.Thread(target=self._watch_leases, name="lease watch", daemon=True).start()
        threading.Thread(target=self._press_for_ever, name="stops", daemon=True).start()
        self.spark = spark_start(work_dir, memory=memory, answers=self.driver.kind == DriverKind.INTERACTIVE)
        self.spark.sparkContext.setLogLevel("ERROR")
        if self.driver.kind == DriverKind.INTERACTIVE:
            memory_limit(self.spark.sparkContext.environment, settings.PREVIEW_CODE_MEGABYTES)
        REGISTRY.catalogue()
        self.is_open = True
        driver_ready(driver=self.driver)
        if self.driver.kind != DriverKind.DEDICATED:
            run = self.driver.kind == DriverKind.SHARED
            threading.Thread(target=driver_warm, args=(self.spark, work_dir), kwargs={"run": run}, name="warming", daemon=True).start()

    def wake(self) -> None:
        self._wake.set()

    def stop(self, reason: str) -> None:
        """Take no more work, hand over what runs at its batch boundary, then end."""
        self._reason = self._reason or reason
        self._stopping.set()
        self._wake.set()

    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def give_up(self, reason: str, code: int = HANGING) -> None:
        """Something in this process can only be ended with it; the others hand over first."""
        self.exit_code = self.exit_code or (SPARK_DIED if self.spark_died() else code)
        self.stop(reason)

    def spark_died(self) -> bool:
        gateway = self.spark.sparkContext._gateway
        process = getattr(gateway, "proc", None)
        return process is not None and process.poll() is not None

    def spark_ends(self) -> bool:
        """Whether the JVM is gone, or about to be: it stops what runs first."""
        if self.spark_died():
            return True
        try:
            java: Any = self.spark.sparkContext._jsc
            return bool(java.sc().isStopped())
        except (Py4JError, OSError, AttributeError):  # nobody answers any more
            return True

    def attempt_ended(self, attempt: Attempt) -> None:
        with self._lock:
            if self._attempts.get(attempt.execution_id) is attempt:
                del self._attempts[attempt.execution_id]
            self._idle_since = time.monotonic()
        self._wake.set()

    def serve(self) -> None:
        """Claim and command until `stop`; a wake-up makes it look at once, else it looks every second."""
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                close_old_connections()
                self._commands()
                self._claim()
            except db.Error as error:
                logger.warning("the database does not answer: %s", error)
            except Exception:  # whatever is wrong with one execution, the others run on
                logger.exception("looking for work")
            if self._is_done():
                self.stop("nothing left to do")
            if self.spark_died():
                self.give_up("Spark's JVM ended")
            self._wake.wait(settings.CLAIM_POLL_SECONDS)

    def _is_done(self) -> bool:
        if self.driver.kind != DriverKind.DEDICATED or self._held():
            return False
        return self._ran or time.monotonic() - self._idle_since > IDLE_SECONDS

    def _claim(self) -> None:
        while len(self._held()) < self.driver.slots and not self._stopping.is_set():
            if self.driver.kind == DriverKind.DEDICATED and self._ran:
                return
            execution = execution_claim(driver=self.driver, besides=self._held())
            if execution is None:
                return
            self._ran = True
            self._begin(Attempt(execution, self))

    def _begin(self, attempt: Attempt) -> None:
        with self._lock:
            self._attempts[attempt.execution_id] = attempt
        try:
            attempt.start()
        except BaseException:  # no thread could be begun: its lease runs out, and another attempt follows
            self.attempt_ended(attempt)
            raise

    def _commands(self) -> None:
        held = self._held()
        if not held:
            return
        for command in commands_take(driver=self.driver):
            attempt = held.get(command.execution_id)
            if attempt is not None:
                self._obey(attempt, command)

    def _obey(self, attempt: Attempt, command: Command) -> None:
        if command.kind in (CommandKind.STOP, CommandKind.CANCEL):
            attempt.stop()
        elif command.kind == CommandKind.FORCE_CANCEL:
            attempt.force()
        elif not attempt.checkpoint(command):
            command_settle(command=command, done=False, result="the execution is not running")

    def _held(self) -> dict[str, Attempt]:
        with self._lock:
            return dict(self._attempts)

    # ── leases ──

    def _renew_for_ever(self) -> None:
        while True:
            self._renew()
            time.sleep(settings.LEASE_RENEW_SECONDS)

    def _renew(self) -> None:
        begun = time.monotonic()
        held = {execution_id: attempt for execution_id, attempt in self._held().items() if not attempt.is_lost()}
        try:
            close_old_connections()
            lost = leases_renew(driver=self.driver, held={one.execution_id: one.number for one in held.values()})
            driver_heartbeat(driver=self.driver, usage=self._usage())
            self._renewed = begun
        except db.Error as error:
            logger.warning("leases could not be renewed: %s", error)
            return
        for execution_id in lost:
            held[execution_id].lose("another attempt may go on")

    def _usage(self) -> DriverUsage | None:
        """A figure that cannot be had must not end a lease."""
        try:
            return self._meter.read()
        except (psutil.Error, OSError):
            return None

    def _watch_leases(self) -> None:
        """In a thread of its own: a renewal may hang in a locked or silent database for longer than a lease."""
        while True:
            for attempt in self._held().values():
                self._silence_check(attempt, time.monotonic() - max(self._renewed, attempt.claimed_at))
            time.sleep(_WATCH_SECONDS)

    def _silence_check(self, attempt: Attempt, silent: float) -> None:
        """Everything must have ended before the lease does: at two thirds it is interrupted, near its end the process dies."""
        if silent > settings.LEASE_SECONDS * 2 / 3:
            attempt.lose(f"it could not be renewed for {silent:.0f} s")
        if silent > settings.LEASE_SECONDS - settings.LEASE_RENEW_SECONDS - 1 and attempt.is_alive():
            self.end_now(LEASE_LOST)

    def _press_for_ever(self) -> None:
        """In a thread of its own: whatever an attempt is busy with, or hangs in, its stop ends."""
        while True:
            for attempt in self._held().values():
                try:
                    attempt.press()
                except Exception:
                    logger.exception("pressing execution %s to stop", attempt.execution_id)
            time.sleep(_WATCH_SECONDS)

    # ── the end ──

    def close(self) -> None:
        """Hand over within the grace period, write what is left, stop Spark."""
        self._database_told(lambda: driver_drain(driver=self.driver))
        for attempt in self._held().values():
            attempt.hand_over(self._reason)
        # One that cannot be interrupted must not keep the others waiting, nor the process.
        begun, patience = time.monotonic(), settings.STOP_GRACE_SECONDS / 2 if self.exit_code else settings.STOP_GRACE_SECONDS + 5
        forced = not self.exit_code
        while self._held() and time.monotonic() < begun + patience:
            if not forced and time.monotonic() > begun + patience / 2:
                forced = True
                self._force()
            self._wake.wait(0.2)
            self._wake.clear()
        self.writer.close()
        broadcast.flush()
        connection.close()

    def _force(self) -> None:
        """Batches that are longer than there is time for are done again: a hand-over costs no retry, the death of the process does."""
        for attempt in self._held().values():
            attempt.force()

    def _database_told(self, write: Callable[[], None]) -> None:
        try:
            write()
        except db.Error as error:
            logger.warning("the database does not answer: %s", error)

    def end_now(self, code: int) -> None:
        """At once, without a word: the supervisor tells how it ended."""
        os._exit(code)
