"""What is asked of another system once, and not again for a while."""

from __future__ import annotations

import time
from collections.abc import Callable

_TRIES, _PAUSE_SECONDS = 3, 1.0


def insisted(act: Callable[[], None]) -> None:
    """A moment's trouble of another system is no reason to leave it behind until the next checkpoint, of which an ended job has none."""
    for _ in range(_TRIES - 1):
        try:
            return act()
        except Exception:
            time.sleep(_PAUSE_SECONDS)
    return act()
