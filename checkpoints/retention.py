"""Which checkpoints may go, and why; deciding only, nothing is deleted here."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import UUID

from django.apps import apps

from checkpoints.models import Checkpoint
from checkpoints.retention_rules import Rules, Why, rules_by_job, unwanted_at_end
from checkpoints.selectors import (
    completed_of,
    gone_on_from,
    needed_among,
    newest_lasting,
    newest_lasting_among,
    unwanted_lately,
)
from checkpoints.storages import folder_of, key_of
from checkpoints.stores.local import LOCAL

Action = Literal["delete", "keep"]


@dataclass(frozen=True)
class Decision:
    """`checkpoint` is None for a folder that no row stands for, `changed` when something of it last changed, where that is known.

    `bytes`: what deleting gives back, in the order of the list.

    In another store than the local disk, `path` is the key there, and `place` where that is.
    """

    action: Action
    why: Why
    path: Path
    checkpoint: Checkpoint | None = None
    bytes: int = 0
    storage: str = LOCAL
    place: str = ""
    changed: datetime | None = None

    @property
    def reason(self) -> str:
        return self.why.words

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


class Verdict(NamedTuple):
    """What becomes of a checkpoint, and why."""

    row: Checkpoint
    action: Action
    why: Why


def row_decisions(scope: Scope) -> list[Decision]:
    """What to do with every checkpoint that has files, job by job, newest first."""
    return [_decision(verdict) for verdict in row_verdicts(scope)]


def row_verdicts(scope: Scope) -> Iterator[Verdict]:
    """The same, without asking where they are. Of each job the disk is asked only until one is found that stays."""
    by_job: dict[int, list[Checkpoint]] = defaultdict(list)
    for row in completed_of(scope.rows()):
        by_job[row.execution.job_id].append(row)
    every = [row for rows in by_job.values() for row in rows]
    newest = None if scope.execution_id is not None else {job_id: newest_lasting_among(rows) for job_id, rows in by_job.items()}
    facts = _facts(every, newest)
    for rows in by_job.values():
        yield from _judged(rows, facts)


def job_decisions(rows: Sequence[Checkpoint]) -> Iterator[Decision]:
    """Of one job's COMPLETED ones (all, or those of one execution), newest first.

    What is kept of a deleted job are its savepoints and pins, and what an execution needs.
    """
    return (_decision(verdict) for verdict in _judged(rows, _facts(rows, None)))


@dataclass(frozen=True)
class _Facts:
    """What is known of jobs and executions before their checkpoints are gone through: rules and what stays by job, needs by row."""

    rules: dict[int, Rules]
    newest: dict[int, int | None]
    needed: dict[int, str]
    gone_on: set[str]


def _facts(rows: Sequence[Checkpoint], newest: dict[int, int | None] | None) -> _Facts:
    """In a few queries, however many rows. `newest`: None where the rows are not all of their jobs."""
    job_ids = {row.execution.job_id for row in rows}
    ended = {row.execution_id for row in rows if unwanted_at_end(row.execution)}
    return _Facts(
        rules=rules_by_job(job_ids),
        newest={job_id: newest_lasting(job_id=job_id) for job_id in job_ids} if newest is None else newest,
        needed=needed_among(rows),
        gone_on=gone_on_from(ended) if ended else set(),
    )


def _judged(rows: Sequence[Checkpoint], facts: _Facts) -> Iterator[Verdict]:
    job = rows[0].execution.job
    rules, newest = facts.rules[job.pk], facts.newest[job.pk]
    counted: Counter[UUID] = Counter()
    taken = 0
    for row in rows:
        counted[row.generation] += not row.is_savepoint
        with_it = taken + row.exclusive_bytes
        unwanted = _JOB_DELETED if job.deleted_at else None if row.execution_id in facts.gone_on else unwanted_at_end(row.execution)
        broken = unwanted or rules.broken_by(row, counted[row.generation], with_it)
        kept = _kept_always(row) or (None if broken else rules.kept_by())
        if not kept and not unwanted and row.pk == newest:
            kept = _NEWEST_GOOD
        if not kept and (execution_id := facts.needed.get(row.pk)):
            kept = Why("EXECUTION", f"execution {execution_id} needs it", execution=execution_id)
        # Where one must go for want of room, no older one is kept in its stead.
        taken = max(with_it if kept else taken, rules.bytes if rules.full_with(with_it) else 0)
        if why := kept or broken:
            yield Verdict(row, "keep" if kept else "delete", why)


def _decision(verdict: Verdict) -> Decision:
    row, action, why = verdict
    if row.storage == LOCAL:
        return Decision(action, why, folder_of(row), row)
    return Decision(action, why, Path(key_of(row)), row, bytes=row.exclusive_bytes, storage=row.storage, place=row.storage_path)


def ended_decisions() -> list[Decision]:
    """What becomes of checkpoints whose executions ended in the last minutes and want none of them; older ones are the clean-up's."""
    jobs: dict[int, list[Checkpoint]] = defaultdict(list)
    for row in unwanted_lately():
        jobs[row.execution.job_id].append(row)
    return [decision for rows in jobs.values() for decision in job_decisions(rows) if decision.action == "delete"]


_JOB_DELETED = Why("JOB_DELETED", "its job was deleted")
_NEWEST_GOOD = Why("NEWEST_GOOD", "the newest of its job")


def _kept_always(row: Checkpoint) -> Why | None:
    return Why("SAVEPOINT", "a savepoint") if row.is_savepoint else Why("PINNED", "pinned") if row.pinned else None
