"""Home: counts, what needs attention, the last hour, the last day, and search."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from jobs.models import Connection, Execution, ExecutionStatus, JobSchedule, MetricSample, Project, ScheduleFire
from jobs.scheduling.firing import schedules_tick
from tests.api.rows import checkpoint, execution, job, send

pytestmark = pytest.mark.django_db
S = ExecutionStatus


def running(of: Any, **given: Any) -> Execution:
    now = timezone.now()
    values = {"start_time": now, "confirmed_time": now, "lease_expires_at": now + timedelta(seconds=15), "resolved": {}}
    return execution(of, S.RUNNING, **{**values, **given})


def concerns(browser: Client) -> dict[str, str]:
    return {found["execution"]["job_name"]: found["kind"] for found in browser.get("/api/overview").json()["attention"]}


def test_a_job_fails_by_its_latest_execution_only(browser: Client, editor: User) -> None:
    mended, failing = job(editor, "mended"), job(editor, "failing")
    execution(mended, S.FAILED, end_time=timezone.now())
    execution(mended, S.COMPLETED)
    execution(failing, S.COMPLETED)
    execution(failing, S.FAILED, end_time=timezone.now(), error_node_id="out", error_message="writing: refused\nat line 2")
    found = browser.get("/api/overview").json()
    assert (found["jobs"], found["failing"]) == (2, 1)
    (one,) = found["attention"]
    assert (one["kind"], one["node_id"], one["node_name"], one["first_error_line"]) == ("FAILED", "out", "Out", "writing: refused")
    assert one["node_type"].startswith("sink.")


def test_what_nobody_confirms_what_is_tried_again_and_what_has_no_checkpoint_needs_attention(browser: Client, editor: User) -> None:
    now = timezone.now()
    long_ago = now - timedelta(minutes=14)
    running(job(editor, "fine"))
    running(job(editor, "silent"), confirmed_time=now - timedelta(minutes=1), lease_expires_at=now - timedelta(seconds=40))
    bare = running(job(editor, "bare"), start_time=long_ago)
    MetricSample.objects.create(execution=bare, resolution=10, time=now - timedelta(minutes=5), rows_in=9, in_per_second=0.9)
    running(job(editor, "idle"), start_time=long_ago)
    checkpoint(running(job(editor, "protected"), start_time=long_ago))
    from checkpoints.models import Checkpoint

    Checkpoint.objects.update(complete_time=now)
    execution(job(editor, "again"), S.SCHEDULED, retry_count=1, next_attempt_at=now + timedelta(seconds=5))
    execution(job(editor, "waiting"), S.SCHEDULED)
    running(job(editor, "thirsty"), waiting_for="kafka main", waiting_node_id="out", waiting_since=now)
    assert concerns(browser) == {"silent": "UNCONFIRMED", "bare": "NO_CHECKPOINT", "again": "RETRYING", "thirsty": "WAITING"}
    found = browser.get("/api/overview").json()
    assert found["running"] == 6
    (thirsty,) = [one for one in found["attention"] if one["kind"] == "WAITING"]
    assert (thirsty["node_name"], thirsty["execution"]["waiting_for"]) == ("Out", "kafka main")


def test_a_driver_that_speaks_seldom_because_its_lease_is_long_is_not_unconfirmed(browser: Client, editor: User, settings: Any) -> None:
    settings.LEASE_SECONDS = 120
    now = timezone.now()
    running(job(editor, "calm"), confirmed_time=now - timedelta(seconds=35), lease_expires_at=now + timedelta(seconds=85))
    running(job(editor, "silent"), confirmed_time=now - timedelta(seconds=130), lease_expires_at=None)
    assert concerns(browser) == {"silent": "UNCONFIRMED"}


def test_a_damaged_checkpoint_needs_attention_until_it_is_deleted(browser: Client, editor: User) -> None:
    from checkpoints.models import Checkpoint, CheckpointStatus

    run = running(job(editor, "worn"))
    for number in (1, 2, 3):
        checkpoint(run, number)
    assert concerns(browser) == {}
    worn = Checkpoint.objects.filter(execution=run, checkpoint_id__lte=2)
    worn.update(failure_reason="it is damaged: state/0/1.zip is missing")
    (one,) = browser.get("/api/overview").json()["attention"]
    assert (one["kind"], one["execution"]["job_name"]) == ("DAMAGED", "worn")
    assert one["first_error_line"] == "checkpoint 2 cannot be restored: it is damaged: state/0/1.zip is missing"
    worn.filter(checkpoint_id=2).update(status=CheckpointStatus.EXPIRED)
    (one,) = browser.get("/api/overview").json()["attention"]
    assert one["first_error_line"].startswith("checkpoint 1 ")
    worn.filter(checkpoint_id=1).update(failure_reason="")
    assert concerns(browser) == {}


def test_an_execution_says_itself_whether_its_checkpoint_is_overdue(browser: Client, editor: User) -> None:
    now = timezone.now()
    bare = running(job(editor, "bare"), start_time=now - timedelta(minutes=14))
    idle = running(job(editor, "idle"), start_time=now - timedelta(minutes=14), resolved={"checkpoint_interval": 30})
    MetricSample.objects.create(execution=bare, resolution=10, time=now - timedelta(minutes=5), rows_in=9, in_per_second=0.9)
    overdue = {run.job_name: browser.get(f"/api/executions/{run.execution_id}").json()["checkpoint_overdue"] for run in (bare, idle)}
    assert overdue == {"bare": True, "idle": False}
    assert {one["checkpoint_overdue"] for one in browser.get("/api/executions").json()["results"]} == {None}


def test_the_list_of_jobs_says_since_when_rows_lie_unprotected(browser: Client, editor: User) -> None:
    now = timezone.now()
    begun = now - timedelta(minutes=14)
    asked = {
        "by-time": {"checkpoint_interval": 60},
        "paused": {"checkpoint_min_pause": 600},
        "by-rows": {"checkpoint_interval": 0},
        "idle": {},
    }
    for name, resolved in asked.items():
        run = running(job(editor, name), start_time=begun, resolved=resolved)
        if name != "idle":
            first = now - timedelta(minutes=1 if name == "woken" else 5)
            MetricSample.objects.create(execution=run, resolution=10, time=first, rows_in=9, in_per_second=0.9)
    listed = {row["job_name"]: row["no_checkpoint_since"] for row in browser.get("/api/jobs").json()["results"]}
    assert {name for name, since in listed.items() if since} == {"by-time"}
    assert datetime.fromisoformat(listed["by-time"]) == begun
    assert browser.get("/api/jobs/by-time").json()["no_checkpoint_since"] == listed["by-time"]


def test_many_failures_do_not_hide_what_goes_wrong_now(browser: Client, editor: User) -> None:
    for number in range(25):
        execution(job(editor, f"failed-{number}"), S.FAILED, end_time=timezone.now())
    running(job(editor, "silent"), lease_expires_at=timezone.now() - timedelta(seconds=40))
    found = concerns(browser)
    assert len(found) == 20
    assert found["silent"] == "UNCONFIRMED"
    assert browser.get("/api/overview").json()["attention_count"] == 26


def test_rates_and_the_chart_add_up_what_runs(browser: Client, editor: User) -> None:
    now = timezone.now()
    step = now.replace(second=0, microsecond=0) - timedelta(minutes=1)
    for name in ("one", "other"):
        run = running(job(editor, name), start_time=now - timedelta(minutes=30))
        MetricSample.objects.create(execution=run, resolution=1, time=now, in_per_second=100, detail={"rejected_per_second": 2.5})
        for second in range(20):
            MetricSample.objects.create(execution=run, resolution=1, time=step + timedelta(seconds=second), in_per_second=50)
        for slot in (0, 10):
            past = step - timedelta(minutes=10) + timedelta(seconds=slot)
            MetricSample.objects.create(execution=run, resolution=10, time=past, in_per_second=30, out_per_second=10)
    found = browser.get("/api/overview").json()
    assert (found["in_per_second"], found["rejected_per_second"]) == (200, 5)
    chart = found["chart"]
    assert len(chart["times"]) == len(chart["in"]) == len(chart["out"]) == 180
    at = dict(zip(chart["times"], zip(chart["in"], chart["out"], strict=True), strict=True))
    assert at[step.strftime("%Y-%m-%dT%H:%M:%SZ")][0] == 100
    assert at[(step - timedelta(minutes=10)).strftime("%Y-%m-%dT%H:%M:%SZ")] == (60, 20)


def test_the_newest_steps_of_the_chart_count_the_seconds_in_which_nothing_came(browser: Client, editor: User) -> None:
    now = timezone.now()
    step = now.replace(second=0, microsecond=0) - timedelta(minutes=1)
    run = running(job(editor, "now-and-then"), start_time=now - timedelta(minutes=30))
    for second, rate in ((0, 100), (3, 0), (13, 0), (23, 0)):  # as a reporter keeps them
        MetricSample.objects.create(execution=run, resolution=1, time=step + timedelta(seconds=second), in_per_second=rate)
    chart = browser.get("/api/overview").json()["chart"]
    assert dict(zip(chart["times"], chart["in"], strict=True))[step.strftime("%Y-%m-%dT%H:%M:%SZ")] == 300 / 20


def test_a_lane_joins_runs_of_one_state_and_keeps_the_others_apart(browser: Client, editor: User) -> None:
    made = job(editor)
    begin = timezone.now() - timedelta(hours=5)
    for number in range(6):
        start = begin + timedelta(minutes=number)
        status = S.FAILED if number == 3 else S.COMPLETED
        execution(made, status, start_time=start, end_time=start + timedelta(seconds=50))
    execution(made, S.COMPLETED, start_time=begin - timedelta(days=3), end_time=begin - timedelta(days=2))
    running(job(editor, "stream"), start_time=timezone.now() - timedelta(days=9))
    lanes = browser.get("/api/overview").json()["lanes"]
    assert [lane["job_name"] for lane in lanes] == ["stream", "numbers"]
    assert [span["status"] for span in lanes[1]["spans"]] == ["COMPLETED", "FAILED", "COMPLETED"]
    assert lanes[0]["spans"][0]["to"] is None
    assert lanes[0]["spans"][0]["from"] >= (timezone.now() - timedelta(hours=24, minutes=1)).isoformat()[:16]


def test_twenty_lanes_are_sent_and_how_many_jobs_ran(browser: Client, editor: User) -> None:
    for number in range(22):
        running(job(editor, f"stream-{number}"))
    found = browser.get("/api/overview").json()
    assert (len(found["lanes"]), found["lane_count"]) == (20, 22)


def test_a_job_that_runs_all_the_time_takes_no_other_from_the_last_day(browser: Client, editor: User) -> None:
    now = timezone.now()
    quiet, busy = job(editor, "quiet"), job(editor, "busy")
    execution(quiet, S.COMPLETED, start_time=now - timedelta(hours=20), end_time=now - timedelta(hours=19))
    ended = [now - timedelta(minutes=number) for number in range(1400)]
    common = {"job": busy, "job_name": "busy", "job_type": "STREAMING", "version": 1, "status": S.COMPLETED, "triggered_by": "CRON"}
    Execution.objects.bulk_create(
        Execution(generation=uuid4(), start_time=end - timedelta(seconds=50), end_time=end, **common) for end in reversed(ended)
    )
    found = browser.get("/api/overview").json()
    assert [lane["job_name"] for lane in found["lanes"]] == ["busy", "quiet"]
    assert found["lane_count"] == 2
    (span,) = found["lanes"][0]["spans"]
    assert span["from"] <= (ended[-1] - timedelta(seconds=49)).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_next_starts_come_in_order_with_words(browser: Client, editor: User) -> None:
    for name, expression in (("later", "0 0 1 1 *"), ("soon", "* * * * *"), ("off", "* * * * *")):
        job(editor, name)
        send(browser, "PUT", f"/api/jobs/{name}/schedule", {"cron_expression": expression, "enabled": name != "off"})
    found = browser.get("/api/overview").json()
    assert ([start["job_name"] for start in found["next_starts"]], found["scheduled"]) == (["soon", "later"], 2)
    assert (found["next_starts"][0]["words"], found["next_starts"][0]["time_zone"]) == ("Every minute", "UTC")
    chinese = browser.get("/api/overview", headers={"Accept-Language": "zh"}).json()
    assert chinese["next_starts"][0]["words"] == "每分钟"
    assert browser.get("/api/overview", headers={"Accept-Language": "de"}).json()["next_starts"][0]["words"] == "Every minute"


def test_a_start_that_was_skipped_says_why_until_the_next_one(browser: Client, editor: User) -> None:
    paused = execution(job(editor), ExecutionStatus.PAUSED)
    send(browser, "PUT", "/api/jobs/numbers/schedule", {"cron_expression": "* * * * *"})
    told = []
    for _ in range(2):
        ScheduleFire.objects.update(fire_time=timezone.now() - timedelta(hours=1))
        JobSchedule.objects.update(next_trigger_time=timezone.now() - timedelta(seconds=1))
        schedules_tick()
        told.append(browser.get("/api/overview").json()["next_starts"][0]["skipped"])
        Execution.objects.update(status=ExecutionStatus.CANCELLED)
    assert told == [f"execution {paused.execution_id} is PAUSED: resume or cancel it", ""]


def test_search_finds_jobs_nodes_executions_and_checkpoints(browser: Client, editor: User) -> None:
    run = execution(job(editor))
    kept = checkpoint(run)
    kept.label = "before the number change"
    kept.save()
    found = browser.get("/api/search?q=number").json()["results"]
    assert {hit["kind"] for hit in found} == {"job", "node", "checkpoint"}
    assert all(" · " in hit["detail"] for hit in found if hit["kind"] == "node")  # no words, which would be in one language
    (hit,) = browser.get(f"/api/search?q={run.execution_id[:12]}").json()["results"]
    assert (hit["kind"], hit["path"]) == ("execution", f"/executions/{run.execution_id}")


@pytest.mark.parametrize("words", ["", "a", "%", "__", "' OR 1=1 --", '"', "\\", "é" * 500])
def test_a_search_is_words_and_never_a_pattern(browser: Client, editor: User, words: str) -> None:
    job(editor)
    answer = browser.get("/api/search", {"q": words})
    assert (answer.status_code, answer.json()["results"]) == (200, [])


def test_a_connection_that_jobs_use_and_that_fails_needs_attention_of_its_own_project(
    browser: Client, stranger: User, client_of: Callable[[User], Client], home: Project
) -> None:
    now = timezone.now()
    given = {"project": home, "kind": "mqtt", "test_time": now, "test_step": "port", "test_message": "nothing answers"}
    for number in range(12):
        since = now - timedelta(minutes=20 - number)
        Connection.objects.create(name=f"c{number}", test_ok=False, failing_since=since, jobs_using=2, **given)
    Connection.objects.create(name="nobodys", test_ok=False, failing_since=now, **given)
    Connection.objects.create(name="fine", test_ok=True, jobs_using=1, **given)
    found = browser.get("/api/overview").json()
    assert [one["name"] for one in found["connections"]] == [f"c{number}" for number in range(10)]
    assert found["connections_failing"] == 12
    one = found["connections"][0]
    assert (one["test_step"], one["test_message"], one["jobs_using"]) == ("port", "nothing answers", 2)
    assert client_of(stranger).get("/api/overview").json()["connections"] == []
