"""Tries the connections that jobs use from time to time, in a thread of the worker's main process and a few beside it."""

import logging
import queue
import threading
import time
from dataclasses import dataclass

from django import db
from django.conf import settings
from django.db import close_old_connections, connection

from jobs.models import Connection
from jobs.nodes.connection_kind import CheckStep
from jobs.services.connection_health import connection_check, connection_checked, connections_claim

logger = logging.getLogger(__name__)

#: How often to look for connections that are due, at most.
_LOOK_SECONDS = 5.0
#: Tried at the same time, and claimed together.
_AT_ONCE, _CLAIMED = 4, 20
#: A system that says nothing for so long counts as failing.
DEADLINE_SECONDS = 60.0
#: Attempts that never ended, such as in a name server's library; with more of them nothing is tried, so that threads do not pile up.
_MOST_STUCK = 16
_STOP_SECONDS = 5.0


@dataclass
class _Attempt:
    row: Connection
    begun: float
    is_told: bool = False


class ConnectionChecks:
    """One thread claims, begins and tells; those that try a connection say nothing to the database. Any number of workers may have one."""

    def __init__(self) -> None:
        self._waiting: list[Connection] = []
        self._under_way: dict[int, _Attempt] = {}
        self._ended: queue.Queue[tuple[int, list[CheckStep]] | None] = queue.Queue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="connections", daemon=True)
        self._is_database_away = False

    def start(self) -> None:
        if settings.CONNECTION_CHECK_SECONDS > 0:
            self._thread.start()

    def stop(self) -> None:
        """Nothing is begun any more; what is under way ends with the process."""
        self._stopping.set()
        self._ended.put(None)
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        pause = min(_LOOK_SECONDS, settings.CONNECTION_CHECK_SECONDS / 4)
        looked = 0.0
        while not self._stopping.is_set():
            try:
                close_old_connections()
                self._tell_overdue()
                if time.monotonic() - looked >= pause:
                    looked = time.monotonic()
                    self._claim()
                self._begin()
                self._tell_next(pause)
                self._is_database_away = False
            except db.Error as error:
                self._wait_for_database(error, pause)
            except Exception:
                logger.exception("looking after the connections")
                self._stopping.wait(pause)
        connection.close()

    def _wait_for_database(self, error: db.Error, pause: float) -> None:
        """What was found is forgotten: the connection is due again after its time. Said once per outage."""
        if not self._is_database_away:
            logger.warning("the checks of connections do not reach the database: %s", error)
        self._is_database_away = True
        self._stopping.wait(pause)

    def _claim(self) -> None:
        if not self._waiting and len(self._under_way) < _MOST_STUCK:
            self._waiting = [row for row in connections_claim(most=_CLAIMED) if row.pk not in self._under_way]

    def _begin(self) -> None:
        busy = sum(not attempt.is_told for attempt in self._under_way.values())
        for _ in range(min(_AT_ONCE - busy, len(self._waiting))):
            row = self._waiting.pop(0)
            self._under_way[row.pk] = _Attempt(row, time.monotonic())
            threading.Thread(target=self._try, args=(row,), name=f"connection {row.pk}", daemon=True).start()

    def _try(self, row: Connection) -> None:
        self._ended.put((row.pk, connection_check(row)))

    def _tell_next(self, pause: float) -> None:
        try:
            found = self._ended.get(timeout=pause)
        except queue.Empty:
            return
        if found is None:
            return
        pk, steps = found
        attempt = self._under_way.pop(pk)
        if not attempt.is_told:
            self._tell(attempt.row, steps)

    def _tell_overdue(self) -> None:
        for attempt in self._under_way.values():
            if not attempt.is_told and time.monotonic() - attempt.begun > DEADLINE_SECONDS:
                attempt.is_told = True
                words = f"no answer within {DEADLINE_SECONDS:.0f} s; check that the system runs and can be reached"
                self._tell(attempt.row, [CheckStep("answer", False, words)])

    def _tell(self, row: Connection, steps: list[CheckStep]) -> None:
        if connection_checked(connection=row, steps=steps) and row.test_ok is not False and not all(step.ok for step in steps):
            logger.warning('the connection "%s" of project %s fails: %s', row.name, row.project.slug, steps[-1].message)
