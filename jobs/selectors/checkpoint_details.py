"""One checkpoint with what became of it, and the list of its files."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet

from checkpoints.cut import CutDamaged
from checkpoints.manifest import MANIFEST, ManifestDamaged
from checkpoints.models import Checkpoint, CheckpointStatus
from checkpoints.selectors import nearest_good, not_restorable
from checkpoints.storages import opened
from checkpoints.stores.base import StorageFailed
from checkpoints.verification import checkpoint_files
from jobs.models import AuditEntry, Event, Execution, TriggeredBy
from jobs.selectors.checkpoints import checkpoint_out
from jobs.selectors.graph_comparisons import node_names
from jobs.selectors.refusals import Conflict
from jobs.selectors.shapes.checkpoint import (
    CheckpointDetailOut,
    CheckpointFileOut,
    CheckpointFilesOut,
    CheckpointNearestOut,
    CheckpointRestoreOut,
)

#: So many of those that went on from one checkpoint are named.
_NAMED = 20
#: So many restores of one checkpoint are looked through.
_STARTED_MOST = 500


def checkpoint_detail_out(checkpoint: Checkpoint) -> CheckpointDetailOut:
    """Six queries more than without what became of it; of one that cannot be restored, the disk is asked for the nearest good one."""
    shown = checkpoint_out(checkpoint)
    rows = _gone_on_from(checkpoint)
    newest = list(rows.select_related("created_by").order_by("-create_time", "-id")[:_NAMED])
    is_useless = not shown.restorable and checkpoint.status != CheckpointStatus.PENDING
    return CheckpointDetailOut(
        **dict(shown),
        restored_by=[_restore(checkpoint, one) for one in newest],
        restored_by_more=rows.count() - _NAMED if len(newest) == _NAMED else 0,
        delete_reason=_delete_reason(checkpoint),
        nearest_good=_nearest(checkpoint) if is_useless else None,
        node_names=node_names(checkpoint.execution),
    )


def _gone_on_from(checkpoint: Checkpoint) -> "QuerySet[Execution]":
    """Those that started from it, also where a damaged folder made them go on from another one since."""
    started = list(_acts(checkpoint, "checkpoint restored").order_by("-id").values_list("detail__started", flat=True)[:_STARTED_MOST])
    went_on = Q(restored_from_checkpoint_id=checkpoint.pk) | Q(execution_id__in=started)
    return Execution.objects.filter(went_on, job=checkpoint.execution.job_id)


def _acts(checkpoint: Checkpoint, action: str) -> "QuerySet[AuditEntry]":
    return AuditEntry.objects.filter(object_type="checkpoint", object_id=str(checkpoint.pk), action=action)


def _restore(checkpoint: Checkpoint, execution: Execution) -> CheckpointRestoreOut:
    return CheckpointRestoreOut(
        execution_id=execution.execution_id,
        version=execution.version,
        status=execution.status,
        created_by=execution.created_by.get_username() if execution.created_by else None,
        create_time=execution.create_time,
        in_place=execution.triggered_by != TriggeredBy.RESTORE or execution.execution_id == checkpoint.execution_id,
    )


def _nearest(checkpoint: Checkpoint) -> CheckpointNearestOut | None:
    found = nearest_good(checkpoint)
    if found is None:
        return None
    return CheckpointNearestOut(
        id=found.pk, checkpoint_id=found.checkpoint_id, execution_id=found.execution_id, create_time=found.create_time
    )


def _delete_reason(checkpoint: Checkpoint) -> str:
    if checkpoint.status != CheckpointStatus.EXPIRED:
        return ""
    events = Event.objects.filter(execution_id=checkpoint.execution_id, kind="checkpoint_deleted", detail__checkpoint_row=checkpoint.pk)
    said = events.order_by("-seq").values_list("reason", flat=True).first()
    if said is None:  # one that was brought here has no history of its own
        said = _acts(checkpoint, "checkpoint deleted").order_by("-id").values_list("detail__reason", flat=True).first()
    return said or ""


def checkpoint_files_out(checkpoint: Checkpoint, *, search: str, offset: int, most: int) -> CheckpointFilesOut:
    """One page of the files that its manifests list, wherever they lie. Conflict where they are gone, damaged or out of reach."""
    files = _files(checkpoint)
    found = [(path, facts) for path, facts in sorted(files.items()) if search.lower() in path.lower()]
    return CheckpointFilesOut(
        count=len(found),
        bytes=sum(int(facts["bytes"]) for _, facts in found),
        results=[
            CheckpointFileOut(path=path, bytes=facts["bytes"], sha256=facts["sha256"]) for path, facts in found[offset : offset + most]
        ],
    )


def _files(checkpoint: Checkpoint) -> Mapping[str, Mapping[str, Any]]:
    number = checkpoint.checkpoint_id
    if words := not_restorable(checkpoint, trusting=True):
        raise Conflict(f"checkpoint {number} has no files to list: {words}", code="checkpoint.files")
    try:
        with opened(checkpoint, wanted=lambda name: name.rsplit("/", 1)[-1] == MANIFEST) as folder:
            return checkpoint_files(folder)
    except StorageFailed as failed:
        raise Conflict(f"checkpoint {number} cannot be read now: {failed}", code="checkpoint.storage") from None
    except (ManifestDamaged, CutDamaged, OSError) as error:
        raise Conflict(f"what checkpoint {number} holds cannot be told: {error}", code="checkpoint.damaged") from None
