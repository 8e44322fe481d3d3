"""Compares what should be with what is, every few seconds. Any number of these may run at once."""

import logging
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from checkpoints.cleaning import checkpoints_unwanted_delete
from checkpoints.services import checkpoints_reconcile
from jobs import queue
from jobs.models import (
    LEASED,
    Command,
    CommandKind,
    CommandStatus,
    Driver,
    DriverKind,
    DriverStatus,
    Event,
    Execution,
    ExecutionStatus,
    TransitionRefused,
    Worker,
)
from jobs.selectors.workers import ALIVE_WITHIN
from jobs.services.drivers import drivers_silent_mark
from jobs.services.events import checkpoint_deleted_by, event_record
from jobs.services.executions import execution_lease_lost, execution_refuse, execution_transition, status_asked_for
from jobs.services.executions.clock import now_plus
from jobs.services.executions.ending import commands_close

logger = logging.getLogger(__name__)

_PER_TICK = 200
#: A driver that starts anew may take so long to be ready: no news until then.
_STRANDED_SECONDS = 15
#: A worker that lives for so long has drivers that take work, if it ever will.
_SETTLED_SECONDS = 120
_NO_SHARED_DRIVER = (
    "a worker runs, but no driver that takes this: its SHARED_DRIVERS may be 0, or its drivers cannot start; the worker's log tells which"
)
#: Where an execution runs: with others, or in a driver of its own.
DEDICATED = "dedicated"
ISOLATIONS = ("shared", DEDICATED)
_OPEN = (CommandStatus.PENDING, CommandStatus.TAKEN)


def reconcile() -> int:
    """One tick. How many executions it moved."""
    moved = leases_expired_end() + stops_settle() + starts_overdue_fail()
    drivers_silent_mark()
    starts_stranded_tell()
    checkpoints_abandoned_fail()
    checkpoints_of_ended_delete()
    if moved:
        queue.wake()
    return moved


def leases_expired_end() -> int:
    """A driver that was silent past its lease owns its executions no more: they are scheduled again, or fail."""
    expired = Execution.objects.filter(status__in=LEASED).filter(Q(lease_expires_at=None) | Q(lease_expires_at__lte=Now()))
    moved = 0
    for execution_id, attempt in expired.values_list("execution_id", "attempt")[:_PER_TICK]:
        reason = f"its driver was not heard of for {settings.LEASE_SECONDS} s"
        if execution_lease_lost(execution_id=execution_id, attempt=attempt, reason=reason):
            logger.warning("execution %s: %s", execution_id, reason)
            moved += 1
    return moved


def checkpoints_abandoned_fail() -> None:
    """Checkpoints that an attempt which died left half-written are FAILED, and their executions say so."""
    for row in checkpoints_reconcile():
        event_record(
            execution_id=row.execution_id,
            kind="checkpoint_failed",
            actor="reconciler",
            reason=row.failure_reason,
            detail={"checkpoint_id": row.checkpoint_id, "origin": row.origin},
            checkpoint=row.pk,
        )


def checkpoints_of_ended_delete() -> None:
    """Checkpoints that a cancelled or completed execution is not to leave go, and its history says so."""
    checkpoints_unwanted_delete(told=checkpoint_deleted_by("retention"))


def stops_settle() -> int:
    """A stop or cancel that reached an execution just as it was let go is carried out here."""
    asked = Command.objects.filter(
        status__in=_OPEN,
        kind__in=(CommandKind.STOP, CommandKind.CANCEL, CommandKind.FORCE_CANCEL),
        execution__status__in=(ExecutionStatus.SCHEDULED, ExecutionStatus.PAUSED),
    )
    moved = 0
    for execution_id in {str(found) for found in asked.values_list("execution_id", flat=True)[:_PER_TICK]}:
        to = status_asked_for(execution_id)
        expected = (ExecutionStatus.SCHEDULED, ExecutionStatus.PAUSED)
        try:
            if to and not Execution.objects.filter(execution_id=execution_id, status=to).exists():
                execution_transition(execution_id=execution_id, expected=expected, to=to, actor="reconciler", reason="asked for")
                moved += 1
        except TransitionRefused:
            continue
        commands_close(execution_id, to or "", CommandStatus.DONE)
    return moved


def starts_overdue_fail() -> int:
    """SCHEDULED for longer than the start time-out, and why nobody took it. Time in which no worker was there does not count."""
    term = now_plus(-settings.START_TIMEOUT_SECONDS)
    return sum(_overdue_fail(isolation, term) for isolation in ISOLATIONS if _were_takers_there(isolation, term))


