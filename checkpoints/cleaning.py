"""What goes by a rule: retention, what executions leave at their end, and the clean-up. Rows are marked first, then their files go."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from uuid import UUID

from django.db import transaction

from checkpoints.files import Stores
from checkpoints.models import Checkpoint, CheckpointStatus
from checkpoints.orphans import orphans, rows_without_files
from checkpoints.retention import Decision, Scope, ended_decisions, job_decisions, row_decisions
from checkpoints.selectors import briefly, completed, hosts_expected, in_chunks, needed_among, with_jobs
from checkpoints.services import checkpoints_expire, damage_note, expired_files_delete, job_hold
from checkpoints.storage import bytes_exclusive, bytes_freed
from checkpoints.storages import folder_of, host_of, key_of
from checkpoints.stores.local import LOCAL

#: Hears of each checkpoint that goes, and why, in the transaction that marks it: its history is never without that.
Told = Callable[[Checkpoint, str], None]

#: So many are marked in one transaction.
_EXPIRED_AT_ONCE = 50


def nobody(_: Checkpoint, __: str) -> None:
    """Needs to know."""


def checkpoints_retain(*, checkpoint: Checkpoint, told: Told = nobody) -> list[Decision]:
    """Apply retention to the job of a checkpoint that has just completed; what went."""
    rows = list(briefly(completed(Checkpoint.objects.filter(execution__job=checkpoint.execution.job_id))))
    going = [decision for decision in job_decisions(rows) if decision.action == "delete"] if rows else []
    stores = Stores()
    went = _carry_out(going, "retention", stores, told)
    deleted = {decision.checkpoint for decision in went}
    # Files are shared within a generation only: a restore copies.
    _measure((row for row in rows if row not in deleted and row.generation == checkpoint.generation), stores)
    return went


def checkpoints_unwanted_delete(*, told: Told = nobody) -> list[Decision]:
    """Delete what executions that have just ended leave, where their settings ask for that; what went. Safe to run twice."""
    return _carry_out(ended_decisions(), "retention", Stores(), told)


def checkpoints_clean(*, scope: Scope, dry_run: bool, deleted_by: str, told: Told = nobody) -> list[Decision]:
    """What retention says about everything in `scope`, and, unless `dry_run`, does it. Safe while jobs run.

    One whose folder somebody took away says so from now on: nothing can start from it.

    Kept ones are listed with their reason and what they alone take; `bytes` of deletions add up to what is given back.
    """
    stores = Stores()
    if not dry_run:
        _missing_note(scope)
    found = decisions(scope)
    going = [decision for decision in found if decision.action == "delete"]
    local = [decision.path for decision in going if decision.storage == LOCAL]
    freed = dict(zip(local, bytes_freed(local), strict=True))
    carried = going if dry_run else _carry_out(going, deleted_by, stores, told)
    went = {(decision.storage, decision.path) for decision in carried}
    if not dry_run:
        _measure(in_chunks(briefly(completed(scope.rows()))), stores)
    results = [decision for decision in found if decision.action == "keep" or (decision.storage, decision.path) in went]
    return [_with_bytes(decision, freed) for decision in results]


def decisions(scope: Scope) -> list[Decision]:
    """What to do with every checkpoint that has files, then with every folder that has no row."""
    found = row_decisions(scope)
    return found if scope.execution_id is not None else [*found, *orphans(scope)]


def _missing_note(scope: Scope) -> None:
    unmarked = [one.row.pk for one in rows_without_files(scope) if one.row is not None and not one.is_marked]
    for row in with_jobs(unmarked).values():
        damage_note(checkpoint=row, problems=["its files are not there"])


def _with_bytes(decision: Decision, freed: Mapping[Path, int]) -> Decision:
    if decision.storage != LOCAL:
        return decision
    return replace(decision, bytes=bytes_exclusive(decision.path) if decision.action == "keep" else freed[decision.path])


def _carry_out(going: Sequence[Decision], deleted_by: str, stores: Stores, told: Told) -> list[Decision]:
    """Those that went: what changed since it was decided stays, and so does what is on another host's disk, for a clean-up there.

    A host that was not heard of for long is not waited for: should it come back, a clean-up there finds folders without rows.
    """
    went = [decision for decision in going if decision.checkpoint is None]
    for decision in went:
        if decision.storage != LOCAL:
            stores.delete(decision.storage, decision.key)
        else:
            stores.folder_delete(decision.path)
    of_row = {decision.checkpoint.pk: decision for decision in going if decision.checkpoint is not None}
    expected = hosts_expected() if of_row else set()
    rows = (row for decision in going if (row := decision.checkpoint) is not None and host_of(row) not in expected)
    for row in _expire(rows, deleted_by, lambda row: told(row, of_row[row.pk].reason)):
        expired_files_delete(row, stores)
        went.append(of_row[row.pk])
    return went


def _measure(rows: Iterable[Checkpoint], stores: Stores) -> None:
    """What each takes alone changes when Spark prunes, or another checkpoint that shared its files goes."""
    elsewhere: dict[tuple[str, UUID], dict[str, Checkpoint]] = defaultdict(dict)
    for row in rows:
        if host_of(row):
            continue
        if row.storage == LOCAL:
            _measured(row, bytes_exclusive(folder_of(row)))
        else:
            elsewhere[row.storage, row.generation][key_of(row)] = row
    for (storage, _), sharing in elsewhere.items():
        for key, taken in stores.alone(storage, sharing).items():
            _measured(sharing[key], taken)


def _measured(row: Checkpoint, taken: int) -> None:
    if taken != row.exclusive_bytes:
        Checkpoint.objects.filter(pk=row.pk, status=CheckpointStatus.COMPLETED).update(exclusive_bytes=taken)


def _expire(rows: Iterable[Checkpoint], deleted_by: str, told: Callable[[Checkpoint], None]) -> Iterator[Checkpoint]:
    """EXPIRED by a rule, those that still may be, a few at a time: who writes meanwhile never waits long."""
    for _, of_job in groupby(sorted(rows, key=_job_of), key=_job_of):
        while some := list(islice(of_job, _EXPIRED_AT_ONCE)):
            yield from _mark_unneeded(some, deleted_by, told)


@transaction.atomic
def _mark_unneeded(rows: Sequence[Checkpoint], deleted_by: str, told: Callable[[Checkpoint], None]) -> list[Checkpoint]:
    """Of one job, those that nobody needs: a restore of the job that begins now waits for us, or is seen here."""
    job_hold(_job_of(rows[0]))
    needed = needed_among(rows)
    free = Checkpoint.objects.filter(pk__in=[row.pk for row in rows if row.pk not in needed], is_savepoint=False, pinned=False)
    marked = checkpoints_expire(free, deleted_by)
    gone = [row for row in rows if row.pk in marked]
    for row in gone:
        told(row)
    return gone


def _job_of(checkpoint: Checkpoint) -> int:
    return int(checkpoint.execution.job_id)
