"""Rows per second of everything a user sees, over the last hour."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import QuerySet, Sum

from jobs.models import MetricSample
from jobs.selectors.executions import executions_visible
from jobs.selectors.shapes.overview import ChartOut

if TYPE_CHECKING:
    from django.contrib.auth.models import User

STEP = 20
SPAN = timedelta(hours=1)
#: Roll-ups of ten seconds may be this late; until then the samples of one second are counted.
ROLLED_UP = timedelta(minutes=2)


def chart_out(user: "User", now: datetime) -> ChartOut:
    """180 steps of 20 seconds, oldest first; a step nobody reported in is 0. The unfinished step is left out."""
    last = int(now.timestamp()) // STEP * STEP
    first = last - int(SPAN.total_seconds())
    samples = MetricSample.objects.all() if user.is_superuser else MetricSample.objects.filter(execution__in=executions_visible(user))
    start, recent, end = (datetime.fromtimestamp(second, UTC) for second in (first, last - ROLLED_UP.total_seconds(), last))
    rows_in: defaultdict[int, float] = defaultdict(float)
    rows_out: defaultdict[int, float] = defaultdict(float)
    for resolution, begins, ends in ((10, start, recent), (1, recent, end)):
        for time, total_in, total_out in _sums(samples, resolution, begins, ends):
            step = int(time.timestamp()) // STEP * STEP
            rows_in[step] += (total_in or 0.0) * resolution / STEP
            rows_out[step] += (total_out or 0.0) * resolution / STEP
    steps = range(first, last, STEP)
    return ChartOut(
        times=[datetime.fromtimestamp(step, UTC) for step in steps],
        rows_in=[round(rows_in[step], 2) for step in steps],
        rows_out=[round(rows_out[step], 2) for step in steps],
    )


def _sums(samples: QuerySet[MetricSample], resolution: int, start: datetime, end: datetime) -> list[tuple[datetime, float, float]]:
    rows = samples.filter(resolution=resolution, time__gte=start, time__lt=end).order_by().values("time")
    return list(rows.annotate(a=Sum("in_per_second"), b=Sum("out_per_second")).values_list("time", "a", "b"))
