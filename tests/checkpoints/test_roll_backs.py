"""Which batches and generations lie behind a checkpoint, what a restore offers to do about them, and what it hands to the driver."""

import uuid
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from checkpoints.models import Checkpoint
from jobs.driver.planning import execution_plan
from jobs.models import Connection, Execution, Job, Project, Role
from jobs.selectors.roll_backs import roll_back_plan, rolled_back_since
from jobs.services.executions import execution_generation_renew
from tests.checkpoints.kept import execution_row, kept
from tests.checkpoints.test_checkpoint_api import ended, member, send
from tests.services.job_rows import document_with, job_row, version_add

pytestmark = pytest.mark.django_db


@pytest.fixture
def job() -> Job:
    return job_row()


@pytest.fixture
def operator(job: Job) -> Client:
    return member("olga", Role.OPERATOR)


def run(job: Job, **given: Any) -> Execution:
    """An execution that has ended, with one checkpoint behind batch 1."""
    execution = execution_row(job, **given)
    kept(execution)
    ended(execution)
    return execution


def checkpoint_of(execution: Execution) -> Checkpoint:
    return Checkpoint.objects.select_related("execution__job").filter(execution=execution).latest("pk")


def restored(execution: Execution, **given: Any) -> Execution:
    return run(execution.job, restored_from_checkpoint_id=checkpoint_of(execution).pk, **given)


def later(execution: Execution) -> set[str]:
    plan = roll_back_plan(checkpoint_of(execution))
    assert plan is not None
    assert (plan.generation, plan.batches) == (str(execution.generation), {"out": 1})
    return set(plan.later)


def generations(*executions: Execution) -> set[str]:
    return {str(execution.generation) for execution in executions}


def test_what_came_before_and_what_it_came_of_stays(job: Job) -> None:
    run(job)
    second = run(job)
    third = restored(second)
    assert later(third) == set()


def test_restores_and_fresh_starts_behind_it_go(job: Job) -> None:
    first = run(job)
    again = restored(first)
    onward = restored(again)
    fresh = run(job)
    assert later(first) == generations(again, onward, fresh)
    assert later(again) == generations(onward, fresh)


def test_a_generation_that_was_renewed_within_its_execution_counts_from_its_renewal(job: Job) -> None:
    """The execution began before the checkpoint, the generation it has now came of it."""
    execution = run(job)
    checkpoint = checkpoint_of(execution)
    generation = renewed(execution, checkpoint)
    plan = roll_back_plan(Checkpoint.objects.select_related("execution__job").get(pk=checkpoint.pk))
    assert plan is not None
    assert plan.later == (generation,)


def renewed(execution: Execution, checkpoint: Checkpoint) -> str:
    """Its live folder could not be read, so another generation went on from `checkpoint`."""
    Execution.objects.filter(pk=execution.pk).update(status="RUNNING", end_time=None)
    execution_generation_renew(execution=execution, checkpoint=checkpoint, actor="driver", reason="it was damaged")
    execution.refresh_from_db()
    return str(execution.generation)


def test_each_generation_of_an_execution_that_was_renewed_twice_goes(job: Job) -> None:
    execution = run(job)
    first = checkpoint_of(execution)
    second = renewed(execution, first)
    kept(execution)
    middle = checkpoint_of(execution)
    third = renewed(execution, middle)
    assert roll_back_plan(first).later == tuple(sorted([second, third]))  # type: ignore[union-attr]
    assert roll_back_plan(middle).later == (third,)  # type: ignore[union-attr]


def test_a_generation_that_was_renewed_before_its_first_checkpoint_goes_too(job: Job) -> None:
    earlier = run(job)
    execution = restored(earlier)
    origin = checkpoint_of(earlier)
    Checkpoint.objects.filter(execution=execution).delete()
    lost = str(execution.generation)
    newest = renewed(execution, origin)
    assert later(earlier) == {lost, newest}


def test_what_was_rolled_back_is_told_though_its_generation_was_renewed(job: Job, operator: Client) -> None:
    execution = execution_row(job)
    point, ahead = kept(execution), kept(execution, 3)
    ended(execution)
    back = restore(operator, point, roll_back=True)
    Execution.objects.filter(execution_id=back["execution_id"]).update(attempt=1)
    again = Execution.objects.get(execution_id=back["execution_id"])
    renewed(again, kept(again))
    assert rolled_back_since(ahead) == point.checkpoint_id


