"""What room checkpoints take, for those who may see them."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from checkpoints.models import Checkpoint
from jobs.models import ExecutionStatus, Job, Project
from tests.api.rows import checkpoint, execution, job

pytestmark = pytest.mark.django_db

USAGE = "/api/checkpoints/usage"


def sized(row: Checkpoint, *, days: float = 0, **given: Any) -> Checkpoint:
    Checkpoint.objects.filter(pk=row.pk).update(create_time=timezone.now() - timedelta(days=days), **given)
    return row


def test_rooms_are_told_together_by_age_and_by_job(browser: Client, editor: User, stranger: User, elsewhere: Project) -> None:
    small, large = (execution(job(editor, name), ExecutionStatus.RUNNING) for name in ("small", "large"))
    sized(checkpoint(small), storage_size_bytes=50, exclusive_bytes=5)
    sized(checkpoint(large), days=3, storage_size_bytes=4000, exclusive_bytes=400, pinned=True)
    sized(checkpoint(large, 2), days=20, storage_size_bytes=300, exclusive_bytes=30, is_savepoint=True)
    sized(checkpoint(large, 3, "FAILED"), storage_size_bytes=9)
    sized(checkpoint(large, 4, "EXPIRED"), days=9, storage_size_bytes=2000, delete_time=timezone.now())
    sized(checkpoint(large, 5, "PENDING"))
    sized(checkpoint(execution(job(stranger, "theirs", project=elsewhere), ExecutionStatus.RUNNING)), exclusive_bytes=10**9)

    found = browser.get(USAGE).json()
    jobs = found.pop("jobs")
    assert found == {
        "count": 3,
        "savepoints": 1,
        "pinned": 1,
        "failed": 1,
        "pending": 1,
        "bytes_logical": 4350,
        "bytes_exclusive": 435,
        "bytes_in_a_week": 4350 + (4350 - 2300),
        "ages": [
            {"age": "day", "count": 1, "bytes_exclusive": 5},
            {"age": "week", "count": 1, "bytes_exclusive": 400},
            {"age": "month", "count": 1, "bytes_exclusive": 30},
            {"age": "older", "count": 0, "bytes_exclusive": 0},
        ],
        "more_jobs": 0,
    }
    assert [(one["job_name"], one["count"], one["bytes_logical"], one["bytes_exclusive"]) for one in jobs] == [
        ("large", 2, 4300, 430),
        ("small", 1, 50, 5),
    ]
    assert (jobs[0]["project"], jobs[0]["owner"], jobs[0]["deleted"]) == ("default", "erin", False)
    assert jobs[0]["oldest"] < jobs[0]["newest"]


def test_before_a_week_is_over_there_is_no_forecast(browser: Client, editor: User) -> None:
    run = execution(job(editor, "young"), ExecutionStatus.RUNNING)
    assert browser.get(USAGE).json()["bytes_in_a_week"] is None
    sized(checkpoint(run), days=6.9, storage_size_bytes=100)
    assert browser.get(USAGE).json()["bytes_in_a_week"] is None
    sized(checkpoint(run, 2), days=7.1, storage_size_bytes=40)
    assert browser.get(USAGE).json()["bytes_in_a_week"] == 140 + 100


def test_a_job_that_was_deleted_is_said_to_be(browser: Client, editor: User) -> None:
    gone = job(editor, "gone")
    sized(checkpoint(execution(gone, ExecutionStatus.CANCELLED)), exclusive_bytes=1)
    Job.objects.filter(pk=gone.pk).update(deleted_at=timezone.now())
    assert [one["deleted"] for one in browser.get(USAGE).json()["jobs"]] == [True]


def test_only_the_jobs_that_take_most_are_listed(browser: Client, editor: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.selectors.checkpoint_usage.MOST_JOBS", 2)

    def asked() -> tuple[Any, int]:
        with CaptureQueriesContext(connection) as captured:
            found = browser.get(USAGE).json()
        return found, len(captured)

    def takes(size: int) -> None:
        sized(checkpoint(execution(job(editor, f"takes-{size}"), ExecutionStatus.RUNNING)), exclusive_bytes=size)

    takes(3)
    takes(1)
    found, few = asked()
    assert (len(found["jobs"]), found["more_jobs"]) == (2, 0)
    takes(2)
    found, queries = asked()
    assert ([one["job_name"] for one in found["jobs"]], found["more_jobs"]) == (["takes-3", "takes-2"], 1)
    assert queries == few
