"""Whether a running stream's rows lie unprotected: its last checkpoint is too old, and rows came in since."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q

from jobs.models import Execution, ExecutionStatus, JobType, MetricSample

#: A checkpoint is overdue after this many of its intervals, and never before the term below.
MISSED_INTERVALS = 3
CHECKPOINT_WITHIN = timedelta(minutes=3)


def overdue_since(row: Execution, now: datetime) -> datetime | None:
    """When the last checkpoint (or the start) was, where that is too long ago; `row` comes from `executions_with_facts`."""
    protected = getattr(row, "last_checkpoint", None) or row.start_time
    if row.status != ExecutionStatus.RUNNING or row.job_type != JobType.STREAMING or protected is None:
        return None
    seconds = row.resolved.get("checkpoint_interval", 60)
    interval = timedelta(seconds=seconds if isinstance(seconds, int | float) else 60)
    return protected if now - protected > max(CHECKPOINT_WITHIN, MISSED_INTERVALS * interval) else None


def moved_since(found: Iterable[tuple[str, datetime]]) -> set[str]:
    """Of these execution ids, those that took rows in after their time; the others have nothing to protect."""
    condition = Q(pk__in=())
    for execution_id, since in found:
        condition |= Q(execution=execution_id, time__gt=since)
    rows = MetricSample.objects.filter(condition, in_per_second__gt=0).values_list("execution_id", flat=True).distinct()
    return {str(execution_id) for execution_id in rows}


def checkpoint_overdue(row: Execution, now: datetime) -> bool:
    """The same for one execution."""
    since = overdue_since(row, now)
    return since is not None and bool(moved_since([(row.execution_id, since)]))
