"""Which Python workers run a person's code: those of one job, or in the editor of one project, and nothing else runs in them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Spark keeps apart the workers that were started with other variables: they share no process, not even the one they are forked from.
_VARIABLE = "PIPELINE_USER_CODE_OF"
_owner: ContextVar[str] = ContextVar("user_code_owner", default="")
_lock = threading.Lock()
Made = TypeVar("Made")


@contextmanager
def workers_of(owner: str) -> Iterator[None]:
    """Inside, a person's code gets the workers of `owner` instead of those of its job."""
    owned = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(owned)


def in_workers_apart(spark: SparkSession, job_uid: str, make: Callable[[], Made]) -> Made:
    """What `make` makes of Python functions runs in workers of its own; those of `workers_of`, else of the job."""
    environment = spark.sparkContext.environment
    with _lock:
        environment[_VARIABLE] = _owner.get() or f"job {job_uid}"
        try:
            return make()
        finally:
            del environment[_VARIABLE]


def in_workers_shared(make: Callable[[], Made]) -> Made:
    """What `make` makes of our own Python functions, or registers, runs in the workers that everybody shares, whatever others do now."""
    with _lock:
        return make()


def is_worker_apart() -> bool:
    """Whether this process is one of them."""
    return _VARIABLE in os.environ
