"""Which checkpoints and folders may go, and why; deciding only, nothing is deleted here."""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.utils import timezone

from checkpoints.models import Checkpoint, CheckpointStatus
from checkpoints.retention_rules import rules_of, unwanted_at_end
from checkpoints.selectors import (
    briefly,
    completed,
    gone_on_from,
    jobs_at_work,
    needed_among,
    newest_good,
    rows_by_folder,
    unwanted_lately,
)
from checkpoints.storage import Found, folders_found
from checkpoints.storages import folder_of, key_of, storages_known
from checkpoints.stores.base import CheckpointStorage
from checkpoints.stores.local import LOCAL

logger = logging.getLogger(__name__)

#: A folder that changed since then is left alone: somebody may be at work in it.
_QUIET = timedelta(hours=1)
_FOREIGN = "of a job that this installation does not know: delete it by hand if nobody else does"


@dataclass(frozen=True)
class Decision:
    """`checkpoint` is None for a folder that no row stands for. `bytes`: what deleting gives back, in the order of the list.

    In another store than the local disk, `path` is the key there, and `place` where that is.
    """

    action: Literal["delete", "keep"]
    reason: str
    path: Path
    checkpoint: Checkpoint | None = None
    bytes: int = 0
    storage: str = LOCAL
    place: str = ""

    @property
    def key(self) -> str:
        return self.path.as_posix()

    @property
    def shown(self) -> str:
        return self.place or str(self.path)


@dataclass(frozen=True)
class Scope:
    """What a clean-up looks at. None is no limit."""

    projects: frozenset[int] | None = None
    job_id: int | None = None
    execution_id: str | None = None

    def rows(self) -> Any:
        """Checkpoints in it."""
        rows = Checkpoint.objects.all()
        if self.projects is not None:
            rows = rows.filter(execution__job__project__in=self.projects)
        if self.job_id is not None:
            rows = rows.filter(execution__job=self.job_id)
        return rows if self.execution_id is None else rows.filter(execution_id=self.execution_id)

    def jobs(self) -> Any:
        """Jobs in it, deleted ones too."""
        jobs = apps.get_model("jobs", "Job")._default_manager.all()
        if self.projects is not None:
            jobs = jobs.filter(project__in=self.projects)
        return jobs if self.job_id is None else jobs.filter(pk=self.job_id)


def decisions(scope: Scope) -> list[Decision]:
    """What to do with every checkpoint that has files, then with every folder that has no row."""
    by_job: dict[int, list[Checkpoint]] = defaultdict(list)
    for row in briefly(completed(scope.rows())):
        by_job[row.execution.job_id].append(row)
    found = [decision for rows in by_job.values() for decision in job_decisions(rows)]
    return found if scope.execution_id is not None else [*found, *orphans(scope)]


def job_decisions(rows: Sequence[Checkpoint]) -> Iterator[Decision]:
    """Of one job's COMPLETED ones (all, or those of one execution), newest first.

    What is kept of a deleted job are its savepoints and pins, and what an execution needs.
    """
    job = rows[0].execution.job
    rules, newest, needed = rules_of(job), newest_good(job_id=job.pk), needed_among(rows)
    counted: Counter[UUID] = Counter()
    taken = 0
    for row in rows:
        counted[row.generation] += not row.is_savepoint
        with_it = taken + row.exclusive_bytes
        unwanted = "its job was deleted" if job.deleted_at else _unwanted(row)
        broken = unwanted or rules.broken_by(row, counted[row.generation], with_it)
        reason = _kept_always(row) or ("" if broken else f"one of the newest {rules.newest}")
        if not reason and not unwanted and row.pk == newest:
            reason = "the newest of its job"
        if not reason and (execution_id := needed.get(row.pk)):
            reason = f"execution {execution_id} needs it"
        # Where one must go for want of room, no older one is kept in its stead.
        taken = max(with_it if reason else taken, rules.bytes if rules.full_with(with_it) else 0)
        yield _of_row("keep" if reason else "delete", reason or broken, row)


def _of_row(action: Literal["delete", "keep"], reason: str, row: Checkpoint) -> Decision:
    if row.storage == LOCAL:
        return Decision(action, reason, folder_of(row), row)
    return Decision(action, reason, Path(key_of(row)), row, bytes=row.exclusive_bytes, storage=row.storage, place=row.storage_path)


def _unwanted(row: Checkpoint) -> str:
    """Why the settings delete it now that its execution has ended; where another execution went on from it, they do not."""
    reason = unwanted_at_end(row.execution)
    return "" if reason and gone_on_from(row.execution_id) else reason


