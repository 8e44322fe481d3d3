"""A change of status: compare-and-set on the row, and its event, in one short transaction."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from jobs.dag.storable import storable_data
from jobs.models import FINAL, Event, Execution, ExecutionStatus, TransitionRefused, transition_check
from jobs.services.events import event_append

_TRIES = 10
_READ = ("status", "attempt", "start_time", "resume_time", "duration_ms")


class LeaseLost(TransitionRefused):
    """The attempt that asks no longer owns the execution."""


@transaction.atomic
def execution_transition(
    *,
    execution_id: str,
    expected: Iterable[str] | str,
    to: str,
    actor: str,
    reason: str = "",
    attempt: int | None = None,
    kind: str = "status",
    node_id: str = "",
    detail: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Event:
    """Move the execution from one of `expected` to `to` and set `fields` with it.

    TransitionRefused where the table forbids it or somebody else moved it first; LeaseLost where `attempt` is not the current one.
    A final status also gets its end time; it and a pause, how long the execution ran. Whatever is not held by a driver gives up its lease.
    """
    wanted = {expected} if isinstance(expected, str) else set(expected)
    for _ in range(_TRIES):
        row = Execution.objects.only(*_READ).annotate(now=Now()).get(execution_id=execution_id)
        if attempt is not None and row.attempt != attempt:
            raise LeaseLost(execution_id=execution_id, current=f"{row.status} in attempt {row.attempt}", wanted=to)
        if row.status not in wanted:
            raise TransitionRefused(execution_id=execution_id, current=row.status, wanted=to)
        transition_check(execution_id=execution_id, current=row.status, wanted=to)
        changed = Execution.objects.filter(execution_id=execution_id, status=row.status, attempt=row.attempt).update(
            status=to, seq=F("seq") + 1, **(_fields_of(to, row, row.now) | storable_data(fields))
        )
        if changed:
            return event_append(
                execution_id=execution_id,
                kind=kind,
                actor=actor,
                reason=reason,
                node_id=node_id,
                from_status=row.status,
                to_status=to,
                detail=detail,
            )
    raise TransitionRefused(execution_id=execution_id, current=row.status, wanted=to)


def error_cleared() -> dict[str, Any]:
    """The columns of what failed, with nothing in them; the events keep what stood there."""
    return {"error_message": "", "error_node_id": "", "error_class": "", "error_stack_trace": ""}


def _fields_of(to: str, row: Execution, now: datetime) -> dict[str, Any]:
    """`now` on the database's clock, which the start was taken from, too."""
    fields: dict[str, Any] = {"waiting_for": "", "waiting_node_id": "", "waiting_since": None}
    if to not in (ExecutionStatus.INITIALIZING, ExecutionStatus.RUNNING):
        fields |= {"lease_expires_at": None}
    if to in (ExecutionStatus.RUNNING, ExecutionStatus.COMPLETED):
        fields |= error_cleared()  # what failed before is mended; how this ends must not be put down to it
    if to == ExecutionStatus.PAUSED:
        fields |= {"duration_ms": row.ran_ms(now)}
    elif to in FINAL:
        fields |= {"end_time": now, "next_attempt_at": None, "duration_ms": row.ran_ms(now) or 0}
    elif row.status == ExecutionStatus.PAUSED and row.start_time is not None:
        fields |= {"resume_time": now}
    return fields
