"""The only writer of checkpoint rows. Files follow rows: a row first says that its files are gone, then they go."""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.utils import timezone

from checkpoints.archive_facts import Taken
from checkpoints.cut import folder_remove, partial_of
from checkpoints.files import Brought, Stores, files_own
from checkpoints.ledger import CheckpointResult, LedgerRefused
from checkpoints.manifest import MANIFEST
from checkpoints.models import Checkpoint, CheckpointOrigin, CheckpointRoot, CheckpointStatus, CheckpointType
from checkpoints.query_facts import query_facts
from checkpoints.roots import MARKER, root_named, root_refusal
from checkpoints.selectors import abandoned, checkpoint_problems, completed, executions
from checkpoints.storage import bytes_exclusive, bytes_logical, checkpoint_folder
from checkpoints.storages import folder_of
from checkpoints.stores.base import StorageFailed
from checkpoints.stores.local import LOCAL
from jobs.dag.storable import storable

logger = logging.getLogger(__name__)

_TYPES = {
    "STREAMING": CheckpointType.STREAMING,
    "BATCH_ROLLER": CheckpointType.ROLLER,
    "SQL_TASK": CheckpointType.SQL_TASK,
}


#: Hears of a row that was changed, in the transaction that changes it, and so once.
Told = Callable[[Checkpoint], None]


def nobody(_: Checkpoint) -> None:
    """Needs to know."""


class CheckpointRefused(LedgerRefused):
    """It cannot be done with this checkpoint as it is; the text says why and what to do."""


def root_take() -> None:
    """Before something new is put on the local disk: the first time marks its folder; from then on StorageFailed where the mark is not."""
    if away := root_refusal():
        raise StorageFailed(away)
    root = Path(settings.CHECKPOINT_ROOT)
    try:
        root.mkdir(parents=True, exist_ok=True)
        (root / MARKER).touch()
    except OSError as error:
        raise StorageFailed(f"nothing can be written to {root}: {error.strerror or error}") from error
    CheckpointRoot.objects.get_or_create(**root_named())


@transaction.atomic
def checkpoint_begin(
    *,
    execution_id: str,
    attempt: int,
    origin: str,
    requested_by: str = "",
    savepoint: bool = False,
    label: str = "",
    storage: str = LOCAL,
) -> Checkpoint:
    """A PENDING row with the execution's next number. CheckpointRefused where `attempt` no longer holds the execution.

    One at a time: whatever is still PENDING of this execution was left by an attempt that died, and is failed.
    """
    # The write without a change makes two who begin at once wait for one another, so that each gets a number of its own.
    if not executions().filter(execution_id=execution_id, attempt=attempt, end_time=None).update(attempt=F("attempt")):
        raise CheckpointRefused(f"attempt {attempt} no longer runs execution {execution_id}")
    execution = executions().select_related("job").only("job_type", "generation", "job__job_uid").get(execution_id=execution_id)
    rows = Checkpoint.objects.filter(execution_id=execution_id)
    _fail(rows.filter(status=CheckpointStatus.PENDING), "it was never finished", {})
    number = (rows.aggregate(last=Max("checkpoint_id"))["last"] or 0) + 1
    folder = checkpoint_folder(Path(settings.CHECKPOINT_ROOT).resolve(), str(execution.job.job_uid), execution_id, number)
    return Checkpoint.objects.create(
        execution_id=execution_id,
        generation=execution.generation,
        checkpoint_id=number,
        checkpoint_type=_TYPES[execution.job_type],
        origin=origin,
        requested_by=requested_by[:200],
        label=label[:200],
        is_savepoint=savepoint,
        attempt=attempt,
        storage=storage,
        storage_path=str(folder),
    )


def checkpoint_adopt(*, execution_id: str, brought: Brought, taken: Taken, label: str) -> Checkpoint:
    """A savepoint that was brought from elsewhere and checked; its execution is the record of that run."""
    execution = executions(with_imported=True).get(execution_id=execution_id)
    checkpoint, folder, placed = taken.checkpoint, brought.folder, brought.placed
    return Checkpoint.objects.create(
        execution_id=execution_id,
        generation=execution.generation,
        checkpoint_id=checkpoint.number,
        checkpoint_type=_TYPES[execution.job_type],
        status=CheckpointStatus.COMPLETED,
        origin=checkpoint.origin if checkpoint.origin in CheckpointOrigin.values else CheckpointOrigin.MANUAL,
        requested_by=checkpoint.requested_by,
        label=label[:200],
        is_savepoint=True,
        attempt=checkpoint.attempt,
        state_data=checkpoint.state_data,
        storage=brought.storage,
        storage_path=placed.place[:1000] if placed else str(folder),
        storage_size_bytes=bytes_logical(folder),
        exclusive_bytes=placed.bytes if placed else bytes_exclusive(folder),
        file_count=sum(1 for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST),
        phases=checkpoint.phases,
        queries=query_facts(folder),
        operators=checkpoint.operators,
        complete_time=timezone.now(),
    )


