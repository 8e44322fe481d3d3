"""Starting from a checkpoint: a new execution in a new generation."""

import uuid
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.db.models import F, Value
from django.db.models.functions import Concat, Left

from checkpoints.models import Checkpoint
from checkpoints.renewals import renewal_detail
from checkpoints.selectors import not_restorable
from checkpoints.stores.local import LOCAL
from jobs.models import LEASED, UNFINISHED, Execution, ExecutionStatus, Job, QueryProgress, Role, TriggeredBy
from jobs.selectors.graph_comparisons import version_here
from jobs.selectors.roll_backs import roll_back_plan
from jobs.services.access import role_check
from jobs.services.audit import audit_record
from jobs.services.events import event_append
from jobs.services.executions.going_on import restore_check
from jobs.services.executions.not_startable import NotRestorable, NotStartable
from jobs.services.executions.starting import (
    Beginning,
    document_of,
    execution_create,
    job_locked,
    raise_conflict,
    version_of,
)
from jobs.services.executions.transition import LeaseLost, execution_transition
from jobs.services.metrics import OF_GENERATION

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def execution_restore(
    *,
    checkpoint: Checkpoint,
    user: "User | None",
    version: int | None = None,
    allow_non_restored_state: bool = False,
    roll_back: bool = False,
) -> Execution:
    """Start the checkpoint's job again from it, with the parameters it was taken of and its version, or another where that fits.

    `roll_back`: before the first batch, sinks take away what they wrote behind the checkpoint, as far as each of them can.
    Of a checkpoint that was brought here, its version is one of this job that does the same, else the current one.

    A PAUSED execution of the job is cancelled in the same transaction, its checkpoints stay; any other unfinished one is an
    ExecutionConflict. NotRestorable where the checkpoint cannot be started from; Invalid, with a problem a node, where the version needs a
    fresh start, or would leave state behind that nobody allowed to.
    """
    origin = Execution.with_imported.select_related("job").get(execution_id=checkpoint.execution_id)
    if user is not None:
        role_check(user=user, project=origin.job.project_id, role=Role.OPERATOR)
    try:
        with transaction.atomic():
            return _restore(checkpoint, origin, user, version, allow_non_restored_state, roll_back)
    except IntegrityError:
        raise_conflict(origin.job)


def _restore(
    checkpoint: Checkpoint, origin: Execution, user: "User | None", version: int | None, allow_non_restored_state: bool, roll_back: bool
) -> Execution:
    job = job_locked(origin.job)
    checkpoint.refresh_from_db(fields=["status"])  # a clean-up waits for the job's lock too
    if reason := not_restorable(checkpoint):
        raise NotRestorable(checkpoint, reason)
    chosen = version_of(job, version_here(origin) if version is None else version)
    parameters, changes = restore_check(origin=origin, version=chosen, allow_non_restored_state=allow_non_restored_state)
    taken_away = _taken_away(checkpoint) if roll_back else {}
    _paused_supersede(job, checkpoint, actor=user.get_username() if user else "system")
    beginning = Beginning(
        uuid.uuid4(),
        storage_host=origin.storage_host if checkpoint.storage == LOCAL else "",
        checkpoint=checkpoint.pk,
        words=f"from {_words(checkpoint, origin)}" + (", sinks rolled back to it" if roll_back else ""),
        changes=changes,
        roll_back=taken_away,
    )
    execution = execution_create(
        job=job,
        user=user,
        triggered_by=TriggeredBy.RESTORE,
        version=chosen,
        document=document_of(chosen),
        parameters=parameters,
        beginning=beginning,
    )
    _audit(checkpoint, execution, user, allow_non_restored_state=allow_non_restored_state, roll_back=roll_back)
    return execution


def _audit(checkpoint: Checkpoint, execution: Execution, user: "User | None", **how: bool) -> None:
    audit_record(
        user=user,
        action="checkpoint restored",
        object_type="checkpoint",
        object_id=str(checkpoint.pk),
        project=execution.job.project,
        detail={
            "execution_id": checkpoint.execution_id,
            "checkpoint_id": checkpoint.checkpoint_id,
            "started": execution.execution_id,
            "version": execution.version,
            **how,
        },
    )


def _taken_away(checkpoint: Checkpoint) -> dict[str, Any]:
    wanted = roll_back_plan(checkpoint)
    if wanted is None:
        message = "sinks cannot be rolled back to a checkpoint that was brought here or got other positions: restore it without"
        raise NotStartable(message, code="restore.roll_back")
    return wanted.data()


def _paused_supersede(job: Job, checkpoint: Checkpoint, *, actor: str) -> None:
    for other in Execution.objects.filter(job=job, status__in=UNFINISHED):
        if other.status != ExecutionStatus.PAUSED:
            raise_conflict(job)
        _checkpoints_stay(other)
        execution_transition(
            execution_id=other.execution_id,
            expected=ExecutionStatus.PAUSED,
            to=ExecutionStatus.CANCELLED,
            actor=actor,
            reason=f"superseded by a restore of checkpoint {checkpoint.checkpoint_id}",
        )


def _checkpoints_stay(superseded: Execution) -> None:
    """Whatever its settings say of a cancel: who goes back may want to go forward again."""
    if superseded.resolved.get("checkpoint_on_cancel") == "delete":
        superseded.resolved = {**superseded.resolved, "checkpoint_on_cancel": "keep"}
        superseded.save(update_fields=["resolved"])


def _words(checkpoint: Checkpoint, origin: Execution) -> str:
    where = f"of execution {origin.execution_id}"
    if origin.imported_from is not None:
        where = f'that was brought here, taken of "{origin.imported_from["job_name"]}"'
    return f"checkpoint {checkpoint.checkpoint_id} {where}"


@transaction.atomic
def execution_generation_renew(*, execution: Execution, checkpoint: Checkpoint, actor: str, reason: str) -> None:
    """Within an attempt: the live folder cannot be read, so a new generation goes on from `checkpoint`. LeaseLost if another took over.

    What was written behind the checkpoint is written again, and counted again: the event says so.
    """
    fresh = uuid.uuid4()
    begun_from = Execution.objects.filter(generation=execution.generation).exclude(restored_from_checkpoint_id=None)
    origin_before = begun_from.values_list("restored_from_checkpoint_id", flat=True).first()
    mine = Execution.objects.filter(execution_id=execution.execution_id, attempt=execution.attempt, status__in=LEASED)
    if not mine.update(generation=fresh, restored_from_checkpoint_id=checkpoint.pk, seq=F("seq") + 1):
        raise LeaseLost(execution_id=execution.execution_id, current="held by another attempt", wanted="a new generation")
    # Batch numbers go back to the checkpoint's: the old ones must not be overwritten by them.
    counted = QueryProgress.objects.filter(execution_id=execution.execution_id).exclude(query__contains=OF_GENERATION)
    counted.update(query=Concat(Left("query", 160), Value(f"{OF_GENERATION}{execution.generation}")))
    sentence = f"the live folder could not be read ({reason}); going on from checkpoint {checkpoint.checkpoint_id} in a new generation: "
    event_append(
        execution_id=execution.execution_id,
        kind="notice",
        actor=actor,
        reason=f"{sentence}rows behind it are sent again",
        detail=renewal_detail(generation=fresh, before=execution.generation, origin=checkpoint.pk, origin_before=origin_before)
        | {"checkpoint_id": checkpoint.checkpoint_id},
    )
    execution.generation, execution.restored_from_checkpoint_id = fresh, checkpoint.pk
