"""The one batching writer of counts and samples of a process, and the tick that sends live figures."""

import logging
import threading
import time
from collections.abc import Sequence
from typing import Protocol

from django import db
from django.db import close_old_connections, connection

from jobs.services.metrics import Reported, reported_write

logger = logging.getLogger(__name__)

TICK_SECONDS = 0.5
#: How long a batch waits for its counts to be kept before it goes on without.
KEPT_SECONDS = 10.0


class Reporting(Protocol):
    """What the writer asks of each execution's reporter."""

    execution_id: str

    def take(self) -> Reported | None:
        """What is to be written now; None if nothing is."""

    def put_back(self, reported: Reported) -> None:
        """It could not be written: it comes again with the next."""

    def tick(self, seq: int | None) -> None:
        """Half a second passed; `seq` is the execution's newest event if it was just read."""


class Writer:
    """Writes what all reporters of the process have, in one transaction: every half second, or at once when a batch waits for it."""

    def __init__(self) -> None:
        self._reporters: dict[str, Reporting] = {}
        self._lock = threading.Lock()
        self._asked = threading.Condition()
        self._wanted = 0
        self._done = 0
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def add(self, reporter: Reporting) -> None:
        with self._lock:
            self._reporters[reporter.execution_id] = reporter

    def remove(self, reporter: Reporting) -> None:
        """After what it still has was written."""
        self.flush()
        with self._lock:
            self._reporters.pop(reporter.execution_id, None)

    def flush(self, timeout: float = KEPT_SECONDS) -> bool:
        """Return once everything reported so far is in the database; False if that takes longer than `timeout` seconds."""
        with self._asked:
            self._wanted += 1
            ticket = self._wanted
            self._asked.notify_all()
            return self._asked.wait_for(lambda: self._done >= ticket or not self._thread.is_alive(), timeout) and self._done >= ticket

    def close(self) -> None:
        self.flush()
        with self._asked:
            self._closing = True
            self._asked.notify_all()
        self._thread.join(5)

    def _run(self) -> None:
        next_tick = time.monotonic() + TICK_SECONDS
        while True:
            with self._asked:
                self._asked.wait_for(lambda: self._closing or self._wanted > self._done, max(0.0, next_tick - time.monotonic()))
                if self._closing and self._wanted <= self._done:
                    break
                ticket = self._wanted
            seqs = self._write()
            if seqs is None:
                time.sleep(0.2)  # those who wait go on waiting: the database may be back in a moment
                continue
            with self._asked:
                self._done = max(self._done, ticket)
                self._asked.notify_all()
            if time.monotonic() >= next_tick:
                next_tick = time.monotonic() + TICK_SECONDS
                self._tick(seqs)
        connection.close()

    def _write(self) -> dict[str, int] | None:
        """Newest event by execution, None when the database refused for now."""
        with self._lock:
            reporters = list(self._reporters.values())
        taken = [(reporter, reported) for reporter in reporters if (reported := reporter.take()) is not None]
        if not taken:
            return {}
        return self._kept(taken)

    def _kept(self, taken: Sequence[tuple[Reporting, Reported]]) -> dict[str, int] | None:
        try:
            close_old_connections()
            return reported_write(batch=[reported for _, reported in taken])
        except (db.DataError, db.IntegrityError):
            return self._kept_apart(taken)
        except db.Error as error:
            logger.warning("counts cannot be kept just now: %s", error)
            for reporter, reported in taken:
                reporter.put_back(reported)
            return None
        except Exception:  # what no database takes comes again no better; the newest counts come with the next batch
            logger.exception("counts are left out")
            return {}

    def _kept_apart(self, taken: Sequence[tuple[Reporting, Reported]]) -> dict[str, int] | None:
        """What no database takes of one execution comes again no better, and must not keep the others waiting."""
        if len(taken) > 1:
            found = [self._kept([one]) for one in taken]
            return None if None in found else {name: seq for one in found if one for name, seq in one.items()}
        logger.exception("counts of execution %s are left out", taken[0][1].execution_id)
        return {}

    def _tick(self, seqs: dict[str, int]) -> None:
        with self._lock:
            reporters = list(self._reporters.values())
        for reporter in reporters:
            try:
                reporter.tick(seqs.get(reporter.execution_id))
            except Exception:
                logger.exception("live figures of %s", reporter.execution_id)