def ended_decisions() -> list[Decision]:
    """What becomes of checkpoints whose executions ended in the last minutes and want none of them; older ones are the clean-up's."""
    jobs: dict[int, list[Checkpoint]] = defaultdict(list)
    for row in unwanted_lately():
        jobs[row.execution.job_id].append(row)
    return [decision for rows in jobs.values() for decision in job_decisions(rows) if decision.action == "delete"]


def _kept_always(row: Checkpoint) -> str:
    return "a savepoint" if row.is_savepoint else "pinned" if row.pinned else ""


def orphans(scope: Scope) -> Iterator[Decision]:
    """Folders below the root that no row needs any more. Those of a job that is not ours are told, and left alone."""
    jobs = {str(job.job_uid): job for job in scope.jobs().only("id", "job_uid", "deleted_at")}
    found = list(folders_found(Path(settings.CHECKPOINT_ROOT)))
    ours = scope.projects is None and scope.job_id is None
    rows = rows_by_folder({one.key for one in found if one.kind != "live"})
    alive = {uid: _living_generations(job) for uid, job in jobs.items() if uid in {one.job_uid for one in found}}
    for one in found:
        if one.job_uid not in jobs:
            if ours and one.kind != "partial":
                yield Decision("keep", _FOREIGN, one.path)
        elif (reason := _orphan_reason(one, rows, alive[one.job_uid])) and _is_quiet(one.path):
            yield Decision("delete", reason, one.path)
    for storage in storages_known():
        yield from _orphans_stored(storage, set(jobs), ours=ours)


def _orphans_stored(storage: CheckpointStorage, jobs: set[str], *, ours: bool) -> Iterator[Decision]:
    """The same in a store. While a checkpoint of a job is being taken, nothing of that job is: it may name what an earlier one left."""
    try:
        found = list(storage.list_stored())
    except Exception as failed:  # a store of somebody else may raise anything
        logger.warning('nothing can be cleaned up in the store "%s" now: %s', storage.name, failed)
        return
    rows = rows_by_folder({one.execution_id for one in found})
    busy = jobs_at_work()
    for one in found:
        job_uid, row = one.job_uid, rows.get((one.execution_id, one.number))
        given: dict[str, Any] = {"bytes": one.bytes, "storage": storage.name, "place": one.place}
        if job_uid not in jobs:
            if ours:
                yield Decision("keep", _FOREIGN, Path(one.key), **given)
        elif row is not None and row.status == CheckpointStatus.COMPLETED and row.storage == storage.name:
            continue
        elif job_uid not in busy and timezone.now() - one.changed > _QUIET:
            words = "its checkpoint failed or was deleted" if row is not None else "no checkpoint stands for it"
            yield Decision("delete", words, Path(one.key), **given)


def _orphan_reason(one: Found, rows: dict[tuple[str, int], Checkpoint], alive: set[str]) -> str:
    if one.kind == "live":
        return "" if one.key in alive else "live folder of a generation that was superseded"
    number = one.path.name.removeprefix(".").removesuffix(".partial")
    if not number.isdecimal():
        return "" if one.key in alive else "left by a restore that did not finish"
    row = rows.get((one.key, int(number)))
    if row is not None and row.status == CheckpointStatus.PENDING:
        return ""
    if one.kind == "partial":
        return "left by a checkpoint that did not finish"
    if row is not None and row.status == CheckpointStatus.COMPLETED:
        return "" if row.storage == LOCAL else "its files are in another store"
    return "its checkpoint failed or was deleted" if row is not None else "no checkpoint stands for it"


def _living_generations(job: Any) -> set[str]:
    """Those whose live folder may still be gone on from: unfinished ones, the latest, and the latest that did not complete."""
    if job.deleted_at is not None:
        return {str(one) for one in job.executions.filter(end_time=None).values_list("generation", flat=True)}
    latest = job.executions.order_by("-create_time", "-id")
    some: Iterable[UUID | None] = (
        *job.executions.filter(end_time=None).values_list("generation", flat=True),
        latest.values_list("generation", flat=True).first(),
        latest.exclude(status="COMPLETED").values_list("generation", flat=True).first(),
    )
    return {str(one) for one in some if one is not None}


def _is_quiet(path: Path) -> bool:
    try:
        newest = max(entry.stat().st_mtime for entry in (path, *path.iterdir()))
    except OSError:
        return False
    return timezone.now() - datetime.fromtimestamp(newest, timezone.get_current_timezone()) > _QUIET
