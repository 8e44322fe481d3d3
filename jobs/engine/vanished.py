"""Files as Spark listed them, and as they are: those that are gone, without which it would go on without a word, and those that came."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame

from jobs.engine.failure import AtNode
from jobs.engine.steps import Steps

logger = logging.getLogger(__name__)


def sources_check(steps: Steps, execution: Any = None) -> None:
    """Raise AtNode where the input of a source is gone: at any time, or of the batch that Spark's `execution` is."""
    missing = _missing_files(execution) if execution is not None else []
    for node_id in steps.sources:
        try:
            steps.source(node_id).check(missing)
        except Exception as error:
            raise AtNode(node_id, error) from error


def _missing_files(execution: Any) -> list[str]:
    """Paths that the batch names and that were not found when it was planned."""
    return [path for relation in _relations(execution.logical()) for path in _not_found(relation)]


def listings_beside(frame: DataFrame) -> list[Any]:
    """Spark's lists of the files that stand beside the stream `frame` and are read for each batch, made when the frame was."""
    plan: Any = frame._jdf.queryExecution().analyzed()
    asked = plan.subqueriesAll()
    plans = [plan, *(asked.apply(index) for index in range(asked.size()))]
    return [relation.location() for one in plans for relation in _relations(one) if _is_of_files(relation)]


def files_list(listings: Sequence[Any]) -> None:
    """Bring the lists up to date. One that cannot be stays as it was: the batch that reads what is gone says so."""
    for listing in listings:
        try:
            listing.refresh()
        except Exception as error:
            logger.info("files beside a stream cannot be listed: %s", str(error).partition("\n")[0])


def _relations(plan: Any) -> Iterator[Any]:
    leaves = plan.collectLeaves()
    for index in range(leaves.size()):
        leaf = leaves.apply(index)
        if leaf.nodeName() == "LogicalRelation" or leaf.getClass().getSimpleName() == "LogicalRelation":
            yield leaf.relation()


def _is_of_files(relation: Any) -> bool:
    """Whether what it names are files: a Delta table is named by its folder, and its log tells the files."""
    kind = relation.getClass().getSimpleName()
    return bool(kind == "HadoopFsRelation" and relation.location().getClass().getSimpleName() == "InMemoryFileIndex")


def _not_found(relation: Any) -> list[str]:
    if not _is_of_files(relation):
        return []
    wanted, found = relation.location().rootPaths(), relation.location().inputFiles()
    if wanted.size() == len(found):
        return []
    there = {unquote(urlsplit(file).path) for file in found}
    paths = [path.removeprefix("file:") for path in wanted.mkString("\n").split("\n")]
    return [path for path in paths if path not in there]
