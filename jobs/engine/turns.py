"""Runs of one process start a few at a time: each brings up Python workers, which on a crowded machine would miss Spark's ten seconds."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

_PLACES = threading.BoundedSemaphore(os.cpu_count() or 1)
#: A server may hang; it keeps others waiting no longer.
_MOST_SECONDS = 15.0
_LOOK_SECONDS = 0.2


class StartTurn:
    """One place among those that start now; given back once: by whichever thread sees first that the start is over, or when its time is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._places = _PLACES

    def take(self, given_up: Callable[[], bool]) -> None:
        """Wait for a place, or until `given_up`."""
        while not given_up():
            if self._places.acquire(timeout=_LOOK_SECONDS):
                self._timer = threading.Timer(_MOST_SECONDS, self.give_back)
                self._timer.daemon = True
                self._timer.start()
                return

    def give_back(self) -> None:
        """Let another start. May be called again and again."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            self._places.release()
