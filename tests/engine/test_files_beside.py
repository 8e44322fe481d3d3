"""Files beside a stream are listed anew while it goes on, and what is gone for a moment is not taken for an empty table."""

import logging
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.engine import files_beside
from jobs.engine.files_beside import files_list, files_listed_anew, relations_beside
from jobs.engine.recurring import Recurring
from tests.engine.graphs import COLLECT, Bench, document, numbers
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark
TOLD = Recurring(logging.getLogger(__name__))


def written(folder: Path, name: str, *rows: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(f"{row}\n" for row in rows))
    return folder / name


@pytest.mark.parametrize("path", ["colours", "colours/a.csv"])
def test_a_list_is_brought_up_to_date_unless_all_its_files_are_gone(spark: SparkSession, tmp_path: Path, path: str) -> None:
    first = written(tmp_path / "colours", "a.csv", "red")
    read = spark.read.schema("colour string")
    frame = read.option("pathGlobFilter", "a.csv").csv(str(first.parent)) if path.endswith(".csv") else read.csv(str(first.parent))
    relations = relations_beside(frame)
    written(first.parent, "a.csv", "red", "blue")
    files_list(spark, relations, TOLD)
    assert frame.count() == 2
    gone = (tmp_path / path).rename(tmp_path / "away")
    files_list(spark, relations, TOLD)
    with pytest.raises(Exception, match=r"a\.csv"):
        frame.count()
    gone.rename(tmp_path / path)
    written(first.parent, "a.csv", "green")
    files_list(spark, relations, TOLD)
    assert [row.colour for row in frame.collect()] == ["green"]


def test_a_list_that_was_empty_is_brought_up_to_date(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.read.schema("colour string").csv(str(written(tmp_path / "colours", "_later").parent))
    relations = relations_beside(frame)
    written(tmp_path / "colours", "a.csv", "red")
    files_list(spark, relations, TOLD)
    assert frame.count() == 1


def test_nothing_waits_for_a_list_and_a_run_that_ends_by_itself_keeps_its_own(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    looking, going_on = threading.Event(), threading.Event()

    def listed(*_: Any) -> None:
        looking.set()
        going_on.wait(60)

    monkeypatch.setattr(files_beside, "files_list", listed)
    monkeypatch.setattr(files_beside, "LOOK_SECONDS", 0.0)
    queries = [SimpleNamespace(beside=["relation"])]
    plan = bench.plan(document({"gen": numbers(None), "out": COLLECT}, "gen>out", type="STREAMING"))
    with files_listed_anew(bench.spark, plan, queries):
        wait_until(looking.is_set, seconds=10, what="a look")
    assert [thread.name for thread in threading.enumerate()].count("files beside") == 1
    going_on.set()
    wait_until(lambda: "files beside" not in [thread.name for thread in threading.enumerate()], seconds=10, what="the end of the look")
    going_on.clear()
    with files_listed_anew(bench.spark, replace(plan, until_drained=True), queries):
        assert "files beside" not in [thread.name for thread in threading.enumerate()]


def test_a_list_that_cannot_be_made_is_told_of_once(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Although Spark's object has another number each time."""
    java: Any = spark._jvm
    monkeypatch.setattr(files_beside, "_is_there", lambda spark, relation: java.java.lang.Class.forName(relation))
    caplog.set_level(logging.INFO)
    for _ in range(3):
        files_list(spark, ["no.such.Thing"], TOLD)
    (record,) = [record for record in caplog.records if record.name == __name__]
    what = "files beside a stream cannot be listed (1 of 1)"
    assert record.getMessage() == f"{what}: java.lang.ClassNotFoundException: no.such.Thing"
