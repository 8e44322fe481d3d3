"""Counts, samples and rejected rows of executions: written in batches, rolled up, pruned in pieces."""

import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Min, Q
from django.utils import timezone

from jobs.dag.storable import storable
from jobs.engine.grouping import query_folder
from jobs.models import UNFINISHED, Execution, MetricSample, QueryProgress, RejectedRow
from jobs.selectors.sample_holds import LONGEST_SECONDS, held_seconds
from jobs.services.execution_locks import executions_lock

#: Resolution in seconds → how long its samples are kept, and the next coarser one.
KEPT = {1: timedelta(hours=1), 10: timedelta(hours=12), 60: timedelta(days=30)}
ROLL_UPS = ((1, 10), (10, 60))
_PIECE = 2000
_LONGEST_QUERY = 200
#: So many are rolled up at once.
_WINDOWS = 30
#: So long behind the newest roll-up, samples may still arrive.
_LATE = timedelta(minutes=2)
#: No row has come to what ended before.
_GROWN = timedelta(days=1)
_LAST = 2**63 - 1
#: What two samples of one moment may differ in.
_FIGURES = (
    *("rows_in", "rows_out", "rows_rejected", "in_per_second", "out_per_second"),
    *("batch_id", "batch_ms", "backlog", "detail"),
)

#: Execution and window; a sample, and the seconds of the window for which it holds.
_Place = tuple[str, datetime]
_Held = tuple[MetricSample, float]


@dataclass(frozen=True)
class QueryCounts:
    """What `QueryProgress` keeps of one query."""

    query: str
    batch_id: int
    base: dict[str, Any]
    latest: dict[str, Any]


#: Stands between a query and its generation in rows of one that the execution fell back from. No query is called so.
OF_GENERATION = "@"


def query_kept(key: str) -> str:
    """What a query is called in rows: its key, which names all of its sinks; a very long one is cut and hashed."""
    return key if len(key) <= _LONGEST_QUERY else query_folder(key)


@dataclass(frozen=True)
class Rejected:
    """Rows that one node rejected in one batch: (reason, row as JSON text), in order."""

    query: str
    node_id: str
    batch_id: int
    rows: tuple[tuple[str, str], ...]


@dataclass
class Reported:
    """What one attempt has to write since the last time: newest counts per query, and everything that only adds up."""

    execution_id: str
    attempt: int
    generation: str
    totals: dict[str, Any] = field(default_factory=dict)
    queries: dict[str, QueryCounts] = field(default_factory=dict)
    samples: list[MetricSample] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    healthy: bool = False


@transaction.atomic
def reported_write(*, batch: Sequence[Reported]) -> dict[str, int]:
    """Write it all in one transaction. Execution id → number of its newest event; without those whose attempt no longer owns them.

    `totals` are columns of the execution; `healthy`: the attempt has run well for long enough that earlier retries count no more.
    """
    owned: dict[str, int] = {}
    executions_lock(Execution.objects.filter(execution_id__in=[one.execution_id for one in batch]))
    for one in batch:
        fields: dict[str, Any] = dict(one.totals) | ({"retry_count": 0} if one.healthy else {})
        rows = Execution.objects.filter(execution_id=one.execution_id, attempt=one.attempt)
        if rows.update(**fields) if fields else rows.exists():
            owned[one.execution_id] = Execution.objects.values_list("seq", flat=True).get(execution_id=one.execution_id)
    mine = [one for one in batch if one.execution_id in owned]
    QueryProgress.objects.bulk_create(
        [
            QueryProgress(
                execution_id=one.execution_id, query=query_kept(row.query), batch_id=row.batch_id, base=row.base, latest=row.latest
            )
            for one in mine
            for row in one.queries.values()
        ],
        update_conflicts=True,
        unique_fields=["execution", "query"],
        update_fields=["batch_id", "base", "latest"],
    )
    MetricSample.objects.bulk_create([sample for one in mine for sample in one.samples], ignore_conflicts=True)
    for one in mine:
        _rejected_write(one)
    return owned


