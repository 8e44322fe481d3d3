"""`sink.delta`: a batch is in the table once, whoever dies or freezes when; the table keeps its columns."""

import shutil
import threading
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.nodes.base import Batch, NodeError, SinkFenced, Written
from jobs.nodes.registry import REGISTRY
from jobs.nodes.sinks import delta
from tests.nodes.conftest import Build, Built
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

NEXT_GENERATION = "b2c3d4e5-0000-4000-8000-000000000002"
UPSERT = {"mode": "upsert", "keys": ["id"]}


def sink_for(spark: SparkSession, build: Build, config: dict[str, Any] | None = None, schema: str = "id bigint", **given: Any) -> Built:
    sink = build("sink.delta", {"path": "out"} | (config or {}), **given)
    sink.node.begin(spark, spark.createDataFrame([], schema).schema, sink.context)
    return sink


def write(sink: Built, frame: DataFrame, batch_id: int, **given: Any) -> Written:
    written: Written = sink.node.write(frame, Batch(batch_id, "node", **given), sink.context)
    return written


def there(spark: SparkSession, root: Path, name: str = "out") -> list[Any]:
    """What any reader of the table sees: plain values where it has one column."""
    rows = [tuple(row) for row in spark.read.format("delta").load(str(root / name)).collect()]
    return sorted(row[0] for row in rows) if rows and len(rows[0]) == 1 else sorted(rows, key=str)


def test_a_batch_written_again_changes_nothing(spark: SparkSession, build: Build, root: Path):
    sink = sink_for(spark, build)
    assert write(sink, spark.range(10), 0) == Written()
    assert write(sink, spark.range(10), 0) == Written(rows=0, repeated=True)
    again = sink_for(spark, build, attempt=2)
    assert write(again, spark.range(10), 0).repeated
    assert not write(again, spark.range(10, 20), 1).repeated
    assert there(spark, root) == list(range(20))


@pytest.mark.parametrize("config", [pytest.param({}, id="append", marks=pytest.mark.faults), pytest.param(UPSERT, id="upsert")])
def test_an_attempt_frozen_before_its_commit_loses_to_the_one_that_took_over(
    spark: SparkSession, build: Build, root: Path, config: dict[str, Any]
):
    """It wakes when the other has raised the fence and not yet written the batch: nothing of it may get into the table."""
    old = sink_for(spark, build, config)
    verb = "_upsert" if config else "_append"
    proceed = getattr(delta, verb)
    taken: list[Built] = []

    def late(*given: Any) -> Written:
        if not taken:
            taken.append(sink_for(spark, build, config, attempt=2))
        return proceed(*given)

    with patch.object(delta, verb, late), pytest.raises(SinkFenced, match="another attempt"):
        write(old, spark.range(10), 0)
    assert there(spark, root) == []
    with pytest.raises(SinkFenced):
        write(old, spark.range(10, 20), 1)
    assert not write(taken[0], spark.range(10), 0).repeated
    assert there(spark, root) == list(range(10))


def test_an_attempt_overtaken_while_its_rows_are_being_written_cannot_commit(spark: SparkSession, build: Build, root: Path):
    old = sink_for(spark, build)
    begun = root / "begun"

    @F.udf("bigint")
    def slow(number: int) -> int:
        begun_at = time.monotonic()
        Path(f"{begun}").touch()
        while not Path(f"{begun}.on").exists() and time.monotonic() - begun_at < 60:
            time.sleep(0.02)
        return number

    raised: list[BaseException] = []

    def run() -> None:
        try:
            write(old, spark.range(0, 4, 1, 1).select(slow("id").alias("id")), 0)
        except BaseException as error:
            raised.append(error)

    writing = threading.Thread(target=run)
    writing.start()
    try:
        wait_until(begun.exists, seconds=30, what="rows on their way")
        new = sink_for(spark, build, attempt=2)
    finally:
        Path(f"{begun}.on").touch()
    writing.join(60)
    assert isinstance(raised[0], SinkFenced), raised
    write(new, spark.range(4), 0)
    assert there(spark, root) == [0, 1, 2, 3]


