"""The event log of executions: numbered without gaps, told to everybody who watches once it is committed."""

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from checkpoints.models import Checkpoint
from jobs import broadcast
from jobs.dag.storable import storable, storable_data
from jobs.models import Event, Execution
from jobs.selectors.checkpoints import checkpoint_message_out
from jobs.selectors.executions import event_out, execution_message_out


@transaction.atomic
def event_record(
    *,
    execution_id: str,
    kind: str,
    actor: str = "",
    reason: str = "",
    node_id: str = "",
    detail: Mapping[str, Any] | None = None,
    checkpoint: int | None = None,
) -> Event:
    """Write one event that changes no status; `checkpoint` is the row id of the checkpoint it is about.

    Execution.DoesNotExist where there is none.
    """
    Execution.objects.filter(execution_id=execution_id).update(seq=F("seq") + 1)
    return event_append(
        execution_id=execution_id, kind=kind, actor=actor, reason=reason, node_id=node_id, detail=detail, checkpoint=checkpoint
    )


def checkpoint_event(checkpoint: Checkpoint, kind: str, *, actor: str, reason: str = "") -> None:
    """In the history of its execution; one that was brought here has none, only the audit trail."""
    if checkpoint.execution.imported_from is not None:
        return
    event_record(
        execution_id=checkpoint.execution_id,
        kind=kind,
        actor=actor,
        reason=reason,
        detail={"checkpoint_id": checkpoint.checkpoint_id, "origin": str(checkpoint.origin), "savepoint": checkpoint.is_savepoint},
        checkpoint=checkpoint.pk,
    )


def checkpoint_send(checkpoint: Checkpoint) -> None:
    """Tell those who watch its execution how it stands now, once that is committed."""

    def send() -> None:
        if (told := checkpoint_message_out(checkpoint.pk)) is not None:
            broadcast.execution_message(checkpoint.execution_id, broadcast.CheckpointMessage(checkpoint=told), project=told.project)

    transaction.on_commit(send, robust=True)


def checkpoint_deleted_by(actor: str) -> Callable[[Checkpoint, str], None]:
    """What writes down that a checkpoint goes, and why."""
    return lambda checkpoint, reason: checkpoint_event(checkpoint, "checkpoint_deleted", actor=actor, reason=reason)


def event_append(
    *,
    execution_id: str,
    kind: str,
    actor: str,
    reason: str = "",
    node_id: str = "",
    from_status: str = "",
    to_status: str = "",
    detail: Mapping[str, Any] | None = None,
    checkpoint: int | None = None,
) -> Event:
    """Write the event whose number the caller's transaction has just raised in the execution's row, and send it on commit."""
    seq, attempt = Execution.objects.values_list("seq", "attempt").get(execution_id=execution_id)
    event = Event.objects.create(
        execution_id=execution_id,
        seq=seq,
        time=timezone.now(),
        kind=kind,
        actor=actor[:200],
        reason=storable(reason),
        attempt=attempt,
        from_status=from_status,
        to_status=to_status,
        node_id=node_id,
        detail=storable_data(detail or {}) | ({"checkpoint_row": checkpoint} if checkpoint is not None else {}),
    )
    # What is written is written, whatever becomes of its news.
    transaction.on_commit(lambda: event_send(event), robust=True)
    return event


def event_send(event: Event) -> None:
    """Tell those who watch the execution, and those who watch the overview."""
    execution = execution_message_out(event.execution_id)
    row = event.detail.get("checkpoint_row")
    message = broadcast.EventMessage(
        seq=event.seq,
        event=event_out(event),
        execution=execution,
        checkpoint=checkpoint_message_out(row) if row is not None else None,
    )
    broadcast.execution_message(event.execution_id, message, project=execution.project)
    broadcast.overview_message(broadcast.OverviewExecution(number=event.pk, execution=execution), project=execution.project)
