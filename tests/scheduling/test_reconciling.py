"""What the reconciler finds and mends."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from jobs.models import Command, Driver, Event, Execution, Worker
from jobs.scheduling.reconciling import reconcile
from jobs.services.executions import execution_claim, execution_start, execution_stop
from tests.services.job_rows import driver_row, job_row, operator

pytestmark = pytest.mark.django_db


def started(name: str = "numbers") -> Execution:
    return execution_start(job=job_row(name), user=operator(), triggered_by="API")


def claimed() -> Execution:
    started()
    execution = execution_claim(driver=driver_row())
    assert execution is not None
    return execution


def lease_expire() -> None:
    Execution.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))


def long_ago() -> None:
    past = timezone.now() - timedelta(hours=1)
    Execution.objects.update(create_time=past)
    Event.objects.update(time=past)


def test_an_expired_lease_is_scheduled_again_with_its_reason() -> None:
    execution = claimed()
    assert reconcile() == 0
    lease_expire()
    assert reconcile() == 1
    assert reconcile() == 0
    execution.refresh_from_db()
    assert (execution.status, execution.retry_count) == ("SCHEDULED", 1)
    assert "not heard of" in Event.objects.get(kind="lease_lost").reason


def test_an_expired_lease_without_retries_left_fails() -> None:
    execution = claimed()
    Execution.objects.update(retry_count=3)
    lease_expire()
    reconcile()
    execution.refresh_from_db()
    assert execution.status == "FAILED"
    assert "no retries are left" in execution.error_message


def test_a_stop_that_its_driver_never_heard_is_carried_out_when_the_lease_ends() -> None:
    execution = claimed()
    execution_stop(execution=execution, user=operator())
    lease_expire()
    reconcile()
    execution.refresh_from_db()
    assert execution.status == "PAUSED"
    assert Command.objects.get().status == "DONE"


def test_a_stop_that_met_a_handover_is_carried_out() -> None:
    execution = claimed()
    execution_stop(execution=execution, user=operator())
    Execution.objects.update(status="SCHEDULED", lease_expires_at=None)
    assert reconcile() == 1
    execution.refresh_from_db()
    assert execution.status == "PAUSED"


def driver_there_all_along() -> None:
    driver_row()
    Driver.objects.update(start_time=timezone.now() - timedelta(hours=2), heartbeat_time=timezone.now())


def test_a_start_that_nobody_takes_fails_and_says_why() -> None:
    execution = started()
    driver_there_all_along()
    assert reconcile() == 0
    long_ago()
    assert reconcile() == 1
    execution.refresh_from_db()
    assert execution.status == "FAILED"
    assert "every slot is taken" in execution.error_message


def test_a_start_that_waited_through_an_outage_is_not_failed_when_the_workers_are_back() -> None:
    execution = started()
    driver_row()
    Driver.objects.update(start_time=timezone.now() - timedelta(hours=3), heartbeat_time=timezone.now() - timedelta(hours=2))
    driver_row(pid=2)
    long_ago()
    assert reconcile() == 0
    execution.refresh_from_db()
    assert execution.status == "SCHEDULED"


def test_the_editors_driver_takes_no_starts_and_none_fails_while_it_is_the_only_one() -> None:
    execution = started()
    driver_there_all_along()
    Driver.objects.update(kind="INTERACTIVE")
    Execution.objects.update(storage_host="elsewhere")
    Event.objects.update(time=timezone.now() - timedelta(seconds=20))
    reconcile()
    assert not Event.objects.filter(kind="notice").exists(), "nobody who could take it is anywhere"
    long_ago()
    assert reconcile() == 0
    execution.refresh_from_db()
    assert execution.status == "SCHEDULED"


def test_a_start_that_lost_its_driver_while_the_editors_lives_says_that_none_is_ready() -> None:
    execution = started()
    driver_there_all_along()
    driver_row(pid=2, kind="INTERACTIVE")
    Driver.objects.filter(kind="SHARED").update(status="GONE")
    long_ago()
    assert reconcile() == 1
    execution.refresh_from_db()
    assert "no driver is ready" in execution.error_message


@pytest.mark.parametrize(("host", "why"), [("", "every slot is taken"), ("here", "every slot is taken"), ("cellar", '"cellar"')])
def test_a_start_that_wants_a_driver_of_its_own_waits_for_a_worker(host: str, why: str) -> None:
    execution = started()
    Execution.objects.update(isolation="dedicated", storage_host=host)
    long_ago()
    assert reconcile() == 0, "no worker was there"
    now = timezone.now()
    Worker.objects.create(name="w", host="here", pid=1, start_time=now - timedelta(hours=2), heartbeat_time=now)
    assert reconcile() == 1
    execution.refresh_from_db()
    assert why in execution.error_message


def test_a_start_whose_host_is_gone_names_the_host() -> None:
    execution = started()
    driver_there_all_along()
    Execution.objects.update(storage_host="cellar")
    long_ago()
    reconcile()
    execution.refresh_from_db()
    assert '"cellar"' in execution.error_message


def test_a_start_whose_host_is_away_says_so_once_while_it_waits() -> None:
    execution = started()
    Execution.objects.update(storage_host="elsewhere")
    driver_there_all_along()
    notices = Event.objects.filter(execution=execution, kind="notice")
    reconcile()
    assert not notices.exists(), "the driver there may only be starting anew"
    Event.objects.update(time=timezone.now() - timedelta(seconds=20))
    for _ in range(2):
        reconcile()
    remedy = "start a worker there, or set STORAGE_HOST=elsewhere where that disk is now"
    assert [one.reason for one in notices] == [f'its position is on the disk of "elsewhere", where no driver is ready: {remedy}']
    Driver.objects.update(host="elsewhere")
    Event.objects.update(time=timezone.now() - timedelta(seconds=20), kind="status")
    reconcile()
    assert not notices.all().exists()


def test_a_start_that_no_worker_has_drivers_for_says_so_once_while_it_waits() -> None:
    execution = started()
    driver_row(pid=2, kind="INTERACTIVE")
    notices = Event.objects.filter(execution=execution, kind="notice")
    now = timezone.now()
    Worker.objects.create(name="w", host="here", pid=1, start_time=now, heartbeat_time=now)
    Event.objects.update(time=now - timedelta(seconds=20))
    reconcile()
    assert not notices.exists(), "its drivers may only be starting"
    Worker.objects.update(start_time=now - timedelta(minutes=3))
    starting = driver_row(pid=3)
    Driver.objects.filter(pk=starting.pk).update(status="STARTING")
    reconcile()
    assert not notices.exists(), "one is on its way"
    Driver.objects.filter(pk=starting.pk).update(status="GONE")
    for _ in range(2):
        reconcile()
    assert [one.reason.partition(":")[0] for one in notices] == ["a worker runs, but no driver that takes this"]


def test_a_resumed_execution_gets_the_whole_start_time_out() -> None:
    execution = started()
    driver_there_all_along()
    long_ago()
    Execution.objects.update(seq=F("seq") + 1)
    Event.objects.create(execution=execution, seq=2, time=timezone.now(), kind="status", to_status="SCHEDULED")
    assert reconcile() == 0


def test_silent_drivers_are_gone() -> None:
    driver = driver_row()
    Driver.objects.update(heartbeat_time=timezone.now() - timedelta(minutes=30))
    reconcile()
    driver.refresh_from_db()
    assert driver.status == "GONE"
