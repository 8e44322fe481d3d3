"""The clock of a test, read as times."""

from zoneinfo import ZoneInfo

import pytest

from jobs.dag.pipeline_test_clock import ClockWrong, clock_times

UTC, BERLIN = ZoneInfo("UTC"), ZoneInfo("Europe/Berlin")
NOON = 1769860800000  # 2026-01-31 12:00:00 in UTC


def test_times_stand_as_such_or_count_from_the_one_before() -> None:
    assert clock_times(["2026-01-31 12:00:00", "10 min", "+500ms", "2026-01-31T13:00:00Z"], UTC) == (
        NOON,
        NOON + 600_000,
        NOON + 600_500,
        NOON + 3_600_000,
    )
    assert clock_times([], UTC) == ()


def test_a_time_without_a_zone_is_one_of_the_job() -> None:
    assert clock_times(["2026-01-31 13:00:00", "2026-01-31T07:00:00-05:00"], BERLIN) == (NOON, NOON)
    assert clock_times(["2026-01-31"], BERLIN) == (NOON - 13 * 3_600_000,)


@pytest.mark.parametrize(
    ("clock", "place", "words"),
    [
        (["10 min"], 0, "comes after no other"),
        (["noon"], 0, "is no time: write one such as"),
        (["2026-01-31 12:00:00", "2 fortnights"], 1, "is no time"),
        (["2026-01-31 12:00:00", "1 min", "2026-01-31 12:00:59"], 2, "a clock goes on"),
        (["0001-01-01T00:00:00+14:00"], 0, "is no time"),
    ],
)
def test_what_is_no_time_of_a_clock_is_told_with_its_place(clock: list[str], place: int, words: str) -> None:
    with pytest.raises(ClockWrong) as wrong:
        clock_times(clock, UTC)
    assert wrong.value.place == place
    assert words in wrong.value.message
