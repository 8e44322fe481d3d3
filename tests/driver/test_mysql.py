"""A stream into a MariaDB table and another out of it, in real drivers, while the server is killed."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pymysql
import pytest
from django.contrib.auth.models import User

from jobs.models import Connection, Event, Execution, Job, Project
from jobs.services.executions import execution_stop
from jobs.services.jobs import job_create
from jobs.services.secrets import secret_encrypt
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.mariadb import USER, MariadbServer, mariadb_missing
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.faults,
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.one_database,
    pytest.mark.timeout(400),
]

Start = Callable[..., Execution]


@pytest.fixture
def own_mariadb() -> Iterator[MariadbServer]:
    """A server that may be killed."""
    if missing := mariadb_missing():
        pytest.skip(missing)
    with MariadbServer() as server:
        with closing(server.open()) as session:
            session.cursor().execute("CREATE DATABASE warehouse")
        yield server


def numbers(server: MariadbServer, table: str) -> list[int]:
    """In order; none while the server or the table is not there."""
    try:
        with closing(server.open("warehouse")) as session, session.cursor() as cursor:
            cursor.execute(f"SELECT id FROM {table} ORDER BY id")
            return [row[0] for row in cursor.fetchall()]
    except pymysql.Error:
        return []


@pytest.fixture
def job(user: User, own_mariadb: MariadbServer, worker: Worker) -> Job:
    """Numbers into `landed`; in the same job `landed` is read again by its key, into `copied`."""
    project = Project.objects.get(slug="default")
    config = {"host": "127.0.0.1", "port": own_mariadb.port, "database": "warehouse", "user": USER}
    secrets = secret_encrypt({"password": own_mariadb.password})
    Connection.objects.create(project=project, name="main", kind="mysql", config=config, secrets=secrets)
    with closing(own_mariadb.open("warehouse")) as session:
        session.cursor().execute("CREATE TABLE landed (id bigint PRIMARY KEY, time datetime(6), `key` text, value double)")
    generator = {"total_rows": None, "rows_per_second": 200, "rows_per_batch": 100}
    nodes = {
        "made": ("source.generator", generator),
        "landed": ("sink.jdbc", {"connection": "main", "table": "landed", "mode": "upsert", "keys": ["id"]}),
        "again": ("source.jdbc", {"connection": "main", "table": "landed", "key_column": "id", "rows_per_batch": 500}),
        "copied": ("sink.jdbc", {"connection": "main", "table": "copied", "mode": "append"}),
    }
    document = {
        "schema_version": 1,
        "name": "numbers",
        "type": "STREAMING",
        "nodes": {key: {"type": kind, "type_version": 1, "name": key.title(), "config": config} for key, (kind, config) in nodes.items()},
        "edges": {"e1": {"from": ["made", "out"], "to": ["landed", "in"]}, "e2": {"from": ["again", "out"], "to": ["copied", "in"]}},
        "settings": {"trigger_interval": "200ms", "retry_interval": "500ms", "parallelism": 1},
    }
    return job_create(user=user, document=document)


def test_a_server_that_is_killed_in_the_middle_is_waited_for_loses_nothing_and_gets_nothing_twice(
    own_mariadb: MariadbServer, job: Job, start: Start, user: User
) -> None:
    def more_rows() -> None:
        before = len(numbers(own_mariadb, "copied"))
        wait_until(lambda: len(numbers(own_mariadb, "copied")) > before + 300, seconds=120, what="more rows")

    execution = status_reached(start(job), "RUNNING", "FAILED")
    more_rows()
    # A machine under load may have taken one already: Spark gives a Python source ten seconds to connect.
    retries = Execution.objects.get().retry_count
    own_mariadb.kill()
    # Between two statements the server is found silent, amid one the line is lost.
    away = rf'"main": (127.0.0.1:{own_mariadb.port} does not answer|Lost connection|.*gone away|the line was lost)'
    wait_until(lambda: Event.objects.filter(reason__regex=away).exists(), seconds=60, what="why it tries again is told")
    wait_until(lambda: Execution.objects.filter(waiting_for="mysql main").exists(), seconds=60, what="the next attempt waits")
    # Neither the attempt that broke nor the one that waits uses up a retry.
    assert Execution.objects.get().retry_count == retries, list(Event.objects.order_by("id").values_list("kind", "reason"))
    own_mariadb.start()
    more_rows()
    assert Execution.objects.get(waiting_for="").status == "RUNNING"
    execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
    status_reached(execution, "PAUSED")
    landed, copied = numbers(own_mariadb, "landed"), numbers(own_mariadb, "copied")
    assert landed == list(range(len(landed)))
    assert copied == list(range(len(copied)))
    assert 600 < len(copied) <= len(landed)
