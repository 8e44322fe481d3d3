"""Workers that live and take no tasks are told apart from those that do."""

import os
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from jobs.models import Driver, DriverKind, DriverStatus, Worker
from jobs.selectors.workers import another_takes_tasks, no_tasks_since, tasks_trouble
from jobs.services.workers import worker_announce, worker_gone, worker_heartbeat, worker_task_ran, workers_forget
from jobs.tasks import canary_task

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(minutes=5)


def deaf(name: str) -> None:
    worker_announce(name=name, pid=1)
    before = timezone.now() - LONG_AGO
    Worker.objects.filter(name=name).update(start_time=before, task_time=before)


def test_a_worker_that_has_just_begun_and_one_that_takes_tasks_are_well() -> None:
    worker_announce(name="new@here", pid=1)
    deaf("busy@here")
    worker_task_ran(name="busy@here")
    assert tasks_trouble() == []
    assert no_tasks_since() is None


def test_one_deaf_worker_of_two_is_named_and_the_installation_still_takes_tasks() -> None:
    deaf("deaf@here")
    worker_announce(name="well@here", pid=2)
    worker_task_ran(name="well@here")
    (sentence,) = tasks_trouble()
    assert sentence.startswith("The worker deaf@here takes no tasks since ")
    assert no_tasks_since() is None
    assert another_takes_tasks(than="deaf@here")
    assert not another_takes_tasks(than="well@here")


def test_when_none_takes_tasks_readiness_and_overview_say_since_when(client: Client, admin_client: Client) -> None:
    Driver.objects.create(kind=DriverKind.SHARED, status=DriverStatus.READY, worker="w", host="h", pid=1, heartbeat_time=timezone.now())
    assert client.get("/readyz").json()["worker"] == "ok"
    deaf("w")
    since = f"{Worker.objects.get().task_time:%H:%M:%S}"
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["worker"].startswith("The worker takes no tasks since ")
    assert since in answer.json()["worker"]
    (sentence,) = admin_client.get("/api/overview").json()["health"]
    assert sentence == answer.json()["worker"]
    worker_task_ran(name="w")
    assert client.get("/readyz").json()["worker"] == "ok"
    assert admin_client.get("/api/overview").json()["health"] == []


def test_a_worker_whose_main_process_hangs_counts_while_its_drivers_live() -> None:
    deaf("w")
    Worker.objects.update(heartbeat_time=timezone.now() - LONG_AGO)
    assert tasks_trouble() == []  # it is gone, as far as anybody knows
    Driver.objects.create(kind=DriverKind.SHARED, status=DriverStatus.READY, worker="w", host="h", pid=1, heartbeat_time=timezone.now())
    assert len(tasks_trouble()) == 1


def test_a_row_for_each_name_and_none_for_those_that_left() -> None:
    for _ in range(3):
        worker_announce(name="w", pid=os.getpid())
    assert Worker.objects.count() == 1
    worker_gone(name="w", pid=1)  # an earlier process of that name
    assert Worker.objects.count() == 1
    worker_gone(name="w", pid=os.getpid())
    assert not Worker.objects.exists()
    worker_announce(name="old", pid=1)
    Worker.objects.update(heartbeat_time=timezone.now() - timedelta(days=8))
    assert workers_forget(older_than=timedelta(days=7)) == 1


def test_the_canary_marks_the_worker_it_ran_in() -> None:
    for name in ("one@here", "other@here"):
        worker_announce(name=name, pid=1)
        worker_heartbeat(name=name)
    task: Any = canary_task  # its stubs know no request
    task.push_request(hostname="one@here")
    try:
        task.run()
    finally:
        task.pop_request()
    assert {row.name for row in Worker.objects.exclude(task_time=None)} == {"one@here"}
