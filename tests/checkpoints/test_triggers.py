"""When a checkpoint is due: settings, a clock and counters, nothing else."""

import math

import pytest

from checkpoints.triggers import Due, Standing, Triggers, next_due

MINUTE = Triggers(interval=60)


def standing(*, ended: float = -math.inf, rows: int = 0, batches: int = 1, unprotected: bool = True) -> Standing:
    """Of a run whose latest checkpoint began at 100."""
    return Standing(begun=100, ended=ended, rows=rows, batches=batches, unprotected=unprotected)


@pytest.mark.parametrize(
    ("triggers", "at", "due"),
    [
        (Triggers(), standing(rows=10**9), None),
        (MINUTE, standing(), Due("INTERVAL", 160)),
        (MINUTE, standing(unprotected=False), None),
        (Triggers(rows=1000), standing(rows=999), None),
        (Triggers(rows=1000), standing(rows=1000), Due("ROWS", -math.inf)),
        (Triggers(rows=1000), standing(rows=1000, unprotected=False), None),
        (Triggers(each_page=True), standing(), Due("PAGE", -math.inf)),
        (Triggers(each_page=True), standing(batches=0), None),
        (Triggers(interval=60, rows=1000), standing(rows=999), Due("INTERVAL", 160)),
        (Triggers(interval=60, rows=1000), standing(rows=5000), Due("ROWS", -math.inf)),
        (Triggers(interval=60, rows=1000, each_page=True), standing(rows=5000), Due("PAGE", -math.inf)),
    ],
)
def test_the_first_trigger_that_comes_round_is_due(triggers: Triggers, at: Standing, due: Due | None) -> None:
    assert next_due(triggers, at) == due


@pytest.mark.parametrize(
    ("triggers", "ended", "at"),
    [
        (Triggers(interval=60, min_pause=10), 105, 160),
        (Triggers(interval=60, min_pause=90), 105, 195),
        (Triggers(interval=60, min_pause=10), 158, 168),
        (Triggers(rows=1, min_pause=10), 105, 115),
        (Triggers(each_page=True, min_pause=10), 105, 115),
        (Triggers(each_page=True), 105, 105),
    ],
)
def test_between_the_end_of_one_and_the_next_lies_the_pause(triggers: Triggers, ended: float, at: float) -> None:
    due = next_due(triggers, standing(ended=ended, rows=10))
    assert due is not None
    assert due.at == at
