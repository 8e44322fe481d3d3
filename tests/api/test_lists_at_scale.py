"""Pages of lists cost the same few queries and little time, however much there is."""

import time
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import AutoField, Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.models import Execution, ExecutionStatus, Job, JobDraft, JobVersion, MetricSample, Project
from jobs.models.execution import new_execution_id
from tests.api.rows import execution, history, job

pytestmark = pytest.mark.django_db
S = ExecutionStatus

#: Their pages are full already.
FEW = 100


def queries_of(client: Client, path: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert client.get(path).status_code == 200
    return len(captured)


@pytest.mark.parametrize("path", ["/api/jobs", "/api/executions", "/api/overview", "/api/connections", "/api/search?q=job"])
def test_more_rows_cost_no_more_queries(browser: Client, editor: User, path: str) -> None:
    def more(names: list[str]) -> None:
        for name in names:
            made = job(editor, name)
            execution(made, S.FAILED, start_time=timezone.now(), end_time=timezone.now(), error_node_id="out")
            history(execution(made, S.RUNNING, start_time=timezone.now()))
            failed = job(editor, f"{name}-failed")
            execution(failed, S.FAILED, start_time=timezone.now(), end_time=timezone.now(), error_node_id="out", error_message="x")

    more(["job-a", "job-b"])
    browser.get(path)
    few = queries_of(browser, path)
    more([f"job-{letter}" for letter in "cdefghijkl"])
    assert queries_of(browser, path) == few
    assert few <= 20


def rows_like(one: Model, changes: Iterable[dict[str, Any]]) -> None:
    """In its table, by column names of its model: making 100,000 objects would take longer than all that is measured here."""
    fields = {field.attname: field for field in one._meta.concrete_fields if not isinstance(field, AutoField)}
    like = {name: field.get_db_prep_save(field.pre_save(one, add=True), connection) for name, field in fields.items()}
    columns = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields.values())
    statement = f"INSERT INTO {one._meta.db_table} ({columns}) VALUES ({', '.join(['%s'] * len(fields))})"
    made = [[*(like | {name: fields[name].get_db_prep_save(value, connection) for name, value in row.items()}).values()] for row in changes]
    with connection.cursor() as cursor:
        cursor.executemany(statement, made)


def filled(project: Project, *, jobs: int) -> None:
    """Ten executions a job: fifty jobs failed last, twenty run, one has a fifth of all executions; pages are equally full."""
    now = timezone.now()
    names = [f"job-{number:05}" for number in range(jobs)]
    like = Job(project=project, job_type="STREAMING", version=1)
    rows_like(like, ({"job_uid": uuid4(), "job_name": name, "title": f"Job {int(name[4:])}"} for name in names))
    made = list(Job.objects.order_by("id").values_list("id", flat=True))
    text = '{"nodes":{},"edges":{},"name":"x","type":"STREAMING"}'
    rows_like(JobVersion(version=1, dag_definition=text, logic_hash="h"), ({"job_id": one} for one in made))
    rows_like(JobDraft(document=text, logic_hash="h", base_version=1), ({"job_id": one} for one in made))
    rows_like(
        Execution(job_type="STREAMING", version=1, triggered_by="CRON", resolved={"max_retry_times": 3, "checkpoint_interval": 60}),
        (execution_of(number, jobs, made, now) for number in range(10 * jobs)),
    )
    running = Execution.objects.filter(status=S.RUNNING)
    running.update(confirmed_time=now, lease_expires_at=now + timedelta(minutes=1))
    MetricSample.objects.bulk_create(
        [
            MetricSample(execution=one, resolution=1, time=now - timedelta(seconds=second), in_per_second=10)
            for one in running
            for second in range(60)
        ]
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def execution_of(number: int, jobs: int, made: list[int], now: datetime) -> dict[str, Any]:
    of = number % jobs if number < 8 * jobs else 77
    last = 7 * jobs <= number < 8 * jobs
    status = S.RUNNING if last and number % (jobs // 20) == 0 else S.FAILED if last and number % (jobs // 50) == 1 else S.COMPLETED
    start = now - timedelta(seconds=(10 * jobs - number) * 2)
    return {
        "execution_id": new_execution_id(),
        "job_id": made[of],
        "job_name": f"job-{of:05}",
        "generation": uuid4(),
        "status": status,
        "start_time": start,
        "end_time": None if status == S.RUNNING else start + timedelta(seconds=30),
    }


def cpu_seconds(client: Client, path: str, tries: int = 12) -> float:
    """The slowest but one of `tries`, in seconds of this thread: with SQLite that is all there is, whatever else the machine does."""
    client.get(path)
    taken = []
    for _ in range(tries):
        begun = time.thread_time()
        assert client.get(path).status_code == 200
        taken.append(time.thread_time() - begun)
    return sorted(taken)[-2]


def all_lists(client: Client) -> dict[str, float]:
    """Path without its cursor → seconds."""
    second = client.get("/api/jobs").json()["next"]
    found = ("", "?order=job_name", "?status=FAILED", "?status=RUNNING", "?q=job-0")
    measured = {f"/api/jobs{query}": cpu_seconds(client, f"/api/jobs{query}") for query in found}
    for query in ("", "?status=RUNNING", "?job_name=job-00077"):
        measured[f"/api/executions{query}"] = cpu_seconds(client, f"/api/executions{query}")
    return measured | {"the second page of jobs": cpu_seconds(client, second)}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("times", [40, pytest.param(100, marks=pytest.mark.faults)])
def test_many_times_the_jobs_cost_a_few_times_as_much(editor: User, home: Project, client_of: Callable[[User], Client], times: int) -> None:
    clients = {"editor": client_of(editor), "superuser": client_of(User.objects.create_superuser("root", password="x"))}

    def measured() -> dict[tuple[str, str], float]:
        return {(who, path): taken for who, client in clients.items() for path, taken in all_lists(client).items()}

    with transaction.atomic():
        filled(home, jobs=FEW)
        few = measured()
        transaction.set_rollback(True)
    filled(home, jobs=times * FEW)
    assert not {asked: (few[asked], taken) for asked, taken in measured().items() if taken > 5 * few[asked]}
