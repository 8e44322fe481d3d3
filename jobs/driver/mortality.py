"""Processes that do not outlive the one that started them."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
# Looked up here: between fork and exec, where this may be called, the loader's locks are better left alone.
_prctl = ctypes.CDLL(None, use_errno=True).prctl if sys.platform == "linux" else None


def die_with_parent(number: signal.Signals, *, parent: int | None = None) -> None:
    """On Linux the kernel sends `number` when the parent dies, however it dies. SystemExit if `parent`, when given, is already gone."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, number)
    if parent is not None and os.getppid() != parent:
        raise SystemExit("the parent is gone")