@transaction.atomic
def checkpoint_complete(*, row: int, result: CheckpointResult, told: Told = nobody) -> Checkpoint:
    """PENDING → COMPLETED with what was found. CheckpointRefused where another attempt took over or the row was failed meanwhile."""
    mine = Checkpoint.objects.filter(pk=row, status=CheckpointStatus.PENDING, attempt=F("execution__attempt"))
    changed = Checkpoint.objects.filter(pk__in=mine.values("pk"), status=CheckpointStatus.PENDING).update(
        status=CheckpointStatus.COMPLETED,
        complete_time=timezone.now(),
        state_data=dict(result.state_data),
        queries={key: dict(query) for key, query in result.queries.items()},
        operators=[dict(operator) for operator in result.operators],
        phases=dict(result.phases),
        rows_read=result.rows,
        backlog=result.backlog,
        file_count=result.files,
        storage_size_bytes=result.bytes_logical,
        exclusive_bytes=result.bytes_exclusive,
        **({"storage_path": result.place[:1000]} if result.place else {}),
    )
    checkpoint = Checkpoint.objects.select_related("execution__job").get(pk=row)
    if not changed and checkpoint.status != CheckpointStatus.COMPLETED:
        raise CheckpointRefused(f"checkpoint {checkpoint.checkpoint_id} is {checkpoint.status}: it cannot be completed")
    if changed:
        told(checkpoint)
    return checkpoint


@transaction.atomic
def checkpoint_fail(*, row: int, reason: str, phases: Mapping[str, int], told: Told = nobody) -> Checkpoint:
    """PENDING → FAILED; nothing happens to a row that is no longer PENDING."""
    changed = _fail(Checkpoint.objects.filter(pk=row, status=CheckpointStatus.PENDING), reason, phases)
    checkpoint = Checkpoint.objects.select_related("execution__job").get(pk=row)
    if changed:
        told(checkpoint)
    return checkpoint


def checkpoints_check(*, generation: UUID | str) -> list[Checkpoint]:
    """Compare every byte of the complete checkpoints of a generation, which share files; the damaged ones, newest first.

    A damaged one says so in `failure_reason` from now on and cannot be restored; one that was damaged and is whole again can. Nothing is
    said of one that its store does not give now.
    """
    damaged, away = [], set[str]()
    for checkpoint in completed(Checkpoint.objects.filter(generation=generation)):
        if checkpoint.storage in away:  # each question would wait for its time-out
            continue
        try:
            problems = checkpoint_problems(checkpoint)
        except StorageFailed as failed:
            away.add(checkpoint.storage)
            logger.warning("%s and older ones could not be checked: %s", checkpoint, failed)
            continue
        damage_note(checkpoint=checkpoint, problems=problems)
        if problems:
            damaged.append(checkpoint)
    return damaged


def damage_note(*, checkpoint: Checkpoint, problems: Sequence[str]) -> None:
    """Keep what a check of its bytes found, a sentence a file; none: it is whole."""
    more = f" ({len(problems)} files are wrong)" if len(problems) > 1 else ""
    reason = storable(f"it is damaged: {problems[0]}{more}") if problems else ""
    if checkpoint.failure_reason != reason:
        Checkpoint.objects.filter(pk=checkpoint.pk, status=CheckpointStatus.COMPLETED).update(failure_reason=reason)
        checkpoint.failure_reason = reason


def _fail(rows: Any, reason: str, phases: Mapping[str, int]) -> int:
    """How many were."""
    changes = {"failure_reason": storable(reason), "phases": dict(phases), "complete_time": timezone.now()}
    return int(rows.update(status=CheckpointStatus.FAILED, **changes))


