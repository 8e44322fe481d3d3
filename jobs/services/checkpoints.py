"""Checkpoints as people change them: by checkpoints.services, with the event, the audit entry and the role it needs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import transaction

from checkpoints import cleaning, services
from checkpoints.archive_writing import Archive
from checkpoints.models import Checkpoint, CheckpointStatus
from checkpoints.retention import Decision, Scope
from jobs.models import Job, Role
from jobs.selectors.access import role_covers, roles_by_project
from jobs.selectors.checkpoint_travel import checkpoint_archive
from jobs.selectors.executions import execution_get
from jobs.selectors.jobs import job_get
from jobs.selectors.refusals import Conflict
from jobs.selectors.surveys import surveys_outdate
from jobs.services.access import role_check
from jobs.services.audit import audit_record
from jobs.services.events import checkpoint_deleted_by, checkpoint_event, checkpoint_send

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def checkpoint_change(
    *, checkpoint: Checkpoint, user: "User", label: str | None = None, pinned: bool | None = None, is_savepoint: bool | None = None
) -> Checkpoint:
    """Label, pin, keep as a savepoint; None leaves it. Conflict where its status or its files do not allow it."""
    _operator(checkpoint, user)
    if is_savepoint is False and checkpoint.is_savepoint:
        raise Conflict("a savepoint stays one: delete it when nobody needs it any more")
    try:
        with transaction.atomic():
            services.checkpoint_update(checkpoint=checkpoint, label=label, pinned=pinned)
            changed = {"label": label, "pinned": pinned, "is_savepoint": is_savepoint}
            checkpoint_audit(checkpoint, user, "checkpoint changed", {name: value for name, value in changed.items() if value is not None})
        if is_savepoint:  # of one that is a savepoint already as well: what copied its files may have died
            services.savepoint_keep(checkpoint=checkpoint)
    except services.CheckpointRefused as refused:
        raise Conflict(str(refused), code="checkpoint.refused") from None
    surveys_outdate()
    checkpoint_send(checkpoint)
    return checkpoint


def checkpoint_looked_at(*, checkpoint: Checkpoint, whole: bool) -> None:
    """A check of its bytes is kept where it found something new: those that share files with a damaged one are checked as well."""
    if checkpoint.status == CheckpointStatus.COMPLETED and whole == bool(checkpoint.failure_reason):
        for damaged in services.checkpoints_check(generation=checkpoint.generation):
            checkpoint_event(
                damaged, "notice", actor="system", reason=f"checkpoint {damaged.checkpoint_id} cannot be restored: {damaged.failure_reason}"
            )


def checkpoint_export(*, checkpoint: Checkpoint, user: "User") -> Archive:
    """Its archive, to be sent. Conflict where it is damaged or gone. For operators: state holds rows."""
    _operator(checkpoint, user)
    archive = checkpoint_archive(checkpoint)
    checkpoint_audit(checkpoint, user, "checkpoint exported", {"bytes": archive.size})
    return archive


def checkpoints_clean_up(
    *, user: "User | None", dry_run: bool, job_name: str | None = None, execution_id: str | None = None
) -> list[Decision]:
    """Retention over what the user operates (None: the command line, everything), with orphaned folders; a dry run only tells."""
    scope = _scope(user, job_name, execution_id)
    actor = user.get_username() if user else "clean_checkpoints"
    found = cleaning.checkpoints_clean(scope=scope, dry_run=dry_run, deleted_by=actor, told=checkpoint_deleted_by(actor))
    going = [decision for decision in found if decision.action == "delete"]
    if not dry_run:
        surveys_outdate()
    if not dry_run and going:
        detail = {"deleted": len(going), "bytes": sum(decision.bytes for decision in going), "job_name": job_name}
        audit_record(user=user, action="checkpoints cleaned up", object_type="checkpoint", object_id="", detail=detail)
    return found


def _scope(user: "User | None", job_name: str | None, execution_id: str | None) -> Scope:
    projects = None
    if user is not None and not user.is_superuser:
        projects = frozenset(project for project, role in roles_by_project(user).items() if role_covers(role, Role.OPERATOR))
    job_id = None
    if job_name:
        job_id = job_get(user=user, job_name=job_name).pk if user else Job.objects.get(job_name=job_name, deleted_at=None).pk
    if execution_id and user:
        execution_get(user=user, execution_id=execution_id)
    return Scope(projects=projects, job_id=job_id, execution_id=execution_id or None)


def _operator(checkpoint: Checkpoint, user: "User") -> None:
    role_check(user=user, project=checkpoint.execution.job.project_id, role=Role.OPERATOR)


def checkpoint_audit(checkpoint: Checkpoint, user: "User", action: str, detail: Mapping[str, object]) -> None:
    audit_record(
        user=user,
        action=action,
        object_type="checkpoint",
        object_id=str(checkpoint.pk),
        project=checkpoint.execution.job.project,
        detail={"execution_id": checkpoint.execution_id, "checkpoint_id": checkpoint.checkpoint_id, **detail},
    )
