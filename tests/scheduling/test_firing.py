"""CRON schedules: time zones, clock changes, missed times, overlaps, two tickers."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone

from jobs.models import Execution, Job, JobSchedule, JobVersion, ScheduleFire
from jobs.scheduling.firing import schedules_tick
from jobs.selectors.refusals import Invalid, NotYet
from jobs.selectors.schedules import cron_times
from jobs.services.executions import execution_start
from jobs.services.schedules import next_time, schedule_delete, schedule_fire, schedule_problems, schedule_set
from tests.servers.waiting import wait_until
from tests.services.job_rows import document_with, job_row, operator, version_add

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def far_from_the_next_minute() -> Iterator[None]:
    """At a minute's edge "every minute" is due once more, or its newest time is one that was fired before."""
    with time_machine.travel(timezone.now().replace(second=20)):
        yield


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def due(job: Job, *, minutes_ago: float = 0.5, cron: str = "* * * * *") -> JobSchedule:
    schedule = schedule_set(job=job, user=operator(), schedule_type="CRON", cron_expression=cron)
    JobSchedule.objects.filter(pk=schedule.pk).update(next_trigger_time=timezone.now() - timedelta(minutes=minutes_ago))
    return JobSchedule.objects.select_related("job").get(pk=schedule.pk)


def test_a_schedule_knows_its_next_time_in_its_zone() -> None:
    assert next_time("30 6 * * *", "Europe/Berlin", after=moment("2026-07-01T00:00:00")) == moment("2026-07-01T04:30:00")


def test_a_time_that_the_clock_skips_fires_when_it_has_jumped() -> None:
    # On 29 March 2026 Berlin goes from 02:00 to 03:00.
    assert next_time("30 2 * * *", "Europe/Berlin", after=moment("2026-03-28T12:00:00")) == moment("2026-03-29T01:00:00")
    assert next_time("30 2 * * *", "Europe/Berlin", after=moment("2026-03-29T01:00:00")) == moment("2026-03-30T00:30:00")


def test_a_time_that_comes_twice_fires_once() -> None:
    # On 25 October 2026 Berlin has 02:30 twice: 00:30 and 01:30 UTC.
    first = next_time("30 2 * * *", "Europe/Berlin", after=moment("2026-10-24T12:00:00"))
    assert first == moment("2026-10-25T00:30:00")
    assert next_time("30 2 * * *", "Europe/Berlin", after=first) == moment("2026-10-26T01:30:00")


@pytest.mark.parametrize(
    ("cron", "times"),
    [
        ("30 2 * * *", ["00:30"]),
        ("*/15 2 * * *", ["00:00", "00:15", "00:30", "00:45"]),
        ("0 */2 * * *", ["22:00", "00:00", "03:00"]),
        ("0 * * * *", ["22:00", "23:00", "00:00", "01:00", "02:00", "03:00"]),
        ("0 0-23 * * *", ["22:00", "23:00", "00:00", "01:00", "02:00", "03:00"]),
        ("*/30 * * * *", [f"{hour}:{minute}" for hour in ("22", "23", "00", "01", "02", "03") for minute in ("00", "30")]),
    ],
)
def test_in_the_night_with_an_hour_twice_only_what_fires_in_every_hour_fires_in_both(cron: str, times: list[str]) -> None:
    """From midnight in Berlin to half past four: five hours and a half."""
    midnight, end = moment("2026-10-24T22:00:00"), moment("2026-10-25T03:30:00")
    fires = cron_times(cron, "Europe/Berlin", after=midnight - timedelta(seconds=1), count=20)
    assert [f"{fire:%H:%M}" for fire in fires if fire <= end] == times
    assert all(cron_times(cron, "Europe/Berlin", after=fire, count=1) == [later] for fire, later in pairwise(fires))


