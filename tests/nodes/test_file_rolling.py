"""`sink.file` that gathers rows of several batches: when files appear, and that no row is lost or doubled whoever dies when."""

import os
import re
import threading
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes.base import Batch, SinkFenced
from jobs.nodes.roll_back import RollBackPoint
from jobs.nodes.sinks.file_config import FileSinkConfig
from jobs.nodes.sinks.file_manifest import FolderLedger
from jobs.nodes.sinks.file_rolling import Gathered, groups_of
from tests.nodes.conftest import Build, Built

FIRST = "a1b2c3d4-0000-4000-8000-000000000001"
SECOND = "b2c3d4e5-0000-4000-8000-000000000002"
LARGE: dict[str, Any] = {"roll_megabytes": 1000}


def waiting(*batches: int, generation: str = "a", size: int = 1, since: float = 0.0) -> list[Gathered]:
    return [Gathered(f"{generation}{batch}", generation, batch, size, since) for batch in batches]


def test_files_are_parted_behind_marks_and_only_the_last_group_takes_more():
    found = groups_of(waiting(5, 1, 2, 3, 4, 6), [("a", 2), ("a", 4)], "a", committed=5)
    assert [([one.batch for one in group.files], group.is_closed) for group in found] == [([1, 2], True), ([3, 4], True), ([5], False)]


def test_what_an_earlier_generation_left_takes_no_more():
    found = groups_of([*waiting(7, 8, generation="z"), *waiting(0)], [("z", 7)], "a", committed=0)
    assert [(group.newest.name, group.is_closed) for group in found] == [("a0", False), ("z7", True), ("z8", True)]


def test_a_group_is_due_when_it_is_large_or_old_or_closed():
    config = FileSinkConfig(path="out", roll_megabytes=2, roll_seconds=60)
    (small,) = groups_of(waiting(0, 1, size=500_000, since=100.0), [], "a", committed=1)
    (large,) = groups_of(waiting(0, 1, size=1_000_000, since=100.0), [], "a", committed=1)
    assert (small.is_due(config, 159.0), small.is_due(config, 160.0), large.is_due(config, 101.0)) == (False, True, True)
    assert not large.is_due(FileSinkConfig(path="out", roll_seconds=60), 101.0)


def sink_for(spark: SparkSession, build: Build, config: dict[str, Any] | None = None, **given: Any) -> Built:
    sink = build("sink.file", {"path": "out"} | (LARGE if config is None else config), **given)
    sink.node.begin(spark, spark.range(1).selectExpr("id", "id AS part").schema, sink.context)
    return sink


def write(sink: Built, frame: DataFrame, batch_id: int, **given: Any) -> None:
    sink.node.write(frame, Batch(batch_id, "node", **given), sink.context)


def settle(spark: SparkSession, sink: Built, committed: int, *, last: bool = False) -> None:
    sink.node.settle(spark, sink.context, committed=committed, last=last)


def numbered(spark: SparkSession, sink: Built, batches: range) -> Built:
    """Batch n holds the number n."""
    for batch in batches:
        write(sink, spark.range(batch, batch + 1).coalesce(1), batch)
    return sink


def seen(spark: SparkSession, root: Path) -> list[int]:
    """What any reader of the folder sees."""
    return sorted(row["id"] for row in spark.read.schema("id long").parquet(str(root / "out")).collect())


def files(root: Path) -> list[str]:
    return sorted(
        str(file.relative_to(root / "out")) for file in (root / "out").rglob("*.*") if ".pipeline" not in str(file) and file.is_file()
    )


def hidden(root: Path) -> list[Path]:
    return [file for file in (root / "out" / ".pipeline").rglob("*") if file.is_file() and file.name not in ("fence.json", "lock")]


@pytest.mark.spark
def test_rows_of_several_batches_appear_as_one_file_at_the_end(spark: SparkSession, build: Build, root: Path):
    sink = numbered(spark, sink_for(spark, build), range(5))
    settle(spark, sink, 4)
    assert seen(spark, root) == []
    settle(spark, sink, 4, last=True)
    assert (seen(spark, root), files(root)) == (list(range(5)), ["part-a1b2c3d40000-node-00000004-00000.since-00000000.snappy.parquet"])
    assert {file.suffix for file in hidden(root)} == {".done", ".json"}


@pytest.mark.spark
def test_rows_that_wait_appear_where_they_were_written_after_the_job_was_changed_to_write_elsewhere(
    spark: SparkSession, build: Build, root: Path
):
    """It was killed before batch 2 was committed, which comes again, at the new place."""
    numbered(spark, sink_for(spark, build), range(3))
    changed = LARGE | {"path": "elsewhere", "format": "json"}
    numbered(spark, sink_for(spark, build, changed, attempt=2), range(2, 3))
    again = sink_for(spark, build, changed, attempt=3)
    assert files(root) == []
    settle(spark, again, 1)
    assert (seen(spark, root), len(files(root))) == ([0, 1], 1)
    settle(spark, sink_for(spark, build, changed, attempt=4), 2, last=True)
    assert [row["id"] for row in spark.read.json(str(root / "elsewhere")).collect()] == [2]
    assert seen(spark, root) == [0, 1]


