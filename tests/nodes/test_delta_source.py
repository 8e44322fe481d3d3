"""`source.delta`: every row of a table once, as it is, as it was, and as it grows."""

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from jobs.nodes.base import NodeError
from jobs.nodes.sources.delta import DeltaSource
from tests.nodes.conftest import Build, Built
from tests.nodes.streams import Drained

pytestmark = pytest.mark.spark


def grow(spark: SparkSession, root: Path, first: int, last: int, files: int = 1, **options: str) -> None:
    """One version more."""
    spark.range(first, last, 1, files).write.format("delta").mode("append").options(**options).save(str(root / "table"))


def delete(spark: SparkSession, root: Path, condition: str) -> None:
    spark._jvm.io.delta.tables.DeltaTable.forPath(spark._jsparkSession, str(root / "table")).delete(condition)  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def made(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two versions, rows 0 to 3 and 4 to 5."""
    folder = tmp_path_factory.mktemp("made")
    grow(spark, folder, 0, 4, files=2)
    grow(spark, folder, 4, 6)
    return folder / "table"


@pytest.fixture
def table(made: Path, root: Path) -> Path:
    return Path(shutil.copytree(made, root / "table"))


def stream(build: Build, **config: Any) -> Built:
    return build("source.delta", {"path": "table"} | config, mode="stream", bounded=False, job_type="STREAMING")


def read_all(spark: SparkSession, built: Built) -> list[int]:
    return sorted(row.id for row in built.node.read(spark, built.context).collect())


def told(caught: Any) -> str:
    """What a stream died of, as the engine has it told by the node."""
    words = DeltaSource.failure_words(str(caught.value), "")
    assert words is not None, caught.value
    return words.message


def test_a_table_is_read_as_it_is_and_as_it_was(spark: SparkSession, build: Build, table: Path):
    assert read_all(spark, build("source.delta", {"path": "table"}, job_type="SQL_TASK")) == [0, 1, 2, 3, 4, 5]
    assert read_all(spark, build("source.delta", {"path": "table", "start": "version", "version": 0}, job_type="SQL_TASK")) == [0, 1, 2, 3]
    later = {"path": "table", "start": "time", "time": "2999-01-01"}
    assert read_all(spark, build("source.delta", later, job_type="SQL_TASK")) == [0, 1, 2, 3, 4, 5]


def test_rows_are_read_once_as_they_come_and_a_failed_batch_is_read_again(
    spark: SparkSession, build: Build, table: Path, root: Path, tmp_path: Path
):
    built, drained = stream(build, max_files_per_trigger=1), Drained()
    drained.failing = 1
    with pytest.raises(Exception, match="the sink is away"):
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    drained.failing = None
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert len(drained.batches) == 3
    grow(spark, root, 6, 8)
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert sorted(drained.everything) == list(range(8))


def test_a_copy_of_the_live_folder_goes_on_behind_its_own_position(
    spark: SparkSession, build: Build, table: Path, root: Path, tmp_path: Path
):
    built, first, second = stream(build), Drained(), Drained()
    first.run(built.node.read(spark, built.context), tmp_path / "live")
    shutil.copytree(tmp_path / "live", tmp_path / "kept")
    grow(spark, root, 6, 8)
    first.run(built.node.read(spark, built.context), tmp_path / "live")
    grow(spark, root, 8, 9)
    second.run(built.node.read(spark, built.context), tmp_path / "kept")
    assert sorted(first.everything) == list(range(8))
    assert sorted(second.everything) == [6, 7, 8]


@pytest.mark.parametrize(
    ("config", "expected"),
    [({"start": "newest"}, [6]), ({"start": "version", "version": 1}, [4, 5, 6])],
)
def test_a_stream_begins_where_it_is_told(
    spark: SparkSession, build: Build, table: Path, root: Path, tmp_path: Path, config: dict[str, Any], expected: list[int]
):
    built, drained = stream(build, **config), Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    grow(spark, root, 6, 7)
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert sorted(drained.everything) == expected


def test_a_time_without_a_zone_is_one_of_utc_whatever_the_zone_of_the_job(spark: SparkSession, build: Build, table: Path, tmp_path: Path):
    for version, hour in enumerate((0, 12)):
        moment = datetime(2026, 1, 1, hour, tzinfo=UTC).timestamp()
        os.utime(table / "_delta_log" / f"{version:020d}.json", (moment, moment))
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    built, drained = stream(build, start="time", time="2026-01-01T06:00:00"), Drained()
    drained.run(built.node.read(session, built.context), tmp_path / "live")
    assert sorted(drained.everything) == [4, 5]


@pytest.mark.parametrize(("on_change", "after"), [("fail", None), pytest.param("skip", [6], marks=pytest.mark.faults), ("repeat", [4, 6])])
def test_a_changed_table_stops_the_stream_unless_told_otherwise(
    spark: SparkSession, build: Build, table: Path, root: Path, tmp_path: Path, on_change: str, after: list[int] | None
):
    built, drained = stream(build, on_change=on_change), Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    drained.batches.clear()
    delete(spark, root, "id = 5")
    grow(spark, root, 6, 7)
    if after is None:
        with pytest.raises(Exception, match="DELTA_SOURCE") as caught:
            drained.run(built.node.read(spark, built.context), tmp_path / "live")
        assert "(version 2): choose under “on change”" in told(caught)
        built = stream(build, on_change="skip")
        after = [6]
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert sorted(drained.everything) == after


def test_rows_hidden_by_deletion_vectors_are_neither_read_nor_counted(spark: SparkSession, build: Build, root: Path):
    path = str(root / "table")
    spark.range(0, 1000, 1, 1).write.format("delta").option("delta.enableDeletionVectors", "true").save(path)
    delete(spark, root, "id < 10")
    assert list((root / "table").glob("deletion_vector*")), "this test is about deletion vectors"
    assert read_all(spark, build("source.delta", {"path": "table"})) == list(range(10, 1000))


def test_new_columns_are_told_and_read_by_the_next_attempt(spark: SparkSession, build: Build, table: Path, tmp_path: Path):
    built, drained = stream(build, max_files_per_trigger=2), Drained()

    def widen(batch_id: int) -> None:
        if "note" not in spark.read.format("delta").load(str(table)).columns:
            row = spark.createDataFrame([(6, "x")], "id bigint, note string")
            row.write.format("delta").mode("append").option("mergeSchema", "true").save(str(table))

    drained.meanwhile = widen
    query = built.node.read(spark, built.context)
    with pytest.raises(Exception, match="the columns of the table changed; the next attempt reads it with the new ones"):
        for _ in range(3):  # a run that ends takes what was there at its start
            try:
                drained.run(query, tmp_path / "live")
            except StreamingQueryException as error:
                raise DeltaSource.failure_words(str(error), "") or error from error
    frame = built.node.read(spark, built.context)
    assert frame.columns == ["id", "note"]
    drained.run(frame, tmp_path / "live")
    assert sorted(drained.everything) == list(range(7))


def test_another_table_in_the_folder_is_not_taken_for_the_one_before(
    spark: SparkSession, build: Build, table: Path, root: Path, tmp_path: Path
):
    built, drained = stream(build), Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    shutil.rmtree(table)
    with pytest.raises(NodeError, match="is gone; put it back"):
        built.node.check([])
    spark.range(50).write.format("delta").save(str(root / "table"))
    with pytest.raises(Exception, match="DIFFERENT_DELTA_TABLE") as caught:
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert "another table stands in the folder" in told(caught)


def test_files_that_vacuum_removed_unread_are_told(spark: SparkSession, build: Build, table: Path, root: Path, tmp_path: Path):
    built, drained = stream(build, max_files_per_trigger=1), Drained()
    for file in table.glob("*.parquet"):
        file.unlink()
    with pytest.raises(Exception, match="FILE_NOT") as caught:
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert "let VACUUM keep them for longer" in told(caught)


def test_versions_that_the_log_forgot_unread_are_told(spark: SparkSession, build: Build, table: Path, root: Path, tmp_path: Path):
    built, drained = stream(build), Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    for first in range(6, 12):
        grow(spark, root, first, first + 1)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, str(table)).checkpoint()  # type: ignore[union-attr]
    for version in range(4):
        for file in (table / "_delta_log").glob(f"*{version:020d}.*"):
            file.unlink()
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]
    with pytest.raises(Exception, match="DELTA_") as caught:
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert "keep the log for longer" in told(caught)


@pytest.mark.parametrize(
    ("config", "field", "words"),
    [
        ({"path": "nowhere"}, "path", "does not exist; name the folder in which its _delta_log stands"),
        ({"path": "plain"}, "path", "holds no Delta table"),
        ({"path": "../other"}, "path", "is not allowed: it leads outside"),
        ({"start": "version", "version": 9}, "version", "the table has no such version, it has 0 to 1; choose one of these"),
        ({"start": "time", "time": "2001-01-01"}, "time", "the table knows nothing of that time any more; choose a later one"),
    ],
)
def test_what_cannot_be_read_is_told_on_its_field(
    spark: SparkSession, build: Build, table: Path, root: Path, config: dict[str, Any], field: str, words: str
):
    (root / "plain").mkdir()
    built = build("source.delta", {"path": "table"} | config, schema_only=True)
    with pytest.raises(NodeError) as caught:
        built.node.read(spark, built.context)
    assert words in caught.value.message
    assert caught.value.field == field


def test_columns_are_told_without_reading_rows(spark: SparkSession, build: Build, table: Path):
    for file in table.glob("*.parquet"):
        file.unlink()
    built = build("source.delta", {"path": "table"}, schema_only=True)
    frame = built.node.read(spark, built.context)
    assert (frame.dtypes, frame.collect()) == ([("id", "bigint")], [])


@pytest.mark.parametrize("address", ["/etc/x.parquet", "file:/etc/x.parquet", "../other/x.parquet", "a/../../x.parquet"])
def test_a_table_cannot_lead_to_files_outside_its_folder(spark: SparkSession, build: Build, table: Path, address: str):
    added = {"path": address, "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True}
    (table / "_delta_log" / f"{2:020d}.json").write_text(json.dumps({"add": added}))
    built = build("source.delta", {"path": "table"})
    with pytest.raises(NodeError, match="has a file outside of its folder"):
        built.node.read(spark, built.context)
