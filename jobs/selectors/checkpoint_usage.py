"""What room checkpoints take: all together, by age, by job, and what that comes to in a week."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, Min, Q, QuerySet, Sum
from django.utils import timezone

from checkpoints.models import Checkpoint, CheckpointStatus
from jobs.selectors.checkpoints import checkpoints_visible
from jobs.selectors.shapes.checkpoint import CheckpointAgeOut, CheckpointJobUsageOut, CheckpointUsageOut

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

MOST_JOBS = 200
_WEEK = timedelta(days=7)
#: From the youngest to the oldest; None: older than all.
AGES: tuple[tuple[str, timedelta | None], ...] = (
    ("day", timedelta(days=1)),
    ("week", _WEEK),
    ("month", timedelta(days=30)),
    ("older", None),
)
_KEPT = Q(status=CheckpointStatus.COMPLETED)
_SIZES = {"count": Count("id"), "bytes_logical": Sum("storage_size_bytes", default=0), "bytes_exclusive": Sum("exclusive_bytes", default=0)}


def checkpoint_usage(*, user: "User | AnonymousUser") -> CheckpointUsageOut:
    """Of the complete checkpoints of the user's projects whose files are there. Three queries at most."""
    rows = checkpoints_visible(user).order_by()
    kept = rows.filter(_KEPT)
    then = timezone.now() - _WEEK
    # By what each is long, for what it took alone is not kept once it is deleted.
    there_then = Q(create_time__lte=then) & (_KEPT | Q(status=CheckpointStatus.EXPIRED, delete_time__gt=then))
    total: dict[str, Any] = rows.aggregate(
        **{
            name: Sum(column, filter=_KEPT, default=0) for name, column in (("logical", "storage_size_bytes"), ("alone", "exclusive_bytes"))
        },
        kept=Count("id", filter=_KEPT),
        savepoints=Count("id", filter=_KEPT & Q(is_savepoint=True)),
        pinned=Count("id", filter=_KEPT & Q(pinned=True)),
        failed=Count("id", filter=Q(status=CheckpointStatus.FAILED)),
        pending=Count("id", filter=Q(status=CheckpointStatus.PENDING)),
        before=Sum("storage_size_bytes", filter=there_then, default=0),
        first=Min("create_time"),
        **_age_sums(),
    )
    is_known = total["first"] is not None and total["first"] <= then
    jobs = _by_job(kept)
    return CheckpointUsageOut(
        count=total["kept"],
        savepoints=total["savepoints"],
        pinned=total["pinned"],
        failed=total["failed"],
        pending=total["pending"],
        bytes_logical=total["logical"],
        bytes_exclusive=total["alone"],
        bytes_in_a_week=max(0, 2 * total["logical"] - total["before"]) if is_known else None,
        ages=[CheckpointAgeOut(age=name, count=total[f"count_{name}"], bytes_exclusive=total[f"bytes_{name}"]) for name, _ in AGES],
        jobs=jobs,
        more_jobs=kept.values("execution__job").distinct().count() - MOST_JOBS if len(jobs) == MOST_JOBS else 0,
    )


def _age_sums() -> dict[str, Any]:
    """Aggregates `count_<age>` and `bytes_<age>` of what is kept."""
    now, since = timezone.now(), Q()
    sums: dict[str, Any] = {}
    for name, age in AGES:
        condition = _KEPT & since & (Q(create_time__gt=now - age) if age else Q())
        sums[f"count_{name}"] = Count("id", filter=condition)
        sums[f"bytes_{name}"] = Sum("exclusive_bytes", filter=condition, default=0)
        since = Q(create_time__lte=now - age) if age else since
    return sums


def _by_job(kept: QuerySet[Checkpoint]) -> list[CheckpointJobUsageOut]:
    """Those that take most, first."""
    of_job = (
        "execution__job__job_name",
        "execution__job__project__slug",
        "execution__job__created_by__username",
        "execution__job__deleted_at",
    )
    groups = kept.values(*of_job).annotate(oldest=Min("create_time"), newest=Max("create_time"), **_SIZES)
    return [
        CheckpointJobUsageOut(
            job_name=row["execution__job__job_name"],
            project=row["execution__job__project__slug"],
            owner=row["execution__job__created_by__username"],
            deleted=row["execution__job__deleted_at"] is not None,
            **{name: row[name] for name in (*_SIZES, "oldest", "newest")},
        )
        for row in groups.order_by("-bytes_exclusive", "-bytes_logical", "execution__job__job_name")[:MOST_JOBS]
    ]
