"""What an execution's history is told is kept, in order, also when the database was away in between."""

import logging
import threading
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, connections

from jobs.engine.events import Noticed, Waiting
from jobs.models import Event, Execution
from jobs.reporting import Reporter, Writer
from jobs.reporting.history import History
from jobs.services.executions import execution_claim, execution_start
from tests.services.job_rows import driver_row, job_row, operator

pytestmark = pytest.mark.django_db(transaction=True)
LOG = logging.getLogger("test")


class InThread:
    """Does one thing after another in a thread of its own, whose connection to the database stays open in between."""

    def __init__(self) -> None:
        self._asked, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._next: Callable[[], None] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def do(self, what: Callable[[], None] | None) -> None:
        self._next = what
        self._asked.release()
        if what is not None:
            assert self._done.acquire(timeout=60)

    def close(self) -> None:
        self.do(None)
        self._thread.join(60)

    def _run(self) -> None:
        while self._asked.acquire() and self._next is not None:
            try:
                self._next()
            finally:
                self._done.release()
        connections.close_all()


def other_connections_end() -> None:
    """As when the server is started anew; SQLite has none."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
            cursor.execute(ended)


def test_that_a_system_answers_again_is_kept_although_the_database_was_started_anew() -> None:
    execution_start(job=job_row(), user=operator(), triggered_by="API")
    execution = execution_claim(driver=driver_row())
    assert execution is not None
    writer, thread = Writer(), InThread()
    ear = Reporter(execution, writer, project="default", trigger_seconds=1.0, log=LOG)
    thread.do(lambda: ear(Waiting("in", "kafka main")))
    assert Execution.objects.get().waiting_for == "kafka main"
    other_connections_end()
    thread.do(lambda: ear(Waiting("in", "")))
    thread.do(lambda: ear(Noticed("one more", "in", "warning")))
    assert Execution.objects.get().waiting_for == ""
    assert list(Event.objects.order_by("seq").values_list("kind", flat=True))[-3:] == ["waiting", "answers", "notice"]
    thread.close()
    ear.close()
    writer.close()


def test_between_two_entries_no_connection_is_kept() -> None:
    thread, history, kept = InThread(), History(LOG), list[tuple[int, bool]]()
    thread.do(lambda: history.add(lambda: kept.append((User.objects.count(), is_connected()))))
    thread.do(lambda: kept.append((-1, is_connected())))
    thread.close()
    assert kept == [(0, True), (-1, False)]


def is_connected() -> bool:
    return connection.connection is not None


def test_what_the_database_does_not_take_comes_again_before_what_is_later(caplog: pytest.LogCaptureFixture) -> None:
    away, kept = [True], list[int]()
    history = History(LOG)

    def entry(number: int) -> Callable[[], None]:
        def write() -> None:
            if away[0]:
                raise DatabaseError("away")
            kept.append(number)

        return write

    history.add(entry(1))
    history.add(entry(2))
    assert kept == []
    assert caplog.text.count("the history waits for the database: away") == 1
    away[0] = False
    history.add(entry(3))
    assert kept == [1, 2, 3]
    history.write()
    assert kept == [1, 2, 3]


def test_what_cannot_be_written_at_all_stands_in_no_others_way() -> None:
    history, kept = History(LOG), list[int]()

    def breaks() -> None:
        raise ValueError("no execution")

    with pytest.raises(ValueError, match="no execution"):
        history.add(breaks)
    history.add(lambda: kept.append(1))
    assert kept == [1]
