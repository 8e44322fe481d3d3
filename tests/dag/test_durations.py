"""Lengths of time as people write them."""

import pytest

from jobs.dag.durations import duration_ms, duration_seconds, duration_text


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("500ms", 500), ("60s", 60_000), ("5 min", 300_000), ("1.5 h", 5_400_000), ("2 Days", 172_800_000), (" 1 m ", 60_000), ("0s", 0)],
)
def test_a_duration_is_a_number_and_a_unit(text, milliseconds):
    assert duration_ms(text) == milliseconds
    assert duration_seconds(text) == milliseconds / 1000


@pytest.mark.parametrize("text", ["", "60", "s", "-5s", "5 fortnights", "1e3s", "999999999999 d", "٣s"])
def test_anything_else_is_refused_in_words(text):
    with pytest.raises(ValueError, match=r"duration|year"):
        duration_ms(text)


@pytest.mark.parametrize("milliseconds", [0, 1, 500, 1000, 60_000])
def test_the_text_of_a_duration_reads_back(milliseconds):
    assert duration_ms(duration_text(milliseconds)) == milliseconds
