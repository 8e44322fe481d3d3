"""A person's code in a run or a preview: which node to name when its worker dies, and an end for what does not end by itself."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from jobs.engine.plan import Step
from jobs.nodes.base import NodeError
from jobs.nodes.registry import REGISTRY, NodeRegistry

#: How often it is asked whether a preview is to go on.
_LOOK_SECONDS = 0.25
_DIED = "Python worker exited unexpectedly"
_LINE = re.compile(r'File "<(?P<node>[^"\n]+)>", line (?P<line>\d+)')


def steps_of_code(steps: Sequence[Step], registry: NodeRegistry = REGISTRY) -> list[Step]:
    """Those of `steps` that run a person's code."""
    return [step for step in steps if (node_type := registry.get(step.type)) is not None and node_type.runs_user_code]


def worker_death(text: str, steps: Sequence[Step]) -> tuple[str, NodeError] | None:
    """Node id ("" where it could be several) and sentence, where `text` tells that a worker died and one of `steps` has a person's code.

    A worker that is killed, or that ends itself, leaves no word; one that crashes leaves the line.
    """
    if _DIED not in text or not steps:
        return None
    at = _LINE.search(text)
    named = [step for step in steps if at is not None and step.name == at["node"]] or list(steps)
    where = f" in line {at['line']}" if at is not None else ""
    names = " or ".join(f'"{step.name}"' for step in named)
    which = "its Python worker" if len(named) == 1 else f"the Python worker of {names}"
    causes = "" if at is not None else ": its code ended it, or the system killed it, which it does where memory runs out"
    message = f"{which} died{where}{causes}; mend the code, or let it hold fewer rows at a time"
    return (named[0].node_id if len(named) == 1 else ""), NodeError(message, kind="external", field="code")


class Cancelled(Exception):
    """Nobody waits for it any more."""


@dataclass
class Limit:
    """`passed`: the time was up. `cancelled`: nobody waits any more."""

    seconds: float
    passed: bool = False
    cancelled: bool = False
    began: float = field(default_factory=time.monotonic)

    def renew(self) -> None:
        """The seconds are counted from now on."""
        self.began = time.monotonic()

    def error(self) -> NodeError:
        message = (
            f"its Python did not end within {self.seconds:g} s and was stopped: look for a loop without an end, or for what it waits for"
        )
        return NodeError(message, permanent=True, kind="user", field="code")


def never() -> bool:
    """Whoever asks waits to the end."""
    return False


@contextmanager
def time_limit(spark: SparkSession, group: str, seconds: float | None, is_cancelled: Callable[[], bool] = never) -> Iterator[Limit]:
    """Spark's jobs of `group` are cancelled `seconds` after the limit began or was renewed, or when `is_cancelled` says so, those to
    come too; their workers are then killed. None: no limit."""
    limit = Limit(seconds or 0)
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_LOOK_SECONDS):
            limit.cancelled = is_cancelled()
            limit.passed = not limit.cancelled and seconds is not None and time.monotonic() > limit.began + seconds
            if limit.cancelled or limit.passed:
                java: Any = spark.sparkContext._jsc
                java.sc().cancelJobGroupAndFutureJobs(group)
                return

    watching = threading.Thread(target=watch, name=f"limit {group}", daemon=True)
    watching.start()
    try:
        yield limit
    finally:
        ended.set()
