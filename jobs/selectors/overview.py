"""What home shows: counts, what needs attention, the last hour, the last day, and what starts next."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.utils import timezone

from jobs.models import LEASED, Execution, ExecutionStatus, FireOutcome, JobSchedule, MetricSample, ScheduleFire
from jobs.selectors.access import projects_visible
from jobs.selectors.attention import attention_out
from jobs.selectors.connections import connection_health_out, connections_failing
from jobs.selectors.executions import executions_visible
from jobs.selectors.hour_chart import chart_out
from jobs.selectors.jobs import jobs_visible, rates_now
from jobs.selectors.lanes import lanes_out
from jobs.selectors.schedules import cron_words
from jobs.selectors.shapes.overview import NextStartOut, OverviewOut
from jobs.selectors.workers import tasks_trouble

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NEXT_STARTS = 6
CONNECTIONS = 10


def overview_out(user: "User") -> OverviewOut:
    """The overview of everything `user` sees; a constant number of queries."""
    now = timezone.now()
    visible = executions_visible(user)
    failing = list(latest_failed(visible).order_by("-end_time", "-id").values_list("pk", flat=True))
    leased = list(visible.filter(status__in=LEASED).values_list("execution_id", "job_id"))
    rates = rates_now([execution_id for execution_id, _ in leased])
    schedules = _schedules(user)
    attention, attention_count = attention_out(visible, failing, now)
    silent = connections_failing(user)
    shown = list(silent[: CONNECTIONS + 1])
    lanes, lane_count = lanes_out(visible, rates, now)
    return OverviewOut(
        health=tasks_trouble(),
        jobs=jobs_visible(user).count(),
        running=len({job_id for _, job_id in leased}),
        failing=len(failing),
        scheduled=schedules.count(),
        in_per_second=sum(sample.in_per_second for sample in rates.values()),
        out_per_second=sum(sample.out_per_second for sample in rates.values()),
        rejected_per_second=sum(rejected_rate(sample) for sample in rates.values()),
        attention=attention,
        attention_count=attention_count,
        connections=[connection_health_out(row) for row in shown[:CONNECTIONS]],
        connections_failing=silent.count() if len(shown) > CONNECTIONS else len(shown),
        chart=chart_out(visible, now),
        lanes=lanes,
        lane_count=lane_count,
        next_starts=_next_starts(schedules, now),
    )


def rejected_rate(sample: MetricSample) -> float:
    found = sample.detail.get("rejected_per_second", 0.0)
    return float(found) if isinstance(found, int | float) else 0.0


def latest_failed(visible: QuerySet[Execution]) -> QuerySet[Execution]:
    """FAILED executions of living jobs that nothing newer of the same job follows."""
    newer = Execution.objects.filter(job_id=OuterRef("job_id"), id__gt=OuterRef("id"))
    return visible.filter(status=ExecutionStatus.FAILED, job__deleted_at=None).filter(~Exists(newer))


def _schedules(user: "User") -> QuerySet[JobSchedule]:
    rows = JobSchedule.objects.filter(enabled=True, next_trigger_time__isnull=False, job__enabled=True, job__deleted_at=None)
    mine = rows if user.is_superuser else rows.filter(job__project__in=projects_visible(user))
    return mine.order_by("next_trigger_time", "id")


def _next_starts(schedules: QuerySet[JobSchedule], now: datetime) -> list[NextStartOut]:
    newest = ScheduleFire.objects.filter(schedule=OuterRef("pk")).order_by("-fire_time")
    outcome, reason = Subquery(newest.values("outcome")[:1]), Subquery(newest.values("reason")[:1])
    rows = schedules.select_related("job").defer("job__dag_definition").annotate(outcome=outcome, reason=reason)[:NEXT_STARTS]
    return [
        NextStartOut(
            job_name=row.job.job_name,
            title=row.job.title or row.job.job_name,
            next_trigger_time=row.next_trigger_time or now,
            words=cron_words(row.cron_expression),
            time_zone=row.time_zone,
            skipped=row.reason if row.outcome == FireOutcome.SKIPPED else "",
        )
        for row in rows
    ]
