"""What sinks do beside their batches: rows that wait for others appear in time, and stay apart from those behind a checkpoint.

And what sources do behind the last."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from jobs.engine.failure import AtNode, failure_of
from jobs.engine.frames import Frames
from jobs.engine.insisting import insisted
from jobs.engine.offset_log import named_offsets
from jobs.engine.query import StreamQuery
from jobs.engine.steps import Steps
from jobs.engine.whole import WholeQuery
from jobs.nodes.base import Source

logger = logging.getLogger(__name__)


def sinks_settle(steps: Steps, queries: Sequence[StreamQuery | WholeQuery], spark: SparkSession) -> None:
    """Every sink in turn; AtNode tells which one failed."""
    for query in queries:
        committed = query.committed()
        for sink in query.plan.sinks:
            _settle(steps, sink, spark, committed=committed, last=False)


def sinks_settle_last(steps: Steps, queries: Sequence[StreamQuery | WholeQuery], spark: SparkSession, cause: BaseException | None) -> None:
    """The same at the end of a run, with all rows that were committed. Where a run fails for `cause`, nothing is raised over it.

    Nobody may start such a job again: its rows are not to wait for that. A sink that failed is left alone, and all are where a newer
    attempt took over.
    """
    failure = failure_of(cause, steps.plan) if cause else None
    if failure and failure.fenced:
        return
    for query in queries:
        committed = query.committed()
        for sink in query.plan.sinks:
            try:
                if not failure or failure.node_id != sink:
                    _settle(steps, sink, spark, committed=committed, last=True)
            except AtNode:
                if not failure:
                    raise
                logger.exception("rows that wait in %s go on waiting", sink)


def _settle(steps: Steps, sink: str, spark: SparkSession, *, committed: int, last: bool) -> None:
    try:
        steps.sink(sink).settle(spark, steps.context(sink, "batch"), committed=committed, last=last)
    except Exception as error:
        raise AtNode(sink, error) from error


def sinks_mark(steps: Steps, queries: Sequence[StreamQuery | WholeQuery], batches: Mapping[str, int]) -> bool:
    """Whether a checkpoint may be cut behind `batches` (query → batch): no sink has put rows from both sides of it together."""
    marks = [
        steps.sink(sink).mark(steps.context(sink, "batch"), batches[query.key])
        for query in queries
        if batches.get(query.key, -1) >= 0
        for sink in query.plan.sinks
    ]
    return all(marks)


def sinks_close(steps: Steps) -> None:
    for sink in steps.sinks:
        try:
            steps.sink(sink).close(steps.context(sink, "batch"))
        except Exception:
            logger.exception("closing %s", sink)


def sinks_begin(steps: Steps, session: SparkSession, sinks: tuple[str, ...], frames: Frames) -> None:
    """Every sink sees what its rows look like and raises its fence, before any row moves."""
    for sink in sinks:
        schema = frames.into(sink).schema
        try:
            steps.sink(sink).begin(session, schema, steps.context(sink, "batch"))
        except Exception as error:
            raise AtNode(sink, error) from error


def sources_complete(steps: Steps, queries: Sequence[StreamQuery | WholeQuery]) -> None:
    """Every source, once all that it was to read is written; AtNode tells which one failed."""
    ends = _ends(queries)
    for node_id, node_type in steps.types.items():
        if isinstance(node_type, Source):
            try:
                insisted(partial(node_type.read_to, ends.get(node_id), steps.context(node_id, "batch")))
            except Exception as error:
                steps.logger.warning("all is read, but up to where was not passed on: %s", error, extra={"node_id": node_id})
            try:
                node_type.complete(steps.context(node_id, "batch"))
            except Exception as error:
                raise AtNode(node_id, error) from error


def _ends(queries: Sequence[StreamQuery | WholeQuery]) -> dict[str, Any]:
    """Source → the offset to which it was read, by the first of the queries that read it."""
    found: dict[str, Any] = {}
    for query in queries:
        if not isinstance(query, StreamQuery) or (batch := query.committed()) < 0:
            continue
        try:
            offsets = named_offsets(query.folder, batch)
        except (OSError, LookupError) as error:  # the run is good all the same
            logger.warning("up to where %s has read cannot be told: %s", query.key, error)
            continue
        for name, offset in offsets.items():
            found.setdefault(query.source_names.get(name, name), offset)
    return found
