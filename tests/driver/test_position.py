"""Where an attempt goes on, and what a complete checkpoint tells the sources."""

import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs.driver.position import plan_with_position, positions_tell
from jobs.engine.failure import ExecutionFailure
from jobs.models import Execution, ExecutionStatus, QueryProgress
from jobs.nodes.base import NodeContext
from jobs.nodes.sources.generator import GeneratorSource
from tests.checkpoints.kept import execution_row, kept, live_of, spark_folder
from tests.engine.graphs import Bench, document, numbers
from tests.services.job_rows import document_with, job_row, version_add


@pytest.mark.parametrize(("failures", "told", "warnings"), [(0, 1, 0), (2, 3, 0), (3, 3, 1)])
def test_a_source_that_cannot_act_at_once_is_told_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, failures: int, told: int, warnings: int
) -> None:
    heard: list[Any] = []

    def checkpointed(self: GeneratorSource, position: Any, context: NodeContext[Any]) -> None:
        heard.append(position)
        if len(heard) <= failures:
            raise TimeoutError("the broker is busy")

    monkeypatch.setattr(GeneratorSource, "checkpointed", checkpointed)
    monkeypatch.setattr("jobs.engine.insisting._PAUSE_SECONDS", 0.0)
    plan = Bench(None, tmp_path).plan(document({"gen": numbers(), "out": ("sink.none", {})}, "gen>out"))  # type: ignore[arg-type]
    positions_tell(plan, logging.getLogger("test"), {"gen": 7})
    assert heard == [7] * told
    assert [record.getMessage() for record in caplog.records] == [
        "the checkpoint is good, but its position was not passed on: the broker is busy"
    ] * warnings


@pytest.fixture
def at_once(db: None, settings: Any, tmp_path: Path) -> Execution:
    """An import whose query needs all rows at once, which an older Pipeline Web may not have seen."""
    settings.DATA_DIR = tmp_path
    job = job_row(job_type="BATCH_ROLLER")
    raw = document_with(name=job.job_name, job_type="BATCH_ROLLER")
    raw["nodes"]["ask"] = {"type": "flow.sql", "name": "Ask", "config": {"query": "SELECT n FROM input MINUS SELECT 1"}}
    raw["edges"] = {"e1": {"from": ["numbers", "out"], "to": ["ask", "in"]}, "e2": {"from": ["ask", "out"], "to": ["out", "in"]}}
    version_add(job, raw)
    return execution_row(job, status=ExecutionStatus.INITIALIZING, version=2)


def _folder(execution: Execution) -> None:
    spark_folder(live_of(execution) / "out", 1)


def _checkpoint(execution: Execution) -> None:
    kept(execution, 1)
    shutil.rmtree(live_of(execution))


def _second_batch(execution: Execution) -> None:
    _written(execution, 1)


def _written(execution: Execution, batch: int) -> None:
    QueryProgress.objects.create(execution=execution, query="out", batch_id=batch, base={}, latest={})


@pytest.mark.parametrize("left", [_folder, _checkpoint, _second_batch])
def test_what_went_on_in_steps_is_not_read_at_once_behind_them(at_once: Execution, left: Callable[[Execution], None]) -> None:
    """Sinks that have a batch 0 of the generation would take all rows for written."""
    left(at_once)
    with pytest.raises(ExecutionFailure, match="start it from the beginning") as failed:
        plan_with_position(at_once, actor="d", log=logging.getLogger("test"))
    assert failed.value.permanent


def test_its_one_batch_may_come_again(at_once: Execution) -> None:
    _written(at_once, 0)
    assert plan_with_position(at_once, actor="d", log=logging.getLogger("test")).generation == str(at_once.generation)
