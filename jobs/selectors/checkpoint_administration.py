"""What the retention rule does with each checkpoint and why, and what lies about that no row needs: for the administration page."""

from array import array
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone

from checkpoints.models import Checkpoint
from checkpoints.orphans import GRACE, Orphan, folders_orphaned, rows_without_files
from checkpoints.retention import Action, Scope, row_verdicts
from checkpoints.retention_rules import Kind, Why
from checkpoints.selectors import with_jobs
from checkpoints.storage import bytes_exclusive
from jobs.models import Job, Role
from jobs.selectors.access import role_covers, roles_by_project
from jobs.selectors.jobs import job_get
from jobs.selectors.shapes.checkpoint_administration import (
    OrphanKindOut,
    OrphanOut,
    OrphansOut,
    RetentionItemOut,
    RetentionOut,
    RetentionReasonOut,
)
from jobs.selectors.surveys import surveyed

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Of the clock in the clean-up's time zone.
NIGHTLY_HOUR = 2


@dataclass(frozen=True)
class PageAsked:
    """`job_name`: "" for all jobs that the user sees; `operated`: only those that the user operates, as a clean-up does."""

    offset: int
    rows: int
    job_name: str = ""
    operated: bool = False


def retention_page(*, user: "User", action: str, kind: str, page: PageAsked) -> RetentionOut:
    """Of the checkpoints that the user sees: what goes, and what stays, by the rule as it is now. Job by job, newest first."""
    scope = _scope(user, page)
    plan = surveyed(f"retention {scope}", lambda: _plan(scope))
    fit = {number for number, (does, why) in enumerate(plan.reasons) if action in ("", does) and kind in ("", why.kind)}
    listed = [place for place, number in enumerate(plan.reason_of) if number in fit]
    shown = listed[page.offset : page.offset + page.rows]
    rows = with_jobs(plan.rows[place] for place in shown)
    return RetentionOut(
        next_run=next_run(timezone.now()),
        count=len(listed),
        reasons=_counted(plan),
        results=[_item(rows[plan.rows[place]], *plan.reasons[plan.reason_of[place]]) for place in shown if plan.rows[place] in rows],
    )


@dataclass(frozen=True)
class _Plan:
    """What the rule does with `rows` (ids): the reason of each is one of `reasons`; `taken`: bytes that those of a reason take alone."""

    reasons: list[tuple[Action, Why]]
    taken: list[int]
    rows: "array[int]"
    reason_of: "array[int]"


def _plan(scope: Scope) -> _Plan:
    numbers: dict[tuple[Action, Why], int] = {}
    taken: Counter[int] = Counter()
    rows, reason_of = array("q"), array("q")
    for row, action, why in row_verdicts(scope):
        number = numbers.setdefault((action, why), len(numbers))
        taken[number] += row.exclusive_bytes
        rows.append(row.pk)
        reason_of.append(number)
    return _Plan(list(numbers), [taken[number] for number in numbers.values()], rows, reason_of)


def _counted(plan: _Plan) -> list[RetentionReasonOut]:
    counts, taken = Counter[tuple[Action, Kind]](), Counter[tuple[Action, Kind]]()
    for number, count in Counter(plan.reason_of).items():
        action, why = plan.reasons[number]
        counts[action, why.kind] += count
        taken[action, why.kind] += plan.taken[number]
    return [RetentionReasonOut(action=of[0], kind=of[1], count=count, bytes=taken[of]) for of, count in counts.most_common()]


def _item(row: Checkpoint, action: Action, why: Why) -> RetentionItemOut:
    return RetentionItemOut(
        checkpoint=row.pk,
        checkpoint_id=row.checkpoint_id,
        job_name=row.execution.job_name,
        job_title=row.execution.job.title or row.execution.job_name,
        execution_id=row.execution_id,
        create_time=row.create_time,
        action=action,
        kind=why.kind,
        reason=why.words,
        newest=why.newest,
        age=why.age,
        room=why.room,
        needed_by=why.execution,
        bytes=row.exclusive_bytes,
    )


def next_run(now: datetime) -> datetime:
    """When checkpoints are cleaned up by themselves next."""
    local = now.astimezone(ZoneInfo(settings.CELERY_TIMEZONE))
    tonight = local.replace(hour=NIGHTLY_HOUR, minute=0, second=0, microsecond=0)
    return tonight if tonight > local else tonight + timedelta(days=1)


def orphans_page(*, user: "User", kind: str, page: PageAsked) -> OrphansOut:
    """The oldest first; sizes are taken of the page only. Jobs that are not this installation's, and parts of none, are for superusers."""
    scope = _scope(user, page)
    found = surveyed(f"orphans {scope}", lambda: _orphans(scope))
    listed = [one for one in found if kind in ("", one.kind)]
    counted, due = Counter(one.kind for one in found), Counter(one.kind for one in found if one.is_due)
    shown = listed[page.offset : page.offset + page.rows]
    names = dict(Job.objects.filter(job_uid__in={one.job_uid for one in shown if one.job_uid}).values_list("job_uid", "job_name"))
    by_uid = {str(uid): name for uid, name in names.items()}
    return OrphansOut(
        grace=int(GRACE.total_seconds()),
        next_run=next_run(timezone.now()),
        count=len(listed),
        kinds=[OrphanKindOut(kind=of, count=number, due=due[of]) for of, number in counted.most_common()],
        results=[_orphan(one, by_uid.get(one.job_uid)) for one in shown],
    )


def _orphans(scope: Scope) -> list[Orphan]:
    return sorted([*folders_orphaned(scope), *rows_without_files(scope)], key=lambda one: one.changed)


def _orphan(one: Orphan, job_name: str | None) -> OrphanOut:
    row = one.row
    return OrphanOut(
        kind=one.kind,
        path=one.place or str(one.path),
        storage=one.storage,
        job_name=job_name,
        checkpoint=row.pk if row else None,
        checkpoint_id=row.checkpoint_id if row else None,
        execution_id=row.execution_id if row else None,
        bytes=bytes_exclusive(one.path) if one.bytes is None else one.bytes,
        changed=one.changed,
        grace_ends=one.grace_ends,
        due=one.is_due,
        marked=one.is_marked,
    )


def _scope(user: "User", page: PageAsked) -> Scope:
    needed = Role.OPERATOR if page.operated else Role.VIEWER
    projects = frozenset(project for project, role in roles_by_project(user).items() if role_covers(role, needed))
    job_id = job_get(user=user, job_name=page.job_name).pk if page.job_name else None
    return Scope(projects=None if user.is_superuser else projects, job_id=job_id)