def checkpoints_reconcile() -> list[Checkpoint]:
    """Fail what attempts that died left PENDING, and take away its half-written files. Those rows; safe to run twice."""
    failed = []
    for checkpoint in list(abandoned().select_related("execution__job")):
        mine = Checkpoint.objects.filter(pk=checkpoint.pk, status=CheckpointStatus.PENDING)
        reason = "the attempt that took it ended first"
        if mine.update(status=CheckpointStatus.FAILED, failure_reason=reason, complete_time=timezone.now()):
            folder_remove(partial_of(folder_of(checkpoint)))
            folder_remove(folder_of(checkpoint))
            checkpoint.refresh_from_db(fields=["status", "failure_reason", "complete_time"])
            failed.append(checkpoint)
    return failed


def checkpoint_update(*, checkpoint: Checkpoint, label: str | None = None, pinned: bool | None = None) -> Checkpoint:
    """Set its label or its pin; None leaves it. A pin keeps it from every clean-up."""
    changes: dict[str, Any] = {}
    if label is not None:
        changes["label"] = label.strip()[:200]
    if pinned is not None:
        if pinned and checkpoint.status != CheckpointStatus.COMPLETED:
            raise CheckpointRefused(f"checkpoint {checkpoint.checkpoint_id} is {checkpoint.status}: only a completed one can be pinned")
        changes["pinned"] = pinned
    if changes:
        Checkpoint.objects.filter(pk=checkpoint.pk).update(**changes)
        checkpoint.refresh_from_db(fields=list(changes))
    return checkpoint


def savepoint_keep(*, checkpoint: Checkpoint) -> Checkpoint:
    """Make it a savepoint, which shares no file with others: each is checked and copied. CheckpointRefused if one is damaged.

    Takes as long as copying its `storage_size_bytes`; meanwhile it is a savepoint already, so that no rule takes it away.
    """
    mine = Checkpoint.objects.filter(pk=checkpoint.pk, status=CheckpointStatus.COMPLETED)
    if not mine.update(is_savepoint=True):
        checkpoint.refresh_from_db(fields=["status"])
        raise CheckpointRefused(f"checkpoint {checkpoint.checkpoint_id} is {checkpoint.status}: only a completed one can be kept")
    try:
        taken = _made_its_own(checkpoint)
    except BaseException:
        mine.update(is_savepoint=checkpoint.is_savepoint)
        raise
    if not mine.update(is_savepoint=True, exclusive_bytes=taken):  # another who kept it at the same time may have failed
        raise CheckpointRefused(f"checkpoint {checkpoint.checkpoint_id} was deleted meanwhile")
    checkpoint.refresh_from_db(fields=["is_savepoint", "exclusive_bytes", "status"])
    return checkpoint


def _made_its_own(checkpoint: Checkpoint) -> int:
    """The bytes it takes alone from now on."""
    try:
        problems, taken = files_own(checkpoint)
    except StorageFailed as failed:
        raise CheckpointRefused(f"checkpoint {checkpoint.checkpoint_id} cannot be kept now: {failed}") from None
    except OSError as error:
        raise CheckpointRefused(f"checkpoint {checkpoint.checkpoint_id} cannot be kept now: {error.strerror}") from error
    if problems:
        raise CheckpointRefused(f"checkpoint {checkpoint.checkpoint_id} is damaged and cannot be kept: {problems[0]}")
    return taken


def job_hold(job_id: int) -> None:
    """Until the transaction ends: a restore of the job that begins now waits for us, or is seen by us."""
    apps.get_model("jobs", "Job")._default_manager.filter(pk=job_id).update(attempt_counter=F("attempt_counter"))


@transaction.atomic
def checkpoints_expire(rows: "QuerySet[Checkpoint]", deleted_by: str) -> set[int]:
    """COMPLETED → EXPIRED; the row ids of those that went: not what somebody else took away first."""
    mine = set(rows.select_for_update().filter(status=CheckpointStatus.COMPLETED).values_list("pk", flat=True))
    changes: dict[str, Any] = {"status": CheckpointStatus.EXPIRED, "delete_time": timezone.now(), "deleted_by": deleted_by[:200]}
    Checkpoint.objects.filter(pk__in=mine).update(**changes, exclusive_bytes=0)
    return mine


def expired_files_delete(checkpoint: Checkpoint, stores: Stores) -> int:
    """Of one that is EXPIRED; the bytes given back."""
    freed = stores.files_delete(checkpoint)
    checkpoint.refresh_from_db(fields=["status", "delete_time", "deleted_by", "exclusive_bytes"])
    return freed
