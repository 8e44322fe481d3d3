"""What is forgotten of the past once it is old, so that no table grows for ever. Nothing that can still be gone back to is touched."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Max, Min, Model, Q, QuerySet, Sum
from django.utils import timezone

from checkpoints.models import Checkpoint, CheckpointOrigin, CheckpointStatus
from jobs.engine.events import SKIPPED
from jobs.models import (
    FINAL,
    UNFINISHED,
    Command,
    Event,
    Execution,
    ExecutionStatus,
    ForgottenExecutions,
    MetricSample,
    QueryProgress,
    RejectedRow,
    ScheduleFire,
    SignInLink,
)
from jobs.services.execution_locks import executions_lock

#: Newest executions of each job that stay, however old they are.
NEWEST = 20
_PIECE = 2000
_EXECUTIONS = 200
#: What is kept of an execution, of which there may be any number of rows.
_OF_AN_EXECUTION: tuple[type[Model], ...] = (RejectedRow, Event, MetricSample, QueryProgress, Command)
_TOTALS = ("processed_records", "failed_records", "dropped_records")
#: Of each in one night.
_MOST = 400_000
_UUID_CHARACTERS = 36
#: Checkpoints without files.
_GONE = (CheckpointStatus.EXPIRED, CheckpointStatus.FAILED)
#: Of checkpoints that nobody asked for.
_BY_ITSELF = (CheckpointOrigin.INTERVAL, CheckpointOrigin.ROWS, CheckpointOrigin.PAGE)


@dataclass(frozen=True)
class Forgotten:
    """How many rows went."""

    executions: int = 0
    checkpoints: int = 0
    rejected_rows: int = 0
    schedule_fires: int = 0
    events: int = 0

    def __bool__(self) -> bool:
        return any((self.executions, self.checkpoints, self.rejected_rows, self.schedule_fires, self.events))


def history_prune(*, now: datetime | None = None) -> Forgotten:
    """Forget what is older than HISTORY_KEPT_DAYS, and of deleted checkpoints than CHECKPOINT_HISTORY_DAYS; 0 keeps it for ever.

    Of executions that have not ended, the events of those checkpoints go as well, and others that come all the time.
    Links and sessions go once they are over.

    In short transactions, and of each at most some 400,000 rows: the rest goes the next time.
    """
    now = now or timezone.now()
    _forget_oldest(SignInLink.objects.all(), "expire_time", now - timedelta(days=1))
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    checkpoints, events = _of_checkpoints(now - timedelta(days=term)) if (term := settings.CHECKPOINT_HISTORY_DAYS) > 0 else (0, 0)
    if settings.HISTORY_KEPT_DAYS <= 0:
        return Forgotten(checkpoints=checkpoints, events=events)
    before = now - timedelta(days=settings.HISTORY_KEPT_DAYS)
    forgotten = Forgotten(
        executions=_executions(before),
        checkpoints=checkpoints,
        rejected_rows=_forget_oldest(RejectedRow.objects.all(), "create_time", before),
        schedule_fires=_forget_oldest(ScheduleFire.objects.all(), "create_time", before),
        events=events,
    )
    _logs(before)
    return forgotten


def _forget_oldest(rows: QuerySet[Model], column: str, before: datetime) -> int:
    """Those before `before`, from the first row on: later ones are younger, so nothing else is looked at."""
    count = 0
    while count < _MOST:
        first = list(rows.order_by("pk").values_list("pk", column)[:_PIECE])
        old = [pk for pk, time in first if time < before]
        count += rows.filter(pk__in=old).delete()[0]
        if len(old) < _PIECE:
            break
    return count


def _in_pieces(rows: QuerySet[Model], forget: Callable[[list[int]], int], size: int) -> int:
    """How many `forget` took away of `rows`, all of which it is given, until it has taken the most."""
    count, place = 0, 0
    while count < _MOST and (ids := list(rows.filter(pk__gt=place).order_by("pk").values_list("pk", flat=True)[:size])):
        place = ids[-1]
        count += forget(ids)
    return count


def _of_checkpoints(before: datetime) -> tuple[int, int]:
    """How many of their rows and events went: events last, for those stay as long as their checkpoint is listed."""
    return _checkpoints(before), _recurring_events(before)


def _checkpoints(before: datetime) -> int:
    """Rows whose files are gone, but for what others are told by: the first of each generation, the newest of each execution, and
    those that something was started from."""
    gone = Checkpoint.objects.filter(status__in=_GONE, create_time__lt=before)
    rows = Checkpoint.objects.order_by()
    stay = {
        *rows.values("generation").annotate(first=Min("pk")).values_list("first", flat=True),
        *rows.values("execution").annotate(newest=Max("pk")).values_list("newest", flat=True),
        *_begun_from(),
    }

    def forget(ids: list[int]) -> int:
        return Checkpoint.objects.filter(pk__in=[pk for pk in ids if pk not in stay]).delete()[0]

    return _in_pieces(gone, forget, _PIECE)


def _recurring_events(before: datetime) -> int:
    count = 0
    for execution_id in Execution.objects.filter(status__in=UNFINISHED).order_by("pk").values_list("execution_id", flat=True):
        rows, place = Event.objects.filter(execution_id=execution_id).order_by("seq"), 0
        # From the first event on: later ones are younger, so nothing else is looked at.
        while count < _MOST and (old := [event for event in rows.filter(seq__gt=place)[:_PIECE] if event.time < before]):
            place = old[-1].seq
            count += _events_forget([event for event in old if _came_by_itself(event)])
    return count


def _came_by_itself(event: Event) -> bool:
    """Whether it tells of what comes and goes all the time, as checkpoints do: of no failure, and of nothing that a person did."""
    if event.kind == "notice":
        return SKIPPED in event.detail
    if event.kind == "checkpoint_deleted":
        return event.actor == "retention"
    if event.kind in ("checkpoint_pending", "checkpoint_completed"):
        return event.detail.get("origin") in _BY_ITSELF
    return event.kind in ("waiting", "answers")


def _events_forget(events: Collection[Event]) -> int:
    about = {event.pk: event.detail.get("checkpoint_row") for event in events}
    listed = set(Checkpoint.objects.filter(pk__in=set(about.values())).values_list("pk", flat=True))
    return Event.objects.filter(pk__in=[pk for pk, checkpoint in about.items() if checkpoint not in listed]).delete()[0]


def _begun_from() -> QuerySet[Execution, int | None]:
    """Checkpoints that executions were started from."""
    started = Execution.with_imported.exclude(restored_from_checkpoint_id=None)
    return started.values_list("restored_from_checkpoint_id", flat=True)


def _executions(before: datetime) -> int:
    old = Execution.objects.filter(status__in=FINAL, end_time__lt=before)
    return sum(_executions_of(job_id, before) for job_id in old.order_by().values_list("job_id", flat=True).distinct())


def _executions_of(job_id: int, before: datetime) -> int:
    """What ended before anything that the job can still go back to was taken, and is none of its newest."""
    mine = Execution.objects.filter(job=job_id)
    newest = mine.order_by("-create_time", "-pk").values_list("create_time", flat=True)[NEWEST - 1 : NEWEST]
    if not newest:
        return 0
    kept = Checkpoint.objects.filter(execution__job=job_id).exclude(status__in=_GONE)
    oldest = kept.order_by("create_time").values_list("create_time", flat=True)[:1]
    old = mine.filter(status__in=FINAL, end_time__lt=min([before, *oldest]), create_time__lt=newest[0])
    asked = _asked(job_id) if old.exists() else set()
    return _in_pieces(old, lambda ids: _executions_forget(ids, asked), _EXECUTIONS)


def _asked(job_id: int) -> set[int]:
    """Row ids of the executions that a start, a restore or a roll-back asks about the line of positions they are in.

    Of each line the first, the newest that did not complete, one of each version that it went through, what was started from a
    checkpoint or had one that something was started from, and for each query the one that came furthest.
    """
    runs = Execution.objects.filter(job=job_id).order_by()
    lines = runs.values("generation")
    return {
        *lines.annotate(first=Min("pk")).values_list("first", flat=True),
        *lines.exclude(status=ExecutionStatus.COMPLETED).annotate(newest=Max("pk")).values_list("newest", flat=True),
        *runs.values("generation", "version").annotate(newest=Max("pk")).values_list("newest", flat=True),
        *runs.exclude(restored_from_checkpoint_id=None).values_list("pk", flat=True),
        *runs.filter(checkpoints__in=_begun_from()).values_list("pk", flat=True),
        *_furthest(job_id),
    }


def _furthest(job_id: int) -> Iterable[int]:
    """Of each line and query, the execution that wrote the newest batch: what did nothing since kept no count."""
    found: dict[tuple[UUID, str], tuple[int, int]] = {}
    columns = ("execution__generation", "query", "batch_id", "execution__pk")
    for generation, query, batch_id, execution in QueryProgress.objects.filter(execution__job=job_id).values_list(*columns).iterator():
        found[generation, query] = max((batch_id, execution), found.get((generation, query), (-1, 0)))
    return (execution for _, execution in found.values())


def _executions_forget(ids: list[int], asked: Collection[int]) -> int:
    """Of `ids` those whose line of positions is over: no other execution is in it, and none was started from one of its checkpoints;
    of a line that goes on all but the `asked`."""
    rows = list(Execution.objects.filter(pk__in=ids).values_list("pk", "execution_id", "generation"))
    held = _held({generation for _, _, generation in rows}, ids, [execution_id for _, execution_id, _ in rows])
    going = {pk: execution_id for pk, execution_id, generation in rows if generation not in held or pk not in asked}
    # First, and in pieces: with the executions they would go in one transaction, in which drivers that cannot write lose their leases.
    for kept in _OF_AN_EXECUTION:
        _pieces_delete(kept._default_manager.filter(execution__in=going.values()))
    _pieces_delete(Checkpoint.objects.filter(execution__execution_id__in=going.values(), status__in=_GONE))
    _executions_delete(Execution.objects.filter(pk__in=going))
    return len(going)


@transaction.atomic
def _executions_delete(rows: QuerySet[Execution]) -> None:
    """Their job's totals, which Prometheus takes for counters, keep what they count for."""
    executions_lock(rows)
    for job_id, status, *counted in rows.order_by().values_list("job", "status").annotate(Count("pk"), *map(Sum, _TOTALS)):
        kept, _ = ForgottenExecutions.objects.get_or_create(job_id=job_id, status=status)
        more = {name: F(name) + value for name, value in zip(("executions", *_TOTALS), counted, strict=True)}
        ForgottenExecutions.objects.filter(pk=kept.pk).update(**more)
    rows.delete()


