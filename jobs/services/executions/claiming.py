"""Leases: who runs an execution, and until when. All times are the database's."""

from collections.abc import Collection, Mapping
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce, Now

from checkpoints.storage import live_folder
from jobs import queue
from jobs.models import LEASED, Driver, DriverKind, Execution, ExecutionStatus, Job
from jobs.services.commands import commands_again
from jobs.services.events import event_append
from jobs.services.execution_locks import executions_lock
from jobs.services.executions.clock import now_plus
from jobs.services.executions.ending import DriverDeath, execution_lease_lost
from jobs.services.executions.transition import execution_transition

_CANDIDATES = 10


def execution_claim(*, driver: Driver, besides: Collection[str] = ()) -> Execution | None:
    """The oldest execution this driver may run, now INITIALIZING in a new attempt under its lease; None if there is none.

    Of any number of drivers that try, one gets it. Nothing is claimed while a lease of the same job still runs. `besides`: ids of
    those whose earlier attempt has not ended in the driver yet.
    """
    isolation = "dedicated" if driver.kind == DriverKind.DEDICATED else "shared"
    ready = _claimable().filter(isolation=isolation, storage_host__in=("", settings.STORAGE_HOST)).exclude(execution_id__in=besides)
    rows = ready.order_by("create_time", "id").values_list("execution_id", "job_id", "generation")
    for execution_id, job_id, generation in rows[:_CANDIDATES]:
        if _claim(execution_id, job_id, generation, driver):
            return Execution.objects.select_related("job").get(execution_id=execution_id)
    return None


def _claimable() -> "QuerySet[Execution]":
    held = Execution.objects.filter(job=OuterRef("job"), status__in=LEASED, lease_expires_at__gt=Now())
    due = Q(next_attempt_at=None) | Q(next_attempt_at__lte=Now())
    return Execution.objects.filter(due, ~Exists(held), status=ExecutionStatus.SCHEDULED)


@transaction.atomic
def _claim(execution_id: str, job_id: int, generation: UUID, driver: Driver) -> bool:
    # The counter's row makes claims of one job wait for one another: each then sees the lease of the one before.
    Job.objects.filter(pk=job_id).update(attempt_counter=F("attempt_counter") + 1)
    attempt, job_uid = Job.objects.values_list("attempt_counter", "job_uid").get(pk=job_id)
    taken = (
        _claimable()
        .filter(execution_id=execution_id)
        .update(
            status=ExecutionStatus.INITIALIZING,
            attempt=attempt,
            driver=driver,
            lease_expires_at=now_plus(settings.LEASE_SECONDS),
            confirmed_time=Now(),
            next_attempt_at=None,
            start_time=Coalesce("start_time", Now()),
            storage_host="" if settings.CHECKPOINT_ROOT_SHARED else settings.STORAGE_HOST,
            checkpoint_path=str(live_folder(Path(settings.CHECKPOINT_ROOT), str(job_uid), str(generation))),
            seq=F("seq") + 1,
        )
    )
    if not taken:
        transaction.set_rollback(True)
        return False
    commands_again(execution_id=execution_id)
    event_append(
        execution_id=execution_id,
        kind="claimed",
        actor=driver_name(driver),
        from_status=ExecutionStatus.SCHEDULED,
        to_status=ExecutionStatus.INITIALIZING,
        reason=f"attempt {attempt}",
    )
    return True


def driver_name(driver: Driver) -> str:
    """A driver as the event log names it."""
    return f"driver {driver.host}:{driver.pid}"


@transaction.atomic
def leases_renew(*, driver: Driver, held: Mapping[str, int]) -> list[str]:
    """Prolong at once the running leases of those `held` (id → attempt); the ids of those that the driver no longer owns.

    What the driver let go of without a word is not prolonged, so that its lease runs out and another attempt goes on.
    """
    if not held:
        return []
    mine = Execution.objects.filter(driver=driver, execution_id__in=held, status__in=LEASED, lease_expires_at__gt=Now())
    executions_lock(mine)
    mine.update(lease_expires_at=now_plus(settings.LEASE_SECONDS), confirmed_time=Now())
    owned = set(mine.values_list("execution_id", "attempt"))
    return [execution_id for execution_id, attempt in held.items() if (execution_id, attempt) not in owned]


def execution_hand_over(*, execution_id: str, attempt: int, actor: str, reason: str) -> None:
    """The driver lets go at a batch boundary: another goes on at once, and no retry is counted."""
    execution_transition(
        execution_id=execution_id,
        expected=LEASED,
        to=ExecutionStatus.SCHEDULED,
        attempt=attempt,
        actor=actor,
        reason=f"handover: {reason}",
        next_attempt_at=None,
    )
    queue.wake()


def driver_leases_end(*, driver: Driver, reason: str, accused: bool = True) -> list[str]:
    """The driver's process is proven dead: what it held need not wait for its lease. The ids that were let go.

    Where it held several and took them along once before, the likeliest cause goes on in a driver of its own, if there may be one more;
    none where `accused` is False, as they had no part in its end.
    """
    held = dict(Execution.objects.filter(driver=driver, status__in=LEASED).values_list("execution_id", "attempt"))
    suspect = _suspect(held) if accused and driver.kind == DriverKind.SHARED and len(held) > 1 else ""
    ended = []
    for execution_id, attempt in held.items():
        death = DriverDeath(others=len(held) - 1, apart=execution_id == suspect)
        if execution_lease_lost(execution_id=execution_id, attempt=attempt, reason=reason, death=death):
            ended.append(execution_id)
    if ended:
        queue.wake()
    return ended


def _suspect(held: Collection[str]) -> str:
    """The newest of those that lost a driver lately, "" for none: what was started last did most likely what none before it did."""
    apart = Execution.objects.filter(isolation="dedicated", status__in=(*LEASED, ExecutionStatus.SCHEDULED)).count()
    if apart >= settings.DEDICATED_DRIVERS:
        return ""
    again = Execution.objects.filter(execution_id__in=held, retry_count__gt=0)
    return str(again.order_by("-create_time", "-id").values_list("execution_id", flat=True).first() or "")