def restore(client: Client, checkpoint: Checkpoint, expected: int = 202, **body: Any) -> Any:
    return send(client, "POST", f"/api/checkpoints/{checkpoint.pk}/restore", body, expected=expected)


def test_a_restore_rolls_back_only_where_that_is_asked_for(job: Job, operator: Client) -> None:
    checkpoint = checkpoint_of(run(job))
    plain = Execution.objects.get(execution_id=restore(operator, checkpoint)["execution_id"])
    assert (plain.roll_back, execution_plan(plain).roll_back) == ({}, None)
    ended(plain)
    asked = Execution.objects.get(execution_id=restore(operator, checkpoint, roll_back=True)["execution_id"])
    wanted = execution_plan(asked).roll_back
    assert wanted is not None
    assert (wanted.generation, wanted.batches, wanted.later) == (str(checkpoint.generation), {"out": 1}, (str(plain.generation),))
    assert "sinks rolled back to it" in asked.events.earliest("seq").reason


def test_a_start_from_a_checkpoint_rolls_back_as_a_restore_does(job: Job, operator: Client) -> None:
    checkpoint = checkpoint_of(run(job))
    path = f"/api/jobs/{job.job_name}/start"
    plain = Execution.objects.get(execution_id=send(operator, "POST", path, {"from": checkpoint.pk}, expected=202)["execution_id"])
    assert plain.roll_back == {}
    ended(plain)
    wanted = roll_back_plan(checkpoint)
    assert wanted is not None
    body = {"from": checkpoint.pk, "roll_back": True}
    asked = Execution.objects.get(execution_id=send(operator, "POST", path, body, expected=202)["execution_id"])
    assert asked.roll_back == wanted.data()
    assert "sinks rolled back to it" in asked.events.earliest("seq").reason


@pytest.mark.parametrize("start", [{}, {"from": "continue"}, {"from": "beginning"}])
def test_a_start_from_no_checkpoint_refuses_to_roll_back(job: Job, operator: Client, start: dict[str, str]) -> None:
    run(job)
    error = send(operator, "POST", f"/api/jobs/{job.job_name}/start", {**start, "roll_back": True}, expected=422)["error"]
    assert [(problem["code"], problem["pointer"]) for problem in error["problems"]] == [("start.roll_back", "/roll_back")]
    assert Execution.objects.filter(job=job).count() == 1


def test_an_execution_that_goes_on_in_the_generation_has_it_still_to_do(job: Job, operator: Client) -> None:
    asked = Execution.objects.get(execution_id=restore(operator, checkpoint_of(run(job)), roll_back=True)["execution_id"])
    ended(asked)
    going_on = execution_row(job, generation=asked.generation)
    assert execution_plan(going_on).roll_back == execution_plan(asked).roll_back


def test_a_checkpoint_ahead_of_a_roll_back_says_which_rows_are_gone(job: Job, operator: Client) -> None:
    execution = execution_row(job)
    first, second = kept(execution), kept(execution, batches=3)
    ended(execution)
    asked = Execution.objects.get(execution_id=restore(operator, first, roll_back=True)["execution_id"])
    ended(asked)

    def told(checkpoint: Checkpoint) -> list[str]:
        checks = send(operator, "GET", f"/api/checkpoints/{checkpoint.pk}/precheck")["checks"]
        return [check["message"] for check in checks if check["name"] == "rolled_back"]

    assert told(second) == [], "it has not begun"
    Execution.objects.filter(pk=asked.pk).update(attempt=1)
    assert told(first) == []
    (words,) = told(second)
    assert words.startswith("Sinks were rolled back to checkpoint 1 since")


def test_a_copy_with_other_positions_cannot_tell_what_came_after_it(job: Job, operator: Client) -> None:
    checkpoint = checkpoint_of(run(job))
    Checkpoint.objects.filter(pk=checkpoint.pk).update(state_data={"sources": {"numbers": {"next": 20}}})
    wanted = {"sources": {"numbers": {"to": "values", "values": {"next": 5}}}, "dry_run": False}
    copy = Checkpoint.objects.get(pk=send(operator, "POST", f"/api/checkpoints/{checkpoint.pk}/positions", wanted)["checkpoint"]["id"])
    assert send(operator, "GET", f"/api/checkpoints/{copy.pk}/precheck")["roll_backs"] == []
    error = restore(operator, copy, expected=409, roll_back=True)["error"]
    assert error["code"] == "restore.roll_back"


