"""A generation that goes back to a checkpoint knows of its sources what the one before it knew."""

from pathlib import Path
from typing import Any

import pytest

from checkpoints.models import Checkpoint
from jobs.driver.planning import execution_locations
from jobs.driver.remembered import remembered_take
from jobs.models import Execution, ExecutionStatus
from tests.checkpoints.kept import execution_row
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db


@pytest.fixture
def before(settings: Any, tmp_path: Path) -> Execution:
    settings.DATA_DIR = tmp_path
    return execution_row(job_row(), status=ExecutionStatus.FAILED)


def taken(before: Execution, *, same_version: bool = True, **there: str) -> dict[str, str]:
    """What a restored generation has of the source `numbers`; `there` lay in it already."""
    after = execution_row(before.job, status=ExecutionStatus.FAILED)
    place = execution_locations(after).work / "numbers"
    _placed(place, there)
    remembered_take(Checkpoint(generation=before.generation, state_data={"sources": {"numbers": {}}}), after, same_version=same_version)
    return {file.stem: file.read_text() for file in place.iterdir()} if place.exists() else {}


def _placed(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.json").write_text(text)


def test_which_topics_were_read_and_what_their_columns_are_is_known_behind_a_restore(before: Execution) -> None:
    _placed(
        execution_locations(before).work / "numbers",
        {"topic_ids": "ids", "known_messages": "last", "sampled_schema": "columns", "begun": "where"},
    )
    assert taken(before) == {"topic_ids": "ids", "known_messages": "last", "sampled_schema": "columns"}
    assert taken(before, same_version=False) == {"topic_ids": "ids", "known_messages": "last"}, "another version may ask for other columns"
    assert taken(before, topic_ids="newer") == {"topic_ids": "newer", "known_messages": "last", "sampled_schema": "columns"}


def test_where_nothing_is_left_of_the_generation_before_nothing_is_taken(before: Execution) -> None:
    assert taken(before) == {}
