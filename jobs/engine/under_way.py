"""Batches that last: since when each is being written, and how many of Spark's tasks are done. Spark itself tells of ended ones."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from pyspark.sql import SparkSession

from jobs.engine.batch import rows_of_sources
from jobs.engine.events import BatchUnderWay, NodeCounts, Report
from jobs.engine.steps import Steps

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
#: A shorter batch is over before anybody has read of it.
TOLD_SECONDS = 2.0


class WritesBatches(Protocol):
    @property
    def key(self) -> str: ...

    @property
    def job_group(self) -> str:
        """Under which Spark's jobs of its batches run."""
        ...

    @property
    def writing(self) -> tuple[int, float] | None:
        """The batch that is being written, and since when on the monotonic clock."""
        ...

    def so_far(self) -> Mapping[str, NodeCounts]:
        """What has passed of it, by node."""
        ...


@contextmanager
def under_way_told(spark: SparkSession, steps: Steps, queries: Sequence[WritesBatches], report: Report) -> Iterator[None]:
    """While inside, `report` hears once a second of each batch that is being written for more than two."""
    ended = threading.Event()
    threading.Thread(target=_look, args=(spark, steps, queries, report, ended), name="under way", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _look(spark: SparkSession, steps: Steps, queries: Sequence[WritesBatches], report: Report, ended: threading.Event) -> None:
    while not ended.wait(LOOK_SECONDS):
        for query in queries:
            if (writing := query.writing) is None or (seconds := time.monotonic() - writing[1]) < TOLD_SECONDS:
                continue
            done, tasks = _tasks(spark, query.job_group)
            nodes = _so_far(query)
            if query.writing == writing and not ended.is_set():
                report(BatchUnderWay(query.key, writing[0], seconds, done, tasks, rows_of_sources(steps, nodes), nodes))


def _so_far(query: WritesBatches) -> Mapping[str, NodeCounts]:
    try:
        return query.so_far()
    except Exception as error:  # Spark ends
        logger.debug("what has passed of a batch cannot be told: %s", error)
        return {}


def _tasks(spark: SparkSession, job_group: str) -> tuple[int, int]:
    """Tasks done and all tasks of what runs in Spark under `job_group`; 0 of 0 where nothing does, as while a server is spoken to."""
    try:
        active = spark.sparkContext.statusTracker().getActiveJobsIds()
        store: Any = spark.sparkContext._jsc.sc().statusStore()
        jobs = [store.job(number) for number in active]
        own = [job for job in jobs if job.jobGroup().isDefined() and job.jobGroup().get() == job_group]
        return sum(job.numCompletedTasks() for job in own), sum(job.numTasks() for job in own)
    except Exception as error:  # the job ended meanwhile, or Spark does
        logger.debug("how far a batch is cannot be told: %s", error)
        return 0, 0
