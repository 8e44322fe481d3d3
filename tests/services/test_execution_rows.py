"""Rows of executions: found by their generation, and locked in one order by all that changes several."""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from jobs.models import Execution, ExecutionStatus, QueryProgress
from jobs.services.executions import execution_claim, execution_start, leases_renew
from jobs.services.metrics import Reported, reported_write
from tests.servers.waiting import wait_until
from tests.services.job_rows import driver_row, job_row, operator


@pytest.mark.django_db
def test_executions_of_a_generation_are_found_without_looking_at_all() -> None:
    many_executions()
    of_generation = {"generation": uuid.uuid4()}
    for rows in (Execution.objects.filter(**of_generation), Execution.with_imported.filter(**of_generation)):
        assert "execution_generation" in rows.explain()
    counts = QueryProgress.objects.filter(execution__generation=uuid.uuid4())
    assert "execution_generation" in counts.explain()


def many_executions() -> None:
    """As many as a planner needs to weigh its indexes: of a few rows it reads the whole table, or any index."""
    job = job_row()
    same = {"job": job, "job_name": job.job_name, "job_type": job.job_type, "version": 1, "triggered_by": "CRON"}
    Execution.objects.bulk_create(
        Execution(**same, generation=uuid.uuid4(), status=ExecutionStatus.COMPLETED, start_time=timezone.now()) for _ in range(1000)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


@pytest.mark.processes
@pytest.mark.server
@pytest.mark.postgres_alone
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("write", ["leases", "counts"])
def test_what_changes_several_executions_locks_them_in_one_order(write: str) -> None:
    """Else the renewal of a driver's leases and its counts could wait for one another."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite knows no locks of rows")
    driver = driver_row()
    first, second = (claimed(name, driver) for name in ("numbers", "letters"))

    def leases() -> None:
        leases_renew(driver=driver, held={one.execution_id: one.attempt for one in (second, first)})

    def counts() -> None:
        reported_write(batch=[Reported(one.execution_id, one.attempt, str(one.generation), {"buffer_size": 1}) for one in (second, first)])

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Execution.objects.filter(pk=first.pk).update(buffer_size=0)
            writing = pool.submit(closing(leases if write == "leases" else counts))
            wait_until(somebody_waits_for_a_lock, seconds=20, what="the writer that comes to the first execution")
            assert Execution.objects.select_for_update(skip_locked=True).filter(pk=second.pk).exists(), "the first is locked first"
        writing.result(30)


def claimed(name: str, driver: Any) -> Execution:
    execution_start(job=job_row(name), user=operator(), triggered_by="API")
    found = execution_claim(driver=driver)
    assert found is not None
    return found


def closing(write: Callable[[], None]) -> Callable[[], None]:
    def written() -> None:
        try:
            write()
        finally:
            connection.close()

    return written


def somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])