@pytest.mark.spark
def test_a_file_appears_when_it_is_large_enough_without_what_is_not_committed(spark: SparkSession, build: Build, root: Path):
    """Each batch's file has about 500 bytes."""
    sink = numbered(spark, sink_for(spark, build, {"roll_megabytes": 0.000_7}), range(3))
    settle(spark, sink, 0)
    assert files(root) == []
    settle(spark, sink, 1)
    assert (seen(spark, root), len(files(root))) == ([0, 1], 1)
    settle(spark, sink, 2)
    assert (seen(spark, root), len(files(root))) == ([0, 1], 1)
    settle(spark, sink, 2, last=True)
    assert (seen(spark, root), len(files(root))) == ([0, 1, 2], 2)


@pytest.mark.spark
def test_a_file_appears_when_its_oldest_rows_are_old_enough(spark: SparkSession, build: Build, root: Path):
    sink = numbered(spark, sink_for(spark, build, {"roll_seconds": 600}), range(2))
    settle(spark, sink, 1)
    assert files(root) == []
    with patch("jobs.nodes.sinks.file_rolling.time.time", lambda: os.path.getmtime(root / "out") + 601):
        settle(spark, sink, 1)
    assert (seen(spark, root), len(files(root))) == ([0, 1], 1)


@pytest.mark.spark
def test_a_large_batch_becomes_several_files(spark: SparkSession, build: Build, root: Path):
    sink = sink_for(spark, build, {"roll_megabytes": 0.05})
    write(sink, spark.range(0, 50_000, 1, 8), 0)
    settle(spark, sink, 0)
    assert seen(spark, root) == list(range(50_000))
    assert 2 <= len(files(root)) <= 8


@pytest.mark.spark
@pytest.mark.parametrize("file_format", ["csv", "json", "orc", "avro", "text"])
def test_each_format_and_folder_is_written_when_it_appears(spark: SparkSession, build: Build, root: Path, file_format: str):
    config = {"format": file_format, "text_column": "line", "partition_by": ["at"], "time_folders": "day", "time_column": "when"}
    sink = build("sink.file", {"path": "out", "roll_seconds": 600} | config)
    rows = spark.sql("SELECT '李 x' AS line, id % 2 AS at, timestamp'2024-05-01 01:00:00' AS when FROM range(4)")
    sink.node.begin(spark, rows.schema, sink.context)
    write(sink, rows, 0)
    write(sink, rows, 1)
    settle(spark, sink, 1, last=True)
    assert len(files(root)) == 2
    assert {re.sub(r"/part.*", "", name) for name in files(root)} == {"date=2024-05-01/at=0", "date=2024-05-01/at=1"}
    read = spark.read.option("header", "true").format(file_format).load(str(root / "out"))
    assert read.count() == 8
    assert {str(row[0]) for row in read.select("value" if file_format == "text" else "line").collect()} == {"李 x"}


@pytest.mark.spark
def test_the_next_attempt_goes_on_with_what_waits_and_keeps_it_apart(spark: SparkSession, build: Build, root: Path):
    numbered(spark, sink_for(spark, build), range(3))
    again = sink_for(spark, build, attempt=2)
    numbered(spark, again, range(2, 5))
    settle(spark, again, 4)
    assert seen(spark, root) == [0, 1, 2]
    settle(spark, again, 4, last=True)
    assert (seen(spark, root), len(files(root))) == (list(range(5)), 2)


@pytest.mark.spark
@pytest.mark.parametrize("moves_before_death", [0, 1])
@pytest.mark.parametrize("generation", [FIRST, SECOND])
def test_a_death_while_files_are_put_together_is_mended(
    spark: SparkSession, build: Build, root: Path, moves_before_death: int, generation: str
):
    """Also by an attempt that begins anew at a checkpoint: the rows are committed."""
    sink = sink_for(spark, build, LARGE | {"partition_by": ["part"]})
    for batch in range(2):
        write(sink, spark.range(2).selectExpr(f"{batch} AS id", "id AS part"), batch)
    moved, replace = 0, os.replace

    def dying(source: Any, target: Any) -> None:
        nonlocal moved
        if str(target).endswith(".parquet"):
            if moved == moves_before_death:
                raise KeyboardInterrupt
            moved += 1
        replace(source, target)

    with patch("jobs.nodes.sinks.file_manifest.os.replace", dying), pytest.raises(KeyboardInterrupt):
        settle(spark, sink, 1, last=True)
    again = sink_for(spark, build, LARGE | {"partition_by": ["part"]}, attempt=2, generation=generation)
    assert seen(spark, root) == [0, 0, 1, 1]
    settle(spark, again, 1, last=True)
    assert seen(spark, root) == [0, 0, 1, 1]
    assert {file.suffix for file in hidden(root)} == {".done", ".json"}


