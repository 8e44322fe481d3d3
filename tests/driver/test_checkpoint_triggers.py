"""Checkpoints that a job asks for itself, in real driver processes: by rows, by pages, and too many that fail."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from checkpoints.models import Checkpoint
from jobs.models import Event, Execution, Job
from jobs.services.executions import execution_cancel, execution_start
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.postgres_alone,
    pytest.mark.timeout(600),
]

Build = Callable[..., Job]
Start = Callable[..., Execution]
Written = Callable[..., list[int]]
#: No checkpoint by time.
NEVER = "0s"


def taken(execution: Execution, **given: str) -> list[Checkpoint]:
    return list(Checkpoint.objects.filter(execution_id=execution.execution_id, **given).order_by("checkpoint_id"))


def test_rows_ask_for_checkpoints_and_a_folder_that_cannot_be_written_ends_the_job(
    worker: Worker, numbers_job: Build, start: Start, written: Written, data: Path, user: User
) -> None:
    job = numbers_job(checkpoint_interval=NEVER, checkpoint_rows=100, checkpoint_tolerable_failures=1)
    execution = start(job)
    wait_until(lambda: len(taken(execution, status="COMPLETED")) >= 2, seconds=150, what="two checkpoints")
    first, second = (row.state_data["sources"]["numbers"]["next"] for row in taken(execution, status="COMPLETED")[:2])
    assert {row.origin for row in taken(execution)} == {"ROWS"}
    assert first >= 100
    assert second - first >= 50

    folder = Path(taken(execution)[0].storage_path).parent
    folder.rename(folder.with_name("away"))
    folder.write_text("a file stands where the folder was")
    ended = status_reached(execution, "FAILED")
    failed = taken(execution, status="FAILED")
    assert len(failed) == 2
    assert all(row.failure_reason.startswith("copying: ") for row in failed), [row.failure_reason for row in failed]
    assert ended.error_message.startswith("2 checkpoints in a row failed, the last one while copying: ")
    assert ended.error_message.endswith("and the job tolerates 1: mend that, then continue")
    assert (ended.error_class, ended.retry_count) == ("system", 0)
    rows = written()
    assert rows == list(range(len(rows)))

    folder.unlink()
    folder.with_name("away").rename(folder)
    again = execution_start(job=job, user=user, triggered_by="API", start_from="continue")
    wait_until(lambda: len(written()) > len(rows) + 100, seconds=150, what="rows behind those of the failed execution")
    execution_cancel(execution=again, user=user)
    status_reached(again, "CANCELLED")
    rows = written()
    assert rows == list(range(len(rows)))


def test_an_import_has_a_checkpoint_behind_its_last_page_until_its_settings_delete_it(
    worker: Worker, numbers_job: Build, start: Start, written: Written
) -> None:
    settings = {"checkpoint_interval": NEVER, "checkpoint_each_page": True}
    source = {"total_rows": 200, "rows_per_batch": 50}
    kept = start(numbers_job("kept", job_type="BATCH_ROLLER", source=source, **settings))
    gone = start(numbers_job("gone", job_type="BATCH_ROLLER", source=source, checkpoint_on_completion="delete", **settings))
    status_reached(kept, "COMPLETED")
    status_reached(gone, "COMPLETED")
    assert {row.origin for row in taken(kept)} == {"PAGE"}
    assert taken(kept)[-1].state_data["sources"]["numbers"]["next"] == 200
    deleted = Event.objects.filter(execution=gone, kind="checkpoint_deleted", reason__contains="completed")
    wait_until(lambda: deleted.count() == len(taken(gone)) > 0, seconds=90, what="the other import's checkpoints to go")
    assert {row.status for row in taken(gone)} == {"EXPIRED"}
    wait_until(lambda: not any(Path(row.storage_path).exists() for row in taken(gone)), seconds=60, what="their files to follow")
    assert {row.status for row in taken(kept)} == {"COMPLETED"}