def _rejected_write(one: Reported) -> None:
    """A batch that runs again replaces what it rejected the first time."""
    for batch in one.rejected:
        place = {
            "generation": uuid.UUID(one.generation),
            "query": query_kept(batch.query),
            "node_id": batch.node_id,
            "batch_id": batch.batch_id,
        }
        RejectedRow.objects.filter(**place).delete()
        RejectedRow.objects.bulk_create(
            [
                RejectedRow(execution_id=one.execution_id, ordinal=ordinal, reason=storable(reason), row=storable(row), **place)
                for ordinal, (reason, row) in enumerate(batch.rows)
            ],
            batch_size=500,
        )


def counts_read(*, execution_id: str) -> list[QueryCounts]:
    """What earlier attempts of the execution counted, by `query_kept`."""
    rows = QueryProgress.objects.filter(execution_id=execution_id)
    return [QueryCounts(row.query, row.batch_id, row.base, row.latest) for row in rows]


def batches_written(*, generation: uuid.UUID) -> dict[str, int]:
    """Query, as `query_kept` has it, → the newest batch that any execution of the generation wrote; the one before it is committed."""
    rows = QueryProgress.objects.filter(execution__generation=generation).exclude(query__contains=OF_GENERATION)
    written: dict[str, int] = {}
    for query, batch_id in rows.values_list("query", "batch_id"):
        written[query] = max(written.get(query, -1), batch_id)
    return written


def metrics_roll_up(*, now: datetime | None = None) -> int:
    """Make the samples of 10 and of 60 seconds that are due; safe to run twice. How many were made, or made anew.

    It goes on where it stopped, however long ago, as far back as finer samples are kept; late ones count within two minutes.
    """
    now = now or timezone.now()
    return sum(_roll_up(fine, coarse, now) for fine, coarse in ROLL_UPS)


def _roll_up(fine: int, coarse: int, now: datetime) -> int:
    end = _floor(now, coarse)
    start = _roll_up_start(fine, coarse, now)
    first = MetricSample.objects.filter(resolution=fine, time__gte=start, time__lt=end).aggregate(first=Min("time"))["first"]
    start = end if first is None else _floor(first, coarse)
    step = timedelta(seconds=coarse * _WINDOWS)
    made = 0
    while start < end:
        made += _roll_up_between(fine, coarse, start, min(start + step, end), now)
        start += step
    return made


def _roll_up_start(fine: int, coarse: int, now: datetime) -> datetime:
    # Of the window in which finer samples end, some are deleted already.
    kept = _floor(now - KEPT[fine], coarse) + timedelta(seconds=2 * coarse)
    newest = MetricSample.objects.filter(resolution=coarse).order_by("-time").values_list("time", flat=True).first()
    return kept if newest is None else max(kept, _floor(min(newest, now) - _LATE, coarse))


def _roll_up_between(fine: int, coarse: int, start: datetime, end: datetime, now: datetime) -> int:
    groups = _held_in_windows(fine, coarse, start, end, now)
    made_before = MetricSample.objects.filter(resolution=coarse, time__gte=start, time__lt=end)
    there = {(row.execution_id, row.time): _figures(row) for row in made_before}
    rolled = {place: _rolled(held, coarse, place[1]) for place, held in sorted(groups.items())}
    rows = [row for place, row in rolled.items() if there.get(place) != _figures(row)]
    for begin in range(0, len(rows), 500):
        MetricSample.objects.bulk_create(
            rows[begin : begin + 500],
            update_conflicts=True,
            unique_fields=["execution", "resolution", "time"],
            update_fields=_FIGURES,
        )
    return len(rows)


