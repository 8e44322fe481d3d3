"""What a driver takes of its machine: its Python, Spark's JVM and every Python worker of it."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from jobs.services.drivers import DriverUsage

_MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True)
class _Taken:
    """By one process, and of processor time by those it waited for: seconds, bytes."""

    seconds: float
    memory: int
    threads: int


class UsageMeter:
    """`read` measures this process and all below it; the processors' part since the read before."""

    def __init__(self) -> None:
        self._self = psutil.Process()
        self._memory = memory_there()
        self._read = (time.monotonic(), 0.0)
        self.read()

    def read(self) -> DriverUsage:
        """Memory counts pages that processes share once for each of them: a little more than they take."""
        each = list(self._each())
        seconds = sum(one.seconds for one in each)
        now, (before, spent) = time.monotonic(), self._read
        self._read = (now, seconds)
        # A process whose time nobody took over when it ended makes the sum smaller.
        cpu = max(0.0, seconds - spent) / max(now - before, 0.001)
        memory = sum(one.memory for one in each) / self._memory
        return DriverUsage(round(cpu, 3), round(memory, 4), sum(one.threads for one in each))

    def _each(self) -> Iterator[_Taken]:
        for process in (self._self, *self._self.children(recursive=True)):
            try:
                with process.oneshot():
                    yield _Taken(sum(process.cpu_times()[:4]), process.memory_info().rss, process.num_threads())
            except psutil.NoSuchProcess:
                continue


def memory_there() -> int:
    """Bytes of memory that this process may take: the machine's, or its container's where that is less."""
    machine = int(psutil.virtual_memory().total)
    try:
        return min(machine, int(_MEMORY_LIMIT.read_text()))
    except (OSError, ValueError):
        return machine
