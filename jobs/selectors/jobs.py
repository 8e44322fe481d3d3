"""Jobs as a user may see them; a page of them costs the same few queries whatever its size."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, cast

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from jobs.models import FINAL, LEASED, UNFINISHED, Execution, ExecutionStatus, Job, JobType, JobVersion, MetricSample
from jobs.selectors.access import projects_visible
from jobs.selectors.executions import executions_for_lists, executions_out
from jobs.selectors.overdue import checkpoints_overdue
from jobs.selectors.query_words import text_asked, truth_asked, words_asked
from jobs.selectors.refusals import NotFound
from jobs.selectors.schedules import schedule_out
from jobs.selectors.shapes.execution import ExecutionOut, JobTypeWord, StatusWord
from jobs.selectors.shapes.job import DraftSummary, JobOut, RecentExecution

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

RECENT = 10
#: A rate older than this says nothing about now.
RATE_TERM = timedelta(minutes=2)
ORDERS = ("create_time", "update_time", "job_name", "title")


def jobs_visible(user: "User | AnonymousUser") -> QuerySet[Job]:
    """The living jobs of the user's projects."""
    living = Job.objects.filter(deleted_at=None)
    if user.is_authenticated and user.is_active and user.is_superuser:
        return living
    return living.filter(project__in=projects_visible(user))


def job_get(*, user: "User | AnonymousUser", job_name: str) -> Job:
    """One living job with its project, or NotFound."""
    return jobs_get(user=user, names=[job_name])[0]


def jobs_get(*, user: "User | AnonymousUser", names: Collection[str]) -> list[Job]:
    """The living jobs of these names with their projects, in this order; NotFound where one of them is not to be seen."""
    found = {job.job_name: job for job in jobs_visible(user).select_related("project").filter(job_name__in=names)}
    for name in names:
        if name not in found:
            raise NotFound(f'job "{name[:200]}" does not exist, or not for you')
    return [found[name] for name in names]


def jobs_filtered(rows: QuerySet[Job], given: dict[str, str]) -> QuerySet[Job]:
    """`given` may hold q (in name, title or description), job_type, enabled, project, scheduled, status (of the latest execution)."""
    if text := text_asked(given, "q").strip():
        rows = rows.filter(Q(job_name__icontains=text) | Q(title__icontains=text) | Q(description__icontains=text))
    if types := words_asked(given, "job_type", JobType.values):
        rows = rows.filter(job_type__in=types)
    if (enabled := truth_asked(given, "enabled")) is not None:
        rows = rows.filter(enabled=enabled)
    if project := given.get("project"):
        rows = rows.filter(project__slug=project)
    if (scheduled := truth_asked(given, "scheduled")) is not None:
        has_next = Q(schedule__enabled=True, schedule__next_trigger_time__isnull=False)
        rows = rows.filter(has_next if scheduled else ~has_next)
    if statuses := words_asked(given, "status", [*ExecutionStatus.values, "REGISTERED"]):
        rows = _with_latest_status(rows, statuses)
    return rows


def _with_latest_status(rows: QuerySet[Job], statuses: list[str]) -> QuerySet[Job]:
    """Unfinished states are few and indexed; of final ones the latest execution decides; REGISTERED has none at all."""
    unfinished = [status for status in statuses if status in UNFINISHED]
    final = [status for status in statuses if status in FINAL]
    wanted = Q(pk__in=[])
    if unfinished:
        wanted |= Q(pk__in=Execution.objects.filter(status__in=unfinished).values("job_id"))
    if final:
        rows = rows.annotate(latest_status=Subquery(_newest_first("status")[:1]))
        ever = Execution.objects.filter(status__in=final).values("job_id")
        wanted |= Q(pk__in=ever, latest_status__in=final)  # a rare state is looked for only where it ever was
    if "REGISTERED" in statuses:
        wanted |= Q(~Exists(Execution.objects.filter(job_id=OuterRef("pk"))))
    return rows.filter(wanted)


def _newest_first(column: str) -> Any:
    """The column of a job's executions, newest first, for a subquery."""
    return Execution.objects.filter(job_id=OuterRef("pk")).order_by("-create_time", "-id").values(column)


def jobs_for_lists(rows: QuerySet[Job]) -> QuerySet[Job]:
    """`rows` with all that a page of jobs needs of them, in the same query."""
    current = JobVersion.objects.filter(job_id=OuterRef("pk"), version=OuterRef("version")).values("logic_hash")[:1]
    return (
        rows.select_related("project", "created_by", "updated_by", "schedule", "draft", "draft__updated_by")
        .defer("dag_definition", "draft__document", "draft__layout", "draft__samples")
        .annotate(current_hash=Subquery(current), draft_hash=F("draft__logic_hash"))
    )


