"""What lies where checkpoints are kept and no row needs, and rows whose files are not there; looking only, nothing is deleted here."""

import logging
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from django.conf import settings
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from checkpoints.models import Checkpoint, CheckpointStatus
from checkpoints.retention import Decision, Scope
from checkpoints.retention_rules import Why
from checkpoints.roots import root_is_there
from checkpoints.selectors import RowState, executions, jobs_at_work, rows_by_folder, with_jobs
from checkpoints.storage import Found, folders_found
from checkpoints.storages import folder_of, storages_known
from checkpoints.stores.base import CheckpointStorage, Stored
from checkpoints.stores.local import LOCAL

logger = logging.getLogger(__name__)

#: What changed since then is left alone: somebody may be at work in it.
GRACE = timedelta(hours=1)
#: So many rows are looked up at once.
_AT_ONCE = 500
_YOUNG = "; it goes once nothing of it has changed for an hour"

OrphanKind = Literal["LIVE", "RESTORE", "PARTIAL", "TEMPORARY", "NO_ROW", "ROW_GONE", "ELSEWHERE", "FOREIGN", "NO_FILES"]

WORDS: dict[OrphanKind, str] = {
    "LIVE": "live folder of a generation that was superseded",
    "RESTORE": "left by a restore that did not finish",
    "PARTIAL": "left by a checkpoint that did not finish",
    "TEMPORARY": "a temporary part that was left over",
    "NO_ROW": "no checkpoint stands for it",
    "ROW_GONE": "its checkpoint failed or was deleted",
    "ELSEWHERE": "its files are in another store",
    "FOREIGN": "of a job that this installation does not know: delete it by hand if nobody else does",
    "NO_FILES": "its files are not there",
}


class Row(NamedTuple):
    """Which checkpoint it is, and, once it is marked, why nothing can start from it."""

    pk: int
    checkpoint_id: int
    execution_id: str
    failure_reason: str


@dataclass(frozen=True)
class Orphan:
    """`kind` NO_FILES is a `row` whose files are not there, every other one a folder, file or object that no row needs.

    `changed`: when anything of it last was; of a row, when it was taken. `bytes`: None where they were not counted. In another store than
    the local disk `path` is the key there, and `place` where that is.
    """

    kind: OrphanKind
    path: Path
    job_uid: str
    changed: datetime
    row: Row | None = None
    bytes: int | None = None
    storage: str = LOCAL
    place: str = ""

    @property
    def grace_ends(self) -> datetime | None:
        """From when on a clean-up takes it away, or marks its row; None: it never does."""
        return None if self.kind == "FOREIGN" or self.is_marked else self.changed + (timedelta() if self.row else GRACE)

    @property
    def is_marked(self) -> bool:
        """Its row says already that nothing can start from it."""
        return self.row is not None and bool(self.row.failure_reason)

    @property
    def is_due(self) -> bool:
        return self.grace_ends is not None and self.grace_ends <= timezone.now()


def orphans(scope: Scope) -> Iterator[Decision]:
    """What a clean-up does with folders that no row needs any more. Young ones and those of a job that is not ours are told, and left."""
    for one in folders_orphaned(scope):
        why = Why("ORPHAN", WORDS[one.kind] if one.is_due or one.kind == "FOREIGN" else f"{WORDS[one.kind]}{_YOUNG}")
        place: dict[str, Any] = {"bytes": one.bytes or 0, "storage": one.storage, "place": one.place, "changed": one.changed}
        yield Decision("delete" if one.is_due else "keep", why, one.path, **place)


def folders_orphaned(scope: Scope) -> Iterator[Orphan]:
    """Those in which somebody may still be at work too: their grace time has not ended."""
    found = list(folders_found(Path(settings.CHECKPOINT_ROOT)))
    ours = scope.projects is None and scope.job_id is None
    rows = rows_by_folder({(one.key, number) for one in found if (number := _number(one)) is not None})
    alive = living_generations(scope.jobs())
    for one in found:
        if (kind := _kind_of(one, rows, alive, ours=ours)) and (changed := last_change(one.path)) is not None:
            yield Orphan(kind, one.path, one.job_uid, changed)
    for storage in storages_known():
        yield from _stored(storage, alive.keys(), ours=ours)


def rows_without_files(scope: Scope) -> list[Orphan]:
    """COMPLETED ones on this host's disk whose folder somebody took away. Empty where its root is not there: a disk may not be mounted."""
    if not root_is_there():
        return []
    there = {(one.key, one.path.name) for one in folders_found(Path(settings.CHECKPOINT_ROOT)) if one.kind == "checkpoint"}
    missing = ((row, folder_of(row)) for row in _not_in(there, scope))
    return [_without_files(row, folder) for row, folder in missing if not folder.is_dir()]


