"""Waiting for a condition, with a deadline."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], *, seconds: float, what: str, every: float = 0.05) -> None:
    """Return as soon as `condition` holds; raise TimeoutError naming `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not there after {seconds:g} s")
        time.sleep(every)
