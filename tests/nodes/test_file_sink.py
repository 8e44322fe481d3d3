"""`sink.file`: a batch's files appear once and together, whoever dies or freezes when."""

import json
import os
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes.base import Batch, SinkFenced, Written
from jobs.nodes.registry import REGISTRY
from jobs.nodes.roll_back import RollBackPoint
from jobs.nodes.sinks.file_config import CODECS
from jobs.nodes.sinks.file_manifest import FolderLedger
from tests.nodes.conftest import Build, Built

pytestmark = pytest.mark.spark

NEXT_GENERATION = "b2c3d4e5-0000-4000-8000-000000000002"


def numbers(spark: SparkSession, first: int, last: int) -> DataFrame:
    return spark.range(first, last, 1, 2)


def sink_for(spark: SparkSession, build: Build, config: dict[str, Any] | None = None, **given: Any) -> Built:
    sink = build("sink.file", {"path": "out"} | (config or {}), **given)
    sink.node.begin(spark, spark.range(1).selectExpr("id", "id AS _day").schema, sink.context)
    return sink


def write(sink: Built, frame: DataFrame, batch_id: int, **given: Any) -> Written:
    return sink.node.write(frame, Batch(batch_id, "node", **given), sink.context)


def visible(spark: SparkSession, root: Path) -> list[int]:
    """What any reader of the folder sees."""
    return sorted(row["id"] for row in spark.read.parquet(str(root / "out")).collect())


def test_a_batch_written_again_changes_nothing(spark: SparkSession, build: Build, root: Path):
    sink = sink_for(spark, build)
    assert write(sink, numbers(spark, 0, 10), 0, rows=10) == Written(rows=10)
    assert write(sink, numbers(spark, 0, 10), 0, rows=10) == Written(rows=0, repeated=True)
    again = sink_for(spark, build, attempt=2)
    assert write(again, numbers(spark, 0, 10), 0).repeated
    assert not write(again, numbers(spark, 10, 20), 1).repeated
    assert visible(spark, root) == list(range(20))


def test_only_data_files_stand_in_the_folder_and_no_trace_of_the_way_there(spark: SparkSession, build: Build, root: Path):
    sink = sink_for(spark, build)
    write(sink, numbers(spark, 0, 10), 0)
    names = sorted(file.name for file in (root / "out").iterdir())
    assert names == [".pipeline", *(f"part-a1b2c3d40000-node-00000000-0000{part}.snappy.parquet" for part in (0, 1))]
    assert not list((root / "out" / ".pipeline").rglob("*.parquet"))


def test_a_file_ends_after_as_many_rows_as_it_may_have(spark: SparkSession, build: Build, root: Path):
    sink = sink_for(spark, build, {"max_rows_per_file": 3})
    write(sink, spark.range(0, 10, 1, 1), 0)
    assert sorted(spark.read.parquet(str(file)).count() for file in (root / "out").glob("*.parquet")) == [1, 3, 3, 3]
    assert visible(spark, root) == list(range(10))


@pytest.mark.parametrize("moves_before_death", [0, 1])
def test_a_death_between_claim_and_move_is_mended_by_the_next_attempt(
    spark: SparkSession, build: Build, root: Path, moves_before_death: int
):
    sink = sink_for(spark, build)
    moved = 0
    replace = os.replace

    def dying(source: Any, target: Any) -> None:
        nonlocal moved
        if str(target).endswith(".parquet"):
            if moved == moves_before_death:
                raise KeyboardInterrupt
            moved += 1
        replace(source, target)

    with patch("jobs.nodes.sinks.file_manifest.os.replace", dying), pytest.raises(KeyboardInterrupt):
        write(sink, numbers(spark, 0, 10), 0)
    again = sink_for(spark, build, attempt=2)
    assert visible(spark, root) == list(range(10))
    assert write(again, numbers(spark, 0, 10), 0).repeated
    assert visible(spark, root) == list(range(10))


def test_an_attempt_frozen_before_its_claim_loses_to_the_one_that_took_over(spark: SparkSession, build: Build, root: Path):
    """It wakes after the other wrote the batch: its own files never appear."""
    old = sink_for(spark, build)
    claim = FolderLedger.claim

    def late(self: FolderLedger, batch_id: int, attempt: int, files: Any) -> bool:
        if attempt == 1:
            new = sink_for(spark, build, attempt=2)
            write(new, numbers(spark, 0, 10), 0)
        return claim(self, batch_id, attempt, files)

    with patch.object(FolderLedger, "claim", late), pytest.raises(SinkFenced, match="attempt 2 took over"):
        write(old, numbers(spark, 0, 10), 0)
    assert visible(spark, root) == list(range(10))
    with pytest.raises(SinkFenced):
        write(old, numbers(spark, 10, 20), 1)
    assert visible(spark, root) == list(range(10))


def test_a_new_generation_shuts_the_old_one_out(spark: SparkSession, build: Build, root: Path):
    old = sink_for(spark, build)
    write(old, numbers(spark, 0, 5), 0)
    new = sink_for(spark, build, generation=NEXT_GENERATION, attempt=2)
    with pytest.raises(SinkFenced):
        write(old, numbers(spark, 5, 10), 1)
    write(new, numbers(spark, 5, 10), 0)
    assert visible(spark, root) == list(range(10))