def _without_files(row: Checkpoint, folder: Path) -> Orphan:
    facts = Row(row.pk, row.checkpoint_id, row.execution_id, row.failure_reason)
    return Orphan("NO_FILES", folder, str(row.execution.job.job_uid), row.create_time, facts, bytes=0)


def _not_in(there: Collection[tuple[str, str]], scope: Scope) -> Iterator[Checkpoint]:
    """COMPLETED ones of this host's disk that were not found where they belong."""
    here = scope.rows().filter(status=CheckpointStatus.COMPLETED, storage=LOCAL, execution__storage_host__in=("", settings.STORAGE_HOST))
    named = here.order_by("-create_time", "-id").values_list("pk", "execution_id", "checkpoint_id")
    missing = iter([pk for pk, execution_id, number in named if (execution_id, str(number)) not in there])
    while some := list(islice(missing, _AT_ONCE)):
        yield from with_jobs(some).values()


def _stored(storage: CheckpointStorage, jobs: Collection[str], *, ours: bool) -> Iterator[Orphan]:
    """The same in a store. While a checkpoint of a job is being taken, nothing of that job is: it may name what an earlier one left."""
    try:
        found = list(storage.list_stored())
    except Exception as failed:  # a store of somebody else may raise anything
        logger.warning('nothing can be cleaned up in the store "%s" now: %s', storage.name, failed)
        return
    rows = rows_by_folder({(one.execution_id, one.number) for one in found})
    busy = jobs_at_work()
    for one in found:
        row = rows.get((one.execution_id, one.number))
        if one.job_uid not in jobs:
            if ours:
                yield _stored_orphan("FOREIGN", one, storage)
        elif row is not None and row.status == CheckpointStatus.COMPLETED and row.storage == storage.name:
            continue
        elif one.job_uid not in busy:
            yield _stored_orphan("ROW_GONE" if row is not None else "NO_ROW", one, storage)


def _stored_orphan(kind: OrphanKind, one: Stored, storage: CheckpointStorage) -> Orphan:
    return Orphan(kind, Path(one.key), one.job_uid, one.changed, bytes=one.bytes, storage=storage.name, place=one.place)


def _kind_of(one: Found, rows: dict[tuple[str, int], RowState], alive: dict[str, set[str]], *, ours: bool) -> OrphanKind | None:
    if one.job_uid not in alive:
        if one.kind == "temporary" and not one.job_uid:
            return "TEMPORARY" if ours else None
        return "FOREIGN" if ours and one.kind in ("live", "checkpoint") else None
    living = alive[one.job_uid]
    if one.kind == "temporary":
        return "TEMPORARY"
    if one.kind == "live":
        return None if one.key in living else "LIVE"
    number = _number(one)
    if number is None:
        return None if one.key in living else "RESTORE"
    row = rows.get((one.key, number))
    if row is not None and row.status == CheckpointStatus.PENDING:
        return None
    if one.kind == "partial":
        return "PARTIAL"
    if row is not None and row.status == CheckpointStatus.COMPLETED:
        return None if row.storage == LOCAL else "ELSEWHERE"
    return "ROW_GONE" if row is not None else "NO_ROW"


def _number(one: Found) -> int | None:
    """Of a checkpoint's folder, or of one in which it is being made."""
    name = one.path.name.removeprefix(".").removesuffix(".partial")
    return int(name) if one.kind in ("checkpoint", "partial") and name.isdecimal() else None


def living_generations(jobs: Any) -> dict[str, set[str]]:
    """Job uid → those whose live folder may still be gone on from: unfinished ones, the latest, and the latest that did not complete.

    One that was cancelled before it ran is not gone on from.
    """
    ran = executions().model.objects.that_ran()
    runs = ran.filter(job=OuterRef("pk")).order_by("-create_time", "-id").values("generation")
    latest = {"latest": Subquery(runs[:1]), "not_completed": Subquery(runs.exclude(status="COMPLETED")[:1])}
    living: dict[str, set[str]] = {}
    for uid, deleted_at, *generations in jobs.annotate(**latest).values_list("job_uid", "deleted_at", *latest):
        living[str(uid)] = {str(one) for one in generations if one is not None and deleted_at is None}
    for uid, generation in executions().filter(job__in=jobs, end_time=None).values_list("job__job_uid", "generation"):
        living[str(uid)].add(str(generation))
    return living


def last_change(path: Path) -> datetime | None:
    """When it, or what lies up to two levels in it, last changed: there each batch leaves its traces. None where it is gone meanwhile."""
    try:
        entries = (path, *path.glob("*"), *path.glob("*/*"))
        newest = max(entry.stat().st_mtime for entry in entries)
    except OSError:
        return None
    return datetime.fromtimestamp(newest, timezone.get_current_timezone())
