"""The threads that answer questions: a few for each lane, so that a question is taken only when one is free for it."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

#: Until a thread that is busy now can be given a question.
_SOON_SECONDS = 0.1


class AnswerThreads:
    """`sizes`: lane → how many of its questions are answered at once."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._pools = {lane: ThreadPoolExecutor(size, thread_name_prefix=f"answer-{lane}") for lane, size in sizes.items()}
        self._sizes = dict(sizes)
        self._free = dict(sizes)
        self._changed = threading.Condition()

    def free(self, *, timeout: float) -> tuple[list[str], float]:
        """Lanes with a free thread, and how many seconds to wait for a question in them: the others may be free soon.

        Where there is none, it is waited for up to `timeout` seconds.
        """
        with self._changed:
            self._changed.wait_for(lambda: any(count > 0 for count in self._free.values()), timeout)
            lanes = [lane for lane, count in self._free.items() if count > 0]
        return lanes, timeout if len(lanes) == len(self._sizes) else _SOON_SECONDS

    def answer(self, lane: str, act: Callable[..., None], *given: Any) -> None:
        """In a thread of `lane`."""
        self._count(lane, -1)
        self._pools[lane].submit(act, *given).add_done_callback(lambda _: self._count(lane, 1))

    def end(self, *, seconds: float = 0) -> None:
        """Whatever has not begun is not begun any more; what has is waited for up to `seconds`."""
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        with self._changed:
            self._changed.wait_for(lambda: self._free == self._sizes, seconds)

    def _count(self, lane: str, change: int) -> None:
        with self._changed:
            self._free[lane] += change
            self._changed.notify_all()