def _pieces_delete(rows: QuerySet[Any]) -> None:
    """All of `rows`, in short transactions."""
    while pks := list(rows.order_by().values_list("pk", flat=True)[:_PIECE]):
        rows.model._default_manager.filter(pk__in=pks).delete()


def _held(generations: Collection[UUID], ids: Collection[int], execution_ids: Collection[str]) -> set[UUID]:
    others = Execution.with_imported.filter(generation__in=generations).exclude(pk__in=ids)
    origins = Checkpoint.objects.filter(Q(generation__in=generations) | Q(execution__in=execution_ids), pk__in=_begun_from())
    return {
        *others.values_list("generation", flat=True),
        *origins.values_list("execution__generation", flat=True),
        *origins.values_list("generation", flat=True),
    }


def _logs(before: datetime) -> None:
    """Logs on this host of executions that are forgotten: those on another host go when its worker comes to it."""
    root = Path(settings.LOG_DIR)
    names = [entry.name for entry in root.iterdir() if _is_old(entry, before)] if root.is_dir() else []
    for start in range(0, len(names), _PIECE):
        piece = names[start : start + _PIECE]
        _folders_remove(
            root, set(piece) - set(Execution.with_imported.filter(execution_id__in=piece).values_list("execution_id", flat=True))
        )


def _folders_remove(root: Path, names: Iterable[str]) -> None:
    for name in names:
        shutil.rmtree(root / name, ignore_errors=True)


def _is_old(entry: Path, before: datetime) -> bool:
    return len(entry.name) == _UUID_CHARACTERS and entry.is_dir() and entry.stat().st_mtime < before.timestamp()
