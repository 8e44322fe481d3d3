"""Whether a running stream's rows lie unprotected: they came in long ago, and no checkpoint holds them."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Min, Q

from jobs.models import Execution, ExecutionStatus, JobType, MetricSample

#: A checkpoint is overdue after this many of its intervals, and never before the term below.
MISSED_INTERVALS = 3
CHECKPOINT_WITHIN = timedelta(minutes=3)


def overdue_since(row: Execution, now: datetime) -> datetime | None:
    """When the last checkpoint (or the start) was, where that is too long ago; `row` comes from `executions_with_facts`."""
    protected, patience = getattr(row, "last_checkpoint", None) or row.start_time, _patience(row)
    if row.status != ExecutionStatus.RUNNING or row.job_type != JobType.STREAMING or protected is None or patience is None:
        return None
    return protected if now - protected > patience else None


def checkpoints_overdue(rows: Iterable[Execution], now: datetime) -> dict[str, datetime]:
    """Execution id → when its last checkpoint was, of those whose rows wait too long for the next; one query, if any.

    One that was idle, or paused, has had nothing to protect: its time counts from the first row since.
    """
    late = {row.execution_id: (row, since) for row in rows if (since := overdue_since(row, now)) is not None}
    moved = _moved((execution_id, since) for execution_id, (_, since) in late.items()) if late else {}
    return {one: since for one, (row, since) in late.items() if one in moved and now - moved[one] > (_patience(row) or timedelta.max)}


def _moved(found: Iterable[tuple[str, datetime]]) -> dict[str, datetime]:
    """Of these execution ids, when each first took rows in after its time; the others have nothing to protect."""
    condition = Q(pk__in=())
    for execution_id, since in found:
        condition |= Q(execution=execution_id, time__gt=since)
    rows = MetricSample.objects.filter(condition, in_per_second__gt=0).values("execution_id").annotate(first=Min("time"))
    return {str(row["execution_id"]): row["first"] for row in rows}


def _patience(row: Execution) -> timedelta | None:
    """How long rows may wait for a checkpoint; None where none is due by time: nobody said how old the last may be."""
    interval, pause = _seconds(row, "checkpoint_interval", 60), _seconds(row, "checkpoint_min_pause", 0)
    return max(CHECKPOINT_WITHIN, MISSED_INTERVALS * timedelta(seconds=max(interval, pause))) if interval else None


def _seconds(row: Execution, name: str, otherwise: float) -> float:
    given = row.resolved.get(name, otherwise)
    return given if isinstance(given, int | float) else otherwise