def sinks_added(job: Job, root: Path) -> Job:
    """Into a folder and a table too."""
    Connection.objects.create(
        project=Project.objects.get(slug="default"), name="target", kind="sqlite", config={"path": str(root / "t.sqlite3")}
    )
    Connection.objects.create(
        project=Project.objects.get(slug="default"), name="away", kind="postgresql", config={"host": "127.0.0.1", "port": 1}
    )
    document = document_with(name=job.job_name)
    document["nodes"] |= {
        "lake": {"type": "sink.file", "name": "Lake", "config": {"path": str(root / "lake")}},
        "table": {"type": "sink.jdbc", "name": "Table", "config": {"connection": "target", "table": "t"}},
        "gone": {"type": "sink.jdbc", "name": "Gone", "config": {"connection": "away", "table": "t"}},
    }
    document["edges"] |= {f"to_{sink}": {"from": ["numbers", "out"], "to": [sink, "in"]} for sink in ("lake", "table", "gone")}
    return version_add(job, document)


def test_the_pre_check_says_for_each_sink_what_a_roll_back_would_do(job: Job, operator: Client, tmp_path: Path, settings: Any) -> None:
    settings.FILE_ROOTS = (tmp_path,)
    sinks_added(job, tmp_path)
    execution = run(job)
    Execution.objects.filter(pk=execution.pk).update(version=2)
    checkpoint = checkpoint_of(execution)
    checkpoint.queries = {"gone+lake+out+table": {"batch_id": 1, "sinks": ["gone", "lake", "out", "table"]}}
    checkpoint.save()
    (tmp_path / "lake").mkdir()
    short = str(execution.generation).replace("-", "")[:12]
    for batch in range(5):
        (tmp_path / "lake" / f"part-{short}-lake-{batch:08d}-00000.parquet").touch()
    found = send(operator, "GET", f"/api/checkpoints/{checkpoint.pk}/precheck")["roll_backs"]
    assert {one["node_id"]: (one["way"], one["unit"], one["count"], one["hindrance"], one["message"]) for one in found} == {
        "lake": ("removed", "files", 3, "", '"Lake": 3 files written since this checkpoint are removed'),
        "table": ("removed", "rows", 0, "", '"Table": 0 rows written since this checkpoint are removed'),
        "out": ("repeated", "rows", None, "nothing", '"Out" cannot be rolled back: it keeps no rows'),
        "gone": (
            "repeated",
            "rows",
            None,
            "silent",
            '"Gone" cannot be rolled back: its target cannot be asked now. Rows since this checkpoint come again',
        ),
    }
    assert len(list((tmp_path / "lake").iterdir())) == 5, "a look changes nothing"


def test_sinks_of_one_table_that_stand_at_different_batches_leave_it_alone(
    job: Job, operator: Client, tmp_path: Path, settings: Any
) -> None:
    settings.FILE_ROOTS = (tmp_path,)
    sinks_added(job, tmp_path)
    document = document_with(name=job.job_name)
    table = {"type": "sink.jdbc", "name": "T", "config": {"connection": "target", "table": "t"}}
    document["nodes"] |= {"one": table, "two": table | {"name": "U", "config": {"connection": "target", "table": "T"}}}
    document["edges"] |= {f"to_{sink}": {"from": ["numbers", "out"], "to": [sink, "in"]} for sink in ("one", "two")}
    version_add(job, document)
    execution = run(job)
    Execution.objects.filter(pk=execution.pk).update(version=3)
    checkpoint = checkpoint_of(execution)

    def hindrances(one: int, two: int) -> list[str]:
        checkpoint.queries = {"one": {"batch_id": one, "sinks": ["one"]}, "out+two": {"batch_id": two, "sinks": ["out", "two"]}}
        checkpoint.save()
        found = send(operator, "GET", f"/api/checkpoints/{checkpoint.pk}/precheck")["roll_backs"]
        return [each["hindrance"] for each in found if each["type"] == "sink.jdbc"]

    (tmp_path / "t.sqlite3").touch()
    assert hindrances(1, 1) == ["", ""]
    assert hindrances(1, 2) == ["shared", "shared"]


def test_generations_are_uuids_of_this_job_alone(job: Job) -> None:
    first = run(job)
    run(job_row("letters"), generation=uuid.uuid4())
    assert later(first) == set()
