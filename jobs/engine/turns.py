"""Runs of one process start a few at a time: each brings up Python workers, which on a crowded machine would miss Spark's ten seconds."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

_PLACES = threading.BoundedSemaphore(os.cpu_count() or 1)
#: A stream without input has nothing to show for a start; it does not keep others waiting longer.
_MOST_SECONDS = 15.0
_LOOK_SECONDS = 0.2


class StartTurn:
    """One place among those that start now; given back once, by whichever thread sees first that the start is over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since: float | None = None

    def take(self, given_up: Callable[[], bool]) -> None:
        """Wait for a place, or until `given_up`."""
        while not given_up():
            if _PLACES.acquire(timeout=_LOOK_SECONDS):
                self._since = time.monotonic()
                return

    def give_back(self, *, overdue_only: bool = False) -> None:
        """Let another start; with `overdue_only` only when this one has taken its time. May be called again and again."""
        with self._lock:
            if self._since is None or (overdue_only and time.monotonic() - self._since < _MOST_SECONDS):
                return
            self._since = None
        _PLACES.release()
