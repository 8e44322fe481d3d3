"""The history of an execution's checkpoints, and two of them side by side."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from checkpoints.models import Checkpoint
from jobs.models import Execution, ExecutionStatus
from tests.api.rows import checkpoint, execution, job

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)


@pytest.fixture
def run(editor: User) -> Execution:
    return execution(job(editor), ExecutionStatus.RUNNING, resolved={"checkpoint_interval": 60.0})


def taken(run: Execution, number: int, *, second: int, status: str = "COMPLETED", took: int = 1, **columns: Any) -> Checkpoint:
    """A checkpoint that began so many seconds after the hour before the execution's row."""
    made = checkpoint(run, number, status)
    begun = run.create_time.replace(microsecond=0) - timedelta(hours=1) + second * SECOND
    Checkpoint.objects.filter(pk=made.pk).update(create_time=begun, complete_time=begun + took * SECOND, **columns)
    made.refresh_from_db()
    return made


def history(browser: Client, run: Execution) -> dict[str, Any]:
    found: dict[str, Any] = browser.get(f"/api/executions/{run.execution_id}/checkpoint-history").json()
    return found


def test_an_execution_without_checkpoints_has_an_empty_history(browser: Client, run: Execution) -> None:
    assert history(browser, run) == {
        "interval": 60.0,
        "more": False,
        "counts": dict.fromkeys(("PENDING", "COMPLETED", "FAILED", "EXPIRED"), 0),
        "results": [],
    }


def test_distances_go_from_one_that_was_whole_to_the_next(browser: Client, run: Execution) -> None:
    taken(run, 1, second=0, status="EXPIRED", storage_size_bytes=700, rows_read=None)
    taken(run, 2, second=60, storage_size_bytes=800, rows_read=1000)
    taken(run, 3, second=120, status="FAILED", took=30, failure_reason="copying: no space left on device")
    taken(run, 4, second=185, storage_size_bytes=900, rows_read=1500)
    checkpoint(run, 5, "PENDING")
    found = history(browser, run)["results"]
    assert [(one["checkpoint_id"], one["status"]) for one in found] == [(1, "EXPIRED"), (2, "COMPLETED"), (3, "FAILED"), (4, "COMPLETED")]
    assert [one["bytes_logical"] for one in found] == [700, 800, None, 900]
    assert [one["duration_ms"] for one in found] == [1000, 1000, 30_000, 1000]
    assert [one["rows_between"] for one in found] == [None, None, None, 500]
    assert [one["since_last_ms"] for one in found] == [None, 60_000, None, 125_000]


def test_only_the_newest_are_sent_but_all_counted_and_a_job_without_an_interval_has_no_target(browser: Client, run: Execution) -> None:
    Execution.objects.filter(pk=run.pk).update(resolved={"checkpoint_interval": 0.0, "checkpoint_rows": 100})
    for number in range(1, 4):
        taken(run, number, second=number)
    taken(run, 4, second=4, status="FAILED")
    checkpoint(run, 5, "PENDING")
    path = f"/api/executions/{run.execution_id}/checkpoint-history"
    found = browser.get(f"{path}?points=2").json()
    assert (found["interval"], found["more"]) == (None, True)
    assert found["counts"] == {"PENDING": 1, "COMPLETED": 3, "FAILED": 1, "EXPIRED": 0}
    assert browser.get(f"{path}?points=0").json() == {**found, "results": []}
    assert [one["checkpoint_id"] for one in found["results"]] == [3, 4]


def test_two_stand_side_by_side_with_the_rows_between_them(browser: Client, run: Execution) -> None:
    kafka = {"orders": {"0": 100, "1": 40}}
    first = taken(run, 1, second=0, state_data={"sources": {"gen": {"next": 10}, "kafka": kafka, "files": {"logOffset": 1}}})
    later = {"gen": {"next": 45}, "kafka": {"orders": {"0": 130, "1": 45}}, "files": {"logOffset": 4}, "added": {"next": 7}}
    second = taken(run, 2, second=60, state_data={"sources": later})
    found = browser.get(f"/api/checkpoints/{first.pk}/compare/{second.pk}").json()
    assert (found["first"]["id"], found["second"]["id"]) == (first.pk, second.pk)
    assert {one["node_id"]: one["rows"] for one in found["sources"]} == {"added": None, "files": None, "gen": 35, "kafka": 35}
    assert found["sources"][0] == {"node_id": "added", "first": None, "second": {"next": 7}, "rows": None, "unknown": "position"}
    assert {one["node_id"]: one["unknown"] for one in found["sources"] if one["first"]} == {"files": "sources", "gen": "", "kafka": ""}
    turned = browser.get(f"/api/checkpoints/{second.pk}/compare/{first.pk}").json()["sources"]
    assert {one["node_id"]: one["rows"] for one in turned if one["rows"] is not None} == {"gen": -35, "kafka": -35}


def test_of_a_job_s_only_source_the_rows_that_its_run_counted_are_told_where_its_position_counts_files(
    browser: Client, editor: User, run: Execution
) -> None:
    def compared(first: Checkpoint, second: Checkpoint) -> tuple[int | None, str]:
        (one,) = browser.get(f"/api/checkpoints/{first.pk}/compare/{second.pk}").json()["sources"]
        return one["rows"], one["unknown"]

    def at(number: int, of: Execution, **given: Any) -> Checkpoint:
        return taken(of, number, second=number, state_data={"sources": {"files": {"logOffset": number}}}, **given)

    first, second = at(1, run, rows_read=100), at(2, run, rows_read=140)
    assert compared(first, second) == (40, "")
    assert compared(second, first) == (-40, "")
    assert compared(first, at(3, run, rows_read=None)) == (None, "count")
    assert compared(first, at(4, run, rows_read=9, generation=uuid.uuid4())) == (None, "runs")
    split = {"out": {"batch_id": 5, "sinks": ["out"]}, "more": {"batch_id": 5, "sinks": ["more"]}}
    assert compared(first, at(5, run, rows_read=200, queries=split)) == (None, "sources"), (
        "a run counts the rows of all its queries together"
    )
    Execution.objects.filter(pk=run.pk).update(status="CANCELLED", end_time=timezone.now())
    assert compared(first, at(1, execution(run.job), rows_read=50)) == (None, "runs")


def test_two_of_different_jobs_are_not_compared(browser: Client, editor: User, run: Execution) -> None:
    other = taken(execution(job(editor, "other")), 1, second=0)
    answer = browser.get(f"/api/checkpoints/{taken(run, 1, second=0).pk}/compare/{other.pk}")
    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "checkpoint.other_job"
