"""A job of numbered rows into a SQLite table, and a worker to run it."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from jobs.models import Connection, Execution, Job, Project
from jobs.services.executions import execution_start
from jobs.services.jobs import job_create
from tests.driver.worker import Worker
from tests.servers.waiting import wait_until


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def user(transactional_db: None) -> User:
    Project.objects.get_or_create(slug="default", defaults={"title": "Default"})
    return User.objects.create_superuser("olga", password="x" * 12)


@pytest.fixture
def worker(database_url: str, data: Path, user: User) -> Iterator[Worker]:
    with Worker(database_url=database_url, data=data) as running:
        yield running


@pytest.fixture
def numbers_job(user: User, data: Path) -> Callable[..., Job]:
    """Builds a job: rows numbered from 0 appended to table `numbers` of the target database."""

    def build(
        name: str = "numbers",
        *,
        job_type: str = "STREAMING",
        source_type: str = "source.generator",
        source: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Job:
        project = Project.objects.get(slug="default")
        Connection.objects.get_or_create(
            project=project, name="target", defaults={"kind": "sqlite", "config": {"path": str(data / "target.sqlite3")}}
        )
        document = {
            "schema_version": 1,
            "name": name,
            "type": job_type,
            "nodes": {
                "numbers": {
                    "type": source_type,
                    "type_version": 1,
                    "name": "Numbers",
                    "config": source or {"total_rows": None, "rows_per_second": 100, "rows_per_batch": 50},
                },
                "out": {
                    "type": "sink.jdbc",
                    "type_version": 1,
                    "name": "Out",
                    "config": {"connection": "target", "table": name.replace("-", "_"), "mode": "append"},
                },
            },
            "edges": {"e1": {"from": ["numbers", "out"], "to": ["out", "in"]}},
            "settings": {"trigger_interval": "200ms", "retry_interval": "500ms", "parallelism": 1, **settings},
        }
        return job_create(user=user, document=json.loads(json.dumps(document)))

    return build


@pytest.fixture
def start(user: User) -> Callable[..., Execution]:
    return lambda job, **options: execution_start(job=job, user=user, triggered_by="API", **options)


@pytest.fixture
def written(data: Path) -> Callable[..., list[int]]:
    """The numbers in the target table, in order."""

    def read(table: str = "numbers") -> list[int]:
        with sqlite3.connect(data / "target.sqlite3", timeout=20) as target:
            try:
                return [row[0] for row in target.execute(f"SELECT id FROM {table} ORDER BY id")]
            except sqlite3.OperationalError:
                return []

    return read


def status_reached(execution: Execution, *statuses: str, seconds: float = 150) -> Execution:
    """The execution once it has one of `statuses`."""

    def reached() -> bool:
        execution.refresh_from_db()
        return execution.status in statuses

    try:
        wait_until(reached, seconds=seconds, what=f"status {statuses}")
    except TimeoutError as error:
        events = [f"{event.seq} {event.kind} {event.to_status} {event.reason}" for event in execution.events.order_by("seq")]
        raise TimeoutError("\n".join([str(error), f"it is {execution.status}: {execution.error_message}", *events])) from None
    return execution