@pytest.mark.spark
def test_a_death_before_they_count_leaves_them_waiting(spark: SparkSession, build: Build, root: Path):
    sink = numbered(spark, sink_for(spark, build), range(3))
    with patch("jobs.nodes.sinks.file_manifest.FolderLedger.put_together", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        settle(spark, sink, 2, last=True)
    assert seen(spark, root) == []
    settle(spark, sink_for(spark, build, attempt=2), 2, last=True)
    assert seen(spark, root) == [0, 1, 2]


@pytest.mark.spark
def test_an_attempt_that_was_left_behind_puts_nothing_together(spark: SparkSession, build: Build, root: Path):
    old = numbered(spark, sink_for(spark, build), range(3))
    new = sink_for(spark, build, attempt=2)
    with pytest.raises(SinkFenced, match="attempt 2 took over"):
        settle(spark, old, 2, last=True)
    settle(spark, new, 2, last=True)
    assert seen(spark, root) == [0, 1, 2]


@pytest.mark.spark
def test_going_back_to_a_checkpoint_takes_away_what_came_behind_it_and_nothing_else(spark: SparkSession, build: Build, root: Path):
    sink = numbered(spark, sink_for(spark, build), range(4))
    assert sink.node.mark(sink.context, 1)
    settle(spark, sink, 3)
    assert seen(spark, root) == [0, 1]
    numbered(spark, sink, range(4, 6))
    assert not sink.node.mark(sink.context, 0), "0 and 1 are one file already"
    assert sink.node.mark(sink.context, 1)
    settle(spark, sink, 5, last=True)
    numbered(spark, sink, range(6, 8))
    restored = sink_for(spark, build, generation=SECOND, attempt=2)
    point = RollBackPoint(FIRST, 1)
    view = restored.node.roll_back_view(restored.context, point)
    done = restored.node.roll_back(restored.context, point)
    assert (view, done.count) == (done, 3), "a file of 2 to 5, and 6 and 7, which waited"
    numbered(spark, restored, range(2))
    settle(spark, restored, 1, last=True)
    assert seen(spark, root) == [0, 0, 1, 1]


@pytest.mark.spark
@pytest.mark.parametrize("counts", [False, True])
def test_going_back_after_a_death_while_files_are_put_together(spark: SparkSession, build: Build, root: Path, counts: bool):
    sink = numbered(spark, sink_for(spark, build), range(2))
    assert sink.node.mark(sink.context, 1)
    numbered(spark, sink, range(2, 4))
    dies_in = "_move_into_place" if counts else "put_together"
    with patch.object(FolderLedger, dies_in, side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        sink.node.settle(spark, sink.context, committed=3, last=True)
    restored = sink_for(spark, build, generation=SECOND, attempt=2)
    assert restored.node.roll_back(restored.context, RollBackPoint(FIRST, 1)).count == 2
    numbered(spark, restored, range(2, 4))
    settle(spark, restored, 3, last=True)
    assert seen(spark, root) == [0, 1, 2, 3]
    assert {file.suffix for file in hidden(root)} == {".done", ".json"}


@pytest.mark.spark
def test_without_going_back_a_new_generation_shows_what_the_old_one_gathered(spark: SparkSession, build: Build, root: Path):
    numbered(spark, sink_for(spark, build), range(3))
    restored = sink_for(spark, build, {}, generation=SECOND, attempt=2)
    settle(spark, restored, -1)
    assert seen(spark, root) == [0, 1, 2]


@pytest.mark.spark
def test_overwriting_takes_away_what_waits_too(spark: SparkSession, build: Build, root: Path):
    numbered(spark, sink_for(spark, build), range(3))
    fresh = sink_for(spark, build, LARGE | {"mode": "overwrite"}, generation=SECOND, attempt=2)
    write(fresh, spark.range(100, 101), 0, first_of_fresh_generation=True)
    settle(spark, fresh, 0, last=True)
    assert seen(spark, root) == [100]


@pytest.mark.spark
def test_nothing_of_what_overwriting_takes_away_comes_back_with_what_is_put_together_meanwhile(
    spark: SparkSession, build: Build, root: Path
):
    numbered(spark, sink_for(spark, build), range(3))
    fresh = sink_for(spark, build, LARGE | {"mode": "overwrite"}, generation=SECOND, attempt=2)
    claim, watcher = FolderLedger.claim, threading.Thread(target=settle, args=(spark, fresh, -1))

    def late(self: FolderLedger, batch_id: int, attempt: int, files: Any) -> bool:
        watcher.start()
        watcher.join(3)  # as far as it comes
        return claim(self, batch_id, attempt, files)

    with patch.object(FolderLedger, "claim", late):
        write(fresh, spark.range(100, 101), 0, first_of_fresh_generation=True)
    watcher.join()
    settle(spark, fresh, 0, last=True)
    assert seen(spark, root) == [100]


@pytest.mark.spark
def test_a_file_with_rows_from_both_sides_of_a_checkpoint_stays_whole(spark: SparkSession, build: Build, root: Path):
    """Marks part files at every checkpoint of the job; one that nobody marked must cost no row."""
    settle(spark, numbered(spark, sink_for(spark, build), range(4)), 3, last=True)
    restored = sink_for(spark, build, generation=SECOND, attempt=2)
    assert restored.node.roll_back(restored.context, RollBackPoint(FIRST, 1)).count == 0
    assert seen(spark, root) == [0, 1, 2, 3]
