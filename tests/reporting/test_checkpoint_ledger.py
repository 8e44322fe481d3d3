"""What a driver's checkpoints leave in rows and events, also where the database or the disk gives trouble in between."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from checkpoints.ledger import Ticket
from checkpoints.models import Checkpoint
from checkpoints.storages import folder_of
from jobs.models import Execution
from jobs.reporting import RowLedger
from tests.checkpoints.kept import cut_of, execution_row
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def execution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Execution:
    monkeypatch.setattr(settings, "CHECKPOINT_ROOT", tmp_path / "root")
    monkeypatch.setattr(settings, "CHECKPOINTS_KEPT", 1)
    return execution_row(job_row())


@pytest.fixture
def ledger(execution: Execution) -> RowLedger:
    return RowLedger(execution_id=execution.execution_id, attempt=1, actor="driver")


def begun(ledger: RowLedger) -> tuple[Ticket, Checkpoint]:
    ticket = ledger.begin(origin="INTERVAL", requested_by="", savepoint=False, label="")
    return ticket, Checkpoint.objects.select_related("execution__job").get(pk=ticket.row)


def test_what_is_told_twice_is_one_event(execution: Execution, ledger: RowLedger) -> None:
    """The database took it, and its answer was lost."""
    ticket, row = begun(ledger)
    result = cut_of(execution, row, 2)
    ledger.complete(ticket, result)
    ledger.complete(ticket, result)
    ledger.fail(ticket, "late", {})
    failing, _ = begun(ledger)
    for _ in range(2):
        ledger.fail(failing, "no space left on device", {})
    kinds = execution.events.exclude(kind="checkpoint_pending").order_by("seq").values_list("kind", flat=True)
    assert list(kinds) == ["checkpoint_completed", "checkpoint_failed"]


def test_between_two_checkpoints_no_connection_is_kept(execution: Execution, ledger: RowLedger) -> None:
    def kept_after(act: Callable[..., Any], *given: Any, **named: Any) -> Any:
        done = act(*given, **named)
        assert connection.connection is None
        return done

    begin = partial(ledger.begin, origin="INTERVAL", requested_by="", savepoint=False, label="")
    ticket = kept_after(begin)
    kept_after(ledger.complete, ticket, cut_of(execution, Checkpoint.objects.get(pk=ticket.row), 2))
    kept_after(ledger.fail, kept_after(begin), "no space left on device", {})


def test_trouble_with_older_ones_leaves_a_complete_one_complete(
    execution: Execution, ledger: RowLedger, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(**_: Any) -> None:
        raise OSError("the disk is away")

    monkeypatch.setattr("jobs.reporting.ledger.checkpoints_retain", away)
    ticket, row = begun(ledger)
    ledger.complete(ticket, cut_of(execution, row, 2))
    row.refresh_from_db()
    assert row.status == "COMPLETED"
    assert "older ones stay until the next clean-up: the disk is away" in caplog.text


def test_files_that_cannot_be_deleted_hold_up_no_checkpoint(execution: Execution, ledger: RowLedger, tmp_path: Path) -> None:
    """Somebody moved its folder to another disk, and linked it."""
    rows: list[Checkpoint] = []
    for batches in (2, 3):
        ticket, row = begun(ledger)
        if rows:
            folder_of(rows[0]).rename(tmp_path / "elsewhere")
            folder_of(rows[0]).symlink_to(tmp_path / "elsewhere")
        ledger.complete(ticket, cut_of(execution, row, batches))
        rows.append(row)
    assert list(Checkpoint.objects.order_by("pk").values_list("status", flat=True)) == ["EXPIRED", "COMPLETED"]
    assert (tmp_path / "elsewhere" / "manifest.json").exists()
