"""What is reported of an attempt: when the retries of an execution count no more, and that no text keeps counts from being written."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from jobs.engine.events import BatchCommitted, BatchWritten, RowsRejected
from jobs.models import Execution, RejectedRow
from jobs.reporting import Reporter, Writer, reporter
from jobs.services.executions import execution_attempt_failed, execution_claim, execution_start
from tests.services.job_rows import driver_row, job_row, operator

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def writer() -> Iterator[Writer]:
    made = Writer()
    yield made
    made.close()


def attempt(writer: Writer) -> Execution:
    """Claim it, commit one batch of ten rows, report it."""
    Execution.objects.update(next_attempt_at=None)
    execution = execution_claim(driver=driver_row())
    assert execution is not None
    ear = Reporter(execution, writer, project="default", trigger_seconds=1.0, log=logging.getLogger("test"))
    number = execution.attempt
    ear(BatchWritten(query="out", batch_id=number, rows_in=10, rows_out=10, rejected=0))
    committed = BatchCommitted("out", number, datetime.now(UTC), 10, 1.0, 1.0, durations_ms={}, sources={})
    ear(committed)
    ear.close()
    return execution


def fail(execution: Execution) -> str:
    return execution_attempt_failed(execution_id=execution.execution_id, attempt=execution.attempt, actor="d", message="the table is gone")


def test_attempts_that_commit_one_batch_and_die_end_with_their_cause(writer: Writer) -> None:
    execution_start(job=job_row(max_retry_times=2), user=operator(), triggered_by="API")
    assert [fail(attempt(writer)) for _ in range(3)] == ["SCHEDULED", "SCHEDULED", "FAILED"]
    ended = Execution.objects.get()
    assert (ended.error_message, ended.processed_records > 0) == ("the table is gone", True)


def test_an_attempt_that_was_healthy_for_a_while_starts_the_count_anew(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    execution_start(job=job_row(max_retry_times=1), user=operator(), triggered_by="API")
    assert fail(attempt(writer)) == "SCHEDULED"
    assert Execution.objects.get().retry_count == 1
    monkeypatch.setattr(reporter, "healthy_seconds", lambda execution: 0.0)
    later = attempt(writer)
    assert Execution.objects.get().retry_count == 0
    monkeypatch.undo()
    assert fail(later) == "SCHEDULED"
    assert fail(attempt(writer)) == "FAILED"


def test_a_while_is_ten_minutes_and_three_checkpoint_intervals() -> None:
    assert reporter.healthy_seconds(Execution(resolved={"checkpoint_interval": 60.0})) == 600
    assert reporter.healthy_seconds(Execution(resolved={"checkpoint_interval": 3600.0})) == 3 * 3600
    assert reporter.healthy_seconds(Execution(resolved={})) == 600


def test_a_rejected_message_that_no_database_stores_keeps_no_counts_from_being_written(writer: Writer) -> None:
    execution_start(job=job_row(), user=operator(), triggered_by="API")
    execution = execution_claim(driver=driver_row())
    assert execution is not None
    ear = Reporter(execution, writer, project="default", trigger_seconds=1.0, log=logging.getLogger("test"))
    ear(RowsRejected("out", 0, "in", 1, ({"reason": "no JSON", "row": "\x00\x01\ud83d"},)))
    ear(BatchWritten(query="out", batch_id=0, rows_in=10, rows_out=9, rejected=1))
    assert writer.flush()
    ear.close()
    assert RejectedRow.objects.get().row == "\ufffd\x01?"
    assert Execution.objects.get().processed_records == 10