def test_a_new_generation_shuts_the_old_one_out_for_good(spark: SparkSession, build: Build, root: Path):
    old = sink_for(spark, build)
    write(old, spark.range(5), 0)
    new = sink_for(spark, build, generation=NEXT_GENERATION, attempt=2)
    with pytest.raises(SinkFenced):
        write(old, spark.range(5, 10), 1)
    with pytest.raises(SinkFenced, match="superseded"):
        sink_for(spark, build, attempt=3)
    write(new, spark.range(5, 10), 0)
    assert there(spark, root) == list(range(10))


def test_an_older_attempt_cannot_begin_again(spark: SparkSession, build: Build, root: Path):
    sink_for(spark, build, attempt=3)
    with pytest.raises(SinkFenced, match="attempt 3 of this job took over"):
        sink_for(spark, build, attempt=2)


def test_upsert_replaces_inserts_and_deletes_by_the_row_that_came_last(spark: SparkSession, build: Build, root: Path):
    schema = "id bigint, name string, gone boolean"
    sink = sink_for(spark, build, UPSERT | {"delete_flag": "gone"}, schema)
    first = [(1, "a", False), (2, "b", None), (None, "x", False), (4, "d", True), (2, "b2", False)]
    assert write(sink, spark.createDataFrame(first, schema).coalesce(1), 0) == Written(rows=5)
    assert there(spark, root) == [(1, "a"), (2, "b2"), (None, "x")]
    second = [(1, "a", True), (1, "a2", False), (2, None, True), (None, "y", False), (3, "c", False)]
    write(sink, spark.createDataFrame(second, schema).coalesce(1), 1)
    assert there(spark, root) == [(1, "a2"), (3, "c"), (None, "y")]
    assert write(sink, spark.createDataFrame(second, schema), 1).repeated


def test_overwriting_empties_the_table_only_when_a_start_is_fresh(spark: SparkSession, build: Build, root: Path):
    first = sink_for(spark, build, {"mode": "overwrite"})
    write(first, spark.range(5), 0, first_of_fresh_generation=True)
    write(first, spark.range(5, 10), 1)
    second = sink_for(spark, build, {"mode": "overwrite"}, generation=NEXT_GENERATION, attempt=2)
    assert there(spark, root) == list(range(10))
    write(second, spark.range(100, 103), 0, first_of_fresh_generation=True)
    assert write(second, spark.range(100, 103), 0, first_of_fresh_generation=True).repeated
    assert there(spark, root) == [100, 101, 102]
    restored = sink_for(spark, build, {"mode": "overwrite"}, generation="c", attempt=3)
    write(restored, spark.range(7, 8), 0)
    assert there(spark, root) == [7, 100, 101, 102]


def test_two_nodes_may_write_into_one_table(spark: SparkSession, build: Build, root: Path):
    for node_id, first in (("left", 0), ("right", 5)):
        write(sink_for(spark, build, node_id=node_id), spark.range(first, first + 5), 0)
    assert there(spark, root) == list(range(10))


def test_a_table_is_parted_into_folders_and_given_columns_it_lacks(spark: SparkSession, build: Build, root: Path):
    one = sink_for(spark, build, {"partition_by": ["day"]}, "id int, day string")
    write(one, spark.createDataFrame([(1, "mon")], "id int, day string"), 0)
    assert (root / "out" / "day=mon").is_dir()
    wider = "ID smallint, day string, note string"
    other = sink_for(spark, build, {"add_columns": True}, wider, node_id="other")
    write(other, spark.createDataFrame([(2, "tue", "new")], wider), 0)
    assert there(spark, root) == [(1, "mon", None), (2, "tue", "new")]
    assert spark.read.format("delta").load(str(root / "out")).dtypes == [("id", "int"), ("day", "string"), ("note", "string")]


