"""How long something that failed is tried again, with longer and longer pauses."""

from __future__ import annotations

import time
from collections.abc import Callable

#: So long a task waits for its broker; then the job's own attempts count.
SECONDS = 60.0
#: A broker that comes back after a crash may not know its newest messages at once.
SETTLING_SECONDS = 3.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0


class Patience:
    """Counts from the first failure behind a success, so that slow work between two requests costs none of it."""

    def __init__(
        self, seconds: float = SECONDS, *, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._sleep = sleep
        self.succeeded()

    def succeeded(self) -> None:
        self._failing_since: float | None = None
        self._pause = _FIRST_PAUSE

    def is_over(self, seconds: float | None = None) -> bool:
        """Whether it has failed longer than `seconds`, or than all the patience there is. To be asked after a failure."""
        if self._failing_since is None:
            self._failing_since = self._clock()
        most = self._seconds if seconds is None else min(seconds, self._seconds)
        return self._clock() - self._failing_since >= most

    def pause(self) -> None:
        self._sleep(self._pause)
        self._pause = min(_LONGEST_PAUSE, self._pause * 2)
