"""A bound for the tasks of a worker that is told to end: Celery itself waits for those under way, however long they take."""

import contextlib
import logging
import os
import signal
import threading
from typing import Any

from django.conf import settings

logger = logging.getLogger(__name__)

#: Celery's own shutdown may take so long once the drivers and the tasks have ended.
LEAVE_SECONDS = 15.0


def tasks_end(worker: Any) -> None:
    """Returns once no task of `worker` runs: they get the grace time that streams get, then their processes are killed.

    So one that asks a store, a database or a broker which never answers keeps nobody waiting. Nothing is lost by that: a task may end at
    any point, and the next one of its kind takes up what is left.
    """
    timer = threading.Timer(settings.STOP_GRACE_SECONDS, _kill_busy, args=(worker.pool,))
    timer.daemon = True
    timer.start()
    try:
        worker.pool.stop()
    finally:
        timer.cancel()


def _kill_busy(pool: Any) -> None:
    """Those that have nothing to do have ended by now, and are out of the pool's list."""
    processes = list(pool._pool._pool) if pool._pool is not None else []
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
            logger.warning("a task did not end within %d s: its process %d is killed", settings.STOP_GRACE_SECONDS, process.pid)
