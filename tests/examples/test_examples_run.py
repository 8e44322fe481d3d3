"""Each example, run by the engine on the real data: its totals are those that pandas finds."""

import os
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest
from django.conf import settings

from jobs.dag.document import parse_document
from jobs.engine.compiler import plan_compile, settings_resolve
from jobs.engine.plan import Locations
from jobs.engine.runner import Run
from jobs.engine.script.program import script_write
from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.plainly import secret_stand_in
from jobs.services.examples import example_document
from jobs.services.flights import day_feed, flight_rows, tables_copy
from tests.engine.script.processes import SHORT_LIVED_JAVA, SPARK_SUBMIT, Scripts
from tests.examples.real_data import flights, table

pytestmark = [pytest.mark.processes, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(400)]


ROOT = Path(__file__).resolve().parents[2]


class Bench:
    """A folder of files with the flights in it, and a warehouse; runs example documents there."""

    def __init__(self, spark, scripts: Scripts, folder: Path) -> None:
        self.spark = spark
        self.scripts = scripts
        self.files = folder / "files"
        self.live = folder / "live"
        self.generation = str(uuid.uuid4())
        self.connections = {"example-warehouse": ConnectionSettings("example-warehouse", "sqlite", {"path": "flights/warehouse.sqlite3"})}
        self.allowed_hosts: tuple[str, ...] = ()

    def run(self, document: dict[str, Any], *, attempt: int = 1, until: Callable[[], bool] | None = None) -> None:
        """Run to the end, or until the condition holds and the batch then running is over."""
        parsed, problems = parse_document(document)
        assert parsed is not None, problems
        plan = plan_compile(
            parsed,
            job_uid="11111111-1111-1111-1111-111111111111",
            generation=self.generation,
            attempt=attempt,
            fresh=attempt == 1,
            parameters={},
            settings=settings_resolve(parsed, {"trigger.interval": "0"}),
            connections=self.connections,
            locations=Locations(live=self.live, work=self.live.with_name("work")),
            limits=Limits(file_roots=(self.files,), http_allowed_hosts=self.allowed_hosts, data_dir=self.live.parent),
            is_run=True,
        )
        run = Run(self.spark, plan, lambda event: None)
        run.start()
        deadline = time.monotonic() + 300
        try:
            while run.wait(0.3) is None:
                assert time.monotonic() < deadline, "the run did not come to its end"
                if until is not None and until():
                    run.stop()
        finally:
            run.stop()

    def script(self, document: dict[str, Any]) -> str:
        """It as a plain PySpark script."""
        parsed, problems = parse_document(document)
        assert parsed is not None, problems
        limits = Limits(file_roots=(self.files,), http_allowed_hosts=self.allowed_hosts, data_dir=self.live.parent)
        closed = {
            name: replace(known, secrets={secret: secret_stand_in(name, secret) for secret in known.secrets})
            for name, known in self.connections.items()
        }
        written = script_write(self.spark, parsed, connections=closed, limits=limits, parameters={})
        assert not written.problems
        return written.text

    def run_script(self, document: dict[str, Any]) -> None:
        self.scripts.run(self.script(document), self.live.parent)

    def submit_script(self, document: dict[str, Any], **secrets: str) -> None:
        """As a person runs one whose source is a reader of the product."""
        text = self.script(document)
        assert not any(value in text for value in secrets.values())
        place = self.files.with_name("script.py")
        place.write_text(text, encoding="utf-8")
        command = [str(SPARK_SUBMIT), "--driver-memory", "1g", str(place), "--until-drained"]
        python = {"PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
        environment = {**os.environ, **SHORT_LIVED_JAVA, **secrets, **python, "SPARK_LOCAL_IP": "127.0.0.1"}
        done = subprocess.run(command, cwd=place.parent, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-3000:]

    def warehouse(self, query: str) -> pandas.DataFrame:
        with closing(sqlite3.connect(self.files / "flights" / "warehouse.sqlite3")) as connection:
            return pandas.read_sql_query(query, connection)

    def count(self, query: str) -> int:
        """The only number of `query`; 0 while its table does not exist."""
        try:
            return int(str(self.warehouse(query).iat[0, 0] or 0))
        except (pandas.errors.DatabaseError, sqlite3.Error):
            return 0


RUN_AND_SCRIPT = [pytest.param(Bench.run, id="run"), pytest.param(Bench.run_script, id="script", marks=pytest.mark.faults)]


@pytest.fixture
def bench(spark, scripts, tmp_path) -> Bench:
    found = Bench(spark, scripts, tmp_path)
    (found.files / "flights").mkdir(parents=True)
    return found


def departed(days: int) -> pandas.DataFrame:
    """Window start (UTC, as text), carrier, flights and mean delay of the flights of the first `days` days that left."""
    rows = flights().dropna(subset=["dep_time"])
    rows = rows[pandas.to_datetime(rows[["year", "month", "day"]]) < pandas.Timestamp(2013, 1, 1) + pandas.Timedelta(days=days)]
    scheduled = pandas.to_datetime(rows.time_hour) + pandas.to_timedelta(rows.minute, unit="min")
    rows = rows.assign(window_start=scheduled.dt.floor("h").dt.strftime("%Y-%m-%d %H:%M:%S"))
    return rows.groupby(["window_start", "carrier"]).agg(flights=("flight", "size"), mean_delay=("dep_delay", "mean")).reset_index()


def written_departures(bench: Bench) -> pandas.DataFrame:
    found = bench.warehouse("SELECT window_start, carrier, flights, mean_delay FROM departures_per_hour ORDER BY 1, 2")
    return found.assign(window_start=pandas.to_datetime(found.window_start).dt.strftime("%Y-%m-%d %H:%M:%S"))


def test_departures_per_hour_are_those_of_pandas_also_after_a_stop_and_as_a_script(bench):
    document = example_document("departures-per-hour")
    incoming = bench.files / "flights" / "incoming"
    incoming.mkdir()
    for days, attempt in ((20, 1), (45, 2)):
        while len(list(incoming.iterdir())) < days:
            day_feed(incoming)
        total = int(departed(days).flights.sum())
        bench.run(document, attempt=attempt, until=lambda total=total: bench.count("SELECT sum(flights) FROM departures_per_hour") >= total)
        pandas.testing.assert_frame_equal(written_departures(bench), departed(days), check_dtype=False)
    (bench.files / "flights" / "warehouse.sqlite3").unlink()
    bench.run_script(document)
    pandas.testing.assert_frame_equal(written_departures(bench), departed(45), check_dtype=False)
    day_feed(incoming)
    bench.run_script(document)
    pandas.testing.assert_frame_equal(written_departures(bench), departed(46), check_dtype=False)


def streaks(days: int) -> pandas.DataFrame:
    """Plane, first and last scheduled time (UTC, as text) and number of each three or more late departures in a row."""
    rows = flights().dropna(subset=["dep_time", "tailnum"])
    rows = rows[pandas.to_datetime(rows[["year", "month", "day"]]) < pandas.Timestamp(2013, 1, 1) + pandas.Timedelta(days=days)]
    rows = rows.assign(at=pandas.to_datetime(rows.time_hour) + pandas.to_timedelta(rows.minute, unit="min"))
    rows = rows.sort_values(["tailnum", "at"]).drop_duplicates(["tailnum", "at"])
    rows = rows.assign(run=(rows.dep_delay < 15).groupby(rows.tailnum).cumsum())
    late = rows[rows.dep_delay >= 15].groupby(["tailnum", "run"]).agg(since=("at", "min"), until=("at", "max"), flights=("at", "size"))
    found = late[late.flights >= 3].reset_index().drop(columns="run").sort_values(["tailnum", "since"], ignore_index=True)
    return found.assign(**{name: found[name].dt.strftime("%Y-%m-%d %H:%M:%S") for name in ("since", "until")})


def written_streaks(bench: Bench) -> pandas.DataFrame:
    found = bench.warehouse("SELECT tailnum, since, until, flights FROM delay_streaks ORDER BY 1, 2")
    return found.assign(**{name: pandas.to_datetime(found[name]).dt.strftime("%Y-%m-%d %H:%M:%S") for name in ("since", "until")})


def test_delay_streaks_are_those_of_pandas_also_after_a_stop_and_as_a_script(bench):
    document = example_document("delay-streaks")
    incoming = bench.files / "flights" / "incoming"
    incoming.mkdir()
    for days, attempt in ((8, 1), (20, 2)):
        while (fed := len(list(incoming.iterdir()))) < days:
            day = day_feed(incoming)
            # A batch takes the oldest files first, and several are made in one millisecond.
            os.utime(incoming / f"{day}.csv", (time.time() - 3600 + fed,) * 2)
        total = int(streaks(days).flights.sum())
        bench.run(document, attempt=attempt, until=lambda total=total: bench.count("SELECT sum(flights) FROM delay_streaks") >= total)
        pandas.testing.assert_frame_equal(written_streaks(bench), streaks(days), check_dtype=False)
    assert streaks(20).flights.max() > 5
    (bench.files / "flights" / "warehouse.sqlite3").unlink()
    bench.run_script(document)
    pandas.testing.assert_frame_equal(written_streaks(bench), streaks(20), check_dtype=False)


@pytest.mark.parametrize("run", [Bench.run, Bench.run_script], ids=["run", "script"])
def test_carrier_delays_are_those_of_pandas(bench, run):
    tables_copy(bench.files / "flights")
    run(bench, example_document("carrier-delays"))
    rows = (
        flights()
        .merge(table("airlines"), on="carrier")
        .merge(table("weather"), on=["origin", "time_hour"], how="left", suffixes=("", "_w"))
    )
    bad = (rows.precip > 0) | (rows.visib < 3)
    rows = rows.assign(in_bad_weather=bad, bad_delay=rows.dep_delay.where(bad))
    expected = (
        rows.groupby(["carrier", "name"])
        .agg(
            flights=("flight", "size"),
            departed=("dep_time", "count"),
            flights_in_bad_weather=("in_bad_weather", "sum"),
            mean_delay=("dep_delay", "mean"),
            mean_delay_in_bad_weather=("bad_delay", "mean"),
        )
        .reset_index()
        .rename(columns={"name": "airline"})
    )
    expected.insert(3, "cancelled", expected.flights - expected.pop("departed"))
    for found in (
        bench.warehouse("SELECT * FROM carrier_delays ORDER BY carrier"),
        pandas.read_parquet(bench.files / "flights" / "carrier-delays").sort_values("carrier", ignore_index=True),
    ):
        pandas.testing.assert_frame_equal(found[list(expected)], expected, check_dtype=False, atol=0.0051, rtol=0)
    assert expected.flights.sum() == 336_776


@pytest.mark.parametrize("run", RUN_AND_SCRIPT)
def test_weather_delays_are_those_of_pandas(bench, run):
    tables_copy(bench.files / "flights")
    run(bench, example_document("weather-delays"))
    rows = flights().merge(table("weather"), on=["origin", "time_hour"], how="left", suffixes=("", "_w"))
    rows = rows.merge(table("airlines"), on="carrier").dropna(subset=["dep_delay"])
    rows = rows.assign(weather=numpy.select([rows.precip > 0, rows.visib < 3], ["rain", "fog"], "dry"))
    groups = rows.groupby(["weather", "name"]).agg(flights=("flight", "size"), mean_delay=("dep_delay", "mean")).reset_index()
    worst = groups.sort_values("mean_delay", ascending=False).groupby("weather").head(3).sort_values(["weather", "mean_delay"])
    found = bench.warehouse("SELECT weather, name, flights, mean_delay, place FROM weather_delays ORDER BY weather, mean_delay")
    pandas.testing.assert_frame_equal(found.drop(columns="place"), worst.reset_index(drop=True), check_dtype=False)
    assert found.place.tolist() == [3, 2, 1] * 3
    very_late = pandas.read_parquet(bench.files / "flights" / "very-late")
    assert len(very_late) == (rows.dep_delay > 300).sum() > 100
    assert set(very_late.name) == set(rows[rows.dep_delay > 300].name)


@pytest.mark.faults
@pytest.mark.parametrize("run", RUN_AND_SCRIPT)
def test_plane_days_are_those_of_pandas(bench, run):
    tables_copy(bench.files / "flights")
    run(bench, example_document("plane-days"))
    rows = flights().dropna(subset=["dep_time", "tailnum"])
    rows = rows.assign(at=pandas.to_datetime(rows.time_hour) + pandas.to_timedelta(rows.minute, unit="min"))
    known = rows.dest.isin(table("airports").faa)
    rejected = pandas.read_parquet(bench.files / "flights" / "unknown-airports")
    assert len(rejected) == (~known).sum() > 7_000
    assert set(rejected.dest) == {"BQN", "SJU", "PSE", "STT"}
    assert rejected.rejected_reason.iloc[0] == f"not in the table: dest = {rejected.dest.iloc[0]}"
    rows = rows[known].sort_values(["tailnum", "at"])
    rows = rows.assign(day=(rows["at"].diff() > pandas.Timedelta(hours=8)).groupby(rows.tailnum).cumsum())
    days = rows.groupby(["tailnum", "day"]).agg(
        start=("at", "min"), departures=("flight", "size"), miles=("distance", "sum"), mean_delay=("dep_delay", "mean")
    )
    expected = days.reset_index().drop(columns="day").sort_values(["tailnum", "start"], ignore_index=True)
    found = bench.warehouse("SELECT tailnum, window_start AS start, departures, miles, mean_delay FROM plane_days ORDER BY 1, 2")
    pandas.testing.assert_frame_equal(found.assign(start=pandas.to_datetime(found.start)), expected, check_dtype=False)
    assert bench.count("SELECT count(*) FROM plane_days WHERE last_airport = 'General Edward Lawrence Logan Intl'") > 1_000


class Some(list[Any]):
    """A few flights, as the demo API asks for them."""

    def rows(self, first: int, count: int) -> list[Any]:
        return self[first : first + count]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("count", [60_000, pytest.param(336_776, marks=pytest.mark.faults)], ids=["some", "all"])
def test_the_import_holds_every_flight_once_also_when_it_runs_again(bench, live_server, monkeypatch, count):
    served = Some(flight_rows().rows(0, count))
    monkeypatch.setattr("jobs.api.demo.flight_rows", lambda: served)
    address = live_server.url.removeprefix("http://")
    bench.allowed_hosts = (address,)
    bench.connections["demo-api"] = ConnectionSettings(
        "demo-api", "http_api", {"base_url": f"{live_server.url}/demo/api", "auth": "bearer"}, {"token": settings.DEMO_API_TOKEN}
    )
    document = example_document("flights-import")
    document["nodes"]["pages"]["config"] |= {"page_size": 5000, "pages_per_batch": 10}
    bench.run(document)
    del served[20_000:]
    bench.generation, bench.live = str(uuid.uuid4()), bench.live.with_name("again")
    bench.run(document)
    found = bench.warehouse(
        "SELECT count(*) AS n, count(dep_time) AS departed, sum(distance) AS miles, sum(dep_delay) AS delay FROM flights"
    )
    rows = flights().sort_values(["month", "day"], kind="stable").head(count)
    assert found.iloc[0].tolist() == [count, rows.dep_time.count(), rows.distance.sum(), rows.dep_delay.sum()]
    assert bench.count("SELECT count(DISTINCT time_hour) FROM flights") == rows.time_hour.nunique()
    (bench.files / "flights" / "warehouse.sqlite3").unlink()
    bench.submit_script(document, DEMO_API_TOKEN=settings.DEMO_API_TOKEN)
    assert bench.count("SELECT count(*) FROM flights") == 20_000
    assert bench.warehouse("SELECT sum(distance) FROM flights").iat[0, 0] == sum(float(row["distance"] or 0) for row in served)
