"""A store that does not answer: one run of deletions asks it once, however much there is to delete."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from checkpoints.cleaning import checkpoints_clean, checkpoints_unwanted_delete
from checkpoints.deletion import checkpoints_delete
from checkpoints.models import Checkpoint
from checkpoints.retention import Scope
from jobs.models import Execution
from tests.checkpoints.kept import execution_row, kept
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db


class Deaf:
    """Hangs up on everybody who has asked something, and counts. On those who have not, a client may not call again."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.calls = 0
        threading.Thread(target=self._hang_up, daemon=True).start()

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                near.recv(65536)
                self.calls += 1
                near.close()

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def deaf(tmp_path: Path, settings: Any) -> Iterator[Deaf]:
    """The installation's S3."""
    found = Deaf()
    settings.CHECKPOINT_ROOT = tmp_path / "root"
    settings.CHECKPOINT_STORAGE_URLS = ["s3://safe/checkpoints"]
    settings.CHECKPOINT_STORAGE_KEY, settings.CHECKPOINT_STORAGE_SECRET = "key", "secret"
    settings.CHECKPOINT_STORAGE_ENDPOINT = f"http://127.0.0.1:{found.port}"
    yield found
    found.close()


def ended_in_s3(name: str, count: int) -> list[Checkpoint]:
    """Checkpoints of an execution of its own, cancelled now, that wants none of them then."""
    execution = execution_row(job_row(name), resolved={"checkpoint_on_cancel": "delete"})
    rows = [kept(execution) for _ in range(count)]
    Checkpoint.objects.filter(pk__in=[row.pk for row in rows]).update(storage="s3")
    Execution.objects.filter(pk=execution.pk).update(status="CANCELLED", end_time=timezone.now())
    return list(Checkpoint.objects.filter(pk__in=[row.pk for row in rows]).select_related("execution__job"))


def calls_of(deaf: Deaf, deleting: Callable[[list[Checkpoint]], object], count: int) -> int:
    """How often it was called for so many checkpoints, each of which is marked."""
    before = deaf.calls
    rows = ended_in_s3(f"of-{count}", count)
    deleting(rows)
    assert set(Checkpoint.objects.filter(pk__in=[row.pk for row in rows]).values_list("status", flat=True)) == {"EXPIRED"}
    return deaf.calls - before


@pytest.mark.parametrize(
    "deleting",
    [
        lambda rows: checkpoints_unwanted_delete(),
        lambda rows: checkpoints_delete(rows=rows, deleted_by="olga", reason="a test"),
        lambda rows: checkpoints_clean(scope=Scope(job_id=rows[0].execution.job_id), dry_run=False, deleted_by="olga"),
    ],
    ids=["ended", "by-a-person", "clean-up"],
)
def test_it_is_asked_no_more_often_for_many_than_for_one(deaf: Deaf, deleting: Callable[[list[Checkpoint]], object]) -> None:
    for_one = calls_of(deaf, deleting, 1)
    assert for_one > 0
    assert calls_of(deaf, deleting, 4) == for_one
