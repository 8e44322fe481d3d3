"""Files that Spark listed for a batch and that were gone when it came to read them: it would go on without them, and without a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from jobs.engine.failure import AtNode
from jobs.engine.steps import Steps


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
    return [path for relation in file_relations(execution.logical()) for path in _not_found(relation)]


def file_relations(plan: Any) -> Iterator[Any]:
    """What Spark's `plan` reads from files that Spark itself listed."""
    leaves = plan.collectLeaves()
    for index in range(leaves.size()):
        leaf = leaves.apply(index)
        is_read = leaf.nodeName() == "LogicalRelation" or leaf.getClass().getSimpleName() == "LogicalRelation"
        if is_read and _is_of_files(relation := leaf.relation()):
            yield relation


def _is_of_files(relation: Any) -> bool:
    """Whether what it names are files: a Delta table is named by its folder, and its log tells the files."""
    kind = relation.getClass().getSimpleName()
    return bool(kind == "HadoopFsRelation" and relation.location().getClass().getSimpleName() == "InMemoryFileIndex")


def _not_found(relation: Any) -> list[str]:
    wanted, found = relation.location().rootPaths(), relation.location().inputFiles()
    if wanted.size() == len(found):
        return []
    there = {unquote(urlsplit(file).path) for file in found}
    paths = [path.removeprefix("file:") for path in wanted.mkString("\n").split("\n")]
    return [path for path in paths if path not in there]
