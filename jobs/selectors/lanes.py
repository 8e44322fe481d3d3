"""The last 24 hours, one lane a job."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import cast

from django.db.models import QuerySet

from jobs.models import UNFINISHED, Execution, MetricSample
from jobs.selectors.shapes.execution import StatusWord
from jobs.selectors.shapes.overview import LaneOut, SpanOut

SPAN = timedelta(hours=24)
LANES = 20
MOST_EXECUTIONS = 1000
#: Spans of one state closer together than this are drawn as one: a lane is some 480 marks wide.
JOINED = SPAN / 480

#: Start, end (None while it goes on), status, execution id.
Run = tuple[datetime, datetime | None, str, str]


def lanes_out(visible: QuerySet[Execution], rates: Mapping[str, MetricSample], now: datetime) -> tuple[list[LaneOut], int]:
    """Jobs with something unfinished first, then the most recently started, at most 20; and how many ran in all."""
    begin = now - SPAN
    started = visible.filter(job__deleted_at=None, start_time__isnull=False)
    columns = ("job_name", "job__title", "execution_id", "status", "start_time", "end_time", "id")
    going_on = started.filter(status__in=UNFINISHED).order_by().values_list(*columns)[:MOST_EXECUTIONS]
    ended = started.filter(end_time__gte=begin).order_by("-end_time").values_list(*columns)[:MOST_EXECUTIONS]
    rows = sorted((*going_on, *ended), key=lambda row: row[-1], reverse=True)
    titles: dict[str, str] = {}
    found: dict[str, list[Run]] = {}
    for job_name, title, execution_id, status, start, end, _ in rows:
        titles.setdefault(job_name, title or job_name)
        found.setdefault(job_name, []).append((max(start or begin, begin), end, status, execution_id))
    order = sorted(found, key=lambda name: all(status not in UNFINISHED for _, _, status, _ in found[name]))[:LANES]
    lanes = [
        LaneOut(job_name=name, title=titles[name], spans=joined(found[name]), in_per_second=_rate(found[name], rates)) for name in order
    ]
    return lanes, len(found)


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
