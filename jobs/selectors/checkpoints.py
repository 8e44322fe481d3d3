"""Checkpoints as a user may see them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, cast

from django.db.models import QuerySet

from checkpoints.models import Checkpoint, CheckpointStatus
from jobs.selectors.access import projects_visible
from jobs.selectors.refusals import NotFound
from jobs.selectors.shapes.checkpoint import CheckpointOut, CheckpointQueryOut, CheckpointSourceOut

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

_NOT_RESTORABLE = {
    CheckpointStatus.PENDING: "it is still being written",
    CheckpointStatus.FAILED: "it failed while it was written",
    CheckpointStatus.EXPIRED: "its files were deleted",
}


def checkpoints_visible(user: "User | AnonymousUser") -> QuerySet[Checkpoint]:
    """Every checkpoint of the user's projects, with its execution and job."""
    rows = Checkpoint.objects.select_related("execution__job__project").defer(
        "execution__error_stack_trace", "execution__imported_document", "execution__job__dag_definition"
    )
    if user.is_authenticated and user.is_active and user.is_superuser:
        return rows
    return rows.filter(execution__job__project__in=projects_visible(user))


def checkpoint_get(*, user: "User | AnonymousUser", checkpoint_id: int) -> Checkpoint:
    """One checkpoint by its row id, or NotFound."""
    row = checkpoints_visible(user).filter(pk=checkpoint_id).first()
    if row is None:
        raise NotFound(f"checkpoint {checkpoint_id} does not exist, or not for you")
    return row


def checkpoint_message_out(row_id: int) -> CheckpointOut | None:
    """One checkpoint as live messages carry it, whoever listens; None when it is gone."""
    row = Checkpoint.objects.select_related("execution__job__project").filter(pk=row_id).first()
    return checkpoint_out(row) if row else None


def checkpoints_out(rows: Iterable[Checkpoint]) -> list[CheckpointOut]:
    return [checkpoint_out(row) for row in rows]


def _source(row: Checkpoint) -> CheckpointSourceOut | None:
    arrival = row.execution.imported_from
    return CheckpointSourceOut(**{name: arrival[name] for name in CheckpointSourceOut.model_fields}) if arrival is not None else None


def checkpoint_out(row: Checkpoint) -> CheckpointOut:
    """Whether its files are whole is the pre-check's to say; here it counts that they were when it completed."""
    was_taken_here = row.complete_time is not None and row.execution.imported_from is None
    duration = int((row.complete_time - row.create_time).total_seconds() * 1000) if row.complete_time and was_taken_here else None
    return CheckpointOut(
        id=row.pk,
        execution_id=row.execution_id,
        job_name=row.execution.job_name,
        job_title=row.execution.job.title or row.execution.job_name,
        project=row.execution.job.project.slug,
        generation=row.generation,
        checkpoint_id=row.checkpoint_id,
        checkpoint_type=cast(Literal["STREAMING", "ROLLER", "SQL_TASK"], row.checkpoint_type),
        status=cast(Literal["PENDING", "COMPLETED", "FAILED", "EXPIRED"], row.status),
        origin=cast(Literal["INTERVAL", "ROWS", "PAGE", "MANUAL", "STOP"], row.origin),
        requested_by=row.requested_by,
        label=row.label,
        pinned=row.pinned,
        is_savepoint=row.is_savepoint,
        attempt=row.attempt,
        state_data=row.state_data,
        rows_read=row.rows_read,
        backlog=row.backlog,
        storage=row.storage,
        storage_path=row.storage_path,
        storage_size_bytes=row.storage_size_bytes,
        exclusive_bytes=row.exclusive_bytes,
        file_count=row.file_count,
        phases=row.phases,
        queries={key: CheckpointQueryOut.model_validate(query) for key, query in row.queries.items()},
        operators=row.operators,
        failure_reason=row.failure_reason,
        create_time=row.create_time,
        complete_time=row.complete_time,
        delete_time=row.delete_time,
        deleted_by=row.deleted_by,
        duration_ms=duration,
        restorable=row.status == CheckpointStatus.COMPLETED and not row.failure_reason,
        restorable_reason=_NOT_RESTORABLE.get(CheckpointStatus(row.status), row.failure_reason),
        source=_source(row),
    )
