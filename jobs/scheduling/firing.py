"""Starts the jobs whose time has come."""

import logging
from datetime import datetime

from django.utils import timezone

from jobs.models import FireOutcome, JobSchedule
from jobs.services.schedules import schedule_fire, schedules_due

logger = logging.getLogger(__name__)


def schedules_tick() -> int:
    """Fire every due schedule once, however many of these run. How many executions were started.

    One that cannot be fired stands in no other's way: it is logged, and tried again.
    """
    now = timezone.now()
    return sum(_fired(schedule, now) for schedule in schedules_due(now))


def _fired(schedule: JobSchedule, now: datetime) -> bool:
    try:
        fire = schedule_fire(schedule=schedule, now=now)
    except Exception:
        logger.exception("firing schedule %d of %s", schedule.pk, schedule.job.job_name)
        return False
    if fire is not None and fire.outcome != FireOutcome.STARTED:
        logger.info("%s was due at %s and skipped: %s", schedule.job.job_name, fire.fire_time, fire.reason)
    return fire is not None and fire.outcome == FireOutcome.STARTED
