"""Checkpoint rows as retention, restores and drivers read them; what a user may see is jobs.selectors.checkpoints'."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from checkpoints.models import Checkpoint, CheckpointStatus
from checkpoints.roots import root_away, root_is_there
from checkpoints.storages import folder_of, host_of, key_of, opened, scratch_of, storage_of
from checkpoints.stores.base import StorageFailed, StorageUnfit
from checkpoints.stores.local import LOCAL
from checkpoints.threads import Pulse, no_pulse
from checkpoints.verification import checkpoint_verify

_LATELY = timedelta(minutes=10)
#: A host is not waited for on which no execution was for so long, and no driver or worker: of those no more is known.
_IDLE, _SILENT = timedelta(days=30), timedelta(days=7)
_ENDED_MOST = 500
_CHUNK = 500
#: More executions than this are not named one by one in a query.
_NAMED_MOST = 500


def executions(*, with_imported: bool = False) -> Any:
    """Executions, known by foreign key only: their table is the jobs application's. `with_imported`: the records of runs elsewhere too."""
    model = apps.get_model("jobs", "Execution")
    return (model._base_manager if with_imported else model._default_manager).all()


def hosts_expected() -> set[str]:
    """Names of disks of which something is heard: an execution that is, or lately was, there, or a driver or worker that lives."""
    now = timezone.now()
    lately = Q(create_time__gte=now - _IDLE) | Q(end_time__gte=now - _IDLE) | Q(end_time=None)
    found = executions().filter(lately).values_list("storage_host", flat=True)
    alive = (apps.get_model("jobs", name)._default_manager.filter(heartbeat_time__gte=now - _SILENT) for name in ("Driver", "Worker"))
    return {*found.distinct(), *(host for rows in alive for host in rows.values_list("host", flat=True).distinct())} - {""}


#: What is long and only a page of one checkpoint shows.
_LONG = ("state_data", "queries", "operators", "phases")


def briefly(rows: "QuerySet[Checkpoint]") -> "QuerySet[Checkpoint]":
    """The same without their long columns, which are read one by one if asked for."""
    return rows.defer(*_LONG)


def completed(rows: "QuerySet[Checkpoint] | None" = None) -> "QuerySet[Checkpoint]":
    """COMPLETED ones, newest first, with execution and job."""
    found = Checkpoint.objects.all() if rows is None else rows
    return found.filter(status=CheckpointStatus.COMPLETED).select_related("execution__job").order_by("-create_time", "-id")


#: What deciding over many checkpoints at once reads of them.
_DECIDED_BY = (
    "generation",
    "checkpoint_id",
    "status",
    "origin",
    "is_savepoint",
    "pinned",
    "exclusive_bytes",
    "storage",
    "storage_path",
    "failure_reason",
    "create_time",
    "execution_id",
)
_EXECUTION_BRIEFLY = ("execution_id", "job_name", "status", "resolved", "imported_from", "storage_host", "generation", "job_id")
_JOB_BRIEFLY = ("job_name", "title", "job_uid", "deleted_at", "project_id")


def completed_of(rows: "QuerySet[Checkpoint]") -> "list[Checkpoint]":
    """COMPLETED ones of those, newest first, with what deciding needs; each execution and job is read once, not with every row."""
    found = rows.filter(status=CheckpointStatus.COMPLETED).order_by("-create_time", "-id").only(*_DECIDED_BY)
    named = found.order_by().values("execution_id")
    of_job = [f"job__{name}" for name in _JOB_BRIEFLY]
    known = executions(with_imported=True).filter(execution_id__in=named).select_related("job").only(*_EXECUTION_BRIEFLY, *of_job)
    by_id = {execution.execution_id: execution for execution in known}
    listed = []
    for row in found:
        if (execution := by_id.get(row.execution_id)) is not None:
            row.execution = execution
            listed.append(row)
    return listed


def with_jobs(row_ids: Iterable[int]) -> dict[int, Checkpoint]:
    """Row id → its row with execution and job, of those that are COMPLETED still, without their long columns."""
    return {row.pk: row for row in briefly(completed(Checkpoint.objects.filter(pk__in=list(row_ids))))}


def abandoned() -> "QuerySet[Checkpoint]":
    """PENDING ones whose attempt no longer holds its execution: nobody will finish them. By the database's clock."""
    unheld = Q(execution__lease_expires_at=None) | Q(execution__lease_expires_at__lt=Now()) | ~Q(attempt=F("execution__attempt"))
    return Checkpoint.objects.filter(unheld, status=CheckpointStatus.PENDING)