def test_in_the_second_of_two_hours_the_next_time_is_not_in_the_first() -> None:
    after = moment("2026-10-25T01:05:00")
    assert next_time("30 2 * * *", "Europe/Berlin", after=after) == moment("2026-10-26T01:30:00")
    assert next_time("*/15 2 * * *", "Europe/Berlin", after=after) == moment("2026-10-26T01:00:00")


def test_times_that_the_clock_skips_fire_once_together_when_it_has_jumped() -> None:
    before = moment("2026-03-29T00:30:00")
    for cron in ("*/15 2 * * *", "0 1-3 * * *", "0 0-23 * * *"):
        assert next_time(cron, "Europe/Berlin", after=before) == moment("2026-03-29T01:00:00")
    assert next_time("0 0-23 * * *", "Europe/Berlin", after=moment("2026-03-29T01:00:00")) == moment("2026-03-29T02:00:00")
    assert next_time("0 1-3 * * *", "Europe/Berlin", after=moment("2026-03-29T01:00:00")) == moment("2026-03-29T23:00:00")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"cron_expression": "every day"}, "schedule.cron"),
        ({"cron_expression": "61 * * * *"}, "schedule.cron"),
        ({"cron_expression": "0 0 * * *", "time_zone": "Europe/Atlantis"}, "schedule.time_zone"),
        ({"cron_expression": "0 0 31 2 *"}, "schedule.cron"),
    ],
)
def test_what_cannot_be_read_is_a_problem_on_its_field(given: dict[str, str], code: str) -> None:
    with pytest.raises(Invalid) as refused:
        schedule_set(job=job_row(), user=operator(), schedule_type="CRON", **given)  # type: ignore[arg-type]
    assert [problem.code for problem in refused.value.problems] == [code]


def test_the_field_that_cannot_be_read_is_named() -> None:
    (problem,) = schedule_problems("CRON", "61 * * * *", "UTC")
    assert problem.message == "the minute cannot be read: correct it, such as 30 6 * * 1-5"
    (problem,) = schedule_problems("CRON", "0 6 * *", "UTC")
    assert problem.message.startswith("five fields are expected")


@pytest.mark.parametrize("expression", ["0 0 30 2 *", "0 0 31 4,6,9,11 *"])
def test_a_day_that_no_month_has_is_said_to_never_come(expression: str) -> None:
    (problem,) = schedule_problems("CRON", expression, "UTC")
    assert problem.message == "this never comes: no such day exists"


def test_a_sixth_field_for_seconds_is_refused() -> None:
    (problem,) = schedule_problems("CRON", "*/10 * * * * *", "UTC")
    assert problem.message.startswith("five fields are expected")


@pytest.mark.parametrize("kind", ["EVENT", "DEPENDENCY"])
def test_events_and_dependencies_are_not_there_yet(kind: str) -> None:
    with pytest.raises(NotYet, match="not there yet"):
        schedule_set(job=job_row(), user=operator(), schedule_type=kind)


def without_default(job: Job) -> Job:
    document = document_with(name=job.job_name)
    document["parameters"] = {"day": {"type": "string"}}
    job = version_add(job, document)
    Job.objects.filter(pk=job.pk).update(dag_definition=JobVersion.objects.filter(job=job).latest("version").dag_definition)
    job.refresh_from_db()
    return job


def test_a_job_whose_parameter_has_no_default_gets_no_schedule() -> None:
    with pytest.raises(Invalid) as refused:
        schedule_set(job=without_default(job_row()), user=operator(), schedule_type="CRON", cron_expression="0 6 * * *")
    words = 'the parameter "day" has no default, and a schedule gives no values: publish a version with one first'
    assert [problem.message for problem in refused.value.problems] == [words]


def test_a_skipped_time_names_the_parameter_that_lost_its_default() -> None:
    job = job_row()
    due(job)
    without_default(job)
    assert schedules_tick() == 0
    assert ScheduleFire.objects.get().reason == 'the parameter "day" has no default: give a value when starting'


