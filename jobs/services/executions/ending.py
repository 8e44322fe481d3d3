"""How an attempt ends: done, stopped, failed with or without another try, or lost with its driver."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from jobs.models import LEASED, Command, CommandKind, CommandStatus, Event, Execution, ExecutionStatus, JobType, TransitionRefused
from jobs.nodes.node_error import Outage
from jobs.services.executions.clock import now_plus
from jobs.services.executions.transition import execution_transition

#: Seconds between two attempts grow up to this.
BACKOFF_MOST = 300.0
#: The same where a stream tries again for as long as another system is away.
OUTAGE_MOST = 60.0
_OUTAGES_APART = timedelta(minutes=5)
_KNOWN = ("execution_id", "retry_count", "resolved", "job_type", "processed_records")
_OPEN = (CommandStatus.PENDING, CommandStatus.TAKEN)


@dataclass(frozen=True)
class DriverDeath:
    """Of an execution whose driver's process is proven dead, `others` held by the same: any of them may have been what killed it.

    `apart`: this one goes on in a driver of its own.
    """

    others: int = 0
    apart: bool = False


def execution_complete(*, execution_id: str, attempt: int, actor: str) -> None:
    """The input is exhausted and everything is written."""
    with transaction.atomic():
        execution_transition(
            execution_id=execution_id,
            expected=ExecutionStatus.RUNNING,
            to=ExecutionStatus.COMPLETED,
            attempt=attempt,
            actor=actor,
            kind="completed",
        )
        commands_close(execution_id, "the execution completed first", CommandStatus.REFUSED)


def execution_stopped(*, execution_id: str, attempt: int, actor: str, reason: str = "") -> str:
    """The driver confirmed that nothing runs any more: PAUSED, or CANCELLED where somebody asked for that. Returns the status."""
    with transaction.atomic():
        _held(execution_id)
        to = status_asked_for(execution_id) or ExecutionStatus.PAUSED
        execution_transition(execution_id=execution_id, expected=LEASED, to=to, attempt=attempt, actor=actor, reason=reason)
        commands_close(execution_id, to, CommandStatus.DONE)
    return to


def execution_attempt_failed(
    *,
    execution_id: str,
    attempt: int,
    actor: str,
    message: str,
    node_id: str = "",
    error_class: str = "system",
    permanent: bool = False,
    outage: Outage = "",
    stack_trace: str = "",
) -> str:
    """One try failed: SCHEDULED again after a pause while retries are left, else FAILED; a stop that was asked for wins. The status.

    `outage`: for want of another system; a stream that is tried again at all is then tried until it answers. Where it takes the sign-in
    no more, as when a password is changed there first, that holds for an execution that it has let in.
    """
    error = {"error_message": message, "error_node_id": node_id, "error_class": error_class, "error_stack_trace": stack_trace}
    return _attempt_over(execution_id, attempt, actor, "attempt_failed", message, error, permanent=permanent, outage=outage)


def execution_lease_lost(*, execution_id: str, attempt: int, reason: str, death: DriverDeath | None = None) -> bool:
    """The driver was not heard of until the lease ran out, or its `death` is proven. False when somebody else was quicker."""
    with transaction.atomic():
        # Asked again inside the transaction, by the database's clock: the driver may have renewed meanwhile.
        expired = Execution.objects.filter(execution_id=execution_id, attempt=attempt, status__in=LEASED)
        if death is None:
            expired = expired.filter(lease_expires_at__lte=Now())
        if not expired.update(driver=None):
            return False
        try:
            _attempt_over(execution_id, attempt, "reconciler", "lease_lost", reason, {}, permanent=False, death=death)
        except TransitionRefused:
            return False
    return True


def execution_refuse(*, execution_id: str, reason: str, error_class: str = "system") -> bool:
    """A SCHEDULED execution that nobody can run becomes FAILED; False when it was claimed meanwhile."""
    try:
        execution_transition(
            execution_id=execution_id,
            expected=ExecutionStatus.SCHEDULED,
            to=ExecutionStatus.FAILED,
            actor="reconciler",
            reason=reason,
            error_message=reason,
            error_class=error_class,
        )
    except TransitionRefused:
        return False
    return True


def _held(execution_id: str) -> None:
    """Written first: who asks for something meanwhile is waited for and heard, or finds that the attempt is over."""
    Execution.objects.filter(execution_id=execution_id).update(status=F("status"))


def _attempt_over(
    execution_id: str,
    attempt: int,
    actor: str,
    kind: str,
    reason: str,
    error: dict[str, str],
    *,
    permanent: bool,
    outage: Outage = "",
    death: DriverDeath | None = None,
) -> str:
    with transaction.atomic():
        _held(execution_id)
        to = status_asked_for(execution_id)
        if to:
            commands_close(execution_id, to, CommandStatus.DONE)
            fields: dict[str, Any] = dict(error)
        else:
            row = Execution.objects.only(*_KNOWN).get(execution_id=execution_id)
            to, reason, fields = _tried_again(row, attempt, reason, error, permanent, outage, death)
        execution_transition(
            execution_id=execution_id,
            expected=LEASED,
            to=to,
            attempt=attempt,
            actor=actor,
            kind=kind,
            reason=reason,
            node_id=error.get("error_node_id", ""),
            **fields,
        )
    return to


def _tried_again(
    row: Execution, attempt: int, reason: str, error: dict[str, str], permanent: bool, outage: Outage, death: DriverDeath | None
) -> tuple[str, str, dict[str, Any]]:
    """SCHEDULED, or FAILED where nothing is left to try; the reason that is told of it and the columns that change."""
    most = int(row.resolved.get("max_retry_times", 3))
    if most > 0 and _is_endured(outage, row):
        again = _again_after_outage(row, attempt, reason)
    elif permanent or _is_used_up(row, most, death):
        return ExecutionStatus.FAILED, reason, {"error_message": _no_more(row, most, reason)} | error
    else:
        again = _again(row, most, reason, death)
    return ExecutionStatus.SCHEDULED, again.reason, error | again.fields | ({"isolation": "dedicated"} if death and death.apart else {})


def _is_endured(outage: Outage, row: Execution) -> bool:
    is_one = outage == "away" or (outage == "sign-in" and row.processed_records > 0)
    return is_one and row.job_type == JobType.STREAMING


def _is_used_up(row: Execution, most: int, death: DriverDeath | None) -> bool:
    """What one of many does to their driver must not end the others: only who dies alone, or is never to be tried again, ends by it."""
    return row.retry_count >= most and not (most and death and death.others)


def _no_more(row: Execution, most: int, reason: str) -> str:
    return f"{reason}; no retries are left ({row.retry_count} of {most} used); start again to go on where it was"


@dataclass(frozen=True)
class _Again:
    """Another try after `pause` seconds. `reason` and `detail` of the event."""

    pause: float
    retry_count: int
    reason: str
    detail: dict[str, int] = field(default_factory=dict)

    @property
    def fields(self) -> dict[str, Any]:
        return {"retry_count": self.retry_count, "next_attempt_at": now_plus(self.pause), "detail": self.detail}


def _again(row: Execution, most: int, reason: str, death: DriverDeath | None) -> _Again:
    pause = 0.0 if death and row.retry_count == 0 else backoff(row)
    if death and death.apart:
        reason = f"{reason}; it goes on in a driver of its own"
    if death and row.retry_count >= most:
        return _Again(pause, row.retry_count, f"{reason} (one of {death.others + 1} in that driver; tried again in {pause:g} s)")
    return _Again(pause, row.retry_count + 1, f"{reason} (retry {row.retry_count + 1} of {most} in {pause:g} s)")


def _again_after_outage(row: Execution, attempt: int, reason: str) -> _Again:
    """It uses up no retry."""
    first, before = _first_pause(row), _outages_before(row.execution_id, attempt)
    pause = min(first * 2**before, max(OUTAGE_MOST, first))
    return _Again(pause, row.retry_count, f"{reason} (tried again until it works, next in {pause:g} s)", {"outages": before + 1})


def backoff(row: Execution) -> float:
    """Seconds until the next attempt: the job's retry interval, doubled with each retry that brought nothing."""
    first = _first_pause(row)
    return float(min(first * 2**row.retry_count, max(BACKOFF_MOST, first)))


def _first_pause(row: Execution) -> float:
    return float(row.resolved.get("retry_interval", 5.0))


def _outages_before(execution_id: str, attempt: int) -> int:
    """How many attempts right before this one ended for want of another system, shortly after one another."""
    last = Event.objects.filter(execution_id=execution_id, kind="attempt_failed").order_by("-seq").first()
    if last is None or last.attempt != attempt - 1 or timezone.now() - last.time > _OUTAGES_APART:
        return 0
    return int(last.detail.get("outages", 0))


def status_asked_for(execution_id: str) -> str:
    """What an open stop or cancel wants the execution to become; "" if nobody asked."""
    kinds = set(Command.objects.filter(execution_id=execution_id, status__in=_OPEN).values_list("kind", flat=True))
    if kinds & {CommandKind.CANCEL, CommandKind.FORCE_CANCEL}:
        return ExecutionStatus.CANCELLED
    return ExecutionStatus.PAUSED if CommandKind.STOP in kinds else ""


def commands_close(execution_id: str, result: str, status: str) -> None:
    """Whatever is still open for the execution is settled by its end."""
    Command.objects.filter(execution_id=execution_id, status__in=_OPEN).update(status=status, done_time=timezone.now(), result=result)
