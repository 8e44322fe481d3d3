"""What a complete checkpoint tells the sources."""

import logging
from pathlib import Path
from typing import Any

import pytest

from jobs.driver.position import positions_tell
from jobs.nodes.base import NodeContext
from jobs.nodes.sources.generator import GeneratorSource
from tests.engine.graphs import Bench, document, numbers


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
    monkeypatch.setattr("jobs.driver.position._PAUSE_SECONDS", 0.0)
    plan = Bench(None, tmp_path).plan(document({"gen": numbers(), "out": ("sink.none", {})}, "gen>out"))  # type: ignore[arg-type]
    positions_tell(plan, logging.getLogger("test"), {"gen": 7})
    assert heard == [7] * told
    assert [record.getMessage() for record in caplog.records] == [
        "the checkpoint is good, but its position was not passed on: the broker is busy"
    ] * warnings
