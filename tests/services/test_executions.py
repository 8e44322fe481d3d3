"""The life of an execution in the database: started, claimed, asked, failed, lost, ended."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import time_machine
from django.db import OperationalError, connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from checkpoints.models import Checkpoint, CheckpointStatus
from checkpoints.storages import folder_of
from jobs.driver.planning import execution_locations
from jobs.models import Command, Driver, Event, Execution, Job, QueryProgress, TransitionRefused
from jobs.selectors.refusals import Conflict, Invalid
from jobs.services.commands import commands_take
from jobs.services.drivers import driver_gone
from jobs.services.events import event_record
from jobs.services.executions import (
    ExecutionConflict,
    LeaseLost,
    NotRestorable,
    NotStartable,
    checkpoint_request,
    driver_leases_end,
    execution_attempt_failed,
    execution_cancel,
    execution_claim,
    execution_complete,
    execution_hand_over,
    execution_lease_lost,
    execution_restore,
    execution_resume,
    execution_start,
    execution_stop,
    execution_stopped,
    execution_transition,
    execution_waits,
    leases_renew,
)
from tests.services.job_rows import document_with, driver_row, job_row, operator, version_add

pytestmark = pytest.mark.django_db


def start(job: Job, **options: Any) -> Execution:
    return execution_start(job=job, user=operator(), triggered_by="API", **options)


def running(job: Job, **options: Any) -> Execution:
    """Started, claimed and RUNNING."""
    execution_id = start(job, **options).execution_id
    claimed = execution_claim(driver=driver_row())
    assert claimed is not None
    execution_transition(
        execution_id=execution_id, expected="INITIALIZING", to="RUNNING", actor="driver", attempt=claimed.attempt, kind="started"
    )
    return Execution.objects.select_related("job").get(execution_id=execution_id)


def fresh(execution: Execution) -> Execution:
    return Execution.objects.select_related("job").get(pk=execution.pk)


def lease_expire(execution: Execution) -> None:
    Execution.objects.filter(pk=execution.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))


def failed(job: Job) -> Execution:
    execution = running(job)
    execution_attempt_failed(execution_id=execution.execution_id, attempt=execution.attempt, actor="d", message="no", permanent=True)
    return fresh(execution)


def test_a_start_is_scheduled_with_its_first_event() -> None:
    execution = start(job_row(max_retry_times=7))
    assert (execution.status, execution.seq, execution.version) == ("SCHEDULED", 1, 1)
    assert execution.resolved["max_retry_times"] == 7
    event = Event.objects.get(execution=execution)
    assert (event.kind, event.seq, event.to_status, event.actor) == ("triggered", 1, "SCHEDULED", "olga")


@pytest.mark.parametrize("job_type", ["STREAMING", "SQL_TASK"])
def test_a_second_start_names_the_unfinished_execution(job_type: str) -> None:
    job = job_row(job_type=job_type)
    first = start(job)
    with pytest.raises(ExecutionConflict) as refused:
        start(job)
    assert refused.value.detail["execution_id"] == first.execution_id
    assert first.execution_id in refused.value.message


def test_a_job_that_is_disabled_deleted_or_unpublished_cannot_start() -> None:
    job = job_row()
    for change in ({"enabled": False}, {"enabled": True, "version": None}, {"deleted_at": timezone.now(), "version": 1}):
        Job.objects.filter(pk=job.pk).update(**change)
        with pytest.raises(NotStartable):
            start(job)


def test_unknown_parameters_are_problems_and_nothing_starts() -> None:
    with pytest.raises(Invalid) as refused:
        start(job_row(), parameters={"cieling": 3})
    assert refused.value.problems[0].code == "parameter.unknown"
    assert not Execution.objects.exists()


def test_a_value_that_breaks_the_field_it_fills_is_a_problem_of_its_parameter_and_nothing_starts() -> None:
    job = job_row()
    document = document_with(name="numbers")
    document["nodes"]["numbers"]["config"]["total_rows"] = "${floor}"
    version_add(job, document)
    with pytest.raises(Invalid) as refused:
        start(job, parameters={"floor": -1})
    (problem,) = refused.value.problems
    assert (problem.code, problem.node_id, problem.pointer) == ("parameter.invalid", "numbers", "/parameters/floor")
    assert problem.message == '"Numbers": total rows must be greater than or equal to 0'
    assert not Execution.objects.exists()
    assert start(job, parameters={"floor": 5}).parameters == {"floor": 5}


@pytest.mark.parametrize(
    ("start_from", "asked", "pointer"),
    [
        ("7", {"parameters": {"floor": 1}}, "/parameters"),
        (None, {"allow_non_restored_state": True}, "/allow_non_restored_state"),
        ("continue", {"allow_non_restored_state": True}, "/allow_non_restored_state"),
    ],
)
def test_what_a_start_would_leave_out_in_silence_is_refused(start_from: str | None, asked: dict[str, Any], pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        start(job_row(), start_from=start_from, **asked)
    assert [problem.pointer for problem in refused.value.problems] == [pointer]


def test_a_start_after_a_failure_continues_its_generation() -> None:
    job = job_row()
    last = failed(job)
    assert start(job).generation == last.generation


def test_a_start_after_completion_begins_a_new_generation() -> None:
    job = job_row(job_type="SQL_TASK")
    execution = running(job)
    execution_complete(execution_id=execution.execution_id, attempt=execution.attempt, actor="d")
    assert start(job).generation != execution.generation
    assert fresh(execution).duration_ms is not None


@pytest.mark.parametrize(
    ("node_type", "config"),
    [("source.rabbitmq", {"connection": "main", "queue": "orders"}), ("source.jdbc", {"table": "orders", "incremental": True})],
)
def test_a_source_that_goes_on_is_read_on_after_completion(node_type: str, config: dict[str, Any]) -> None:
    job = job_row(job_type="BATCH_ROLLER")
    document = document_with(name=job.job_name, job_type="BATCH_ROLLER")
    document["nodes"]["numbers"] |= {"type": node_type, "config": {"connection": "main", **config}}
    execution = running(version_add(job, document))
    execution_complete(execution_id=execution.execution_id, attempt=execution.attempt, actor="d")
    following = start(job)
    assert following.generation == execution.generation
    execution_cancel(execution=following, user=operator())
    assert start(job, start_from="beginning").generation != execution.generation


def at_once(document: dict[str, Any], node_type: str, config: dict[str, Any]) -> dict[str, Any]:
    """`document` with such a source, whose rows are summed up."""
    sums = {"type": "flow.aggregate", "name": "Sum", "config": {"aggregates": [{"name": "n"}]}}
    source = document["nodes"]["numbers"] | {"type": node_type, "config": config}
    nodes = {"numbers": source, "sum": sums, "out": document["nodes"]["out"]}
    return document | {"nodes": nodes, "edges": {"e1": edge("numbers", "sum"), "e2": edge("sum", "out")}}


def edge(source: str, target: str) -> dict[str, Any]:
    return {"from": [source, "out"], "to": [target, "in"]}


ORDERS = {"connection": "main", "queue": "orders", "columns": [{"name": "id", "type": "long"}]}


@pytest.mark.parametrize("start_from", [None, "continue"])
@pytest.mark.parametrize(
    ("node_type", "config"),
    [
        ("source.rabbitmq", ORDERS),
        ("source.jdbc", {"connection": "main", "table": "orders", "key_column": "id", "incremental": True}),
    ],
)
def test_what_reads_all_at_once_begins_a_generation_after_completion_and_keeps_it_after_a_failure(
    node_type: str, config: dict[str, Any], start_from: str | None
) -> None:
    """Its one batch has the same number each time: in the generation of the run before, sinks would take it for written."""
    job = job_row(job_type="SQL_TASK")
    document = at_once(document_with(name=job.job_name, job_type="SQL_TASK"), node_type, config)
    execution = running(version_add(job, document))
    execution_complete(execution_id=execution.execution_id, attempt=execution.attempt, actor="d")
    following = start(job, start_from=start_from)
    assert following.generation != execution.generation
    claimed = execution_claim(driver=driver_row(pid=2))
    assert claimed is not None
    execution_attempt_failed(execution_id=claimed.execution_id, attempt=claimed.attempt, actor="d", message="no", permanent=True)
    assert start(job).generation == following.generation


def completed(job: Job, parameters: dict[str, Any] | None = None) -> Execution:
    execution = running(job, parameters=parameters)
    execution_complete(execution_id=execution.execution_id, attempt=execution.attempt, actor="d")
    return execution


def test_what_does_not_need_all_rows_any_more_does_not_read_them_again_unasked() -> None:
    job = job_row(job_type="BATCH_ROLLER")
    document = document_with(name=job.job_name, job_type="BATCH_ROLLER")
    summed = at_once(document, "source.rabbitmq", ORDERS)
    plain = document | {"nodes": {name: summed["nodes"][name] for name in ("numbers", "out")}, "edges": {"e1": edge("numbers", "out")}}
    last = completed(version_add(job, summed))
    version_add(job, plain)
    with pytest.raises(NotStartable) as refused:
        start(job)
    assert refused.value.detail == {"offers": ["beginning"], "execution_id": last.execution_id, "version": last.version}
    assert start(job, version=last.version).generation != last.generation


def test_what_went_on_in_steps_keeps_its_generation_though_it_is_read_at_once_today() -> None:
    job = job_row(job_type="BATCH_ROLLER")
    last = completed(version_add(job, at_once(document_with(name=job.job_name, job_type="BATCH_ROLLER"), "source.rabbitmq", ORDERS)))
    QueryProgress.objects.create(execution=last, query="out", batch_id=40, base={}, latest={})
    assert start(job).generation == last.generation


@pytest.mark.parametrize("incremental", [True, False])
def test_a_parameter_says_whether_it_is_read_on_after_completion(incremental: bool) -> None:
    job = job_row(job_type="BATCH_ROLLER")
    document = document_with(name=job.job_name, job_type="BATCH_ROLLER")
    config = {"connection": "main", "table": "orders", "key_column": "id", "incremental": "${inc}"}
    document["nodes"]["numbers"] |= {"type": "source.jdbc", "config": config}
    document["parameters"] = {"inc": {"type": "boolean"}}
    last = completed(version_add(job, document), {"inc": incremental})
    assert (start(job, parameters={"inc": incremental}).generation == last.generation) is incremental


def test_a_start_that_was_cancelled_before_it_ran_is_not_gone_on_from() -> None:
    execution = failed(job_row())
    mistaken = start(execution.job, start_from="beginning")
    assert mistaken.generation != execution.generation
    execution_cancel(execution=mistaken, user=operator())
    assert fresh(mistaken).status == "CANCELLED"
    assert start(execution.job).generation == execution.generation


def test_continue_without_anything_to_continue_is_refused() -> None:
    with pytest.raises(NotStartable):
        start(job_row(), start_from="continue")


def test_a_claim_takes_the_lease_and_a_higher_attempt() -> None:
    job = job_row()
    execution = start(job)
    driver = driver_row()
    claimed = execution_claim(driver=driver)
    assert claimed is not None
    assert claimed.execution_id == execution.execution_id
    assert (claimed.status, claimed.attempt, claimed.driver_id) == ("INITIALIZING", 1, driver.pk)
    assert claimed.lease_expires_at is not None
    assert claimed.lease_expires_at > timezone.now()
    assert claimed.checkpoint_path == str(execution_locations(claimed).live)
    assert execution_claim(driver=driver) is None


def test_an_execution_whose_earlier_attempt_has_not_ended_here_is_left_to_others() -> None:
    execution = start(job_row())
    driver = driver_row()
    assert execution_claim(driver=driver, besides=[execution.execution_id]) is None
    assert execution_claim(driver=driver, besides=["another"]) is not None


@pytest.mark.django_db(transaction=True)
def test_what_is_written_stands_whatever_becomes_of_its_news(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(event: Event) -> None:
        raise OperationalError("the database has gone away")

    execution = start(job_row())
    monkeypatch.setattr("jobs.services.events.event_send", away)
    assert execution_claim(driver=driver_row()).execution_id == execution.execution_id  # type: ignore[union-attr]


def test_attempts_grow_over_the_executions_of_a_job() -> None:
    job = job_row()
    failed(job)
    assert running(job).attempt == 2


def test_nothing_is_claimed_before_its_time_nor_on_another_host_nor_for_another_isolation(settings: Any) -> None:
    driver = driver_row()
    later = start(job_row("later"))
    Execution.objects.filter(pk=later.pk).update(next_attempt_at=timezone.now() + timedelta(seconds=60))
    elsewhere = start(job_row("elsewhere"))
    Execution.objects.filter(pk=elsewhere.pk).update(storage_host="another-host")
    start(job_row("alone", isolation="dedicated"))
    assert execution_claim(driver=driver) is None
    assert execution_claim(driver=driver_row(kind="DEDICATED", pid=2)).job_name == "alone"  # type: ignore[union-attr]


def test_no_attempt_begins_while_a_lease_of_the_job_still_runs() -> None:
    job = job_row()
    first = running(job)
    # As after a handover gone wrong: the row waits although another execution of the job is still held.
    second = Execution.objects.create(
        job=job, job_name=job.job_name, job_type="SQL_TASK", version=1, generation=first.execution_id, triggered_by="API"
    )
    assert execution_claim(driver=driver_row(pid=2)) is None
    lease_expire(first)
    assert execution_claim(driver=driver_row(pid=3)).pk == second.pk  # type: ignore[union-attr]


def test_renewing_reports_what_was_lost() -> None:
    kept, lost = running(job_row("kept")), running(job_row("lost"))
    driver = kept.driver
    assert driver is not None
    Execution.objects.filter(pk=lost.pk).update(driver=driver, attempt=lost.attempt + 1)
    held = {kept.execution_id: kept.attempt, lost.execution_id: lost.attempt}
    assert leases_renew(driver=driver, held=held) == [lost.execution_id]


def test_an_expired_lease_cannot_be_renewed() -> None:
    execution = running(job_row())
    lease_expire(execution)
    assert execution.driver is not None
    assert leases_renew(driver=execution.driver, held={execution.execution_id: execution.attempt}) == [execution.execution_id]


def test_what_the_driver_let_go_of_is_not_prolonged() -> None:
    execution = running(job_row())
    assert execution.driver is not None
    before = fresh(execution).lease_expires_at
    assert leases_renew(driver=execution.driver, held={}) == []
    assert fresh(execution).lease_expires_at == before


def test_a_wrong_change_names_both_states() -> None:
    execution = start(job_row())
    with pytest.raises(TransitionRefused, match=r"SCHEDULED.*RUNNING"):
        execution_transition(execution_id=execution.execution_id, expected="SCHEDULED", to="RUNNING", actor="x")
    assert Event.objects.filter(execution=execution).count() == 1


def test_an_old_attempt_changes_nothing() -> None:
    execution = running(job_row())
    with pytest.raises(LeaseLost):
        execution_complete(execution_id=execution.execution_id, attempt=execution.attempt - 1, actor="old")
    assert fresh(execution).status == "RUNNING"


def test_what_no_database_stores_is_left_out_of_what_failed() -> None:
    """A value of the data, which Spark quotes, may hold anything; the failure is kept all the same."""
    execution = running(job_row())
    place: dict[str, Any] = {"execution_id": execution.execution_id, "attempt": execution.attempt}
    execution_waits(**place, node_id="out", what="kafka a\x00b")
    event_record(execution_id=execution.execution_id, kind="notice", reason="a\x00b", detail={"a\x00b": ["c\x00d"]})
    execution_attempt_failed(**place, actor="d", message="the value 'a\x00b'", stack_trace="at a\x00b")
    ended = fresh(execution)
    assert (ended.status, ended.error_message, ended.error_stack_trace) == ("SCHEDULED", "the value 'a\ufffdb'", "at a\ufffdb")
    waiting, notice, _ = Event.objects.filter(execution_id=execution.execution_id).order_by("seq")[3:]
    assert (waiting.reason, notice.reason, notice.detail) == ("kafka a\ufffdb", "a\ufffdb", {"a\ufffdb": ["c\ufffdd"]})


def test_a_failed_attempt_is_tried_again_until_none_are_left() -> None:
    execution = running(job_row(max_retry_times=1))
    error: Any = {"actor": "d", "message": "table gone", "node_id": "out", "stack_trace": "…"}
    assert execution_attempt_failed(execution_id=execution.execution_id, attempt=execution.attempt, **error) == "SCHEDULED"
    waiting = fresh(execution)
    assert waiting.retry_count == 1
    assert waiting.next_attempt_at is not None
    assert waiting.next_attempt_at > timezone.now()
    Execution.objects.filter(pk=execution.pk).update(next_attempt_at=None)
    claimed = execution_claim(driver=driver_row(pid=2))
    assert claimed is not None
    assert execution_attempt_failed(execution_id=execution.execution_id, attempt=claimed.attempt, **error) == "FAILED"
    ended = fresh(execution)
    assert (ended.error_message, ended.error_node_id, ended.generation) == ("table gone", "out", execution.generation)
    assert ended.end_time is not None


def test_a_stream_is_tried_for_as_long_as_another_system_is_away() -> None:
    execution = running(job_row(max_retry_times=1))
    outage: Any = {"actor": "d", "message": "the server answered 503", "outage": "away"}
    pauses = []
    for _ in range(6):
        attempt = fresh(execution).attempt
        assert execution_attempt_failed(execution_id=execution.execution_id, attempt=attempt, **outage) == "SCHEDULED"
        waiting = fresh(execution)
        assert waiting.next_attempt_at is not None
        pauses.append(round((waiting.next_attempt_at - timezone.now()).total_seconds()))
        Execution.objects.filter(pk=execution.pk).update(next_attempt_at=None)
        assert execution_claim(driver=driver_row(pid=2 + attempt)) is not None
    assert (pauses, fresh(execution).retry_count) == ([5, 10, 20, 40, 60, 60], 0)
    told = Event.objects.filter(execution=execution, kind="attempt_failed").latest("seq")
    assert told.reason == "the server answered 503 (tried again until it works, next in 60 s)"
    failure: Any = {"execution_id": execution.execution_id, "actor": "d", "message": "broken"}
    assert execution_attempt_failed(attempt=fresh(execution).attempt, **failure) == "SCHEDULED", "the retries are there still"


@pytest.mark.parametrize(("job_type", "retries"), [("BATCH_ROLLER", 1), ("STREAMING", 0)])
def test_an_outage_ends_what_is_to_end_or_is_not_to_be_tried_again(job_type: str, retries: int) -> None:
    execution = running(job_row(job_type=job_type, max_retry_times=retries))
    outage: Any = {"execution_id": execution.execution_id, "actor": "d", "message": "the server answered 503", "outage": "away"}
    for number in range(retries):
        assert execution_attempt_failed(attempt=fresh(execution).attempt, **outage) == "SCHEDULED"
        Execution.objects.filter(pk=execution.pk).update(next_attempt_at=None)
        assert execution_claim(driver=driver_row(pid=10 + number)) is not None
    assert execution_attempt_failed(attempt=fresh(execution).attempt, **outage) == "FAILED"


@pytest.mark.parametrize(("processed", "status"), [(0, "FAILED"), (5, "SCHEDULED")])
def test_a_sign_in_that_worked_and_is_refused_now_is_tried_until_the_connection_is_right(processed: int, status: str) -> None:
    execution = running(job_row(max_retry_times=1))
    Execution.objects.filter(pk=execution.pk).update(processed_records=processed)
    refused: Any = {"actor": "d", "message": "correct the password", "permanent": True, "outage": "sign-in"}
    assert execution_attempt_failed(execution_id=execution.execution_id, attempt=execution.attempt, **refused) == status
    assert fresh(execution).retry_count == 0


def test_what_failed_before_an_attempt_that_runs_is_not_shown_of_its_end() -> None:
    execution = running(job_row())
    error: Any = {"actor": "d", "message": "table gone", "node_id": "out", "stack_trace": "…"}
    execution_attempt_failed(execution_id=execution.execution_id, attempt=execution.attempt, **error)
    assert fresh(execution).error_message == "table gone", "why it waits for another try"
    Execution.objects.filter(pk=execution.pk).update(next_attempt_at=None)
    claimed = execution_claim(driver=driver_row(pid=2))
    assert claimed is not None
    assert fresh(execution).error_message == "table gone", "it has not come further yet"
    execution_transition(execution_id=execution.execution_id, expected="INITIALIZING", to="RUNNING", attempt=claimed.attempt, actor="d")
    execution_stopped(execution_id=execution.execution_id, attempt=claimed.attempt, actor="d")
    paused = fresh(execution)
    assert (paused.status, paused.error_message, paused.error_node_id, paused.error_stack_trace) == ("PAUSED", "", "", "")


def test_a_permanent_failure_is_not_tried_again() -> None:
    assert failed(job_row()).status == "FAILED"


def test_a_lost_lease_is_taken_over_in_the_same_generation() -> None:
    execution = running(job_row())
    assert not execution_lease_lost(execution_id=execution.execution_id, attempt=execution.attempt, reason="silent")
    lease_expire(execution)
    assert execution_lease_lost(execution_id=execution.execution_id, attempt=execution.attempt, reason="silent")
    assert fresh(execution).status == "SCHEDULED"
    assert not execution_lease_lost(execution_id=execution.execution_id, attempt=execution.attempt, reason="silent")


def test_a_dead_drivers_leases_end_at_once() -> None:
    execution = running(job_row())
    assert execution.driver is not None
    assert driver_leases_end(driver=execution.driver, reason="killed") == [execution.execution_id]
    claimed = execution_claim(driver=driver_row(pid=2))
    assert claimed is not None
    assert (claimed.attempt, claimed.generation, claimed.retry_count) == (execution.attempt + 1, execution.generation, 1)


def together_in(driver: Driver, executions: list[Execution]) -> None:
    """The driver runs what waits, whenever it is due."""
    Execution.objects.filter(status="SCHEDULED").update(next_attempt_at=None)
    while (claimed := execution_claim(driver=driver)) is not None:
        execution_transition(
            execution_id=claimed.execution_id, expected="INITIALIZING", to="RUNNING", attempt=claimed.attempt, actor="driver"
        )


def test_one_that_kills_its_driver_again_and_again_does_not_end_the_others(settings: Any) -> None:
    settings.DEDICATED_DRIVERS = 1
    older, newest = [start(job_row(name, max_retry_times=1)) for name in ("older", "newest")]
    isolated = []
    for pid in range(4):
        driver = driver_row(pid=10 + pid)
        together_in(driver, [older, newest])
        driver_leases_end(driver=driver, reason="killed")
        isolated.append([fresh(one).isolation for one in (older, newest)])
    assert isolated == [["shared", "shared"], *[["shared", "dedicated"]] * 3]
    told = Event.objects.filter(execution=newest, kind="lease_lost").latest("seq").reason
    assert told == "killed; it goes on in a driver of its own (one of 2 in that driver; tried again in 10 s)"

    alone = driver_row(pid=50, kind="DEDICATED")
    together_in(alone, [newest])
    driver_leases_end(driver=alone, reason="killed")
    assert fresh(newest).status == "FAILED"


def test_none_is_accused_of_the_end_of_a_driver_that_lost_its_leases(settings: Any) -> None:
    settings.DEDICATED_DRIVERS = 1
    executions = [start(job_row(name)) for name in ("one", "other")]
    for pid in range(3):
        driver = driver_row(pid=10 + pid)
        together_in(driver, executions)
        driver_gone(driver_id=driver.driver_id, reason="its leases could not be renewed", accused=False)
    assert {(fresh(one).status, fresh(one).isolation) for one in executions} == {("SCHEDULED", "shared")}


def test_of_many_none_ends_by_what_one_of_them_does(settings: Any) -> None:
    settings.DEDICATED_DRIVERS = 0
    executions = [start(job_row(name, max_retry_times=1)) for name in ("one", "other")]
    never = start(job_row("never", max_retry_times=0))
    for pid in range(3):
        driver = driver_row(pid=10 + pid)
        together_in(driver, executions)
        driver_leases_end(driver=driver, reason="killed")
    assert {(fresh(one).status, fresh(one).retry_count) for one in executions} == {("SCHEDULED", 1)}
    assert fresh(never).status == "FAILED"


def test_a_handover_costs_no_retry() -> None:
    execution = running(job_row())
    execution_hand_over(execution_id=execution.execution_id, attempt=execution.attempt, actor="d", reason="worker stops")
    assert (fresh(execution).status, fresh(execution).retry_count) == ("SCHEDULED", 0)


def test_stopping_a_waiting_execution_pauses_it_at_once_and_resuming_keeps_its_generation() -> None:
    execution = start(job_row())
    paused = execution_stop(execution=execution, user=operator())
    assert paused.status == "PAUSED"
    with pytest.raises(ExecutionConflict, match="resume or cancel"):
        start(execution.job)
    resumed = execution_resume(execution=paused, user=operator())
    assert (resumed.status, resumed.generation) == ("SCHEDULED", execution.generation)


def test_a_running_execution_is_paused_only_once_its_driver_confirmed() -> None:
    execution = running(job_row())
    assert execution_stop(execution=execution, user=operator()).status == "RUNNING"
    execution_stop(execution=execution, user=operator())
    assert list(Command.objects.values_list("kind", "status")) == [("STOP", "PENDING")]
    assert execution_stopped(execution_id=execution.execution_id, attempt=execution.attempt, actor="d") == "PAUSED"
    assert Command.objects.get().status == "DONE"


def hours_ago(execution: Execution, hours: int) -> None:
    """As if all that happened to it so far had happened so much earlier."""
    earlier = timedelta(hours=hours)
    Execution.objects.filter(pk=execution.pk).update(start_time=F("start_time") - earlier, resume_time=F("resume_time") - earlier)


def hours_run(execution: Execution) -> float:
    ran = fresh(execution).ran_ms(timezone.now())
    assert ran is not None
    return round(ran / 3_600_000, 2)


def paused_after(execution: Execution, hours: int) -> Execution:
    hours_ago(execution, hours)
    execution_stop(execution=execution, user=operator())
    held = fresh(execution)
    execution_stopped(execution_id=held.execution_id, attempt=held.attempt, actor="d")
    return fresh(execution)


def test_the_time_in_a_pause_is_none_that_it_ran() -> None:
    execution = paused_after(running(job_row()), 2)
    hours_ago(execution, 60)
    assert hours_run(execution) == 2
    execution_resume(execution=execution, user=operator())
    assert hours_run(execution) == 2
    hours_ago(execution, 1)
    assert hours_run(execution) == 3
    execution_stop(execution=fresh(execution), user=operator())  # before a driver claimed it
    hours_ago(execution, 60)
    execution_cancel(execution=fresh(execution), user=operator())
    ended = fresh(execution)
    assert (ended.status, hours_run(execution), round((ended.duration_ms or 0) / 3_600_000, 2)) == ("CANCELLED", 3, 3)


def test_a_stop_is_handed_out_until_it_is_settled_and_a_savepoint_once() -> None:
    execution = running(job_row())
    assert execution.driver is not None
    checkpoint_request(execution=execution, user=operator(), savepoint=True)
    execution_stop(execution=execution, user=operator())
    taking = commands_take(driver=execution.driver)
    assert next(taking).kind == "SAVEPOINT"
    assert list(Command.objects.order_by("id").values_list("kind", "status")) == [("SAVEPOINT", "TAKEN"), ("STOP", "PENDING")]
    del taking  # as by an error of the database behind the first
    for _ in range(2):
        assert [command.kind for command in commands_take(driver=execution.driver)] == ["STOP"]
    execution_stopped(execution_id=execution.execution_id, attempt=execution.attempt, actor="d")
    assert list(commands_take(driver=execution.driver)) == []


@pytest.mark.parametrize(("ask", "becomes"), [(execution_stop, "PAUSED"), (execution_cancel, "CANCELLED")])
def test_what_was_asked_for_wins_over_a_retry(ask: Callable[..., Execution], becomes: str) -> None:
    execution = running(job_row())
    ask(execution=execution, user=operator())
    assert execution.driver is not None
    driver_leases_end(driver=execution.driver, reason="killed")
    assert fresh(execution).status == becomes


def test_final_states_are_final() -> None:
    execution = failed(job_row())
    for ask in (execution_stop, execution_cancel, execution_resume, checkpoint_request):
        with pytest.raises(Conflict, match="FAILED"):
            ask(execution=execution, user=operator())


@pytest.mark.parametrize("hours", [-1, 1])
def test_how_long_it_ran_is_told_by_one_clock(hours: int) -> None:
    execution = running(job_row())
    with time_machine.travel(timezone.now() + timedelta(hours=hours)):  # this host's clock is wrong
        execution_complete(execution_id=execution.execution_id, attempt=execution.attempt, actor="driver")
    ended = fresh(execution)
    assert ended.duration_ms is not None
    assert 0 <= ended.duration_ms < 60_000
    assert ended.start_time is not None
    assert ended.end_time is not None
    assert timedelta(0) <= ended.end_time - ended.start_time < timedelta(minutes=1)


def test_it_never_ran_for_less_than_no_time() -> None:
    execution = running(job_row())
    Execution.objects.update(start_time=timezone.now() + timedelta(minutes=5))
    execution_complete(execution_id=execution.execution_id, attempt=execution.attempt, actor="driver")
    assert fresh(execution).duration_ms == 0


def test_a_savepoint_is_asked_of_the_driver() -> None:
    execution = running(job_row())
    command = checkpoint_request(execution=execution, user=operator(), savepoint=True, label="before the sale")
    assert (command.kind, command.detail) == ("SAVEPOINT", {"label": "before the sale"})


def test_a_restore_supersedes_the_paused_execution_in_a_new_generation() -> None:
    execution = start(job_row())
    checkpoint = Checkpoint.objects.create(
        execution=execution,
        generation=execution.generation,
        checkpoint_id=1,
        checkpoint_type="STREAMING",
        status=CheckpointStatus.COMPLETED,
        origin="MANUAL",
    )
    folder_of(checkpoint).parent.mkdir(parents=True)  # the disk is there
    with pytest.raises(NotRestorable, match="its files are not there; its job has no good one"):
        execution_restore(checkpoint=checkpoint, user=operator())
    folder_of(checkpoint).mkdir()
    (folder_of(checkpoint) / "manifest.json").write_text("{}")
    with pytest.raises(ExecutionConflict):
        execution_restore(checkpoint=checkpoint, user=operator())
    execution_stop(execution=execution, user=operator())
    restored = start(execution.job, start_from=checkpoint.pk)
    assert fresh(execution).status == "CANCELLED"
    assert (restored.restored_from_checkpoint_id, restored.triggered_by) == (checkpoint.pk, "RESTORE")
    assert restored.generation != execution.generation


def test_events_are_numbered_without_gaps() -> None:
    execution = running(job_row())
    execution_stop(execution=execution, user=operator())
    execution_stopped(execution_id=execution.execution_id, attempt=execution.attempt, actor="d")
    execution_resume(execution=fresh(execution), user=operator())
    numbers = list(Event.objects.filter(execution=execution).order_by("seq").values_list("seq", flat=True))
    assert numbers == list(range(1, fresh(execution).seq + 1))


def together(count: int, act: Callable[[int], Any]) -> list[Any]:
    """`act` in `count` threads that begin at one moment; their results or exceptions."""
    ready = threading.Barrier(count)

    def one(number: int) -> Any:
        ready.wait(20)
        try:
            return act(number)
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("job_type", ["STREAMING", "SQL_TASK"])
def test_of_fifty_starts_at_once_one_wins(job_type: str) -> None:
    job, user = job_row(job_type=job_type), operator()
    results = together(50, lambda _: execution_start(job=job, user=user, triggered_by="API"))
    assert sorted(type(result).__name__ for result in results) == ["Execution"] + ["ExecutionConflict"] * 49
    assert Execution.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_ten_drivers_one_claims() -> None:
    job = job_row()
    start(job)
    drivers = [driver_row(pid=number + 1) for number in range(10)]
    claims = together(10, lambda number: execution_claim(driver=drivers[number]))
    assert [type(claim).__name__ for claim in claims if claim is not None] == ["Execution"]
    assert Job.objects.get(pk=job.pk).attempt_counter == 1


def waits(execution: Execution) -> tuple[str, str, bool]:
    row = fresh(execution)
    return row.waiting_for, row.waiting_node_id, row.waiting_since is not None


def test_what_a_running_attempt_waits_for_is_shown_until_it_answers_or_the_attempt_is_over():
    execution = running(job_row())
    execution_waits(execution_id=execution.execution_id, attempt=execution.attempt, node_id="in", what="kafka main")
    assert waits(execution) == ("kafka main", "in", True)
    execution_waits(execution_id=execution.execution_id, attempt=execution.attempt, node_id="other", what="")
    assert waits(execution) == ("kafka main", "in", True)
    execution_waits(execution_id=execution.execution_id, attempt=execution.attempt, node_id="in", what="")
    assert waits(execution) == ("", "", False)
    execution_waits(execution_id=execution.execution_id, attempt=execution.attempt, node_id="in", what="an API")
    execution_waits(execution_id=execution.execution_id, attempt=execution.attempt, node_id="in", what="", given_up=True)
    assert waits(execution) == ("", "", False)
    execution_waits(execution_id=execution.execution_id, attempt=execution.attempt, node_id="in", what="kafka main")
    execution_attempt_failed(execution_id=execution.execution_id, attempt=execution.attempt, actor="driver", message="away")
    assert waits(execution) == ("", "", False)
    execution_waits(execution_id=execution.execution_id, attempt=execution.attempt, node_id="in", what="kafka main")
    assert waits(execution) == ("", "", False)
    events = Event.objects.filter(execution=execution, kind__in=("waiting", "answers", "given_up"))
    kinds = list(events.order_by("seq").values_list("kind", "reason"))
    told = [("waiting", "kafka main"), ("answers", ""), ("answers", ""), ("waiting", "an API"), ("given_up", ""), ("waiting", "kafka main")]
    assert kinds == told


@pytest.mark.parametrize("ending", [execution_stopped, partial(execution_attempt_failed, message="broken")], ids=["stopped", "failed"])
def test_who_ends_an_attempt_holds_its_row_before_it_looks_what_was_asked_for(ending: Callable[..., str]) -> None:
    """Else a cancel that comes between would be told to have been obeyed, and be forgotten."""
    execution = running(job_row("a"))
    execution_stop(execution=execution, user=operator())
    with CaptureQueriesContext(connection) as captured:
        ending(execution_id=execution.execution_id, attempt=execution.attempt, actor="d")
    asked = [query["sql"] for query in captured if Command._meta.db_table in query["sql"] or query["sql"].startswith("UPDATE")]
    assert asked[0].startswith(f'UPDATE "{Execution._meta.db_table}"')
