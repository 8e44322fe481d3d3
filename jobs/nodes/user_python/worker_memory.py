"""How much memory a person's Python may take in workers that answer the editor: on a machine that runs out of it others suffer, too."""

import os
import re
import resource
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path

from jobs.nodes.node_error import NodeError

_VARIABLE = "PIPELINE_USER_CODE_MEGABYTES"
_MEGABYTE = 1024 * 1024
#: What a process may write to, touched or not: that is what the system's own limit counts.
_TAKEN = re.compile(r"^VmData:\s+(\d+) kB$", re.MULTILINE)
_STATUS = Path("/proc/self/status")
#: Megabytes more than this worker had when it first ran a person's code; 0: no limit.
_bound = 0


def memory_limit(environment: MutableMapping[str, str], megabytes: int) -> None:
    """`environment` is that of workers that are yet to start, as Spark's context has it."""
    environment[_VARIABLE] = str(megabytes)


def memory_bind() -> None:
    """In such a worker, before a person's code runs: to want more raises MemoryError from now on."""
    global _bound
    megabytes = int(os.environ.get(_VARIABLE, 0))
    if not megabytes or _bound or (taken := _TAKEN.search(_read(_STATUS))) is None:
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    limit = int(taken[1]) * 1024 + megabytes * _MEGABYTE
    resource.setrlimit(resource.RLIMIT_DATA, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))
    _bound = megabytes


def memory_unbind() -> int:
    """How many megabytes a person's code was given in this worker, 0 for no limit; there is none any more, for its end to be told."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    return _bound


def memory_error(megabytes: int, where: str = "") -> NodeError:
    """`where`: which line wanted more, with a blank before it."""
    told = f"its Python wanted more than the {megabytes:,} MB of memory that it gets in a preview or a test, and was stopped{where}"
    return NodeError(f"{told}; let it hold fewer rows at a time", permanent=True, kind="user", field="code")


@contextmanager
def memory_told() -> Iterator[None]:
    """What is raised for want of memory, even while that is told, leaves as `memory_error` where memory is limited."""
    try:
        yield
    except MemoryError:
        if not (megabytes := memory_unbind()):
            raise
        raise memory_error(megabytes) from None


def _read(path: Path) -> str:
    """Nothing where the system has no such file: what a process has taken is not known there."""
    try:
        return path.read_text()
    except OSError:
        return ""
