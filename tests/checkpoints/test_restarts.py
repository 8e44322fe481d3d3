"""A cut taken while the query runs goes on exactly behind its batch, on a real Spark, for every kind of state."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from checkpoints.cut import cut_restore, query_cut
from checkpoints.spark_folder import query_id
from checkpoints.verification import cut_verify, live_readable
from tests.checkpoints.streams import MEMORY, ROCKSDB, Shape, Stream, counted, distinct, joined, plain, together, windows

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]
FILES = 14

KINDS = [
    pytest.param(plain, ROCKSDB, id="stateless"),
    pytest.param(windows, ROCKSDB, id="windows-rocksdb"),
    pytest.param(windows, MEMORY, id="windows-memory"),
    pytest.param(distinct, ROCKSDB, id="distinct-rocksdb", marks=pytest.mark.faults),
    pytest.param(counted, ROCKSDB, id="own-state-rocksdb"),
    pytest.param(joined, ROCKSDB, id="join-rocksdb"),
    pytest.param(joined, MEMORY, id="join-memory", marks=pytest.mark.faults),
]


@pytest.mark.parametrize(("shape", "provider"), KINDS)
def test_a_cut_of_a_running_query_goes_on_exactly_behind_its_batch(
    spark: SparkSession, tmp_path: Path, shape: Shape, provider: str
) -> None:
    stream = Stream(spark, tmp_path, shape, provider)
    stream.feed(FILES)
    query = stream.started()
    batch = stream.wait_for_batch(4)
    cut = query_cut(stream.live, batch, tmp_path / "cut", real_copy=False)
    stream.wait_for_batch(FILES - 1)
    query.stop()

    assert cut.sources["orders"] == {"logOffset": batch}
    assert cut_verify(tmp_path / "cut") == []
    cut_restore(tmp_path / "cut", tmp_path / "again")
    assert live_readable(tmp_path / "again", expected_batch=batch, deep=True) is None
    again = stream.restored(tmp_path / "again").drained()
    assert min(again.written) == batch + 1
    assert together(stream, batch, again) == stream.result()


def test_a_restored_query_runs_beside_its_original(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, windows)
    stream.feed(6)
    query = stream.started()
    batch = stream.wait_for_batch(2)
    query_cut(stream.live, batch, tmp_path / "cut", real_copy=True)
    cut_restore(tmp_path / "cut", tmp_path / "again")
    again = stream.restored(tmp_path / "again")
    other = again.started()
    stream.feed(2)
    stream.wait_for_batch(7)
    again.wait_for_batch(7)
    assert query.isActive
    assert other.isActive
    assert query_id(tmp_path / "again") != query_id(stream.live)
    query.stop()
    other.stop()
    assert together(stream, batch, again) == stream.result()


def test_a_cut_outlives_the_folder_it_was_taken_of(spark: SparkSession, tmp_path: Path) -> None:
    """Spark prunes, snapshots and compacts on; the links of the cut keep what it needs."""
    conf = {"spark.sql.streaming.minBatchesToRetain": "2", "spark.sql.streaming.fileSource.log.compactInterval": "3"}
    stream = Stream(spark, tmp_path, windows, conf=conf)
    stream.feed(4)
    stream.drained()
    query_cut(stream.live, 3, tmp_path / "cut", real_copy=False)
    stream.feed(10)
    stream.drained()
    assert not (stream.live / "offsets" / "3").exists()
    assert cut_verify(tmp_path / "cut") == []
    cut_restore(tmp_path / "cut", tmp_path / "again")
    again = stream.restored(tmp_path / "again").drained()
    assert together(stream, 3, again) == stream.result()


def test_a_cut_of_a_cut_restored_goes_on_too(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, windows)
    stream.feed(8)
    stream.drained()
    query_cut(stream.live, 3, tmp_path / "first", real_copy=False)
    cut_restore(tmp_path / "first", tmp_path / "again")
    again = stream.restored(tmp_path / "again").drained()
    query_cut(again.live, 5, tmp_path / "second", real_copy=False)
    cut_restore(tmp_path / "second", tmp_path / "third")
    third = stream.restored(tmp_path / "third").drained()
    assert min(third.written) == 6
    assert together(stream, 5, third) == stream.result()
