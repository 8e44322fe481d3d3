"""Settings of checkpoints that do not fit together, or not the kind of job."""

from typing import Any

import pytest

from jobs.dag.checkpoint_settings import checkpoint_problems
from jobs.dag.document import parse_document


def problems(kind: str, **settings: Any) -> list[tuple[str, str, str]]:
    document, _ = parse_document({"name": "a", "type": kind, "settings": settings})
    assert document is not None
    return [(one.severity, one.code, one.pointer) for one in checkpoint_problems(document)]


@pytest.mark.parametrize("kind", ["STREAMING", "SQL_TASK"])
def test_only_an_import_has_pages(kind: str) -> None:
    assert problems(kind, checkpoint_each_page=True) == [("error", "checkpoint.no_pages", "/settings/checkpoint_each_page")]
    assert problems(kind, checkpoint_each_page=False) == []
    assert problems("BATCH_ROLLER", checkpoint_each_page=True) == []


def test_a_pause_longer_than_the_interval_is_only_told() -> None:
    told = [("warning", "checkpoint.long_pause", "/settings/checkpoint_min_pause")]
    assert problems("STREAMING", checkpoint_interval="60s", checkpoint_min_pause="2 min") == told
    assert problems("STREAMING", checkpoint_interval="2 min", checkpoint_min_pause="60s") == []
    assert problems("STREAMING", checkpoint_interval="0s", checkpoint_min_pause="60s") == [], "no interval, no conflict"
    assert problems("STREAMING", checkpoint_min_pause="2 min") == []