def jobs_out(jobs: Sequence[Job]) -> list[JobOut]:
    """A page of jobs from `jobs_for_lists`, in four more queries: the dots (two), the latest executions, their rates.

    A fifth tells whose rows lie unprotected, where a last checkpoint is old.
    """
    recent = _recent(jobs)
    newest_ids = [dots[0].execution_id for dots in recent.values() if dots]
    newest = list(executions_for_lists(Execution.objects.filter(execution_id__in=newest_ids)))
    latest = {row.job_name: row for row in executions_out(newest)}
    rates = rates_now([row.execution_id for row in newest if row.status in LEASED])
    overdue = checkpoints_overdue(newest, timezone.now())
    return [job_out(job, recent.get(job.pk, []), latest.get(job.job_name), rates, overdue) for job in jobs]


def _recent(jobs: Sequence[Job]) -> dict[int, list[RecentExecution]]:
    """Job id → its newest ten, in two queries over one index range a job: one with 50,000 executions costs no more than one with ten."""
    tenth = Subquery(_newest_first("create_time")[RECENT - 1 : RECENT])
    since = Job.objects.filter(pk__in=[job.pk for job in jobs]).annotate(tenth=tenth).values_list("pk", "tenth")
    ranges = [Q(job_id=job_id) if begin is None else Q(job_id=job_id, create_time__gte=begin) for job_id, begin in since]
    if not ranges:
        return {}
    rows = Execution.objects.filter(reduce(or_, ranges)).order_by("-create_time", "-id").values_list("job_id", "execution_id", "status")
    found: dict[int, list[RecentExecution]] = {}
    for job_id, execution_id, status in rows:
        dots = found.setdefault(job_id, [])
        if len(dots) < RECENT:
            dots.append(RecentExecution(execution_id=execution_id, status=cast(StatusWord, status)))
    return found


def latest_ids(job_ids: Sequence[int]) -> list[int]:
    """Row ids of the newest execution of each job; one query."""
    newest = Subquery(_newest_first("id")[:1])
    found = Job.objects.filter(pk__in=job_ids).annotate(newest=newest).values_list("newest", flat=True)
    return [row_id for row_id in found if row_id is not None]


def rates_now(execution_ids: Sequence[str]) -> dict[str, MetricSample]:
    """Execution id → its newest one-second sample, where that is young enough to speak of now."""
    newest = (
        MetricSample.objects.filter(execution_id=OuterRef("execution_id"), resolution=1, time__gte=timezone.now() - RATE_TERM)
        .order_by("-time")
        .values("id")[:1]
    )
    ids = Execution.objects.filter(execution_id__in=execution_ids).annotate(sample=Subquery(newest)).values("sample")
    return {sample.execution_id: sample for sample in MetricSample.objects.filter(id__in=ids)}


def job_out(
    job: Job, recent: list[RecentExecution], latest: ExecutionOut | None, rates: dict[str, MetricSample], overdue: dict[str, datetime]
) -> JobOut:
    """One row of the list; `job` comes from `jobs_for_lists`."""
    schedule = getattr(job, "schedule", None)
    sample = rates.get(latest.execution_id) if latest and latest.status == ExecutionStatus.RUNNING else None
    return JobOut(
        job_name=job.job_name,
        job_uid=job.job_uid,
        title=job.title or job.job_name,
        description=job.description,
        job_type=cast(JobTypeWord, job.job_type),
        version=job.version,
        enabled=job.enabled,
        project=job.project.slug,
        create_time=job.create_time,
        update_time=job.update_time,
        created_by=job.created_by.get_username() if job.created_by else "",
        updated_by=job.updated_by.get_username() if job.updated_by else "",
        draft=_draft_summary(job),
        schedule=schedule_out(schedule) if schedule else None,
        latest_execution=latest,
        recent=recent,
        in_per_second=sample.in_per_second if sample else None,
        out_per_second=sample.out_per_second if sample else None,
        backlog=sample.backlog if sample else None,
        no_checkpoint_since=overdue.get(latest.execution_id) if latest else None,
    )


def _draft_summary(job: Job) -> DraftSummary | None:
    draft = getattr(job, "draft", None)
    if draft is None:
        return None
    return DraftSummary(
        revision=draft.revision,
        base_version=draft.base_version,
        dirty=job.version is None or draft.logic_hash != getattr(job, "current_hash", None),
        update_time=draft.update_time,
        updated_by=draft.updated_by.get_username() if draft.updated_by else "",
    )
