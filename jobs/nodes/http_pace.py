"""How fast requests may follow one another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Pace:
    """`wait` lets at most `per_second` callers pass each second, evenly spread, whichever thread they are in; None lets all pass."""

    def __init__(
        self, per_second: float | None, *, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._gap = 1 / per_second if per_second else 0.0
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        if not self._gap:
            return
        with self._lock:
            now = self._clock()
            turn = max(now, self._next)
            self._next = turn + self._gap
        if turn > now:
            self._sleep(turn - now)

    def rest(self) -> None:
        """Until the next caller may pass, for one who has a pace of its own."""
        with self._lock:
            left = self._next - self._clock()
        if left > 0:
            self._sleep(left)
