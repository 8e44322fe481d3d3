"""A store that takes a question and never answers: what the worker does for the housekeeping must not keep it from ending."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from checkpoints.cleaning import checkpoints_clean
from checkpoints.models import Checkpoint
from checkpoints.retention import Scope
from checkpoints.storages import key_of, storage_named
from jobs.driver.leaving import LEAVE_SECONDS
from jobs.models import Execution
from tests.checkpoints.kept import execution_row, stored
from tests.driver.flow import Flow
from tests.driver.test_canary import DRIVERLESS
from tests.driver.test_checkpoint_storage import aged, stored_in, used
from tests.driver.test_travel import installed
from tests.driver.worker import Worker
from tests.servers.s3 import S3Server
from tests.services.job_rows import job_row

pytestmark = [pytest.mark.processes, pytest.mark.server, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(300)]
_GRACE_SECONDS = 4


@pytest.fixture
def own_s3() -> Iterator[S3Server]:
    with S3Server() as server:
        server.bucket_create("safe")
        yield server


def cancelled_and_to_be_deleted() -> list[Checkpoint]:
    """Two checkpoints, in the installation's store, of an execution that wants none of them now that it is cancelled."""
    execution = execution_row(job_row("unwanted"), resolved={"checkpoint_on_cancel": "delete"})
    rows = [stored(execution, "s3") for _ in range(2)]
    Execution.objects.filter(pk=execution.pk).update(status="CANCELLED", end_time=timezone.now())
    return rows


@pytest.mark.faults
def test_a_worker_ends_beside_a_silent_store_and_the_next_clean_up_goes_on(
    database_url: str, own_s3: S3Server, tmp_path: Path, settings: Any
) -> None:
    data = tmp_path / "data"
    installed(settings, data)
    with Flow(own_s3.port) as flow:
        variables: dict[str, Any] = {**used(settings, stored_in(flow.port)), **DRIVERLESS, "STOP_GRACE_SECONDS": _GRACE_SECONDS}
        rows = cancelled_and_to_be_deleted()
        keys = {key_of(row) for row in rows}
        flow.hold(rb"(GET|HEAD|DELETE) ")
        with Worker(database_url=database_url, data=data, ready=False, **variables) as worker:
            assert flow.held.wait(60), "the store is asked to delete"
            told = time.monotonic()
            worker.stop()
            took = time.monotonic() - told
        assert worker.process.returncode == 0, worker.output[-3000:]
        assert took < _GRACE_SECONDS + LEAVE_SECONDS, worker.output[-3000:]
        assert worker.processes() == [], "nothing of it is left"
        assert f"a task did not end within {_GRACE_SECONDS} s" in worker.output

    used(settings, stored_in(own_s3.port))
    storage = storage_named("s3")
    marked = set(Checkpoint.objects.filter(status="EXPIRED"))
    assert marked, "rows say so before their files go"
    assert {one.key for one in storage.list_stored()} == keys
    aged(own_s3.folder / "data", Path(settings.CHECKPOINT_ROOT))
    checkpoints_clean(scope=Scope(), dry_run=False, deleted_by="olga")
    assert {one.key for one in storage.list_stored()} == keys - {key_of(row) for row in marked}