@pytest.mark.parametrize(
    ("config", "schema", "field", "words"),
    [
        ({}, "id bigint, more string", "path", "the table has no column more; its columns are id, name, day"),
        ({}, "id string", "path", "the column id is string, but bigint in the table; CAST it before"),
        ({"mode": "upsert", "keys": ["nr"]}, "id bigint", "keys", "there is no column nr; the columns are id"),
        ({"mode": "upsert", "keys": ["id"], "delete_flag": "x"}, "id bigint", "delete_flag", "there is no column x"),
        ({"mode": "upsert", "keys": ["id"], "delete_flag": "name"}, "id bigint, name string", "delete_flag", "is string, not true"),
        ({"partition_by": ["name"]}, "id bigint, name string", "partition_by", "the table is partitioned by day, which stays so"),
        ({"path": "new", "partition_by": ["id"]}, "id bigint", "partition_by", "every column is made into folders"),
        ({"path": "new"}, "`flight number` int", "path", 'cannot have a column called "flight number"'),
        ({"path": "new"}, "id void", "path", "the column id is always empty and has no type"),
        ({"path": "new", "create_table": False}, "id int", "path", "holds no Delta table; create it, or let the node create it"),
        ({"path": "full"}, "id int", "path", "holds other files but no Delta table"),
        ({"path": "full/a.csv"}, "id int", "path", "is a file; name a folder"),
        ({"path": "../elsewhere"}, "id int", "path", "is not allowed: it leads outside the allowed folders"),
    ],
)
def test_what_cannot_be_written_is_told_on_its_field_before_anything_is_changed(
    spark: SparkSession, build: Build, table: Path, root: Path, config: dict[str, Any], schema: str, field: str, words: str
):
    (root / "full").mkdir()
    (root / "full" / "a.csv").write_text("a")
    sink = build("sink.delta", {"path": "table"} | config)
    with pytest.raises(NodeError) as caught:
        sink.node.check(spark, spark.createDataFrame([], schema).schema, sink.context)
    assert words in caught.value.message
    assert (caught.value.field, caught.value.kind, caught.value.permanent) == (field, "user", True)
    assert not (root / "new").exists()


@pytest.fixture(scope="module")
def drawn(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn") / "table"
    spark.createDataFrame([], "id bigint, name string, day string").write.format("delta").partitionBy("day").save(str(folder))
    return folder


@pytest.fixture
def table(drawn: Path, root: Path) -> Path:
    return Path(shutil.copytree(drawn, root / "table"))


def test_a_table_that_vanished_with_written_rows_is_not_made_anew(spark: SparkSession, build: Build, root: Path):
    sink = sink_for(spark, build)
    write(sink, spark.range(5), 0)
    (root / "out").rename(root / "away")
    with pytest.raises(NodeError, match="is gone with the rows that this job wrote"):
        write(sink, spark.range(5), 1)
    with pytest.raises(NodeError, match="is gone"):
        sink_for(spark, build, attempt=2)
    spark.range(1).write.format("delta").save(str(root / "out"))
    with pytest.raises(NodeError, match="is gone"):
        sink_for(spark, build, attempt=2)
    shutil.rmtree(root / "out")
    (root / "away").rename(root / "out")
    write(sink_for(spark, build, attempt=2), spark.range(5, 10), 1)
    assert there(spark, root) == list(range(10))


def test_a_job_that_was_changed_to_write_elsewhere_goes_on_there(spark: SparkSession, build: Build, root: Path):
    write(sink_for(spark, build), spark.range(5), 0)
    elsewhere = sink_for(spark, build, {"path": "elsewhere"}, attempt=2)
    write(elsewhere, spark.range(5, 10), 1)
    assert (there(spark, root), there(spark, root, "elsewhere")) == (list(range(5)), list(range(5, 10)))
    shutil.rmtree(root / "elsewhere")
    with pytest.raises(NodeError, match='elsewhere" is gone'):
        sink_for(spark, build, {"path": "elsewhere"}, attempt=3)


def test_values_of_every_kind_come_back_as_they_were(spark: SparkSession, build: Build, root: Path):
    kinds = (
        "CAST('12345678901234567890.12' AS decimal(38, 2)) a, timestamp'2026-03-29 01:30:00.123456' b, date'0001-01-01' c, "
        "'Zoë 中文 \U0001f600' d, array(1, null) e, map('k', 1.5D) f, struct(1 AS x, 'y' AS y) g, CAST(null AS string) h, X'00FF' i"
    )
    frame = spark.sql(f"SELECT {kinds}")
    sink = build("sink.delta", {"path": "out"})
    sink.node.begin(spark, frame.schema, sink.context)
    write(sink, frame, 0)
    read = spark.read.format("delta").load(str(root / "out"))
    assert read.dtypes == frame.dtypes
    assert read.collect() == frame.collect()


def test_a_form_of_upsert_without_keys_says_so():
    spec = REGISTRY.catalogue()["sink.delta"]
    (problem,) = spec.config_problems({"path": "out", "mode": "upsert"})
    assert "upsert needs keys" in problem.message
