"""Metric samples over a range, at the finest resolution that stays readable."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone

from jobs.models import Execution, ExecutionStatus, MetricSample
from jobs.selectors.shapes.execution import MetricSampleOut, MetricsOut

RESOLUTIONS = (1, 10, 60)
MAX_SAMPLES = 4000
#: Up to this long a range is read at this resolution.
_FINEST = ((timedelta(minutes=15), 1), (timedelta(hours=6), 10))
#: No time is before it.
_FIRST = datetime.min.replace(tzinfo=UTC)


def metrics_out(
    execution: Execution,
    *,
    start: datetime | None = None,
    end: datetime | None = None,
    span: timedelta = timedelta(hours=1),
    resolution: int | None = None,
) -> MetricsOut:
    """Samples in [start, end), oldest first, at most the newest 4,000; without a range, the last `span` of the execution."""
    end = end or _last_moment(execution) + timedelta(seconds=1)
    start = start or end - min(span, end - _FIRST)
    chosen = resolution if resolution in RESOLUTIONS else resolution_for(end - start)
    rows = list(_samples(execution, chosen, start, end))
    for other in _others(chosen) if resolution is None and not rows else ():
        rows = list(_samples(execution, other, start, end))
        if rows:
            chosen = other
            break
    return MetricsOut(resolution=chosen, results=[sample_out(row) for row in reversed(rows)])


def _last_moment(execution: Execution) -> datetime:
    """Its end; of a paused one, which has none yet, when it was last measured."""
    if execution.status == ExecutionStatus.PAUSED:
        newest = MetricSample.objects.filter(execution_id=execution.execution_id).order_by("-time").values_list("time", flat=True).first()
        return newest or timezone.now()
    return execution.end_time or timezone.now()


def _others(chosen: int) -> tuple[int, ...]:
    """Finer ones first, for a young execution has no roll-ups yet; then coarser ones, which outlive the fine."""
    return (*(one for one in reversed(RESOLUTIONS) if one < chosen), *(one for one in RESOLUTIONS if one > chosen))


def resolution_for(span: timedelta) -> int:
    """Seconds between samples that suit a range this long."""
    return next((seconds for longest, seconds in _FINEST if span <= longest), RESOLUTIONS[-1])


def _samples(execution: Execution, resolution: int, start: datetime, end: datetime) -> "list[MetricSample]":
    rows = MetricSample.objects.filter(execution_id=execution.execution_id, resolution=resolution, time__gte=start, time__lt=end)
    return list(rows.order_by("-time")[:MAX_SAMPLES])


def sample_out(row: MetricSample) -> MetricSampleOut:
    return MetricSampleOut(
        time=row.time,
        rows_in=row.rows_in,
        rows_out=row.rows_out,
        rows_rejected=row.rows_rejected,
        in_per_second=row.in_per_second,
        out_per_second=row.out_per_second,
        batch_id=row.batch_id,
        batch_ms=row.batch_ms,
        backlog=row.backlog,
        detail=row.detail,
    )
