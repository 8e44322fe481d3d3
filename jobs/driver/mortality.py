"""Processes that do not outlive the one that started them."""

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1


def die_with_parent(number: signal.Signals, *, parent: int | None = None) -> None:
    """The kernel sends `number` when the parent dies, however it dies. SystemExit if `parent`, when given, is already gone."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number)
    if parent is not None and os.getppid() != parent:
        raise SystemExit("the parent is gone")
