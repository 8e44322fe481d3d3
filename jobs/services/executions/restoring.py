"""Starting from a checkpoint: a new execution in a new generation."""

import uuid
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from checkpoints.models import Checkpoint, CheckpointStatus
from jobs.models import UNFINISHED, Execution, ExecutionStatus, Role, TriggeredBy
from jobs.services.access import role_check
from jobs.services.executions.starting import (
    Beginning,
    NotStartable,
    document_of,
    execution_create,
    job_locked,
    raise_conflict,
    version_of,
)
from jobs.services.executions.transition import execution_transition

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def execution_restore(*, checkpoint: Checkpoint, user: "User | None") -> Execution:
    """Start the checkpoint's job again from it, with the version and parameters it was taken of.

    A PAUSED execution of the job is cancelled in the same transaction, its checkpoints stay; any other unfinished one is an
    ExecutionConflict. NotStartable where the checkpoint cannot be started from.
    """
    origin = Execution.objects.select_related("job").get(execution_id=checkpoint.execution_id)
    if user is not None:
        role_check(user=user, project=origin.job.project_id, role=Role.OPERATOR)
    if checkpoint.status != CheckpointStatus.COMPLETED:
        raise NotStartable(f"checkpoint {checkpoint.checkpoint_id} is {checkpoint.status}: only a completed one can be restored")
    try:
        with transaction.atomic():
            return _restore(checkpoint, origin, user)
    except IntegrityError:
        raise_conflict(origin.job)


def _restore(checkpoint: Checkpoint, origin: Execution, user: "User | None") -> Execution:
    job = job_locked(origin.job)
    for other in Execution.objects.filter(job=job, status__in=UNFINISHED):
        if other.status != ExecutionStatus.PAUSED:
            raise_conflict(job)
        execution_transition(
            execution_id=other.execution_id,
            expected=ExecutionStatus.PAUSED,
            to=ExecutionStatus.CANCELLED,
            actor=user.get_username() if user else "system",
            reason=f"superseded by a restore of checkpoint {checkpoint.checkpoint_id}",
        )
    version = version_of(job, origin.version)
    beginning = Beginning(
        uuid.uuid4(),
        storage_host=origin.storage_host,
        checkpoint=checkpoint.pk,
        words=f"from checkpoint {checkpoint.checkpoint_id} of execution {origin.execution_id}",
    )
    return execution_create(
        job=job,
        user=user,
        triggered_by=TriggeredBy.RESTORE,
        version=version,
        document=document_of(version),
        parameters=origin.parameters,
        beginning=beginning,
    )
