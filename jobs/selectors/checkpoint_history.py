"""The checkpoints of an execution over time, and two of them side by side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, cast

from django.db.models import Count

from checkpoints.models import Checkpoint, CheckpointStatus
from jobs.models import Execution
from jobs.selectors.checkpoints import checkpoint_out
from jobs.selectors.graph_comparisons import node_names
from jobs.selectors.position_differences import rows_between
from jobs.selectors.refusals import Conflict
from jobs.selectors.shapes.checkpoint import (
    CheckpointComparisonOut,
    CheckpointHistoryOut,
    CheckpointPointOut,
    SourceDifferenceOut,
)

#: Why the rows between two positions are not known.
Unknown = Literal["", "position", "sources", "runs", "count"]
#: More points than this no chart can show; older ones are left out.
MOST_POINTS = 2000
_COLUMNS = ("id", "checkpoint_id", "status", "origin", "is_savepoint", "create_time", "complete_time", "storage_size_bytes", "rows_read")
#: These were whole once; what became of them since says nothing about how they were taken.
_TAKEN = (CheckpointStatus.COMPLETED, CheckpointStatus.EXPIRED)


def checkpoint_history(execution: Execution, *, points: int = MOST_POINTS) -> CheckpointHistoryOut:
    """The newest `points` that ended, well or not, the oldest of them first. Two queries."""
    taken = Checkpoint.objects.filter(execution_id=execution.execution_id)
    counts = dict(taken.order_by().values_list("status").annotate(Count("pk")))
    rows = taken.exclude(status=CheckpointStatus.PENDING)
    newest = list(rows.order_by("-checkpoint_id").values(*_COLUMNS)[: points + 1])
    interval = execution.resolved.get("checkpoint_interval")
    return CheckpointHistoryOut(
        interval=float(interval) if isinstance(interval, int | float) and interval > 0 else None,
        more=len(newest) > points,
        counts={status: counts.get(status, 0) for status in ("PENDING", "COMPLETED", "FAILED", "EXPIRED")},
        results=list(_points(reversed(newest[:points]))),
    )


def _points(rows: Iterable[Mapping[str, Any]]) -> Iterator[CheckpointPointOut]:
    before: Mapping[str, Any] | None = None
    for row in rows:
        is_taken = row["status"] in _TAKEN
        yield CheckpointPointOut(
            id=row["id"],
            checkpoint_id=row["checkpoint_id"],
            status=row["status"],
            origin=row["origin"],
            is_savepoint=row["is_savepoint"],
            create_time=row["create_time"],
            duration_ms=_milliseconds(row["create_time"], row["complete_time"]),
            bytes_logical=row["storage_size_bytes"] if is_taken else None,
            rows_between=_less(row["rows_read"], before["rows_read"]) if is_taken and before else None,
            since_last_ms=_milliseconds(before["create_time"], row["create_time"]) if is_taken and before else None,
        )
        before = row if is_taken else before


def _milliseconds(begun: datetime, ended: datetime | None) -> int | None:
    return round((ended - begun).total_seconds() * 1000) if ended else None


def _less(rows: int | None, before: int | None) -> int | None:
    return None if rows is None or before is None else max(0, rows - before)


def checkpoint_comparison(first: Checkpoint, second: Checkpoint) -> CheckpointComparisonOut:
    """Both with the distance of each source from the first to the second. Conflict where they are of different jobs."""
    if first.execution.job_id != second.execution.job_id:
        raise Conflict("these checkpoints are of different jobs: choose two of one job", code="checkpoint.other_job")
    positions, reached = (cast(Mapping[str, Any], one.state_data.get("sources", {})) for one in (first, second))
    nodes = sorted({*positions, *reached})
    counted = _rows_counted(first, second, nodes)
    sources = [_difference(node_id, positions.get(node_id), reached.get(node_id), counted) for node_id in nodes]
    names = node_names(second.execution)
    return CheckpointComparisonOut(first=checkpoint_out(first), second=checkpoint_out(second), sources=sources, node_names=names)


def _difference(node_id: str, position: Any, reached: Any, counted: int | Unknown) -> SourceDifferenceOut:
    """`counted`: what to say where the positions count no rows."""
    rows: int | Unknown | None = "position" if position is None or reached is None else rows_between(position, reached)
    rows = counted if rows is None else rows
    given: dict[str, Any] = {"rows": None, "unknown": rows} if isinstance(rows, str) else {"rows": rows, "unknown": ""}
    return SourceDifferenceOut(node_id=node_id, first=position, second=reached, **given)


def _rows_counted(first: Checkpoint, second: Checkpoint, nodes: Sequence[str]) -> int | Unknown:
    """Rows that the run read between the two, or why they are not those of one source.

    A run counts the rows of all its sources and queries together, and anew in another generation.
    """
    if len(nodes) > 1 or max(len(first.queries), len(second.queries)) > 1:
        return "sources"
    if (first.execution_id, first.generation) != (second.execution_id, second.generation):
        return "runs"
    if first.rows_read is None or second.rows_read is None:
        return "count"
    return second.rows_read - first.rows_read
