"""A generation that is restored into another version: each query finds its position under its new name."""

import logging
from pathlib import Path

import pytest
from django.conf import settings

from checkpoints.spark_folder import last_committed
from jobs.driver.position import plan_with_position
from jobs.engine.plan import Plan
from jobs.models import Execution, ExecutionStatus
from jobs.services.executions import execution_restore
from tests.checkpoints.kept import execution_row, kept, live_of
from tests.checkpoints.test_checkpoint_api import ended
from tests.services.job_rows import document_with, job_row, operator, version_add

pytestmark = pytest.mark.django_db

TOO = {"type": "sink.print", "name": "Too", "config": {"rows": 3}}


def restored(version: int | None, *, of_sinks: tuple[str, ...] = ("out", "too")) -> Execution:
    """From a checkpoint of version 1 behind its fifth batch; version 2 has these sinks, all written by one query."""
    job = job_row()
    document = document_with(name=job.job_name)
    document["nodes"] = {"numbers": document["nodes"]["numbers"]} | {
        sink: document["nodes"]["out"] if sink == "out" else {**TOO, "name": sink} for sink in of_sinks
    }
    document["edges"] = {f"e{number}": {"from": ["numbers", "out"], "to": [sink, "in"]} for number, sink in enumerate(of_sinks)}
    version_add(job, document)
    execution = execution_row(job)
    checkpoint = kept(execution, 5)
    ended(execution)
    execution = execution_restore(checkpoint=checkpoint, user=operator(), version=version)
    Execution.objects.filter(pk=execution.pk).update(status=ExecutionStatus.INITIALIZING, attempt=2)
    return Execution.objects.select_related("job").get(pk=execution.pk)


def positioned(execution: Execution) -> tuple[Plan, list[str]]:
    plan = plan_with_position(execution, actor="d", log=logging.getLogger("test"))
    return plan, sorted(folder.name for folder in live_of(execution).iterdir())


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "DATA_DIR", tmp_path)


def test_a_query_with_a_sink_more_goes_on_with_the_folder_of_the_one_before() -> None:
    execution = restored(2)
    plan, folders = positioned(execution)
    assert [step.node_id for step in plan.steps] == ["numbers", "out", "too"]
    assert folders == ["out-too"]
    assert last_committed(live_of(execution) / "out-too") == 4


def test_its_own_version_finds_its_folder_as_it_was() -> None:
    execution = restored(None)
    plan, folders = positioned(execution)
    assert [step.node_id for step in plan.steps] == ["numbers", "out"]
    assert folders == ["out"]
    assert last_committed(live_of(execution) / "out") == 4


def test_an_attempt_later_the_folder_that_went_on_stays() -> None:
    execution = restored(2)
    positioned(execution)
    folder = live_of(execution) / "out-too"
    (folder / "commits" / "5").write_text("v2\n{}")
    (folder / "offsets" / "5").write_text((folder / "offsets" / "4").read_text())
    positioned(execution)
    assert last_committed(folder) == 5