def batches_kept(*, generation: UUID | str) -> dict[str, int]:
    """Query → its batch in the newest complete checkpoint of a generation; none if it has none that is whole."""
    newest = completed(Checkpoint.objects.filter(generation=generation, failure_reason="")).values_list("queries", flat=True).first()
    return {key: int(query["batch_id"]) for key, query in (newest or {}).items()}


def checkpoint_problems(checkpoint: Checkpoint, pulse: Pulse = no_pulse) -> list[str]:
    """What is wrong with its files, a sentence a file; every byte is read. StorageFailed where they cannot be had here, or not now."""
    try:
        if checkpoint.storage == LOCAL:
            with opened(checkpoint) as folder:
                return checkpoint_verify(folder, pulse)
        return storage_of(checkpoint).verify(key_of(checkpoint), scratch_of(checkpoint), pulse)
    except OSError as error:
        raise StorageFailed(f"the local disk gives trouble: {error}") from error


def not_restorable(checkpoint: Checkpoint, *, trusting: bool = False) -> str:
    """Why nothing can start from it, "" if it can. A glance, not a check of its bytes: that is the pre-check's.

    `trusting`: what an earlier check of its bytes found does not count, for one that checks them again. A store that is not the local
    disk is not asked: that may take its time, and locks are held here. Of files on another host nothing is said: it starts there.
    """
    words = {
        CheckpointStatus.PENDING: "it is still being written",
        CheckpointStatus.FAILED: "it failed while it was written",
        CheckpointStatus.EXPIRED: "its files were deleted",
    }
    if reason := words.get(CheckpointStatus(checkpoint.status), ""):
        return reason
    if checkpoint.failure_reason and not trusting:
        return checkpoint.failure_reason
    if checkpoint.storage == LOCAL:
        is_seen = host_of(checkpoint) or (folder_of(checkpoint) / "manifest.json").is_file()
        return "" if is_seen else root_away() or "its files are not there"
    try:
        storage_of(checkpoint)
    except StorageUnfit as unfit:
        return str(unfit)
    return ""


def newest_good(*, job_id: int) -> int | None:
    """The newest complete checkpoint that was taken of a job and whose files are there; at a glance, as `not_restorable`.

    Where the whole root is not there, the newest: its disk may not be mounted.
    """
    return _first_good(_taken(job_id).iterator(chunk_size=10))


def newest_lasting(*, job_id: int) -> int | None:
    """What no rule takes away, whatever became of its files: the newest good one; where none is good, see `_next_best`."""
    good = newest_good(job_id=job_id)
    return _next_best(_taken(job_id)) if good is None else good


def newest_lasting_among(rows: Sequence[Checkpoint]) -> int | None:
    """The same of all complete checkpoints of a job, newest first."""
    taken = [row for row in rows if row.execution.imported_from is None]
    good = _first_good(taken)
    return _next_best(taken) if good is None else good


def _taken(job_id: int) -> "QuerySet[Checkpoint]":
    """Complete ones, newest first, without those that were brought."""
    return completed(Checkpoint.objects.filter(execution__job=job_id, execution__imported_from__isnull=True))


def _next_best(rows: Iterable[Checkpoint]) -> int | None:
    """The newest that a later check may find whole, although an earlier one did not; else the newest."""
    listed = list(rows)
    there = (row.pk for row in listed if not not_restorable(row, trusting=True))
    return next(there, listed[0].pk if listed else None)


def _first_good(rows: Iterable[Checkpoint]) -> int | None:
    return next((row.pk for row in rows if not not_restorable(row) or (row.storage == LOCAL and not root_is_there())), None)


def nearest_good(checkpoint: Checkpoint) -> Checkpoint | None:
    """The complete one nearest in time that was taken of the same job and whose files are there; at a glance, as `not_restorable`."""
    taken = Checkpoint.objects.filter(execution__job=checkpoint.execution.job_id, execution__imported_from__isnull=True)
    others = briefly(completed(taken.exclude(pk=checkpoint.pk)))
    before = others.filter(create_time__lte=checkpoint.create_time)
    after = others.filter(create_time__gt=checkpoint.create_time).order_by("create_time", "id")
    good = [next((row for row in side.iterator(chunk_size=10) if not not_restorable(row)), None) for side in (before, after)]
    return min((row for row in good if row), key=lambda row: abs(row.create_time - checkpoint.create_time), default=None)


def needed_among(checkpoints: Sequence[Checkpoint]) -> dict[int, str]:
    """Row id → the execution that cannot do without it, of checkpoints whose jobs are known. One query.

    An unfinished execution needs the newest good checkpoint of its generation; where none is good, the newest, and the one that the
    generation was started from.
    """
    return {row: execution_id for row, (execution_id, _) in needs_of_executions(checkpoints).items()}


