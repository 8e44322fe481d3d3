"""Deletion by a person, one or many: by checkpoints.deletion, with the role it needs, the event and the audit entry of each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkpoints.deletion import Outcome, checkpoints_delete
from checkpoints.models import Checkpoint
from checkpoints.selectors import briefly
from jobs.models import Role
from jobs.selectors.access import role_covers, roles_by_project
from jobs.selectors.checkpoints import checkpoints_visible
from jobs.selectors.refusals import Conflict
from jobs.selectors.shapes.checkpoint_administration import DeletionItemOut, DeletionNeedOut, DeletionOut
from jobs.selectors.surveys import surveys_outdate
from jobs.services.access import role_check
from jobs.services.checkpoints import checkpoint_audit
from jobs.services.events import checkpoint_event

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_CODES = {"GONE": "checkpoint.refused", "NEEDED": "checkpoint.refused", "REASON": "checkpoint.reason"}


def checkpoint_remove(*, checkpoint: Checkpoint, user: "User", reason: str = "") -> int:
    """Delete its files; the bytes given back. Conflict tells what needs it: "checkpoint.reason" where a reason would let it go."""
    role_check(user=user, project=checkpoint.execution.job.project_id, role=Role.OPERATOR)
    (outcome,) = checkpoints_delete(rows=[checkpoint], deleted_by=user.get_username(), reason=reason)
    if outcome.refusal:
        needs = [{"kind": need.kind, "execution": need.execution} for need in outcome.needs]
        raise Conflict(outcome.words, code=_CODES[outcome.refusal], detail={"needs": needs})
    _record(outcome, user, reason)
    return outcome.bytes


def checkpoints_remove(*, ids: Sequence[int], user: "User", reason: str, dry_run: bool) -> DeletionOut:
    """What became of each, in the order of `ids`; those that are refused stay, and the others go."""
    rows = {row.pk: row for row in briefly(checkpoints_visible(user).filter(pk__in=ids))}
    roles = roles_by_project(user)
    mine = [row for row in rows.values() if role_covers(roles.get(row.execution.job.project_id), Role.OPERATOR)]
    found = checkpoints_delete(rows=mine, deleted_by=user.get_username(), reason=reason, dry_run=dry_run)
    outcomes = {outcome.checkpoint.pk: outcome for outcome in found}
    gone = [outcome for outcome in found if not outcome.refusal]
    for outcome in gone if not dry_run else ():
        _record(outcome, user, reason)
    return DeletionOut(
        dry_run=dry_run,
        deleted=len(gone),
        bytes=sum(outcome.checkpoint.exclusive_bytes if dry_run else outcome.bytes for outcome in gone),
        results=[_item(one, rows.get(one), outcomes.get(one), dry_run=dry_run) for one in dict.fromkeys(ids)],
    )


def _item(row_id: int, row: Checkpoint | None, outcome: Outcome | None, *, dry_run: bool) -> DeletionItemOut:
    if row is None:
        words = f"checkpoint {row_id} does not exist, or not for you"
        return DeletionItemOut(checkpoint=row_id, checkpoint_id=None, job_name=None, refusal="NOT_FOUND", message=words, needs=[], bytes=0)
    named = {"checkpoint": row.pk, "checkpoint_id": row.checkpoint_id, "job_name": row.execution.job_name}
    if outcome is None:
        words = f"checkpoint {row.checkpoint_id} is of a project in which you are no operator"
        return DeletionItemOut(**named, refusal="FORBIDDEN", message=words, needs=[], bytes=0)
    return DeletionItemOut(
        **named,
        refusal=outcome.refusal,
        message=outcome.words,
        needs=[DeletionNeedOut(kind=need.kind, execution=need.execution) for need in outcome.needs],
        bytes=row.exclusive_bytes if dry_run and not outcome.refusal else outcome.bytes,
    )


def _record(outcome: Outcome, user: "User", reason: str) -> None:
    why = reason.strip()
    checkpoint_event(outcome.checkpoint, "checkpoint_deleted", actor=user.get_username(), reason=why)
    needs = [need.words(outcome.checkpoint.checkpoint_id) for need in outcome.needs]
    detail = {"bytes": outcome.bytes, "reason": why, "although": needs}
    checkpoint_audit(outcome.checkpoint, user, "checkpoint deleted", detail)
    surveys_outdate()
