"""/metrics: figures of jobs and drivers as Prometheus reads them, for this machine or by token."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from jobs.models import Driver, Execution, Job, MetricSample, Project
from jobs.models import ExecutionStatus as S
from jobs.services.access import token_create
from jobs.services.drivers import DriverUsage, driver_announce, driver_gone, driver_heartbeat
from jobs.services.history import NEWEST, history_prune
from tests.api.rows import execution, job

pytestmark = pytest.mark.django_db

TWELVE = {
    "job_execution_count",
    "job_success_rate",
    "job_duration",
    "records_processed",
    "records_failed",
    "throughput",
    "cpu_usage",
    "memory_usage",
    "thread_count",
    "buffer_size",
    "backpressure_status",
    "dropped_records",
}
LABELS = ("project", "job", "status", "direction", "worker", "kind", "pid")
Figures = dict[tuple[str, ...], float]


def figures(client: Client, **headers: str) -> dict[str, Figures]:
    """Name without its prefix → values of its labels → figure."""
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    families = text_string_to_metric_families(answer.content.decode())
    return {
        family.name.removeprefix("pipeline_"): {
            tuple(sample.labels[name] for name in LABELS if name in sample.labels): sample.value for sample in family.samples
        }
        for family in families
    }


def ended(one: Job, status: S, *, ago: timedelta, seconds: int = 30, **given: int) -> Execution:
    end = timezone.now() - ago
    return execution(one, status, start_time=end - timedelta(seconds=seconds), end_time=end, duration_ms=seconds * 1000, **given)


def busy_driver() -> Driver:
    driver = driver_announce(driver_id=uuid4(), kind="SHARED", worker="worker@here", pid=4711, slots=3)
    driver_heartbeat(driver=driver, usage=DriverUsage(1.5, 0.25, 90))
    return driver


def test_each_of_the_twelve_tells_what_happened(editor: User, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.selectors.prometheus._FRESH", timedelta(minutes=10))
    orders = job(editor, "orders")
    ended(orders, S.COMPLETED, ago=timedelta(hours=30), processed_records=10, failed_records=1)
    ended(orders, S.COMPLETED, ago=timedelta(hours=2), processed_records=20, failed_records=2)
    ended(orders, S.FAILED, ago=timedelta(hours=1), processed_records=5, failed_records=5)
    ended(orders, S.CANCELLED, ago=timedelta(minutes=30), dropped_records=7)
    run = execution(job(editor, "clicks"), S.RUNNING, buffer_size=12, backpressure_status="HOLDING")
    Execution.objects.filter(pk=run.pk).update(start_time=timezone.now() - timedelta(seconds=90))
    for second, rate in ((5, 100.0), (1, 250.0)):
        time = timezone.now() - timedelta(seconds=second)
        MetricSample.objects.create(execution=run, resolution=1, time=time, in_per_second=rate, out_per_second=rate / 2)
    busy_driver()

    found = figures(client)
    assert set(found) == TWELVE
    assert found["job_execution_count"][("default", "orders", "COMPLETED")] == 2
    assert found["job_execution_count"][("default", "clicks", "RUNNING")] == 1
    assert found["job_success_rate"] == {("default", "orders"): 0.5}
    assert found["job_duration"][("default", "orders")] == 30
    assert 90 <= found["job_duration"][("default", "clicks")] < 200
    assert found["records_processed"][("default", "orders")] == 35
    assert found["records_failed"][("default", "orders")] == 8
    assert found["dropped_records"][("default", "orders")] == 7
    assert found["throughput"] == {("default", "clicks", "in"): 250, ("default", "clicks", "out"): 125}
    assert found["buffer_size"] == {("default", "clicks"): 12}
    assert found["backpressure_status"] == {("default", "clicks"): 1}
    here = ("worker@here", "SHARED", "4711")
    assert [found[name] for name in ("cpu_usage", "memory_usage", "thread_count")] == [{here: 1.5}, {here: 0.25}, {here: 90}]


def test_totals_keep_what_executions_that_were_forgotten_counted(editor: User, client: Client) -> None:
    """Prometheus would take a smaller one for a counter that began anew."""
    orders, names = job(editor, "orders"), ("job_execution_count", "records_processed", "records_failed", "dropped_records")
    for days in range(105, 100, -1):
        ended(orders, S.COMPLETED, ago=timedelta(days=days), processed_records=10, failed_records=1, dropped_records=2)
        ended(orders, S.FAILED, ago=timedelta(days=days), processed_records=3)
    Execution.objects.update(create_time=timezone.now() - timedelta(days=101))
    for _ in range(NEWEST):
        ended(orders, S.COMPLETED, ago=timedelta(hours=1), processed_records=1)
    before = {name: figures(client)[name] for name in names}
    for going in (10, 0):
        assert history_prune().executions == going
        assert {name: figures(client)[name] for name in names} == before
    assert Execution.objects.count() == NEWEST
    ended(orders, S.FAILED, ago=timedelta(days=100), processed_records=3)
    Execution.objects.filter(status=S.FAILED).update(create_time=timezone.now() - timedelta(days=101))
    assert history_prune().executions == 1
    found = figures(client)
    assert found["records_processed"] == {("default", "orders"): 50 + 15 + 3 + NEWEST}
    assert found["job_execution_count"] == {("default", "orders", "COMPLETED"): 5 + NEWEST, ("default", "orders", "FAILED"): 6}


def test_a_pause_is_no_time_that_an_execution_ran(editor: User, client: Client) -> None:
    begun = timezone.now() - timedelta(hours=64)
    execution(job(editor, "paused"), S.PAUSED, start_time=begun, duration_ms=7_200_000)
    back = timezone.now() - timedelta(minutes=30)
    execution(job(editor, "resumed"), S.RUNNING, start_time=begun, resume_time=back, duration_ms=7_200_000)
    found = figures(client)["job_duration"]
    assert found["default", "paused"] == 7200
    assert 9000 <= found["default", "resumed"] < 9100


def test_what_is_gone_has_no_figure(editor: User, client: Client) -> None:
    gone = job(editor, "gone")
    run = execution(gone, S.RUNNING)
    MetricSample.objects.create(execution=run, resolution=1, time=timezone.now() - timedelta(minutes=5), in_per_second=9)
    driver_gone(driver_id=busy_driver().driver_id, reason="it ended")
    found = figures(client)
    assert not found["throughput"]
    assert not found["cpu_usage"]
    assert found["job_execution_count"]
    Job.objects.filter(pk=gone.pk).update(deleted_at=timezone.now())
    assert not figures(client)["job_execution_count"]


@pytest.mark.parametrize(
    ("address", "headers"),
    [
        ("203.0.113.7", {}),
        ("127.0.0.1", {"X-Forwarded-For": "203.0.113.7"}),
        ("127.0.0.1", {"Authorization": "Bearer wrong"}),
        ("", {}),
    ],
)
def test_others_need_a_token(address: str, headers: dict[str, str], editor: User) -> None:
    answer = Client(REMOTE_ADDR=address).get("/metrics", headers=headers)
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert b"pipeline_" not in answer.content
    assert b"token" in answer.content


def test_in_production_this_machine_needs_a_token_too(settings: Any, editor: User) -> None:
    settings.METRICS_WITHOUT_TOKEN = False
    assert Client().get("/metrics").status_code == 401


def test_a_token_sees_the_projects_of_its_user_and_no_drivers(editor: User, stranger: User, elsewhere: Project) -> None:
    execution(job(editor, "ours"), S.RUNNING)
    execution(job(stranger, "theirs", project=elsewhere), S.RUNNING)
    busy_driver()
    away = Client(REMOTE_ADDR="203.0.113.7")
    found = figures(away, Authorization=f"Bearer {token_create(user=editor)[1]}")
    assert set(found["job_execution_count"]) == {("default", "ours", "RUNNING")}
    assert "cpu_usage" not in found
    root = User.objects.create_superuser("root", password="x")
    everything = figures(away, Authorization=f"Bearer {token_create(user=root)[1]}")
    assert len(everything["job_execution_count"]) == 2
    assert everything["cpu_usage"]


def test_more_jobs_cost_no_more_queries(editor: User, client: Client) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as captured:
            figures(client)
        return len(captured)

    execution(job(editor, "first"), S.RUNNING)
    few = asked()
    for number in range(10):
        execution(job(editor, f"more-{number}"), S.RUNNING)
    assert asked() == few <= 8
