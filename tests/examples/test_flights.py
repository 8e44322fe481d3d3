"""The flights of 2013: complete, in order of their days, copied and fed."""

from io import StringIO

import pandas
import pytest
from django.core.management import call_command

from jobs.services.flights import TABLES, day_feed, flight_rows, tables_copy
from tests.examples.real_data import flights

pytestmark = pytest.mark.slow


def test_every_flight_is_there_in_the_order_of_days():
    rows = flight_rows()
    assert len(rows) == 336_776
    assert (len(rows.days), rows.days[0], rows.days[-1]) == (365, "2013-01-01", "2013-12-31")
    months = pandas.Series([row["month"] for row in rows.rows(0, len(rows))])
    assert months.is_monotonic_increasing


def test_rows_beyond_the_end_are_none():
    assert flight_rows().rows(336_775, 10)[0]["month"] == 12
    assert flight_rows().rows(336_776, 10) == []


def test_tables_are_copied_once(tmp_path):
    assert tables_copy(tmp_path) == list(TABLES)
    assert tables_copy(tmp_path) == []
    copied = pandas.read_csv(tmp_path / "flights.csv")
    key = ["time_hour", "carrier", "flight", "origin"]
    pandas.testing.assert_frame_equal(
        copied.sort_values(key, ignore_index=True), flights().sort_values(key, ignore_index=True), check_dtype=False
    )
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_key_of_the_import_is_unique():
    assert not flights().duplicated(["year", "month", "day", "origin", "carrier", "flight"]).any()


def test_the_first_missing_day_is_fed(tmp_path):
    assert [day_feed(tmp_path), day_feed(tmp_path)] == ["2013-01-01", "2013-01-02"]
    (tmp_path / "2013-01-01.csv").unlink()
    assert day_feed(tmp_path) == "2013-01-01"
    fed = pandas.read_csv(tmp_path / "2013-01-02.csv")
    assert len(fed) == len(flights().query("month == 1 and day == 2"))


def test_a_complete_year_feeds_no_more(tmp_path):
    for day in flight_rows().days:
        (tmp_path / f"{day}.csv").touch()
    assert day_feed(tmp_path) is None


@pytest.fixture
def file_root(tmp_path, settings, db):
    settings.FILE_ROOTS = [tmp_path]
    return tmp_path


def test_the_feeder_goes_on_where_it_stopped(file_root):
    for _ in range(2):
        call_command("feed_flights", days=2, interval=0, stdout=StringIO())
    assert sorted(path.name for path in (file_root / "flights" / "incoming").iterdir()) == [f"2013-01-0{day}.csv" for day in (1, 2, 3, 4)]