def _held_in_windows(fine: int, coarse: int, start: datetime, end: datetime, now: datetime) -> dict[_Place, list[_Held]]:
    """Execution and window in [start, end) → its samples, and the one before that still held; each with its seconds there."""
    around = timedelta(seconds=LONGEST_SECONDS)
    samples: defaultdict[str, list[MetricSample]] = defaultdict(list)
    for sample in MetricSample.objects.filter(resolution=fine, time__gte=start - around, time__lt=end + around).order_by("time").iterator():
        samples[sample.execution_id].append(sample)
    groups: defaultdict[_Place, list[_Held]] = defaultdict(list)
    for execution_id, mine in samples.items():
        for place, begin, seconds in held_seconds([one.time for one in mine], resolution=fine, window=coarse, now=now):
            if start <= (window := datetime.fromtimestamp(begin, tz=start.tzinfo)) < end:
                groups[execution_id, window].append((mine[place], seconds))
    return groups


def _figures(row: MetricSample) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in _FIGURES)


def _rolled(held: Sequence[_Held], resolution: int, begin: datetime) -> MetricSample:
    """Totals of the newest, means of the rates, the longest batch."""
    last = held[-1][0]
    return MetricSample(
        execution_id=last.execution_id,
        resolution=resolution,
        time=begin,
        rows_in=last.rows_in,
        rows_out=last.rows_out,
        rows_rejected=last.rows_rejected,
        in_per_second=sum(sample.in_per_second * seconds for sample, seconds in held) / resolution,
        out_per_second=sum(sample.out_per_second * seconds for sample, seconds in held) / resolution,
        batch_id=last.batch_id,
        batch_ms=max((sample.batch_ms for sample, _ in held if sample.batch_ms is not None), default=None),
        backlog=last.backlog,
        detail=last.detail,
    )


def _floor(moment: datetime, seconds: int) -> datetime:
    return datetime.fromtimestamp(moment.timestamp() // seconds * seconds, tz=moment.tzinfo)


def metrics_prune(*, now: datetime | None = None, seconds: float = 30) -> int:
    """Delete samples past their term in short transactions, until there are none or `seconds` are over. How many went."""
    now = now or timezone.now()
    deleted, due = 0, dict(KEPT)
    deadline = time.monotonic() + seconds
    while due and time.monotonic() < deadline:
        for resolution, term in list(due.items()):  # in turns: there are far more fine ones
            old = MetricSample.objects.filter(resolution=resolution, time__lt=now - term).values_list("pk", flat=True)[:_PIECE]
            count = MetricSample.objects.filter(pk__in=list(old)).delete()[0]
            deleted += count
            if count < _PIECE:
                del due[resolution]
    return deleted


def rejected_rows_prune(*, now: datetime | None = None, seconds: float = 30) -> int:
    """Leave of each execution the newest REJECTED_ROWS_KEPT of each node (0: all), in short transactions. How many went.

    Until `seconds` are over, and where rows may have come within a day: history_prune forgets the others by age.
    """
    kept = settings.REJECTED_ROWS_KEPT
    if kept <= 0:
        return 0
    deadline = time.monotonic() + seconds
    grown = Q(status__in=UNFINISHED) | Q(end_time__gte=(now or timezone.now()) - _GROWN)
    executions = Execution.objects.filter(grown, failed_records__gt=0).order_by("pk").values_list("execution_id", flat=True)
    return sum(_rejected_rows_of(execution_id, kept, deadline) for execution_id in executions)


def _rejected_rows_of(execution_id: str, kept: int, deadline: float) -> int:
    rows = RejectedRow.objects.filter(execution_id=execution_id).order_by("-pk")
    if not rows[kept : kept + 1].exists():
        return 0
    seen: Counter[str] = Counter()
    deleted, place = 0, _LAST
    while time.monotonic() < deadline and (piece := list(rows.filter(pk__lt=place).values_list("pk", "node_id")[:_PIECE])):
        place, surplus = piece[-1][0], []
        for pk, node_id in piece:
            seen[node_id] += 1
            if seen[node_id] > kept:
                surplus.append(pk)
        deleted += RejectedRow.objects.filter(pk__in=surplus).delete()[0]
    return deleted