def _overdue_fail(isolation: str, term: Any) -> int:
    waiting_since = Q(next_attempt_at=None) | Q(next_attempt_at__lte=term)
    overdue = Execution.objects.filter(waiting_since, status=ExecutionStatus.SCHEDULED, create_time__lte=term, isolation=isolation)
    moved = 0
    for row in overdue.only("execution_id", "storage_host", "isolation", "seq")[:_PER_TICK]:
        if not Execution.objects.filter(pk=row.pk, events__seq=row.seq, events__time__lte=term).exists():
            continue
        moved += execution_refuse(execution_id=row.execution_id, reason=_why_unclaimed(row))
    return moved


def starts_stranded_tell() -> None:
    """SCHEDULED ones whose position is on a disk that nobody who takes work reaches, or for which no worker has drivers: their history
    says so, long before the start time-out."""
    for isolation in ISOLATIONS:
        takers = _takers(isolation)
        if takers.exists():
            away = _waiting(isolation).exclude(storage_host="").exclude(storage_host__in=takers.values("host"))
            _tell({execution_id: _stranded(host) for execution_id, host in away.values_list("execution_id", "storage_host")[:_PER_TICK]})
        elif isolation != DEDICATED and _is_without_shared():
            _tell(dict.fromkeys(_waiting(isolation).values_list("execution_id", flat=True)[:_PER_TICK], _NO_SHARED_DRIVER))


def _waiting(isolation: str) -> "QuerySet[Execution]":
    """Those that wait for some seconds, and were told nothing meanwhile."""
    last = Event.objects.filter(execution_id=OuterRef("execution_id"), seq=OuterRef("seq"), time__lte=now_plus(-_STRANDED_SECONDS))
    return Execution.objects.filter(Exists(last.exclude(kind="notice")), status=ExecutionStatus.SCHEDULED, isolation=isolation)


def _is_without_shared() -> bool:
    settled = Worker.objects.filter(heartbeat_time__gte=Now() - ALIVE_WITHIN, start_time__lte=now_plus(-_SETTLED_SECONDS))
    coming = Driver.objects.filter(kind=DriverKind.SHARED).exclude(status=DriverStatus.GONE)
    return settled.exists() and not coming.exists()


def _tell(notices: Mapping[str, str]) -> None:
    for execution_id, reason in notices.items():
        event_record(execution_id=execution_id, kind="notice", actor="reconciler", reason=reason)


def _were_takers_there(isolation: str, moment: Any) -> bool:
    """Whether one who takes such work lived, or tried to, at `moment`: what waited through an outage waits anew when it is over."""
    lived = Q(heartbeat_time__gte=moment) | Q(heartbeat_time=None, end_time__gte=moment) | Q(heartbeat_time=None, end_time=None)
    drivers = Driver.objects.filter(lived, start_time__lte=moment)
    if isolation == DEDICATED:  # any driver had a worker
        return drivers.exists() or Worker.objects.filter(heartbeat_time__gte=moment, start_time__lte=moment).exists()
    return drivers.filter(kind=DriverKind.SHARED).exists()


def _why_unclaimed(row: Execution) -> str:
    takers = _takers(row.isolation)
    waited = f"no driver took it within {settings.START_TIMEOUT_SECONDS} s"
    if not takers.exists():
        return f"{waited}: no driver is ready; is a worker running?"
    if row.storage_host and not takers.filter(host=row.storage_host).exists():
        return f"{waited}: {_stranded(row.storage_host)}"
    return f"{waited}: every slot is taken, or another execution of the job still holds its lease"


def _takers(isolation: str) -> "QuerySet[Any]":
    """Who takes such work now: shared drivers, or workers, which begin a driver for each execution that wants one of its own."""
    if isolation == DEDICATED:
        return Worker.objects.filter(heartbeat_time__gte=Now() - ALIVE_WITHIN)
    return Driver.objects.filter(
        kind=DriverKind.SHARED, status=DriverStatus.READY, heartbeat_time__gt=now_plus(-2 * settings.LEASE_SECONDS)
    )


def _stranded(host: str) -> str:
    return (
        f'its position is on the disk of "{host}", where no driver is ready: '
        f"start a worker there, or set STORAGE_HOST={host} where that disk is now"
    )
