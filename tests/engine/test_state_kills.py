"""Windows, joins, repeats and a person's own state beside plain Python: shuffled, late and repeated rows, also over kills."""

import random
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.engine.graphs import Bench
from tests.engine.killed_state import batches_drop, stateful_plan
from tests.engine.late_reference import FAMILIES, SHOWN, Kept, batches_of, wanted
from tests.engine.shuffled import START, Event
from tests.engine.test_kills import attempt

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

BATCHES, ROWS = 5, 40
KILLS = 1
#: Families that tell the begin of a window and its key.
GROUPED = ("windows", "sessions", "reduced")
#: Two that come so much later that all before them is over.
CLOSING: list[list[Event]] = [[{"key": -1, "at": START + timedelta(days=9 + number), "id": -1 - number}] for number in range(2)]


def drop(bench: Bench) -> dict[str, Kept]:
    """Rows for the two sources, and what is to come of them."""
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    chance = random.Random(seed)
    left, right = batches_of(chance, BATCHES, ROWS), batches_of(chance, BATCHES, ROWS, first=100_000)
    batches_drop(bench, "rows", [*left, *CLOSING])
    batches_drop(bench, "more", [*right, *CLOSING])
    return wanted([*left, *CLOSING], [*right, *CLOSING])


def assert_written(bench: Bench, expected: dict[str, Kept]) -> None:
    for family in FAMILIES:
        written = Counter(SHOWN[family](row) for row in bench.parquet(f"out/{family}") if row.key != -1)
        closing = {one for one in expected[family] if one[0] in (-1, -2) or (family in GROUPED and one[1] == -1)}
        assert written == Counter({one: rows for one, rows in expected[family].items() if one not in closing}), family


def test_what_keeps_state_gives_what_plain_python_does(bench: Bench) -> None:
    expected = drop(bench)
    run, heard = bench.run(stateful_plan(bench))
    assert run.wait(90) == "completed"
    assert_written(bench, expected)
    assert all(heard.rows(family, "late") > 0 for family in FAMILIES), "some came too late for each"


@pytest.mark.faults
@pytest.mark.processes
@pytest.mark.slow
def test_what_keeps_state_gives_the_same_when_it_is_killed(spark: SparkSession, tmp_path: Path) -> None:
    bench = Bench(spark, tmp_path)
    expected = drop(bench)
    chance, kills = random.Random(), 0
    for number in range(1, KILLS + 2):
        module = "tests.engine.killed_state"
        told, log = attempt(tmp_path, number, chance.uniform(0, 4) if number <= KILLS else None, module=module)
        assert any(event["kind"] == "BatchWritten" for event in told), f"attempt {number} wrote nothing: {log[-3000:]}"
        kills += told[-1]["kind"] != "outcome"
    assert kills == KILLS, "the run must be long enough to be killed that often"
    assert_written(bench, expected)
