"""Rows per second of everything a user sees, over the last hour."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

from django.db.models import Q, QuerySet, Sum

from jobs.models import LEASED, Execution, MetricSample
from jobs.selectors.sample_holds import LONGEST_SECONDS, held_seconds
from jobs.selectors.shapes.overview import ChartOut

STEP = 20
SPAN = timedelta(hours=1)
#: Roll-ups of ten seconds may be this late; until then the samples of one second are counted.
ROLLED_UP = 120
MOST_EXECUTIONS = 2000


def chart_out(visible: QuerySet[Execution], now: datetime) -> ChartOut:
    """180 steps of 20 seconds, oldest first; a step nobody reported in is 0. The unfinished step is left out."""
    last = int(now.timestamp()) // STEP * STEP
    first = last - int(SPAN.total_seconds())
    # The ids are read first: by them alone both databases find the samples through the samples' own index.
    concerned = visible.filter(Q(status__in=LEASED) | Q(end_time__gte=now - SPAN)).order_by().values_list("execution_id", flat=True)
    samples = MetricSample.objects.filter(execution_id__in=list(concerned[:MOST_EXECUTIONS]))
    start, recent = (datetime.fromtimestamp(second, UTC) for second in (first, last - ROLLED_UP))
    rows_in, rows_out = _rolled_up(samples, start, recent)
    _add_fresh(samples, range(last - ROLLED_UP, last, STEP), now, rows_in, rows_out)
    steps = range(first, last, STEP)
    return ChartOut(
        times=[datetime.fromtimestamp(step, UTC) for step in steps],
        rows_in=[round(rows_in[step], 2) for step in steps],
        rows_out=[round(rows_out[step], 2) for step in steps],
    )


Rates = defaultdict[int, float]


def _rolled_up(samples: QuerySet[MetricSample], start: datetime, end: datetime) -> tuple[Rates, Rates]:
    """Step → rows per second, from samples of ten seconds, summed in the database."""
    rows_in, rows_out = Rates(float), Rates(float)
    rows = samples.filter(resolution=10, time__gte=start, time__lt=end).order_by().values("time")
    for time, total_in, total_out in rows.annotate(a=Sum("in_per_second"), b=Sum("out_per_second")).values_list("time", "a", "b"):
        rows_in[_step(time)] += (total_in or 0.0) * 10 / STEP
        rows_out[_step(time)] += (total_out or 0.0) * 10 / STEP
    return rows_in, rows_out


def _add_fresh(samples: QuerySet[MetricSample], steps: range, now: datetime, rows_in: Rates, rows_out: Rates) -> None:
    """The newest steps, from samples of one second, each for as long as it holds."""
    begin = datetime.fromtimestamp(steps.start - LONGEST_SECONDS, UTC)
    rows = samples.filter(resolution=1, time__gte=begin).order_by("execution_id", "time")
    of_execution: defaultdict[int | str, list[tuple[datetime, float, float]]] = defaultdict(list)
    for execution_id, time, rate_in, rate_out in rows.values_list("execution_id", "time", "in_per_second", "out_per_second"):
        of_execution[execution_id].append((time, rate_in, rate_out))
    for mine in of_execution.values():
        for place, step, seconds in held_seconds([time for time, _, _ in mine], resolution=1, window=STEP, now=now):
            if step in steps:
                rows_in[step] += mine[place][1] * seconds / STEP
                rows_out[step] += mine[place][2] * seconds / STEP


def _step(time: datetime) -> int:
    return int(time.timestamp()) // STEP * STEP
