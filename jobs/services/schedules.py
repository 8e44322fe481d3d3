"""Schedules: set, deleted, and fired; the words of what is not offered yet."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from jobs.dag.document import parse_document
from jobs.dag.problems import Problem
from jobs.models import FireOutcome, Job, JobSchedule, Role, ScheduleFire, ScheduleType, TriggeredBy
from jobs.selectors.refusals import Conflict, Invalid, NotYet, Refusal
from jobs.selectors.schedules import cron_times, schedule_revision
from jobs.services.access import role_check
from jobs.services.audit import audit_record
from jobs.services.executions import execution_start

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: A fire time found later than this is skipped: the morning's import is not started the next evening.
LATE_MOST = timedelta(hours=24)
_PER_TICK = 200


@transaction.atomic
def schedule_set(
    *,
    job: Job,
    user: "User",
    schedule_type: str,
    cron_expression: str = "",
    time_zone: str = "UTC",
    event_topic: str = "",
    dependencies: Sequence[str] = (),
    enabled: bool = True,
    seen: str | None = None,
) -> JobSchedule:
    """The job's schedule from now on; Invalid where the expression or the zone cannot be read, NotYet for EVENT and DEPENDENCY.

    `seen`: the revision that was read, "" where there was no schedule; Conflict where somebody set another since.
    """
    role_check(user=user, project=job.project_id, role=Role.OPERATOR)
    if seen is not None and seen != _revision_now(job):
        raise Conflict(
            "somebody changed this schedule meanwhile: close it, open it again, and change it as it is now", code="schedule.changed"
        )
    if schedule_type in (ScheduleType.EVENT, ScheduleType.DEPENDENCY) or event_topic or dependencies:
        raise NotYet("starting on an event or after other jobs is not there yet: use CRON or MANUAL")
    cron = schedule_type == ScheduleType.CRON
    if problems := schedule_problems(schedule_type, cron_expression, time_zone) or (_values_lacking(job) if cron and enabled else []):
        raise Invalid("the schedule cannot be used", problems=problems)
    row, _ = JobSchedule.objects.update_or_create(
        job=job,
        defaults={
            "schedule_type": schedule_type,
            "cron_expression": cron_expression.strip() if cron else "",
            "time_zone": time_zone,
            "enabled": enabled,
            "next_trigger_time": next_time(cron_expression, time_zone, after=timezone.now()) if cron and enabled else None,
        },
    )
    detail = {"schedule_type": schedule_type, "cron_expression": row.cron_expression, "time_zone": time_zone, "enabled": enabled}
    audit_record(user=user, action="schedule set", object_type="job", object_id=job.job_name, project=job.project, detail=detail)
    return row


def _revision_now(job: Job) -> str:
    row = JobSchedule.objects.select_for_update().filter(job=job).first()
    return schedule_revision(row) if row else ""


def _values_lacking(job: Job) -> list[Problem]:
    """Parameters of the published version without which no schedule can start it: it gives no values."""
    document, _ = parse_document(job.dag_definition)
    return [
        Problem(
            code="schedule.parameter",
            pointer="/schedule_type",
            message=f'the parameter "{name}" has no default, and a schedule gives no values: publish a version with one first',
        )
        for name, parameter in (document.parameters.items() if document else ())
        if parameter.default is None
    ]


@transaction.atomic
def schedule_delete(*, job: Job, user: "User") -> None:
    """The job starts by hand only."""
    role_check(user=user, project=job.project_id, role=Role.OPERATOR)
    if JobSchedule.objects.filter(job=job).delete()[0]:
        audit_record(user=user, action="schedule deleted", object_type="job", object_id=job.job_name, project=job.project)


_CRON_FIELDS = 5
_MONTH = 3
_NEVER = "this never comes: no such day exists"


def schedule_problems(schedule_type: str, cron_expression: str, time_zone: str) -> list[Problem]:
    """What stands in the way, each on its field."""
    problems = []
    if schedule_type not in ScheduleType.values:
        problems.append(Problem(code="schedule.type", pointer="/schedule_type", message="a schedule is CRON or MANUAL"))
    try:
        ZoneInfo(time_zone)
    except (KeyError, ValueError, OSError):
        message = f'"{time_zone}" is not a time zone: write it like Europe/Berlin or UTC'
        return [*problems, Problem(code="schedule.time_zone", pointer="/time_zone", message=message)]
    if schedule_type == ScheduleType.CRON and (message := _cron_fault(cron_expression)):
        problems.append(Problem(code="schedule.cron", pointer="/cron_expression", message=message))
    elif schedule_type == ScheduleType.CRON and not cron_times(cron_expression, time_zone, after=timezone.now(), count=1):
        problems.append(Problem(code="schedule.never", pointer="/cron_expression", message=_NEVER))
    return problems


def _cron_fault(cron_expression: str) -> str:
    """What is wrong with an expression; "" if nothing. `cronsim` would also take seconds as a field before the five."""
    fields = cron_expression.split()
    if len(fields) != _CRON_FIELDS:
        return "five fields are expected: minute, hour, day of month, month, day of week, such as 30 6 * * 1-5"
    try:
        CronSim(cron_expression, timezone.now())
    except (CronSimError, ValueError) as error:
        if _readable([*fields[:_MONTH], "*", *fields[_MONTH + 1 :]]) and _readable(["*", "*", "*", *fields[_MONTH:]]):
            return _NEVER
        return f"the {str(error).removeprefix('Bad ')} cannot be read: correct it, such as 30 6 * * 1-5"
    return ""


def _readable(fields: Sequence[str]) -> bool:
    try:
        CronSim(" ".join(fields), timezone.now())
    except (CronSimError, ValueError):
        return False
    return True


def next_time(cron_expression: str, time_zone: str, *, after: datetime) -> datetime | None:
    """The next fire time in UTC, around a clock change as `cron_times` has it."""
    return next(iter(cron_times(cron_expression, time_zone, after=after, count=1)), None)


def schedule_fire(*, schedule: JobSchedule, now: datetime) -> ScheduleFire | None:
    """Fire a due schedule: start its job for the newest of the fire times that passed; None where another tick was first.

    An unfinished execution, a disabled job or any other refusal is recorded as SKIPPED with its reason.
    """
    due = schedule.next_trigger_time
    if due is None or due > now:
        return None
    fire_time, missed = _newest(schedule, due, now)
    following = next_time(schedule.cron_expression, schedule.time_zone, after=now)
    with transaction.atomic():
        # The job before its schedule, as its deletion takes them: else each could wait for the other.
        Job.objects.filter(pk=schedule.job_id).update(attempt_counter=F("attempt_counter"))
        moved = JobSchedule.objects.filter(
            pk=schedule.pk, next_trigger_time=due, cron_expression=schedule.cron_expression, enabled=True
        ).update(next_trigger_time=following, last_trigger_time=fire_time)
        if not moved:
            return None
        # A time that was fired before, as a schedule which is set anew may find it, is only left behind.
        fire, new = ScheduleFire.objects.get_or_create(schedule=schedule, fire_time=fire_time, defaults={"outcome": FireOutcome.SKIPPED})
        return _start(schedule, fire, missed, late=now - fire_time > LATE_MOST) if new else None


def _newest(schedule: JobSchedule, due: datetime, now: datetime) -> tuple[datetime, int]:
    """The newest fire time up to `now`, and how many before it are passed over."""
    newest, missed = due, 0
    # Bounded: a schedule of every minute that slept for a month starts once, wherever the count ends.
    while missed < 50_000:
        following = next_time(schedule.cron_expression, schedule.time_zone, after=newest)
        if following is None or following > now:
            break
        newest, missed = following, missed + 1
    return newest, missed


def _start(schedule: JobSchedule, fire: ScheduleFire, missed: int, *, late: bool) -> ScheduleFire:
    passed = f"{missed} earlier times were missed" if missed else ""
    if late:
        return _fired(fire, FireOutcome.SKIPPED, f"found more than {LATE_MOST.total_seconds() / 3600:g} hours late")
    try:
        execution = execution_start(job=schedule.job, user=None, triggered_by=TriggeredBy.CRON)
    except Refusal as refused:
        told = refused.problems[0].message if isinstance(refused, Invalid) and refused.problems else refused.message
        return _fired(fire, FireOutcome.SKIPPED, told)
    return _fired(fire, FireOutcome.STARTED, passed, execution.execution_id)


def _fired(fire: ScheduleFire, outcome: str, reason: str, execution_id: str = "") -> ScheduleFire:
    fire.outcome, fire.reason, fire.execution_id = outcome, reason[:500], execution_id
    fire.save(update_fields=["outcome", "reason", "execution_id"])
    return fire


def schedules_due(now: datetime) -> list[JobSchedule]:
    """Enabled CRON schedules of living jobs whose time has come, the longest waiting first."""
    rows = JobSchedule.objects.filter(
        enabled=True, schedule_type=ScheduleType.CRON, next_trigger_time__lte=now, job__deleted_at=None
    ).select_related("job")
    return list(rows.order_by("next_trigger_time")[:_PER_TICK])
