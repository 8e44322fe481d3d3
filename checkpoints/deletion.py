"""Deletion by a person: what needs a checkpoint is told, and goes only for a reason. Rows are marked first, then their files go."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import Literal

from django.db import transaction

from checkpoints.files import Stores
from checkpoints.models import Checkpoint, CheckpointStatus
from checkpoints.selectors import needs_of_executions, newest_good
from checkpoints.services import CheckpointRefused, checkpoints_expire, expired_files_delete, job_hold
from checkpoints.stores.local import LOCAL

#: So many are marked in one transaction.
_AT_ONCE = 50

NeedKind = Literal["PINNED", "SAVEPOINT", "NEWEST_GOOD", "EXECUTION", "START"]
Refusal = Literal["", "GONE", "NEEDED", "REASON"]


@dataclass(frozen=True)
class Need:
    """Why somebody may miss a checkpoint. `execution`: the unfinished one that may fall back to it, or (START) has nothing else yet."""

    kind: NeedKind
    execution: str = ""

    def words(self, number: int) -> str:
        return {
            "PINNED": f"checkpoint {number} is pinned",
            "SAVEPOINT": f"checkpoint {number} is a savepoint",
            "NEWEST_GOOD": f"checkpoint {number} is the newest good one of its job",
            "EXECUTION": f"execution {self.execution} needs checkpoint {number}",
            "START": f"execution {self.execution} needs checkpoint {number}: it starts from it and has none of its own yet",
        }[self.kind]


@dataclass(frozen=True)
class Outcome:
    """What became, or would become, of one. `refusal`: "" where it goes; GONE: it has no files; NEEDED: no reason lets it go; REASON:
    one is asked for. `words` says so in a sentence. `bytes`: what was given back."""

    checkpoint: Checkpoint
    needs: tuple[Need, ...] = ()
    refusal: Refusal = ""
    words: str = ""
    bytes: int = 0


def checkpoint_delete(*, checkpoint: Checkpoint, deleted_by: str, reason: str = "") -> int:
    """COMPLETED → EXPIRED, and its files go; the bytes given back. CheckpointRefused says what needs it."""
    (outcome,) = checkpoints_delete(rows=[checkpoint], deleted_by=deleted_by, reason=reason)
    if outcome.refusal:
        raise CheckpointRefused(outcome.words)
    return outcome.bytes


def checkpoints_delete(*, rows: Sequence[Checkpoint], deleted_by: str, reason: str, dry_run: bool = False) -> list[Outcome]:
    """What became of each, in the order of `rows`; a `dry_run` only tells. Safe while jobs run, and to do again after a crash."""
    outcomes: dict[int, Outcome] = {}
    stores = Stores()
    for _, of_job in groupby(sorted(rows, key=_job_of), key=_job_of):
        while some := list(islice(of_job, _AT_ONCE)):
            found = _judged(some, reason) if dry_run else _deleted(some, deleted_by, reason, stores)
            outcomes |= {outcome.checkpoint.pk: outcome for outcome in found}
    return [outcomes[row.pk] for row in rows]


def _deleted(rows: Sequence[Checkpoint], deleted_by: str, reason: str, stores: Stores) -> Iterator[Outcome]:
    with transaction.atomic():
        job_hold(_job_of(rows[0]))
        judged = _judged(rows, reason)
        going = [outcome.checkpoint.pk for outcome in judged if not outcome.refusal]
        marked = checkpoints_expire(Checkpoint.objects.filter(pk__in=going), deleted_by)
    for outcome in judged:
        is_marked = outcome.checkpoint.pk in marked
        yield replace(outcome, bytes=expired_files_delete(outcome.checkpoint, stores)) if is_marked else outcome


def _judged(rows: Sequence[Checkpoint], reason: str) -> list[Outcome]:
    """Of one job, as their rows are now."""
    fields = ("pk", "status", "pinned", "is_savepoint")
    now = {pk: facts for pk, *facts in Checkpoint.objects.filter(pk__in=[row.pk for row in rows]).values_list(*fields)}
    needed = needs_of_executions(rows)
    is_deleted = rows[0].execution.job.deleted_at is not None
    newest = None if is_deleted else newest_good(job_id=_job_of(rows[0]))
    outcomes = []
    for row in rows:
        status, pinned, is_savepoint = now[row.pk]
        needs = [Need("PINNED")] if pinned else []
        needs += [Need("SAVEPOINT")] if is_savepoint else []
        if (found := needed.get(row.pk)) is not None:
            needs.append(Need("START" if found[1] else "EXECUTION", found[0]))
        elif row.pk == newest:
            needs.append(Need("NEWEST_GOOD"))
        outcomes.append(_outcome(row, status, tuple(needs), reason.strip()))
    return [_unless_built_on(outcome) for outcome in outcomes]


def _unless_built_on(outcome: Outcome) -> Outcome:
    """In a store, the next checkpoint names files of the newest instead of sending them: those may not go while it is being taken."""
    row = outcome.checkpoint
    if outcome.refusal or row.storage == LOCAL or not any(need.kind == "EXECUTION" for need in outcome.needs):
        return outcome
    if not Checkpoint.objects.filter(generation=row.generation, status=CheckpointStatus.PENDING).exists():
        return outcome
    words = f"the next checkpoint is being taken, and may share files with checkpoint {row.checkpoint_id}: wait for it"
    return replace(outcome, refusal="NEEDED", words=words)


def _outcome(row: Checkpoint, status: str, needs: tuple[Need, ...], reason: str) -> Outcome:
    number = row.checkpoint_id
    if status != CheckpointStatus.COMPLETED:
        return Outcome(row, (), "GONE", f"checkpoint {number} is {status}: it has no files to delete")
    words = "; ".join(need.words(number) for need in needs)
    if any(need.kind == "START" for need in needs):
        return Outcome(row, needs, "NEEDED", f"{words}. End it, or wait for its first")
    if needs and not reason:
        return Outcome(row, needs, "REASON", f"{words}. Say for what reason it is to go")
    return Outcome(row, needs)


def _job_of(checkpoint: Checkpoint) -> int:
    return int(checkpoint.execution.job_id)
