"""The last 24 hours, one lane a job."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import cast

from django.db.models import Q, QuerySet

from jobs.models import UNFINISHED, Execution, MetricSample
from jobs.selectors.shapes.execution import StatusWord
from jobs.selectors.shapes.overview import LaneOut, SpanOut

SPAN = timedelta(hours=24)
LANES = 20
MOST_EXECUTIONS = 4000
#: Spans of one state closer together than this are drawn as one: a lane is some 480 marks wide.
JOINED = SPAN / 480


def lanes_out(visible: QuerySet[Execution], rates: Mapping[str, MetricSample], now: datetime) -> list[LaneOut]:
    """Jobs with something unfinished first, then the most recently started; at most 20."""
    begin = now - SPAN
    rows = (
        visible.filter(Q(status__in=UNFINISHED) | Q(end_time__gte=begin), job__deleted_at=None, start_time__isnull=False)
        .order_by("-create_time", "-id")
        .values_list("job_name", "job__title", "execution_id", "status", "start_time", "end_time")[:MOST_EXECUTIONS]
    )
    titles: dict[str, str] = {}
    spans: dict[str, list[SpanOut]] = {}
    for job_name, title, execution_id, status, start, end in rows:
        titles.setdefault(job_name, title or job_name)
        span = SpanOut(start=max(start or begin, begin), end=end, status=cast(StatusWord, status), execution_id=execution_id)
        spans.setdefault(job_name, []).append(span)
    order = sorted(spans, key=lambda name: all(span.status not in UNFINISHED for span in spans[name]))[:LANES]
    return [
        LaneOut(job_name=name, title=titles[name], spans=joined(spans[name]), in_per_second=_rate(spans[name], rates)) for name in order
    ]


def joined(newest_first: list[SpanOut]) -> list[SpanOut]:
    """The spans, oldest first; neighbours of one state with no visible gap become one, which names its newest execution."""
    result: list[SpanOut] = []
    for span in reversed(newest_first):
        last = result[-1] if result else None
        if last and last.end is not None and last.status == span.status and span.start - last.end < JOINED:
            result[-1] = SpanOut(start=last.start, end=span.end, status=span.status, execution_id=span.execution_id)
        else:
            result.append(span)
    return result


def _rate(spans: list[SpanOut], rates: Mapping[str, MetricSample]) -> float | None:
    found = [rates[span.execution_id].in_per_second for span in spans if span.execution_id in rates]
    return sum(found) if found else None
