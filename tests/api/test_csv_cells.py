"""Cells of CSV files: what a spreadsheet would run is shown instead, and numbers stay what they are."""

import csv
import io
from typing import Any

import pytest

from jobs.api.csv_cells import csv_cell


@pytest.mark.parametrize(
    "text", ["=1+1", '=HYPERLINK("http://away")', "+cmd", "-cmd", "-", "@SUM(A1)", "\t=1", "\r=1", "+1 2", "-1=2", "--5", "-5\n", "+٣"]
)
def test_a_text_that_would_be_a_formula_stays_a_text(text: str) -> None:
    written = io.StringIO(newline="")
    csv.writer(written).writerow([csv_cell(text)])
    written.seek(0)
    assert next(csv.reader(written)) == [f"'{text}"]


@pytest.mark.parametrize(
    "value", [0, -5, 2.5, -1e-7, True, None, "-5", "+5", "-12.50", "-1.5E+10", "-.5", "plain", "a=b", "", "2026-01-01", "'quoted"]
)
def test_numbers_and_other_texts_stay_as_they_are(value: Any) -> None:
    assert csv_cell(value) == value


def test_what_is_nested_is_json() -> None:
    assert csv_cell({"a": ["=1"]}) == '{"a": ["=1"]}'
    assert csv_cell([]) == "[]"