def test_a_due_schedule_starts_its_job_once() -> None:
    schedule = due(job_row())
    assert schedules_tick() == 1
    assert schedules_tick() == 0
    fire = ScheduleFire.objects.get()
    execution = Execution.objects.get()
    assert (fire.outcome, fire.execution_id, execution.triggered_by) == ("STARTED", execution.execution_id, "CRON")
    schedule.refresh_from_db()
    assert schedule.next_trigger_time is not None
    assert schedule.next_trigger_time > timezone.now()
    assert schedule.last_trigger_time == fire.fire_time


def test_a_time_that_was_fired_before_is_left_behind() -> None:
    schedule = due(job_row())
    assert schedule.next_trigger_time is not None
    now = schedule.next_trigger_time + timedelta(seconds=1)
    ScheduleFire.objects.create(schedule=schedule, fire_time=schedule.next_trigger_time, outcome="STARTED")
    assert schedule_fire(schedule=schedule, now=now) is None
    schedule.refresh_from_db()
    assert schedule.next_trigger_time > now
    assert not Execution.objects.exists()


def test_of_the_times_missed_only_the_newest_is_fired() -> None:
    due(job_row(), minutes_ago=10)
    assert schedules_tick() == 1
    fire = ScheduleFire.objects.get()
    assert timezone.now() - fire.fire_time < timedelta(minutes=1, seconds=1)


def test_an_unfinished_execution_makes_it_skip_with_the_reason() -> None:
    job = job_row()
    due(job)
    schedules_tick()
    JobSchedule.objects.update(next_trigger_time=timezone.now() - timedelta(seconds=1))
    schedules_tick()
    skipped = ScheduleFire.objects.get(outcome="SKIPPED")
    assert Execution.objects.get().execution_id in skipped.reason


def test_a_disabled_job_is_skipped_and_a_deleted_schedule_fires_nothing() -> None:
    job = job_row()
    due(job)
    Job.objects.filter(pk=job.pk).update(enabled=False)
    assert schedules_tick() == 0
    assert "disabled" in ScheduleFire.objects.get().reason
    schedule_delete(job=job, user=operator())
    assert not JobSchedule.objects.exists()


def test_a_schedule_that_cannot_be_fired_stands_in_no_others_way(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    broken, good = due(job_row("broken"), minutes_ago=0.9), due(job_row("good"))
    found = execution_start

    def start(*, job: Job, **given: Any) -> Execution:
        if job.job_name == "broken":
            raise RuntimeError("a node of a package that is gone")
        return found(job=job, **given)

    monkeypatch.setattr("jobs.services.schedules.execution_start", start)
    assert schedules_tick() == 1
    assert Execution.objects.get().job == good.job
    assert f"firing schedule {broken.pk} of broken" in caplog.text
    monkeypatch.undo()
    assert schedules_tick() == 1, "it is tried again"


@pytest.mark.django_db(transaction=True)
def test_a_schedule_that_fires_while_its_job_is_deleted_waits_for_it() -> None:
    schedule = due(job_row())

    def fire() -> ScheduleFire | None:
        try:
            return schedule_fire(schedule=schedule, now=timezone.now())
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():  # in the order of a deletion
            Job.objects.update(enabled=False)
            firing = pool.submit(fire)
            if connection.vendor == "postgresql":
                wait_until(somebody_waits_for_a_lock, seconds=20, what="the schedule that fires")
            JobSchedule.objects.update(enabled=False, next_trigger_time=None)
        assert firing.result(30) is None


def somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_of_ten_tickers_one_fires() -> None:
    schedule = due(job_row())
    now = timezone.now()
    ready = threading.Barrier(10)

    def fire(_: int) -> ScheduleFire | None:
        ready.wait(20)
        try:
            return schedule_fire(schedule=schedule, now=now)
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        fires = [found for found in pool.map(fire, range(10)) if found is not None]
    assert len(fires) == 1
    assert Execution.objects.count() == 1
