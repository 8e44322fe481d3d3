"""Connections that jobs use are tried from time to time, each by one worker, and what was found is kept."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection as database
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.driver import connection_checks
from jobs.driver.connection_checks import ConnectionChecks
from jobs.models import Connection, Execution, ExecutionStatus, Project, Role
from jobs.nodes.connection_kind import CheckStep
from jobs.services.connection_health import connection_check, connection_checked, connection_test, connections_claim
from jobs.services.connections import connection_update
from jobs.services.jobs import job_create, job_delete
from jobs.services.secrets import secret_encrypt
from tests.api.rows import chain, execution, member
from tests.servers.mosquitto import PASSWORD, USER, MosquittoServer, mosquitto_missing
from tests.servers.waiting import wait_until

FAILED = [CheckStep("name", True, "known"), CheckStep("port", False, "nothing answers")]


@pytest.fixture
def editor(transactional_db: None) -> User:
    return member(Project.objects.get_or_create(slug="default", defaults={"title": "Default"})[0], "erin", Role.EDITOR)


@pytest.fixture
def broker() -> Iterator[MosquittoServer]:
    """A broker that may be stopped."""
    if missing := mosquitto_missing():
        pytest.skip(missing)
    with MosquittoServer() as server:
        yield server


def kept(name: str, **config: Any) -> Connection:
    given = {"host": "127.0.0.1", "port": 1, **config}
    project = Project.objects.get(slug="default")
    return Connection.objects.create(project=project, name=name, kind="mqtt", config=given, secrets=secret_encrypt({"password": PASSWORD}))


def document_with(connection: str, name: str) -> dict[str, Any]:
    document = chain(name)
    document["nodes"]["numbers"] = {
        "type": "source.mqtt",
        "name": "In",
        "config": {"connection": connection, "topics": "open/x", "columns": [{"name": "id", "type": "long"}]},
    }
    return document


@pytest.fixture
def running_checks(settings: Any) -> Iterator[Callable[[], ConnectionChecks]]:
    settings.CONNECTION_CHECK_SECONDS = 0.4
    with ExitStack() as stack:

        def start() -> ConnectionChecks:
            checks = ConnectionChecks()
            checks.start()
            stack.callback(checks.stop)
            return checks

        yield start


def found(row: Connection, *, ok: bool) -> Connection:
    def reached() -> bool:
        row.refresh_from_db()
        return row.test_ok is ok

    wait_until(reached, seconds=20, what=f"{row.name} tried with ok {ok}: {row.test_message}")
    return row


@pytest.mark.server
def test_a_broker_that_goes_away_and_comes_back_is_noticed(
    editor: User, broker: MosquittoServer, running_checks: Callable[[], ConnectionChecks]
) -> None:
    row = kept("main", port=broker.closed_port, sign_in="password", user=USER)
    job_create(user=editor, document=document_with("main", "reads"))
    running_checks()
    assert (found(row, ok=True).failing_since, row.test_step, row.jobs_using) == (None, "", 1)
    broker.stop()
    began = found(row, ok=False).failing_since
    assert (row.test_step, row.test_message.startswith(f"127.0.0.1:{broker.closed_port} does not answer")) == ("port", True)
    assert began == row.test_time
    wait_until(lambda: Connection.objects.get(pk=row.pk).test_time != began, seconds=20, what="another try")
    row.refresh_from_db()
    assert row.failing_since == began, "since the first of the failures"
    broker.start()
    assert (found(row, ok=True).failing_since, row.test_step) == (None, "")


def test_of_two_workers_each_connection_is_taken_by_one(editor: User, settings: Any) -> None:
    for number in range(12):
        kept(f"c{number}")
        job_create(user=editor, document=document_with(f"c{number}", f"job-{number}"))
    gate = threading.Barrier(2)
    taken: list[list[str]] = []

    def worker() -> None:
        gate.wait(10)
        try:
            taken.append([row.name for row in connections_claim(most=20)])
        finally:
            database.close()

    threads = [threading.Thread(target=worker) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(taken[0] + taken[1]) == sorted(f"c{number}" for number in range(12))
    assert connections_claim(most=20) == [], "nor again before its time"
    Connection.objects.filter(name="c3").update(check_claim_time=timezone.now() - timedelta(seconds=settings.CONNECTION_CHECK_SECONDS + 5))
    assert [row.name for row in connections_claim(most=20)] == ["c3"]


def test_only_what_published_and_unfinished_jobs_use_is_tried(editor: User) -> None:
    for name in ("published", "drafted", "nobodys", "before"):
        kept(name)
    job = job_create(user=editor, document=document_with("before", "moved"))
    execution(job, ExecutionStatus.RUNNING, version=1)
    job_create(user=editor, document=document_with("drafted", "draft"), publish=False)
    other = job_create(user=editor, document=document_with("published", "published"))
    type(job).objects.filter(pk=job.pk).update(dag_definition=other.dag_definition, version=2)
    assert {row.name: row.jobs_using for row in connections_claim(most=20)} == {"published": 2, "before": 1}
    Connection.objects.update(check_claim_time=None, jobs_using=1)
    Execution.objects.update(status=ExecutionStatus.CANCELLED)
    job_delete(job=other, user=editor)
    assert {row.name: row.jobs_using for row in connections_claim(most=20)} == {"published": 1}
    assert Connection.objects.get(name="before").jobs_using == 0


def test_the_claim_asks_no_more_for_many_connections_and_jobs_but_an_update_each(editor: User) -> None:
    def queries(most: int) -> int:
        Connection.objects.update(check_claim_time=None)
        with CaptureQueriesContext(
            database,
        ) as captured:
            assert len(connections_claim(most=most)) == most
        return len(captured) - most

    for number in range(6):
        kept(f"c{number}")
        job_create(user=editor, document=document_with(f"c{number}", f"job-{number}"))
    queries(6)  # reads the documents, each once
    assert queries(1) == queries(6)


def test_what_was_found_of_a_connection_that_changed_meanwhile_is_not_kept(editor: User) -> None:
    row = kept("main")
    before = Connection.objects.get(pk=row.pk)
    row = connection_update(connection=row, user=editor, changes={"description": "ours"})
    assert not connection_checked(connection=before, steps=FAILED)
    assert Connection.objects.get(pk=row.pk).test_time is None
    assert connection_checked(connection=row, steps=FAILED)
    row = Connection.objects.get(pk=row.pk)
    assert (row.test_ok, row.test_step, row.test_message) == (False, "port", "nothing answers")
    row = connection_update(connection=row, user=editor, changes={"description": "theirs"})
    assert (row.test_step, row.failing_since) == ("", None)


def test_a_test_by_hand_is_kept_the_same_way(editor: User) -> None:
    row = kept("main")
    job_create(user=editor, document=document_with("main", "reads"))
    connection_test(connection=row, user=editor)
    row.refresh_from_db()
    assert (row.test_ok, row.test_step, row.jobs_using) == (False, "port", 1)
    assert row.failing_since == row.test_time
    assert connections_claim(most=5) == [], "it was just tried"


def test_a_secret_that_an_answer_repeats_is_not_kept(editor: User) -> None:
    row = Connection.objects.create(
        project=Project.objects.get(slug="default"),
        name="main",
        kind="mqtt",
        config={"host": f"{PASSWORD}.invalid", "port": 1},
        secrets=secret_encrypt({"password": PASSWORD}),
    )
    (step,) = connection_check(row)
    assert (step.ok, PASSWORD in step.message, "•••.invalid" in step.message) == (False, False, True)


@pytest.mark.slow
def test_a_system_that_never_answers_counts_as_failing_and_the_others_are_tried(
    editor: User, running_checks: Callable[[], ConnectionChecks], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_checks, "DEADLINE_SECONDS", 0.3)
    stuck, fine = kept("stuck"), kept("fine")
    for row in (stuck, fine):
        job_create(user=editor, document=document_with(row.name, f"reads-{row.name}"))
    let_go = threading.Event()
    begun: list[str] = []

    def check(row: Connection) -> list[CheckStep]:
        begun.append(row.name)
        if row.name == "stuck":
            let_go.wait(30)
        return [CheckStep("port", True, "answers")]

    monkeypatch.setattr(connection_checks, "connection_check", check)
    running_checks()
    try:
        assert found(stuck, ok=False).test_message.startswith("no answer within")
        wait_until(lambda: begun.count("fine") > 2, seconds=20, what="the other tried again")
        assert begun.count("stuck") == 1, "not tried again while the try before has not ended"
    finally:
        let_go.set()
    found(stuck, ok=True)
