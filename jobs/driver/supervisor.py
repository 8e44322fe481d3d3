"""Starts, wakes, watches and ends the driver processes of one worker, from a thread of the worker's main process."""

import logging
import threading
import time
import uuid

from django import db
from django.conf import settings
from django.db import close_old_connections, connection

from jobs.driver.child import Child, is_driver, scratch_clear, scratch_folders
from jobs.driver.exits import LEASE_LOST, exit_reason
from jobs.engine.recurring import Recurring
from jobs.models import DriverKind
from jobs.selectors.drivers import dedicated_waiting, drivers_claimed_alive, drivers_frozen, scratch_unneeded
from jobs.services.drivers import driver_gone

logger = logging.getLogger(__name__)

_TICK_SECONDS = 0.1
_LOOK_SECONDS = 1.0
#: A driver that dies at once is started again after this, doubled up to the most.
_PAUSE_FIRST, _PAUSE_MOST = 1.0, 60.0
_LIVED_LONG = 120.0
#: The interactive driver waits so long for the shared one, which then has both cores for its start.
_STAGGER_SECONDS = 12.0


class Supervisor:
    """`wake` and `stop` may be called from any thread. One thread forks every driver: they die with the thread that forked them."""

    def __init__(self, *, worker: str) -> None:
        self._worker = worker
        self._children: list[Child] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._pauses: dict[str, tuple[float, float]] = {}
        self._silent: dict[uuid.UUID, float] = {}
        #: Child, how it ended, and whether what it ran may be why.
        self._ended: list[tuple[Child, str, bool]] = []
        self._begun = time.monotonic()
        self._uncut = Recurring(logger)
        self._thread = threading.Thread(target=self._run, name="drivers", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """There is something to do: every driver looks now."""
        with self._lock:
            for child in self._children:
                child.wake()
        self._woken.set()

    def stop_begin(self) -> None:
        """Let every driver hand over, then kill what is left. Returns at once."""
        self._stopping.set()
        self._woken.set()

    def stop(self) -> None:
        """The same. Returns when none is left."""
        self.stop_begin()
        self._thread.join(settings.STOP_GRACE_SECONDS + 30)

    def _run(self) -> None:
        self._sweep()
        looked = 0.0
        while not self._stopping.is_set():
            try:
                self._bury()
                self._tell_ended()
                self._fill()
                if self._woken.is_set() or time.monotonic() - looked > _LOOK_SECONDS:
                    self._woken.clear()
                    looked = time.monotonic()
                    self._look_after_logs()
                    close_old_connections()
                    self._dedicated()
                    self._frozen()
            except db.Error as error:
                logger.warning("the supervisor does not reach the database: %s", error)
            except Exception:
                logger.exception("looking after the drivers")
            self._woken.wait(_TICK_SECONDS)
        self._end_all()
        connection.close()

    def _sweep(self) -> None:
        """What an earlier life of this worker left behind: drivers that died with it, and their scratch folders."""
        try:
            for driver in drivers_claimed_alive(host=settings.STORAGE_HOST, worker=self._worker):
                if not is_driver(driver.pid):
                    reason = f"driver {driver.pid} ended with its worker"
                    driver_gone(driver_id=driver.driver_id, reason=reason, accused=False)
            scratch_clear(scratch_unneeded(scratch_folders()))
        except db.Error as error:
            logger.warning("the supervisor does not reach the database: %s", error)

    def _fill(self) -> None:
        self._keep(DriverKind.SHARED, settings.SHARED_DRIVERS, settings.DRIVER_SLOTS, settings.SPARK_DRIVER_MEMORY)
        if not settings.SHARED_DRIVERS or time.monotonic() - self._begun > _STAGGER_SECONDS:
            self._keep(DriverKind.INTERACTIVE, settings.INTERACTIVE_DRIVERS, 1, settings.SPARK_INTERACTIVE_MEMORY)

    def _keep(self, kind: str, wanted: int, slots: int, memory: str) -> None:
        _, not_before = self._pauses.get(kind, (0.0, 0.0))
        if self._count(kind) < wanted and time.monotonic() >= not_before:
            self._begin(kind, slots, memory)

    def _begin(self, kind: str, slots: int, memory: str) -> bool:
        """Whether it begins. One that cannot counts as one that died at once."""
        try:
            child = Child(kind=kind, worker=self._worker, slots=slots, memory=memory)
        except OSError as error:
            logger.error("a %s driver cannot begin: %s", kind, error)
            self._pause(kind, lived=0.0, expected=False)
            return False
        with self._lock:
            self._children.append(child)
        logger.info("%s driver %d begins", kind, child.pid)
        return True

    def _count(self, kind: str) -> int:
        return sum(child.kind == kind for child in self._children)

    def _dedicated(self) -> None:
        """One driver for each execution that wants its own and that none is on its way to."""
        waiting = dedicated_waiting(host=settings.STORAGE_HOST, worker=self._worker)
        _, not_before = self._pauses.get(DriverKind.DEDICATED, (0.0, 0.0))
        wanted = waiting and self._count(DriverKind.DEDICATED) < settings.DEDICATED_DRIVERS and time.monotonic() >= not_before
        if wanted and self._begin(DriverKind.DEDICATED, 1, settings.SPARK_DRIVER_MEMORY):
            # It announces itself within seconds; until then it would be missing from the count.
            self._pauses[DriverKind.DEDICATED] = (0.0, time.monotonic() + 3.0)

    def _frozen(self) -> None:
        """A driver that lives and is silent holds nothing any more: its leases ran out. It is killed, and its place filled."""
        silent = drivers_frozen(driver_ids=[child.driver_id for child in self._children])
        now = time.monotonic()
        # After the machine slept, or the database was away, everyone looks silent: each gets the time of a lease to speak.
        self._silent = {driver_id: self._silent.get(driver_id, now) for driver_id in silent}
        frozen = {driver_id for driver_id, since in self._silent.items() if now - since > settings.LEASE_SECONDS}
        for child in [child for child in self._children if child.driver_id in frozen]:
            logger.error("driver %d is not heard of any more: it is killed", child.pid)
            child.kill()

    def _look_after_logs(self) -> None:
        for child in self._children:
            try:
                child.log_look_after()
            except OSError as error:
                self._uncut.wrong(f"the log of driver {child.pid} cannot be looked after", error)

    def _bury(self) -> None:
        for child in list(self._children):
            code = child.exit_code()
            if code is None:
                continue
            with self._lock:
                self._children.remove(child)
            child.kill()
            reason = exit_reason(child.pid, code)
            expected = code == 0
            (logger.info if expected else logger.error)("%s %s%s", child.kind, reason, "" if expected else f"\n{child.last_words()}")
            self._ended.append((child, reason, code != LEASE_LOST and child.driver_id not in self._silent))
            self._pause(child.kind, lived=time.monotonic() - child.started_at, expected=expected)

    def _tell_ended(self) -> None:
        """Told until the database has heard: the sooner its leases end, the sooner another driver goes on."""
        while self._ended:
            child, reason, accused = self._ended[0]
            close_old_connections()
            for execution_id in driver_gone(driver_id=child.driver_id, reason=reason, accused=accused):
                logger.warning("execution %s was let go: %s", execution_id, reason)
            self._ended.pop(0)
            child.clear()

    def _pause(self, kind: str, *, lived: float, expected: bool) -> None:
        before, _ = self._pauses.get(kind, (0.0, 0.0))
        pause = 0.0 if expected or lived > _LIVED_LONG or before == 0.0 else min(before, _PAUSE_MOST)
        following = _PAUSE_FIRST if lived > _LIVED_LONG or expected else max(_PAUSE_FIRST, before * 2)
        self._pauses[kind] = (following, time.monotonic() + pause)

    def _end_all(self) -> None:
        for child in self._children:
            child.stop()
        deadline = time.monotonic() + settings.STOP_GRACE_SECONDS + 15
        while self._children and time.monotonic() < deadline:
            self._bury()
            time.sleep(_TICK_SECONDS)
        for child in list(self._children):
            child.kill()
        try:
            self._bury()
            self._tell_ended()
        except db.Error as error:
            logger.warning("the end of the drivers could not be told: %s", error)
