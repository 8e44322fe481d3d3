"""How an attempt ends: done, stopped, failed with or without another try, or lost with its driver."""

from typing import Any

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from jobs.models import LEASED, Command, CommandKind, CommandStatus, Execution, ExecutionStatus, TransitionRefused
from jobs.services.executions.clock import now_plus
from jobs.services.executions.transition import execution_transition

#: Seconds between two attempts grow up to this.
BACKOFF_MOST = 300.0
_OPEN = (CommandStatus.PENDING, CommandStatus.TAKEN)


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
    stack_trace: str = "",
) -> str:
    """One try failed: SCHEDULED again after a pause while retries are left, else FAILED; a stop that was asked for wins. The status."""
    error = {"error_message": message, "error_node_id": node_id, "error_class": error_class, "error_stack_trace": stack_trace}
    return _attempt_over(execution_id, attempt, actor, "attempt_failed", message, error, permanent=permanent)


def execution_lease_lost(*, execution_id: str, attempt: int, reason: str, proven_dead: bool = False) -> bool:
    """The driver was not heard of until the lease ran out, or its process is `proven_dead`. False when somebody else was quicker."""
    with transaction.atomic():
        # Asked again inside the transaction, by the database's clock: the driver may have renewed meanwhile.
        expired = Execution.objects.filter(execution_id=execution_id, attempt=attempt, status__in=LEASED)
        if not proven_dead:
            expired = expired.filter(lease_expires_at__lte=Now())
        if not expired.update(driver=None):
            return False
        try:
            _attempt_over(execution_id, attempt, "reconciler", "lease_lost", reason, {}, permanent=False, at_once=proven_dead)
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


def _attempt_over(
    execution_id: str,
    attempt: int,
    actor: str,
    kind: str,
    reason: str,
    error: dict[str, str],
    *,
    permanent: bool,
    at_once: bool = False,
) -> str:
    with transaction.atomic():
        row = Execution.objects.only("retry_count", "resolved").get(execution_id=execution_id)
        most = int(row.resolved.get("max_retry_times", 3))
        to = status_asked_for(execution_id)
        fields: dict[str, Any] = dict(error)
        if to:
            commands_close(execution_id, to, CommandStatus.DONE)
        elif permanent or row.retry_count >= most:
            to = ExecutionStatus.FAILED
            fields.setdefault(
                "error_message", f"{reason}; no retries are left ({row.retry_count} of {most} used); start again to go on where it was"
            )
        else:
            pause = 0.0 if at_once and row.retry_count == 0 else backoff(row)
            to = ExecutionStatus.SCHEDULED
            fields |= {"retry_count": row.retry_count + 1, "next_attempt_at": now_plus(pause)}
            reason = f"{reason} (retry {row.retry_count + 1} of {most} in {pause:g} s)"
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


def backoff(row: Execution) -> float:
    """Seconds until the next attempt: the job's retry interval, doubled with each retry that brought nothing."""
    first = float(row.resolved.get("retry_interval", 5.0))
    return float(min(first * 2**row.retry_count, max(BACKOFF_MOST, first)))


def status_asked_for(execution_id: str) -> str:
    """What an open stop or cancel wants the execution to become; "" if nobody asked."""
    kinds = set(Command.objects.filter(execution_id=execution_id, status__in=_OPEN).values_list("kind", flat=True))
    if kinds & {CommandKind.CANCEL, CommandKind.FORCE_CANCEL}:
        return ExecutionStatus.CANCELLED
    return ExecutionStatus.PAUSED if CommandKind.STOP in kinds else ""


def commands_close(execution_id: str, result: str, status: str) -> None:
    """Whatever is still open for the execution is settled by its end."""
    Command.objects.filter(execution_id=execution_id, status__in=_OPEN).update(status=status, done_time=timezone.now(), result=result)
