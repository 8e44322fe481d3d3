"""Several pieces of work at once, from one thread that keeps the time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from typing import TypeVar

Result = TypeVar("Result")
#: Called between pieces of the work; may raise to end it.
Pulse = Callable[[], None]

_AT_ONCE = 4
_PULSE_SECONDS = 0.2


def no_pulse() -> None:
    """Never ends the work."""


def all_done(works: Sequence[Callable[[Pulse], Result]], pulse: Pulse, *, leave: bool = False) -> list[Result]:
    """What each gives, in their order; several at once. Raises what the first that failed raised, or what `pulse` did.

    `pulse` is called in this thread for as long as it takes. Each work gets one of its own, which ends it, at its next piece, once
    another failed; that is waited for, unless `leave`: for works that cannot be ended, and whose end nobody needs.
    """
    ended, failures = threading.Event(), list[BaseException]()

    def going_on() -> None:
        if ended.is_set():
            raise CancelledError

    def done(work: Callable[[Pulse], Result]) -> Result:
        going_on()
        try:
            return work(going_on)
        except BaseException as error:
            if not ended.is_set():
                failures.append(error)
                ended.set()
            raise

    pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="checkpoint")
    begun = [pool.submit(done, work) for work in works]
    try:
        waiting = set(begun)
        while waiting and not failures:
            pulse()
            _, waiting = wait(waiting, timeout=_PULSE_SECONDS, return_when=FIRST_EXCEPTION)
        if failures:
            raise failures[0]
        return [one.result() for one in begun]
    finally:
        ended.set()
        pool.shutdown(wait=not leave, cancel_futures=True)