def test_overwriting_empties_the_folder_only_when_a_start_is_fresh(spark: SparkSession, build: Build, root: Path):
    first = sink_for(spark, build, {"mode": "overwrite"})
    write(first, numbers(spark, 0, 5), 0, first_of_fresh_generation=True)
    write(first, numbers(spark, 5, 10), 1)
    assert visible(spark, root) == list(range(10))
    second = sink_for(spark, build, {"mode": "overwrite"}, generation=NEXT_GENERATION, attempt=2)
    assert visible(spark, root) == list(range(10))
    write(second, numbers(spark, 100, 103), 0, first_of_fresh_generation=True)
    assert visible(spark, root) == [100, 101, 102]
    assert write(second, numbers(spark, 100, 103), 0, first_of_fresh_generation=True).repeated
    assert visible(spark, root) == [100, 101, 102]


def test_files_in_folders_of_a_column_that_begins_with_an_underscore_go_as_all_others(spark: SparkSession, build: Build, root: Path):
    first = sink_for(spark, build, {"partition_by": ["_day"]})
    for batch in range(2):
        write(first, spark.range(batch, batch + 1, 1, 1).selectExpr("id", "7 AS _day"), batch)
    second = sink_for(spark, build, {"mode": "overwrite"}, generation=NEXT_GENERATION, attempt=2)
    assert second.node.roll_back(second.context, RollBackPoint(first.context.generation, 0)).count == 1
    assert visible(spark, root) == [0]
    write(second, numbers(spark, 100, 103), 0, first_of_fresh_generation=True)
    assert visible(spark, root) == [100, 101, 102]


def test_two_nodes_may_write_into_one_folder(spark: SparkSession, build: Build, root: Path):
    for node_id, first in (("left", 0), ("right", 5)):
        write(sink_for(spark, build, node_id=node_id), numbers(spark, first, first + 5), 0)
    assert visible(spark, root) == list(range(10))


def test_a_full_folder_aside_of_a_dead_attempt_is_cleared(spark: SparkSession, build: Build, root: Path):
    sink = sink_for(spark, build)
    with patch.object(FolderLedger, "claim", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        write(sink, numbers(spark, 0, 10), 0)
    aside = root / "out" / ".pipeline" / sink.context.job_uid / "node" / sink.context.generation
    assert list(aside.glob("0-1"))
    sink_for(spark, build, attempt=2)
    assert not list(aside.glob("0-1"))


def test_old_manifests_are_dropped_and_new_ones_kept(spark: SparkSession, build: Build, root: Path):
    sink = sink_for(spark, build)
    with patch("jobs.nodes.sinks.file_manifest._MANIFESTS_KEPT", 2):
        for batch_id in range(4):
            write(sink, numbers(spark, batch_id, batch_id + 1), batch_id)
    kept = root / "out" / ".pipeline" / sink.context.job_uid / "node" / sink.context.generation
    assert sorted(file.name for file in kept.glob("*.json")) == ["2.json", "3.json"]
    assert json.loads((kept / "3.json").read_text())["removes"] == []


def test_a_folder_that_vanished_between_batches_is_made_again(spark: SparkSession, build: Build, root: Path):
    sink = sink_for(spark, build)
    write(sink, numbers(spark, 0, 5), 0)
    shutil.rmtree(root / "out")
    sink_for(spark, build, attempt=2)
    write(build("sink.file", {"path": "out"}, attempt=2), numbers(spark, 5, 10), 1)
    assert visible(spark, root) == list(range(5, 10))


@pytest.mark.parametrize(("file_format", "compression"), [(of, word) for of, codecs in CODECS.items() for word in codecs])
def test_every_compression_a_format_offers_is_written_and_read(
    spark: SparkSession, build: Build, root: Path, file_format: str, compression: str
):
    sink = build("sink.file", {"path": "out", "format": file_format, "compression": compression})
    rows = spark.range(5).selectExpr("cast(id as string) line")
    sink.node.begin(spark, rows.schema, sink.context)
    write(sink, rows, 0)
    assert spark.read.format(file_format).option("header", "true").load(str(root / "out")).count() == 5


@pytest.mark.parametrize(
    ("file_format", "compression", "has"),
    [
        ("csv", "zstd", "none, gzip, bzip2, deflate, snappy or lz4"),
        ("orc", "gzip", "none, snappy, zlib, zstd or lz4"),
        ("avro", "gzip", "none, snappy, deflate, zstd, bzip2 or xz"),
        ("parquet", "zlib", "none, snappy, gzip, zstd or lz4"),
    ],
)
def test_a_compression_that_a_format_lacks_is_a_problem_on_its_field(file_format: str, compression: str, has: str):
    spec = REGISTRY.catalogue()["sink.file"]
    (problem,) = spec.config_problems({"path": "out", "format": file_format, "compression": compression})
    assert problem.pointer == "/compression"
    assert problem.message == f"{file_format} files have no compression {compression}: choose {has}"
    assert spec.config_problems({"path": "out", "format": "${format}", "compression": compression}) == []
