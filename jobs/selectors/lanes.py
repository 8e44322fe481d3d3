"""The last 24 hours, one lane a job."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, cast

from django.db.models import Max, QuerySet, Value, Window
from django.db.models.functions import RowNumber

from jobs.models import UNFINISHED, Execution, MetricSample
from jobs.selectors.shapes.execution import StatusWord
from jobs.selectors.shapes.overview import LaneOut, SpanOut

SPAN = timedelta(hours=24)
LANES = 20
#: Of each job, the newest: more than begin in a day, once a minute.
MOST_RUNS = 1500
#: Spans of one state closer together than this are drawn as one: a lane is some 480 marks wide.
JOINED = SPAN / 480

#: Start, end (None while it goes on), status, execution id.
Run = tuple[datetime, datetime | None, str, str]


def lanes_out(visible: QuerySet[Execution], rates: Mapping[str, MetricSample], now: datetime) -> tuple[list[LaneOut], int]:
    """Jobs with something unfinished first, then the most recently started, at most 20; and how many ran in all."""
    begin = now - SPAN
    started = visible.filter(job__deleted_at=None, start_time__isnull=False).order_by()
    going_on, ended = started.filter(status__in=UNFINISHED), started.filter(end_time__gte=begin)
    jobs = _newest_first(going_on, ended)
    shown = jobs[:LANES]
    rows = sorted(_rows(going_on, shown).union(_rows(ended, shown), all=True), key=lambda row: row[-1], reverse=True)
    titles: dict[int, tuple[str, str]] = {}
    found: dict[int, list[Run]] = defaultdict(list)
    for job, job_name, title, execution_id, status, start, end, _ in rows:
        titles.setdefault(job, (job_name, title or job_name))
        found[job].append((max(start or begin, begin), end, status, execution_id))
    lanes = [
        LaneOut(job_name=titles[job][0], title=titles[job][1], spans=joined(found[job]), in_per_second=_rate(found[job], rates))
        for job in shown
        if job in titles  # else it ended, or was deleted, in this very moment
    ]
    return lanes, len(jobs)


def _newest_first(going_on: QuerySet[Execution], ended: QuerySet[Execution]) -> list[int]:
    """Jobs with one of `going_on` first, then the most recently started. Not in one condition: no index would serve it."""
    newest = Max("id")
    current = going_on.values("job_id").annotate(is_current=Value(1), newest=newest)
    past = ended.values("job_id").annotate(is_current=Value(0), newest=newest)
    ranks: dict[int, tuple[int, int]] = {}
    for job, *rank in current.union(past, all=True).values_list("job_id", "is_current", "newest"):
        ranks[job] = max((rank[0], rank[1]), ranks.get(job, (0, 0)))
    return sorted(ranks, key=lambda job: ranks[job], reverse=True)


def _rows(executions: QuerySet[Execution], jobs: Collection[int]) -> QuerySet[Execution, tuple[Any, ...]]:
    place = Window(RowNumber(), partition_by="job_id", order_by="-id")
    columns = ("job_id", "job_name", "job__title", "execution_id", "status", "start_time", "end_time", "id")
    return executions.filter(job__in=jobs).annotate(place=place).filter(place__lte=MOST_RUNS).values_list(*columns)


def joined(newest_first: list[Run]) -> list[SpanOut]:
    """The spans, oldest first; neighbours of one state with no visible gap become one, which names its newest execution."""
    result: list[Run] = []
    for start, end, status, execution_id in reversed(newest_first):
        last = result[-1] if result else None
        if last and last[1] is not None and last[2] == status and start - last[1] < JOINED:
            result[-1] = (last[0], end, status, execution_id)
        else:
            result.append((start, end, status, execution_id))
    return [
        SpanOut(start=start, end=end, status=cast(StatusWord, status), execution_id=execution_id)
        for start, end, status, execution_id in result
    ]


def _rate(runs: list[Run], rates: Mapping[str, MetricSample]) -> float | None:
    found = [rates[execution_id].in_per_second for _, _, _, execution_id in runs if execution_id in rates]
    return sum(found) if found else None
