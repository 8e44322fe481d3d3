"""The worker's own watch: a worker that lives and takes no tasks ends itself, so that what started it starts it anew."""

import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable

from billiard import active_children
from celery.worker import state
from django import db
from django.conf import settings
from django.db import close_old_connections, connection
from redis.exceptions import RedisError

from jobs import queue
from jobs.driver.leaving import LEAVE_SECONDS
from jobs.selectors.workers import another_takes_tasks
from jobs.services.workers import worker_announce, worker_gone, worker_heartbeat

logger = logging.getLogger(__name__)

TICK_SECONDS = 2.0


class Watch:
    """Runs in a thread of the worker's main process. `let_go` hands the drivers' executions over and returns when no driver is left.

    Deaf is a worker that ran no task for WORKER_SILENT_SECONDS although, all that time, tasks waited in Redis or another worker took
    some. Without Redis, or with a beat that sends nothing, there is nothing to take, and a new start would help nobody.
    """

    def __init__(self, *, name: str, let_go: Callable[[], None]) -> None:
        self._name, self._let_go = name, let_go
        self._seen = 0
        self._left_out_since: float | None = None
        self._announced = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """The worker ends as it was asked to."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._report(lambda: worker_heartbeat(name=self._name) if self._announced else self._announce())
            if self._silent_seconds() > settings.WORKER_SILENT_SECONDS:
                self._end()
            self._stopping.wait(TICK_SECONDS)
        self._report(lambda: worker_gone(name=self._name, pid=os.getpid()))
        connection.close()

    def _announce(self) -> None:
        worker_announce(name=self._name, pid=os.getpid())
        self._announced = True

    def _report(self, write: Callable[[], None]) -> None:
        try:
            close_old_connections()
            write()
        except db.Error as error:
            logger.warning("the worker cannot say that it lives: %s", error)

    def _silent_seconds(self) -> float:
        """For how long it has been left out; 0.0 while it takes tasks, is busy with one, or there is none to take."""
        taken = state.all_total_count[0]
        if taken != self._seen or state.active_requests or not self._are_there_tasks():
            self._seen, self._left_out_since = taken, None
            return 0.0
        self._left_out_since = self._left_out_since or time.monotonic()
        return time.monotonic() - self._left_out_since

    def _are_there_tasks(self) -> bool:
        try:
            return queue.tasks_waiting() > 0 or another_takes_tasks(than=self._name)
        except (RedisError, db.Error):
            return False

    def _end(self) -> None:
        words = "the worker took no tasks for %d s, though there are some: it ends to be started anew"
        logger.error(words, settings.WORKER_SILENT_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)
        self._let_go()
        time.sleep(LEAVE_SECONDS)
        # Celery's own loop hangs, perhaps in the very connection that is dead.
        for pid in [child.pid for child in active_children() if child.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os._exit(1)
