"""Files that stand beside a stream and are read for each batch: Spark lists them once, so they are listed anew while the stream goes on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession

from jobs.engine.plan import Plan
from jobs.engine.recurring import Recurring
from jobs.engine.vanished import file_relations

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0


class ReadsBeside(Protocol):
    @property
    def beside(self) -> Sequence[Any]:
        """Spark's relations of such files, as `relations_beside` found them."""
        ...


def relations_beside(frame: DataFrame) -> list[Any]:
    """Those beside the stream `frame`, with the lists that were made when the frame was."""
    plan: Any = frame._jdf.queryExecution().analyzed()
    asked = plan.subqueriesAll()
    plans = [plan, *(asked.apply(index) for index in range(asked.size()))]
    return [relation for one in plans for relation in file_relations(one)]


@contextmanager
def files_listed_anew(spark: SparkSession, plan: Plan, queries: Sequence[ReadsBeside]) -> Iterator[None]:
    """While inside, the batches of a stream find such files as they are; one that ends by itself reads those that it found first.

    Listing many files takes its time, and a job of Spark: nothing waits for it.
    """
    relations = [relation for query in queries for relation in query.beside]
    ended = threading.Event()
    if relations and plan.job_type == "STREAMING" and not plan.until_drained:
        threading.Thread(target=_look, args=(spark, relations, ended), name="files beside", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _look(spark: SparkSession, relations: Sequence[Any], ended: threading.Event) -> None:
    told = Recurring(logger)
    while not ended.wait(LOOK_SECONDS):
        files_list(spark, relations, told)


def files_list(spark: SparkSession, relations: Sequence[Any], told: Recurring) -> None:
    """Bring the lists up to date. One that cannot be stays as it was: the batch that reads what is gone says so."""
    for number, relation in enumerate(relations, 1):
        what = f"files beside a stream cannot be listed ({number} of {len(relations)})"
        try:
            if _is_there(spark, relation):
                relation.location().refresh()
        except Exception as error:
            told.wrong(what, error)
        else:
            told.right(what)


def _is_there(spark: SparkSession, relation: Any) -> bool:
    """Whether it has files, or had none: Spark lists a folder that is gone as an empty one, in which no row would find its match."""
    listed = relation.location()
    if listed.allFiles().isEmpty():
        return True
    java: Any = spark._jvm
    none, uncached = java.scala.Option.empty(), getattr(java.org.apache.spark.sql.execution.datasources, "NoopCache$")
    index = java.org.apache.spark.sql.execution.datasources.InMemoryFileIndex
    found = index(relation.sparkSession(), listed.rootPaths(), relation.options(), none, getattr(uncached, "MODULE$"), none, none)
    return not found.allFiles().isEmpty()