def needs_of_executions(checkpoints: Sequence[Checkpoint]) -> dict[int, tuple[str, bool]]:
    """As `needed_among`, and whether that execution starts from it and has none of its own yet."""
    job_ids = {checkpoint.execution.job_id for checkpoint in checkpoints}
    origins = Checkpoint.objects.filter(execution__job__in=job_ids).values("pk")
    concerned = Q(job__in=job_ids) | Q(restored_from_checkpoint_id__in=origins)
    own = completed(Checkpoint.objects.filter(generation=OuterRef("generation"))).values("pk")
    begun = executions().filter(generation=OuterRef("generation")).exclude(restored_from_checkpoint_id=None)
    found = {"good": own.filter(failure_reason=""), "newest": own, "origin": begun.values("restored_from_checkpoint_id")}
    asked = {name: Subquery(rows[:1]) for name, rows in found.items()}
    needed = {}
    for execution_id, good, newest, origin in executions().filter(concerned, end_time=None).values_list("execution_id", *asked.values()):
        for row in {newest, origin} - {None} if good is None else {good}:
            needed[row] = (str(execution_id), newest is None)
    return needed


def gone_on_from(execution_ids: Collection[str]) -> set[str]:
    """Those of which a checkpoint is what another execution was started from."""
    origins = executions().exclude(restored_from_checkpoint_id=None).values("restored_from_checkpoint_id")
    found = Checkpoint.objects.filter(pk__in=origins).order_by().values_list("execution_id", flat=True).distinct()
    return {str(one) for one in found} & set(execution_ids)


def unwanted_lately() -> list[Checkpoint]:
    """Those of executions that ended in the last minutes and whose settings want none of them then, as far as this host keeps them.

    In two queries, of which the first finds nothing almost always: joined, a database may begin with all checkpoints there are.
    """
    cancelled = Q(status="CANCELLED", resolved__checkpoint_on_cancel="delete")
    done = Q(status="COMPLETED", resolved__checkpoint_on_completion="delete")
    lately = executions().filter(end_time__gt=timezone.now() - _LATELY, storage_host__in=("", settings.STORAGE_HOST))
    ended = list(lately.filter(cancelled | done).values_list("execution_id", flat=True)[:_ENDED_MOST])
    return list(completed(Checkpoint.objects.filter(execution_id__in=ended, pinned=False, is_savepoint=False))) if ended else []


class RowState(NamedTuple):
    """Of a row, what tells whether files that stand for it belong there."""

    status: str
    storage: str


def rows_by_folder(folders: Collection[tuple[str, int]]) -> dict[tuple[str, int], RowState]:
    """(execution id, number) → its row, of those that have one. Long histories are read only of executions of which some have no files."""
    with_files = (CheckpointStatus.PENDING, CheckpointStatus.COMPLETED)
    found = _states(Checkpoint.objects.filter(status__in=with_files), {execution_id for execution_id, _ in folders})
    others = {execution_id for execution_id, number in folders if (execution_id, number) not in found}
    return _states(Checkpoint.objects.exclude(status__in=with_files), others) | found


def _states(rows: "QuerySet[Checkpoint]", execution_ids: set[str]) -> dict[tuple[str, int], RowState]:
    named = rows.filter(execution_id__in=execution_ids) if len(execution_ids) <= _NAMED_MOST else rows
    facts = named.order_by().values_list("execution_id", "checkpoint_id", "status", "storage")
    return {(str(execution_id), number): RowState(status, storage) for execution_id, number, status, storage in facts}


def jobs_at_work() -> set[str]:
    """Uids of jobs of which a checkpoint is being taken now."""
    rows = Checkpoint.objects.filter(status=CheckpointStatus.PENDING).order_by()
    return {str(uid) for uid in rows.values_list("execution__job__job_uid", flat=True).distinct()}


def newest_key(*, generation: UUID | str, storage: str) -> str:
    """The key of the newest good checkpoint of a generation, if it is in that store, else "". Nobody deletes it while that runs."""
    row = completed(Checkpoint.objects.filter(generation=generation, failure_reason="")).first()
    return key_of(row) if row is not None and row.storage == storage else ""


def in_chunks(rows: "QuerySet[Checkpoint]") -> Iterator[Checkpoint]:
    """All rows by their id, without holding them all, and without a query that stays open: on SQLite who writes meanwhile is refused."""
    chunk = list(rows.order_by("pk")[:_CHUNK])
    while chunk:
        yield from chunk
        chunk = list(rows.filter(pk__gt=chunk[-1].pk).order_by("pk")[:_CHUNK])
