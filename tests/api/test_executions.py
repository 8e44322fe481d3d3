"""Executions over REST: lists, actions, history, figures and logs."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from checkpoints.models import CheckpointStatus
from jobs.models import EVENT_KINDS, Event, Execution, ExecutionStatus, JobConfig, JobSchedule, JobType, MetricSample
from tests.api.rows import checkpoint, execution, history, job, send

pytestmark = pytest.mark.django_db
S = ExecutionStatus
ROOT = Path(__file__).resolve().parents[2]
#: Of each table, the columns that are promised to others, besides those that say whose row it is.
COLUMNS: dict[type, str] = {
    Execution: "execution_id job_type generation attempt next_attempt_at storage_host restored_from_checkpoint_id create_time job_name "
    "version status start_time end_time duration_ms processed_records failed_records error_message error_stack_trace checkpoint_path "
    "retry_count triggered_by",
    JobSchedule: "schedule_type cron_expression time_zone event_topic dependencies enabled last_trigger_time next_trigger_time create_time",
    JobConfig: "config_key config_value config_type description create_time update_time",
}


def test_the_list_is_newest_first_and_pages_by_cursor_without_repeats(browser: Client, editor: User) -> None:
    made = job(editor)
    ids = [execution(made).execution_id for _ in range(7)]
    now = timezone.now()
    Execution.objects.update(create_time=now)  # one time for all: the id decides
    seen: list[str] = []
    path: str | None = "/api/executions?page_size=3"
    while path:
        page = browser.get(path).json()
        seen += [row["execution_id"] for row in page["results"]]
        path = page["next"]
        if len(seen) == 3:
            execution(made)  # a new one does not shift the pages behind
    assert seen == ids[::-1]


def test_fields_are_called_as_the_columns_are(browser: Client, editor: User) -> None:
    """Others read the same row by SQL and over REST."""
    Execution.objects.filter(pk=execution(job(editor)).pk).update(storage_host="data-1", checkpoint_path="/data/checkpoints/u/g")
    send(browser, "PUT", "/api/jobs/numbers/schedule", {"cron_expression": "30 6 * * *"})
    send(browser, "PUT", "/api/jobs/numbers/config", {"parallelism": 4})
    (told,) = browser.get("/api/executions").json()["results"]
    assert (told["storage_host"], told["checkpoint_path"]) == ("data-1", "/data/checkpoints/u/g")
    schedule = browser.get("/api/jobs/numbers/schedule").json()
    assert (schedule["event_topic"], schedule["dependencies"]) == ("", [])
    (config,) = browser.get("/api/jobs/numbers/config").json()["results"]
    for model, row in ((Execution, told), (JobSchedule, schedule), (JobConfig, config)):
        assert set(COLUMNS[model].split()) <= row.keys(), model


def test_filters_narrow_the_list(browser: Client, editor: User) -> None:
    one, other = job(editor), job(editor, "others")
    failed = execution(one, S.FAILED)
    execution(other, S.COMPLETED, triggered_by="CRON")
    for query in ("job_name=numbers", "status=failed,running", f"q={failed.execution_id[:8]}", "q=umbers", "triggered_by=MANUAL"):
        found = [row["execution_id"] for row in browser.get(f"/api/executions?{query}").json()["results"]]
        assert found == [failed.execution_id], query
    assert browser.get("/api/executions?created_after=2999-01-01T00:00:00Z").json()["results"] == []
    assert len(browser.get("/api/executions?created_after=2020-01-01T00:00:00Z").json()["results"]) == 2


def test_a_running_execution_with_a_pending_checkpoint_is_shown_as_checkpointing(browser: Client, editor: User) -> None:
    run = execution(job(editor), S.RUNNING)
    checkpoint(run, 1)
    checkpoint(run, 2, CheckpointStatus.PENDING)
    shown = browser.get(f"/api/executions/{run.execution_id}").json()
    assert (shown["status"], shown["shown_status"], shown["checkpointing"]) == ("RUNNING", "CHECKPOINTING", True)


def test_an_execution_tells_which_of_its_jobs_attempts_was_its_first(browser: Client, editor: User) -> None:
    run = execution(job(editor), S.RUNNING, attempt=6)
    path = f"/api/executions/{run.execution_id}"
    assert browser.get(path).json()["first_attempt"] is None
    for seq, (kind, attempt) in enumerate([("triggered", 0), ("claimed", 5), ("attempt_failed", 5), ("claimed", 6)], start=100):
        Event.objects.create(execution=run, seq=seq, kind=kind, attempt=attempt, actor="d", time=timezone.now())
    assert (browser.get(path).json()["first_attempt"], browser.get("/api/executions").json()["results"][0]["first_attempt"]) == (5, 5)


def test_the_trace_is_told_with_one_execution_only(browser: Client, editor: User) -> None:
    run = execution(job(editor), S.FAILED, error_message="reading", error_stack_trace="Traceback …")
    assert browser.get(f"/api/executions/{run.execution_id}").json()["error_stack_trace"] == "Traceback …"
    assert browser.get("/api/executions").json()["results"][0]["error_stack_trace"] is None


@pytest.mark.parametrize(
    ("status", "action", "answer"),
    [
        (S.RUNNING, "stop", 202),
        (S.RUNNING, "pause", 202),
        (S.RUNNING, "cancel", 202),
        (S.RUNNING, "checkpoint", 202),
        (S.RUNNING, "savepoint", 202),
        (S.PAUSED, "resume", 202),
        (S.COMPLETED, "stop", 409),
        (S.COMPLETED, "cancel", 409),
        (S.COMPLETED, "resume", 409),
        (S.PAUSED, "checkpoint", 409),
    ],
)
def test_an_action_is_taken_or_names_the_state_in_its_way(browser: Client, editor: User, status: str, action: str, answer: int) -> None:
    run = execution(job(editor), status)
    response = send(browser, "POST", f"/api/executions/{run.execution_id}/{action}", {})
    assert response.status_code == answer, response.content
    if answer == 409:
        assert status in response.json()["error"]["message"]


@pytest.mark.parametrize(("action", "kind"), [("checkpoint", "CHECKPOINT"), ("savepoint", "SAVEPOINT")])
def test_a_checkpoint_that_is_asked_for_takes_a_label(browser: Client, editor: User, action: str, kind: str) -> None:
    run = execution(job(editor), S.RUNNING)
    path = f"/api/executions/{run.execution_id}/{action}"
    assert send(browser, "POST", path, {"label": " before the sale "}).status_code == 202
    assert send(browser, "POST", path, {}).status_code == 202
    commands = run.commands.order_by("id").values_list("kind", "detail")
    assert list(commands) == [(kind, {"label": "before the sale"}), (kind, {"label": ""})]
    assert send(browser, "POST", path, {"label": "x" * 201}).status_code == 422
    assert send(browser, "POST", path, {"lable": "x"}).status_code == 422


def test_events_page_back_by_their_number(browser: Client, editor: User) -> None:
    run = execution(job(editor))
    for seq in range(1, 8):
        Event.objects.create(execution=run, seq=seq, time=timezone.now(), kind="notice" if seq % 2 else "status")
    page = browser.get(f"/api/executions/{run.execution_id}/events?page_size=5").json()
    assert [event["seq"] for event in page["results"]] == [7, 6, 5, 4, 3]
    assert [event["seq"] for event in browser.get(page["next"]).json()["results"]] == [2, 1]
    status = browser.get(f"/api/executions/{run.execution_id}/events?kind=status").json()
    assert [event["seq"] for event in status["results"]] == [6, 4, 2]


def test_events_of_a_kind_that_there_is_not_are_refused(browser: Client, editor: User) -> None:
    run = execution(job(editor))
    refused = browser.get(f"/api/executions/{run.execution_id}/events?kind=claimed,zzz")
    assert refused.status_code == 422
    (problem,) = refused.json()["error"]["problems"]
    assert (problem["code"], problem["pointer"]) == ("query.invalid", "/kind")
    assert problem["message"].startswith('kind "zzz" is unknown: it is one or several of answers, attempt_failed, ')
    assert browser.get(f"/api/executions/{run.execution_id}/events?kind=claimed,NOTICE").json()["results"] == []


def test_the_page_has_words_for_each_kind_of_event() -> None:
    words = json.loads((ROOT / "frontend/src/features/executions/locales/en.json").read_text())["event"]
    assert {*words, "status"} - {"to", "node"} == set(EVENT_KINDS)


def test_rejected_rows_are_listed_by_node(browser: Client, editor: User) -> None:
    run = execution(job(editor))
    history(run)
    path = f"/api/executions/{run.execution_id}/rejected-rows"
    assert [row["reason"] for row in browser.get(path).json()["results"]] == ["bad"]
    assert browser.get(f"{path}?node_id=other").json()["results"] == []


def test_a_long_range_is_answered_with_coarser_samples(browser: Client, editor: User) -> None:
    run = execution(job(editor), S.RUNNING)
    now = timezone.now()
    for resolution in (1, 10, 60):
        for step in range(3):
            time = now - timedelta(seconds=resolution * (step + 1))
            MetricSample.objects.create(execution=run, resolution=resolution, time=time, rows_in=resolution)
    path = f"/api/executions/{run.execution_id}/metrics"
    for hours, resolution in ((0.1, 1), (2, 10), (100, 60)):
        start = (now - timedelta(hours=hours)).isoformat()
        found = browser.get(path, {"from": start}).json()
        assert (found["resolution"], [sample["rows_in"] for sample in found["results"]]) == (resolution, [resolution] * 3)
        times = [sample["time"] for sample in found["results"]]
        assert times == sorted(times)
    assert browser.get(path, {"resolution": "1", "from": (now - timedelta(days=9)).isoformat()}).json()["resolution"] == 1


def test_a_paused_execution_of_a_disabled_job_is_not_resumed(browser: Client, editor: User) -> None:
    paused = execution(job(editor), ExecutionStatus.PAUSED)
    assert send(browser, "POST", "/api/jobs/numbers/disable").status_code == 200
    resume = f"/api/executions/{paused.execution_id}/resume"
    refused, start = send(browser, "POST", resume), send(browser, "POST", "/api/jobs/numbers/start", {})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "job.disabled")
    assert refused.json() == start.json()
    assert send(browser, "POST", "/api/jobs/numbers/enable").status_code == 200
    assert send(browser, "POST", resume).status_code == 202, "it goes on once the job is enabled"


@pytest.mark.parametrize("query", ["to=0001-01-01T00:00:00Z", "to=0001-01-02T00:00:00Z&span=2592000", "to=9999-12-31T23:59:59Z"])
def test_figures_up_to_the_ends_of_the_calendar(browser: Client, editor: User, query: str) -> None:
    running = execution(job(editor), S.RUNNING)
    answer = browser.get(f"/api/executions/{running.execution_id}/metrics?{query}")
    assert (answer.status_code, answer.json()["results"]) == (200, [])


def test_a_young_execution_without_roll_ups_shows_its_fine_samples(browser: Client, editor: User) -> None:
    run = execution(job(editor), S.RUNNING)
    MetricSample.objects.create(execution=run, resolution=1, time=timezone.now(), rows_in=5)
    found = browser.get(f"/api/executions/{run.execution_id}/metrics").json()
    assert (found["resolution"], len(found["results"])) == (1, 1)


def test_the_range_of_a_paused_execution_ends_where_it_was_last_measured(browser: Client, editor: User) -> None:
    paused = execution(job(editor), S.PAUSED)
    last = (timezone.now() - timedelta(hours=3)).replace(microsecond=0)
    for seconds in (0, 60, 1200):
        MetricSample.objects.create(execution=paused, resolution=1, time=last - timedelta(seconds=seconds), rows_in=5)
    path = f"/api/executions/{paused.execution_id}/metrics"
    assert len(browser.get(path, {"span": 900}).json()["results"]) == 2
    assert len(browser.get(path).json()["results"]) == 3


@pytest.fixture
def logged(editor: User, tmp_path: Path, settings: object) -> Execution:
    """An execution with logs of two attempts."""
    settings.LOG_DIR = tmp_path  # type: ignore[attr-defined]
    run = execution(job(editor))
    folder = tmp_path / run.execution_id
    folder.mkdir()
    for attempt in (1, 2):
        rows = [
            {"time": "2026-01-01T00:00:00+00:00", "level": level, "node_id": node, "message": f"{attempt} {words}"}
            for level, node, words in (("INFO", "", "starting"), ("WARN", "numbers", "slow"), ("ERROR", "out", "refused <b>é</b>"))
        ]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"attempt-{attempt}.jsonl").write_text(text + "# A fatal error in the JVM\n" + '{"level": "INFO", "mess')
    (folder / "attempt-1.jsonl.1").write_text("older")
    return run


def log(browser: Client, run: Execution, query: str = "") -> dict[str, object]:
    answer = browser.get(f"/api/executions/{run.execution_id}/logs?{query}")
    assert answer.status_code == 200, answer.content
    found: dict[str, object] = answer.json()
    return found


def messages(page: dict[str, object]) -> list[str]:
    return [line["message"] for line in page["results"]]  # type: ignore[attr-defined]


def test_the_newest_attempts_log_is_shown_up_to_its_last_whole_line(browser: Client, logged: Execution) -> None:
    page = log(browser, logged)
    assert (page["attempt"], page["attempts"], page["more"]) == (2, [1, 2], True)
    assert messages(page) == ["2 starting", "2 slow", "2 refused <b>é</b>", "# A fatal error in the JVM"]
    assert [line["level"] for line in page["results"]] == ["INFO", "WARNING", "ERROR", "INFO"]  # type: ignore[attr-defined]


def test_reading_goes_on_behind_the_offset_and_tells_each_line_once(browser: Client, logged: Execution, tmp_path: Path) -> None:
    first = log(browser, logged, "attempt=1&limit=2")
    second = log(browser, logged, f"attempt=1&after={first['next_offset']}")
    assert messages(first) + messages(second) == ["1 starting", "1 slow", "1 refused <b>é</b>", "# A fatal error in the JVM"]
    assert messages(log(browser, logged, f"attempt=1&after={second['next_offset']}")) == []
    with (tmp_path / logged.execution_id / "attempt-1.jsonl").open("a") as file:
        file.write('age": "whole now"}\n')
    assert messages(log(browser, logged, f"attempt=1&after={second['next_offset']}")) == ["whole now"]


def test_a_log_that_was_begun_anew_is_read_from_its_beginning(browser: Client, logged: Execution, tmp_path: Path) -> None:
    offset = log(browser, logged)["next_offset"]
    (tmp_path / logged.execution_id / "attempt-2.jsonl").write_text('{"message": "fresh"}\n')
    assert messages(log(browser, logged, f"after={offset}")) == ["fresh"]


def test_a_log_that_was_begun_anew_and_grew_past_the_offset_is_read_from_its_beginning(
    browser: Client, logged: Execution, tmp_path: Path
) -> None:
    offset = log(browser, logged)["next_offset"]
    (tmp_path / logged.execution_id / "attempt-2.jsonl").write_text('{"message": "fresh, and longer than before"}\n' * 50)
    assert messages(log(browser, logged, f"after={offset}")) == ["fresh, and longer than before"] * 50


def test_the_end_of_a_log_is_read_from_a_whole_line_on(browser: Client, logged: Execution) -> None:
    assert messages(log(browser, logged, "after=-60")) == ["# A fatal error in the JVM"]
    assert len(messages(log(browser, logged, "after=-100000"))) == 4


def test_a_log_is_read_backwards_too_and_tells_each_line_once(
    browser: Client, logged: Execution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / logged.execution_id / "attempt-3.jsonl"
    path.write_text("".join(f'{{"message": "line {number}"}}\n' for number in range(100)) + '{"message": "half')
    monkeypatch.setattr("jobs.selectors.logs.MAX_BYTES", 200)
    newest = log(browser, logged, "after=-60")
    told, before, more = messages(newest), newest["results"][0]["offset"], True  # type: ignore[index]
    while more:
        page = log(browser, logged, f"attempt=3&before={before}&limit=7")
        told, before, more = messages(page) + told, page["next_offset"], bool(page["more"])
    assert told == [f"line {number}" for number in range(100)]
    assert messages(log(browser, logged, "attempt=3&before=150&search=LINE%204")) == ["line 4"]


def test_a_line_that_is_too_long_to_be_shown_does_not_end_the_reading_backwards(
    browser: Client, logged: Execution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "first\n" + "x" * 700 + "\nlast\n"
    (tmp_path / logged.execution_id / "attempt-3.jsonl").write_text(text)
    monkeypatch.setattr("jobs.selectors.logs.MAX_BYTES", 100)
    told: list[str] = []
    before = len(text)
    for _ in range(20):
        page = log(browser, logged, f"attempt=3&before={before}")
        told, before = messages(page) + told, int(str(page["next_offset"]))
    assert (told, before) == (["first", "last"], 0)


def test_lines_are_chosen_by_level_node_and_words(browser: Client, logged: Execution) -> None:
    assert messages(log(browser, logged, "level=WARNING")) == ["2 slow", "2 refused <b>é</b>"]
    assert messages(log(browser, logged, "node_id=numbers")) == ["2 slow"]
    assert messages(log(browser, logged, "search=REFUSED")) == ["2 refused <b>é</b>"]


def test_an_execution_without_a_log_has_an_empty_page(browser: Client, editor: User) -> None:
    run = execution(job(editor))
    assert log(browser, run)["results"] == []
    assert log(browser, run, "attempt=7")["results"] == []


def test_one_answer_never_reads_more_than_its_bound(
    browser: Client, logged: Execution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.selectors.logs.MAX_BYTES", 1000)
    path = tmp_path / logged.execution_id / "attempt-3.jsonl"
    path.write_text('{"message": "a"}\n' * 100 + "x" * 5000 + "\n" + '{"message": "end"}\n')
    offset, found, rounds = 0, [], 0
    while rounds < 50:
        page = log(browser, logged, f"after={offset}&search=end")
        found += messages(page)
        offset, rounds = int(str(page["next_offset"])), rounds + 1
        if not page["more"]:
            break
    assert found[-1] == "end"
    assert rounds < 12


def test_a_name_that_is_no_execution_reads_no_file(browser: Client) -> None:
    for name in ("..%2F..%2Fetc%2Fpasswd", "..", str(uuid4())):
        assert browser.get(f"/api/executions/{name}/logs").status_code in (404, 302)


def test_job_types_are_those_of_the_document(browser: Client, editor: User) -> None:
    assert browser.get("/api/jobs?job_type=SQL_TASK").json()["results"] == []
    job(editor)
    assert browser.get("/api/jobs?job_type=streaming").json()["results"][0]["job_type"] == JobType.STREAMING
    assert datetime.now(UTC) - datetime.fromisoformat(browser.get("/api/jobs/numbers").json()["create_time"]) < timedelta(minutes=1)


def test_an_old_link_is_told_that_what_ended_long_ago_is_forgotten(browser: Client, settings: LazySettings) -> None:
    settings.HISTORY_KEPT_DAYS = 30
    answer = browser.get(f"/api/executions/{uuid4()}")
    assert answer.status_code == 404
    assert answer.json()["error"]["message"].endswith("; what ended more than 30 days ago is forgotten")
    settings.HISTORY_KEPT_DAYS = 0
    assert browser.get(f"/api/executions/{uuid4()}").json()["error"]["message"].endswith("or not for you")
