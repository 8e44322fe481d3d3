"""When a job starts next, in times and in words."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import md5
from itertools import islice
from typing import Literal, cast
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from django.utils import timezone
from django.utils.translation import get_language

from jobs.models import JobSchedule, ScheduleType
from jobs.selectors.cron_words_zh import cron_words_zh
from jobs.selectors.shapes.job import ScheduleFireOut, ScheduleOut, ScheduleTimesOut

NEXT_TIMES = 5


def cron_times(expression: str, time_zone: str, *, after: datetime, count: int = NEXT_TIMES) -> list[datetime]:
    """The next `count` fire times in UTC; none where the expression never fires or cannot be read."""
    try:
        return list(islice(_cron_fires(expression, ZoneInfo(time_zone), after), count))
    except (CronSimError, KeyError, ValueError, OSError):
        return []


def _cron_fires(expression: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """Fire times past `after` in UTC, each once.

    Around a clock change: what fires in every hour goes on by the time that passes, also through an hour that comes twice. Anything
    else goes by the clock on the wall: a time that comes twice fires the first time, one that is skipped when the clock has jumped.
    """
    if _in_every_hour(expression):
        minute, _, *days = expression.split()
        # Only as a star would `cronsim` go by the time that passes.
        yield from (fire.astimezone(UTC) for fire in CronSim(" ".join((minute, "*", *days)), after.astimezone(zone)))
        return
    newest = after.astimezone(UTC)
    for wall in CronSim(expression, after.astimezone(zone).replace(tzinfo=None)):
        fire = _first_moment(wall, zone)
        if fire > newest:
            newest = fire
            yield fire


def _in_every_hour(expression: str) -> bool:
    return CronSim(expression, timezone.now()).hours == set(range(24))


def _first_moment(wall: datetime, zone: ZoneInfo) -> datetime:
    """When the clock shows `wall` for the first time, or has jumped past it."""
    while (moment := wall.replace(tzinfo=zone).astimezone(UTC)).astimezone(zone).replace(tzinfo=None) != wall:
        wall += timedelta(minutes=1)
    return moment


def cron_words(expression: str) -> str:
    """The expression for people, such as "At 06:00 every day", in Chinese where that is the active language.

    The expression itself where it has no words.
    """
    try:
        readable = CronSim(expression, timezone.now())
        return cron_words_zh(expression) if (get_language() or "").startswith("zh") else str(readable.explain())
    except (CronSimError, ValueError):
        return expression


def schedule_times(expression: str, time_zone: str) -> ScheduleTimesOut:
    """What a readable expression means, whether or not a job has it."""
    return ScheduleTimesOut(words=cron_words(expression), next_times=cron_times(expression, time_zone, after=timezone.now()))


def schedule_out(row: JobSchedule, *, with_times: bool = False) -> ScheduleOut:
    """`with_times` also works out the next five fire times of an enabled CRON schedule, and tells what became of the last five."""
    cron = row.schedule_type == ScheduleType.CRON
    times = cron_times(row.cron_expression, row.time_zone, after=timezone.now()) if cron and with_times and row.enabled else []
    return ScheduleOut(
        schedule_type=cast(Literal["CRON", "MANUAL", "EVENT", "DEPENDENCY"], row.schedule_type),
        cron_expression=row.cron_expression,
        time_zone=row.time_zone,
        event_topic=row.event_topic,
        dependencies=row.dependencies,
        enabled=row.enabled,
        create_time=row.create_time,
        last_trigger_time=row.last_trigger_time,
        next_trigger_time=row.next_trigger_time if row.enabled else None,
        words=cron_words(row.cron_expression) if cron else "",
        next_times=times,
        fires=_fires(row) if with_times else [],
        revision=schedule_revision(row),
    )


def schedule_revision(row: JobSchedule) -> str:
    """Told by what is set alone: that it fired changes nothing."""
    return md5(repr((row.schedule_type, row.cron_expression, row.time_zone, row.enabled)).encode(), usedforsecurity=False).hexdigest()


def _fires(row: JobSchedule) -> list[ScheduleFireOut]:
    return [
        ScheduleFireOut(
            fire_time=fire.fire_time,
            outcome=cast(Literal["STARTED", "SKIPPED"], fire.outcome),
            reason=fire.reason,
            execution_id=fire.execution_id,
        )
        for fire in row.fires.order_by("-fire_time")[:NEXT_TIMES]
    ]
