"""Spark's progress reports as events: what a committed batch did, how far each source is, what the state holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.listener import StreamingQueryListener
from pyspark.sql.streaming.query import StreamingQuery

from jobs.engine.events import BatchCommitted, NodeCounts, Progressed
from jobs.engine.offset_log import plain_json


class ProgressListener(StreamingQueryListener):
    """Hands on each executed batch's progress as JSON text, each end and each lack of input by run id. The callables must be quick.

    One thread of Spark's tells of all queries of a driver. PySpark reads each field of a progress from the JVM, a call each, so many
    small batches would be told of later and later; Spark's own text of it takes two calls.
    """

    def __init__(self, jvm: Any, on_progress: Callable[[str], None], on_end: Callable[[str], None], on_idle: Callable[[str], None]) -> None:
        self._jvm = jvm
        self.on_progress, self.on_end, self.on_idle = on_progress, on_end, on_idle
        self._called: Any = None

    @property
    def _jlistener(self) -> Any:
        if self._called is None:
            self._called = self._jvm.PythonStreamingQueryListenerWrapper(_Called(self))
        return self._called

    def forget(self) -> None:
        """After it was removed: let go of Spark's side of it and of whom it told."""
        self.on_progress = self.on_end = self.on_idle = _nobody_hears
        self._called = None

    def _not_called(self, event: Any) -> None:
        """Spark calls `_Called`."""

    onQueryStarted = onQueryProgress = onQueryIdle = onQueryTerminated = _not_called  # noqa: N815


class _Called:
    """What the JVM calls."""

    def __init__(self, listener: ProgressListener) -> None:
        self._listener = listener

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        """Nothing: the runner knows what it started."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        self._listener.on_progress(event.progress().json())

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        self._listener.on_idle(str(event.runId()))

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        self._listener.on_end(event.runId().toString())

    class Java:
        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)


def _nobody_hears(text: str) -> None:
    """The run is over."""


def streaming_leaves(frame: DataFrame) -> tuple[str, ...]:
    """Names of the streaming sources of `frame` in the order in which Spark's progress lists them."""
    leaves: Any = frame._jdf.queryExecution().analyzed().collectLeaves()
    names: list[str] = []
    for index in range(leaves.size()):
        leaf = leaves.apply(index)
        parts = [str(leaf.productElement(part)) for part in range(leaf.productArity())]
        named = [part for part in parts if part.startswith('name="') and part.endswith('"')]
        if leaf.isStreaming() and named:
            names.append(named[0][len('name="') : -1])
    return tuple(dict.fromkeys(names))


def last_committed(folder: Path) -> int:
    """The newest batch that Spark committed in a query's folder, -1 if none."""
    commits = folder / "commits"
    if not commits.is_dir():
        return -1
    return max((int(entry.name) for entry in commits.iterdir() if entry.name.isdigit()), default=-1)


def committed(
    query: str,
    progress: Mapping[str, Any],
    *,
    names: Mapping[str, str],
    order: tuple[str, ...],
    stateful: tuple[str, ...],
    nodes: Mapping[str, NodeCounts],
    rows_in: int | None,
) -> BatchCommitted:
    """The event of one committed batch. `names`: source name → node id; `order`: source names as Spark lists them."""
    sources = _sources(progress, names, order, nodes)
    return BatchCommitted(
        query=query,
        batch_id=int(progress["batchId"]),
        at=_time(progress.get("timestamp")),
        rows_in=int(progress.get("numInputRows") or 0) if rows_in is None else rows_in,
        in_per_second=_rate(progress.get("inputRowsPerSecond")),
        processed_per_second=_rate(progress.get("processedRowsPerSecond")),
        durations_ms={phase: int(value) for phase, value in (progress.get("durationMs") or {}).items()},
        sources=sources,
        nodes=nodes,
        behind={node_id: rows for node_id, source in sources.items() if (rows := _behind(source["end"], source["latest"])) is not None},
        operators=_operators(progress, stateful),
        watermark=_watermark(progress),
    )


def progressed(event: BatchCommitted) -> list[Progressed]:
    """How far each source is that says so in its offset."""
    events = []
    for node_id, source in event.sources.items():
        said = source["end"].get("progress") if isinstance(source["end"], dict) else None
        if isinstance(said, dict) and "done" in said:
            events.append(Progressed(node_id, int(said["done"]), said.get("total"), str(said.get("unit", "rows"))))
    return events


def _sources(
    progress: Mapping[str, Any], names: Mapping[str, str], order: tuple[str, ...], nodes: Mapping[str, NodeCounts]
) -> dict[str, dict[str, Any]]:
    sources: dict[str, dict[str, Any]] = {}
    for name, entry in zip(order, progress.get("sources") or (), strict=False):
        node_id = names[name]
        if node_id in sources:  # a further occurrence of one source: counted once
            continue
        counts = nodes.get(node_id)
        sources[node_id] = {
            "start": plain_json(entry.get("startOffset")),
            "end": plain_json(entry.get("endOffset")),
            "latest": plain_json(entry.get("latestOffset")),
            "rows": (counts.rows_out or 0) + counts.rejected if counts else int(entry.get("numInputRows") or 0),
        }
    return sources


def _behind(end: Any, latest: Any) -> int | None:
    """Rows that wait; None where the offsets do not tell."""
    if isinstance(end, dict) and isinstance(end.get("progress"), dict):
        said = end["progress"]
        if said.get("unit") == "rows" and said.get("total") is not None:
            return max(0, int(said["total"]) - int(said["done"]))
        return None
    if isinstance(end, dict) and isinstance(latest, dict) and set(end) <= set(latest):
        parts = [_behind(end[key], latest[key]) for key in end]
        return None if not parts or None in parts else sum(filter(None, parts))
    if type(end) is int and type(latest) is int:
        return max(0, latest - end)
    return None


def _operators(progress: Mapping[str, Any], stateful: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
    """Spark does not say which node an operator belongs to; with one operator a node their order tells."""
    entries = progress.get("stateOperators") or ()
    node_ids = stateful if len(stateful) == len(entries) else ("",) * len(entries)
    return tuple(
        {
            "operator": str(entry.get("operatorName", "")),
            "node_id": node_id,
            "rows": int(entry.get("numRowsTotal") or 0),
            "bytes": max(int(entry.get("memoryUsedBytes") or 0), int((entry.get("customMetrics") or {}).get("rocksdbSstFileSize") or 0)),
        }
        for node_id, entry in zip(node_ids, entries, strict=True)
    )


def _watermark(progress: Mapping[str, Any]) -> str:
    watermark = str((progress.get("eventTime") or {}).get("watermark", ""))
    return "" if watermark.startswith("1970-01-01T00:00:00") else watermark


def _rate(value: Any) -> float:
    """Spark leaves rates out, or says NaN or Infinity, where it has no time to divide by."""
    try:
        rate = float(value)
    except (TypeError, ValueError):
        return 0.0
    return rate if math.isfinite(rate) else 0.0


def _time(text: Any) -> datetime:
    try:
        return datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return datetime.now(UTC)


def last_execution(query: StreamingQuery) -> Any:
    """Spark's execution of the batch that is being written, or was written last."""
    java_query: Any = query._jsq
    return java_query.streamingQuery().lastExecution()


def batch_time(query: StreamingQuery) -> int:
    """When the batch that is being written was planned, in milliseconds since 1970; Spark keeps it for when the batch is begun again."""
    return int(last_execution(query).offsetSeqMetadata().batchTimestampMs())
