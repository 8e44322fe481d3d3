"""Starts the jobs whose time has come."""

import logging

from django.utils import timezone

from jobs.models import FireOutcome
from jobs.services.schedules import schedule_fire, schedules_due

logger = logging.getLogger(__name__)


def schedules_tick() -> int:
    """Fire every due schedule once, however many of these run. How many executions were started."""
    now = timezone.now()
    started = 0
    for schedule in schedules_due(now):
        fire = schedule_fire(schedule=schedule, now=now)
        if fire is not None and fire.outcome == FireOutcome.STARTED:
            started += 1
        elif fire is not None:
            logger.info("%s was due at %s and skipped: %s", schedule.job.job_name, fire.fire_time, fire.reason)
    return started
