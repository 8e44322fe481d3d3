"""`source.file` and `source.generator` as streams: every row once, over restarts and failures."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from jobs.nodes.backpressure import Backpressure
from jobs.nodes.base import REJECTED, NodeError
from jobs.nodes.misfits import reason_told
from jobs.nodes.sources.generator import GeneratorConfig
from jobs.nodes.spool import Message, Spool, spool_path
from tests.nodes.conftest import Build, Built
from tests.nodes.streams import Drained

pytestmark = pytest.mark.spark


def drop(root: Path, name: str, *numbers: int, age_days: int = 0) -> Path:
    """A finished CSV file of numbers, moved into the watched folder."""
    folder = root / "in"
    folder.mkdir(exist_ok=True)
    part = root / f"{name}.part"
    part.write_text("id\n" + "".join(f"{number}\n" for number in numbers))
    if age_days:
        then = part.stat().st_mtime - age_days * 86_400
        os.utime(part, (then, then))
    return part.rename(folder / name)


def watched(build: Build, **config: Any) -> Built:
    defaults = {"path": "in", "columns": [{"name": "id", "type": "long"}], "max_files_per_trigger": 1}
    return build("source.file", defaults | config, mode="stream", bounded=False)


def test_files_are_read_once_as_they_come(spark: SparkSession, build: Build, root: Path, tmp_path: Path):
    drop(root, "a.csv", 0, 1)
    drop(root, "b.csv", 2, 3)
    built, drained = watched(build), Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    drop(root, "c.csv", 4)
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert sorted(drained.everything) == [0, 1, 2, 3, 4]
    assert len(drained.batches) == 3


def test_a_late_file_with_an_old_time_is_input_all_the_same(spark: SparkSession, build: Build, root: Path, tmp_path: Path):
    drop(root, "new.csv", 1)
    built, drained = watched(build), Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    drop(root, "old.csv", 2, age_days=400)
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert sorted(drained.everything) == [1, 2]


def test_a_batch_that_failed_reads_its_files_again(spark: SparkSession, build: Build, root: Path, tmp_path: Path):
    drop(root, "a.csv", 0, age_days=1)
    drop(root, "b.csv", 1)
    built, drained = watched(build), Drained()
    drained.failing = 1
    with pytest.raises(StreamingQueryException):
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    drained.failing = None
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {0: [0], 1: [1]}


def test_a_single_file_may_be_a_stream(spark: SparkSession, build: Build, root: Path, tmp_path: Path):
    drop(root, "a.csv", 0, 1)
    drop(root, "b.csv", 2)
    built, drained = watched(build, path="in/a.csv"), Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.everything == [0, 1]


def test_types_taken_from_a_sample_stay_over_a_restart(spark: SparkSession, build: Build, root: Path, tmp_path: Path):
    drop(root, "a.csv", 1, 2)
    built = watched(build, columns=[])
    assert built.node.read(spark, built.context).dtypes[0] == ("id", "int")
    (root / "in" / "a.csv").unlink()
    (root / "in" / "b.csv").write_text("id\nthree\n")
    again = built.node.read(spark, built.context)
    assert again.dtypes[0] == ("id", "int")
    drained = Drained(REJECTED)
    drained.run(again.withColumn(REJECTED, reason_told(again)), tmp_path / "live")
    assert drained.everything == ['the line does not fit the columns: id should be int, not "three":\nthree']


@pytest.mark.parametrize("mode", ["stream", "batch"])
def test_a_link_that_leads_outside_is_refused(spark: SparkSession, build: Build, root: Path, mode: str):
    drop(root, "a.csv", 1)
    (root / "in" / "sub").mkdir()
    (root / "in" / "sub" / "passwd.csv").symlink_to("/etc/passwd")
    built = build("source.file", {"path": "in", "columns": [{"name": "id"}]}, mode=mode)
    with pytest.raises(NodeError, match=r"passwd\.csv\" is a link that leads outside the allowed folders; remove it"):
        built.node.read(spark, built.context)


def test_a_path_through_a_link_that_leads_outside_is_refused(spark: SparkSession, build: Build, root: Path):
    (root / "etc").symlink_to("/etc")
    built = build("source.file", {"path": "etc/passwd", "format": "text"})
    with pytest.raises(NodeError, match="it leads outside the allowed folders"):
        built.node.read(spark, built.context)


def test_a_link_within_the_allowed_folders_is_fine(spark: SparkSession, build: Build, root: Path):
    drop(root, "a.csv", 1)
    (root / "link").symlink_to(root / "in")
    built = build("source.file", {"path": "link", "columns": [{"name": "id", "type": "int"}]})
    assert [row["id"] for row in built.node.read(spark, built.context).collect()] == [1]


@pytest.mark.parametrize("wanted", ["id", REJECTED])
def test_a_ragged_row_is_rejected_whichever_columns_are_asked_for(spark: SparkSession, build: Build, root: Path, wanted: str):
    (root / "a.csv").write_text("id,name\n1,a\n2\n3,c,d\n4,e\n")
    built = build("source.file", {"path": "a.csv", "columns": [{"name": "id", "type": "int"}, {"name": "name"}]})
    frame = built.node.read(spark, built.context)
    assert frame.filter(f"{REJECTED} IS NULL").select(wanted).count() == 2
    assert frame.filter(f"{REJECTED} IS NOT NULL").select(wanted).count() == 2


@pytest.mark.parametrize("wanted", ["id", REJECTED])
def test_a_json_row_of_another_shape_is_rejected_whichever_columns_are_asked_for(
    spark: SparkSession, build: Build, root: Path, wanted: str
):
    (root / "a.json").write_text('{"id":1,"n":1}\n{"id":2,"n":"x"}\n{"id":3,"n":')
    columns = [{"name": "id", "type": "int"}, {"name": "n", "type": "int"}]
    built = build("source.file", {"path": "a.json", "format": "json", "columns": columns})
    frame = built.node.read(spark, built.context)
    assert frame.filter(f"{REJECTED} IS NULL").select(wanted).count() == 1
    assert frame.filter(f"{REJECTED} IS NOT NULL").select(wanted).count() == 2


def test_generated_rows_have_no_gap_over_a_failure_and_a_restart(spark: SparkSession, build: Build, tmp_path: Path):
    built = build("source.generator", {"total_rows": 2500, "rows_per_batch": 1000}, mode="stream")
    drained = Drained()
    drained.failing = 1
    with pytest.raises(StreamingQueryException):
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    drained.failing = None
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.everything == list(range(2500))
    assert drained.end_offset() == {"next": 2500, "progress": {"done": 2500, "total": 2500, "unit": "rows"}}


def test_the_same_seed_makes_the_same_rows_as_a_stream_and_at_once(spark: SparkSession, build: Build, tmp_path: Path):
    config = {"total_rows": 300, "rows_per_batch": 100, "seed": 7}
    stream, batch = build("source.generator", config, mode="stream"), build("source.generator", config)
    drained = Drained("value")
    drained.run(stream.node.read(spark, stream.context), tmp_path / "live")
    assert sorted(drained.everything) == sorted(row["value"] for row in batch.node.read(spark, batch.context).collect())
    other = build("source.generator", config | {"seed": 8})
    assert sorted(drained.everything) != sorted(row["value"] for row in other.node.read(spark, other.context).collect())


def test_a_rate_is_kept_and_time_while_nothing_ran_makes_no_rows(monkeypatch: pytest.MonkeyPatch):
    from jobs.nodes.readers import numbered_rows

    now = 100.0
    monkeypatch.setattr("jobs.nodes.readers.numbered_rows.time.monotonic", lambda: now)
    reader = numbered_rows.NumberedRowsStreamReader(GeneratorConfig(total_rows=None, rows_per_second=10, rows_per_batch=1000), 2)
    offset = reader.latestOffset({"next": 500}, ReadMaxRows(1000))
    assert offset["next"] == 510
    now = 105.0
    offset = reader.latestOffset(offset, ReadAllAvailable())
    assert offset == {"next": 560, "progress": {"done": 560, "total": None, "unit": "rows"}}
    now = 1105.0
    assert reader.latestOffset(offset, ReadMaxRows(1000))["next"] == 1560
    assert json.dumps(offset)


def test_a_webhooks_messages_are_read_in_batches_once_and_trimmed_below_every_checkpoint(spark: SparkSession, build: Build, tmp_path: Path):
    columns = [{"name": "id", "type": "long"}]
    built = build("source.webhook", {"connection": "shop", "columns": columns, "max_records_per_trigger": 2}, mode="stream")
    spool = Spool(spool_path(built.context.limits.data_dir, built.context.job_uid, "node"))
    spool.take([Message(f'{{"id": {number}}}'.encode()) for number in range(3)], Backpressure())
    drained, fresh = Drained(), Drained()

    def good(generation: str = "first") -> DataFrame:
        frame: DataFrame = built.node.read(spark, replace(built.context, work_dir=tmp_path / generation))
        return frame.filter(f"{REJECTED} IS NULL")

    drained.run(good(), tmp_path / "live")
    spool.take([Message(b'{"id": 3}'), Message(b"no json")], Backpressure())
    drained.run(good(), tmp_path / "live")
    assert drained.batches == {0: [0, 1], 1: [2], 2: [3]}
    assert drained.end_offset() == {"position": 5}
    assert json.loads(drained.progress[-1]["sources"][0]["latestOffset"]) == {"position": 5}
    built.node.trim(lambda: [{"position": 3}, {"position": 5}], built.context)
    assert (spool.oldest(), spool.newest()) == (4, 5)
    fresh.run(good("another"), tmp_path / "fresh")
    assert fresh.everything == [3]


def test_an_import_that_begins_behind_the_newest_begins_behind_what_was_read_before(spark: SparkSession, build: Build, tmp_path: Path):
    """What it receives at its own start is what it is to read."""
    config = {"connection": "shop", "columns": [{"name": "id", "type": "long"}], "start": "latest"}
    built = build("source.webhook", config, mode="stream", bounded=True)
    spool = Spool(spool_path(built.context.limits.data_dir, built.context.job_uid, "node"))
    for first, expected in ((0, [0, 1, 2]), (3, [3, 4, 5])):
        spool.take([Message(f'{{"id": {number}}}'.encode()) for number in range(first, first + 3)], Backpressure())
        drained, context = Drained(), replace(built.context, work_dir=tmp_path / f"work{first}")
        drained.run(built.node.read(spark, context).filter(f"{REJECTED} IS NULL"), tmp_path / f"live{first}")
        assert drained.everything == expected


def test_another_queue_is_read_without_what_came_from_the_one_before(spark: SparkSession, build: Build, tmp_path: Path):
    """Nor is what came from it looked at for columns and previews; a checkpoint of the job as it was still finds it."""

    def source(queue: str) -> Built:
        config = {"connection": "broker", "queue": queue, "columns": [{"name": "id", "type": "long"}]}
        return build("source.rabbitmq", config, mode="stream")

    def received(built: Built, *numbers: int) -> None:
        built.node.begin(replace(built.context, log=logged.append))
        spool = Spool(spool_path(built.context.limits.data_dir, built.context.job_uid, "node"))
        spool.take([Message(f'{{"id": {number}}}'.encode()) for number in numbers], Backpressure())

    def read(built: Built, generation: str) -> Drained:
        drained, context = Drained(), replace(built.context, work_dir=tmp_path / f"work-{generation}")
        drained.run(built.node.read(spark, context).filter(f"{REJECTED} IS NULL"), tmp_path / generation)
        return drained

    logged: list[str] = []
    received(source("test-orders"), 1, 2)
    assert read(source("test-orders"), "first").everything == [1, 2]
    kept = shutil.copytree(tmp_path / "first", tmp_path / "kept")
    received(source("test-orders"), 3)
    received(source("orders"), 10, 11)
    assert logged == ["1 messages that were received from another place, and not read, are left out"]
    assert read(source("orders"), "second").everything == [10, 11]
    taken = source("orders").node.newest_texts(source("orders").context)
    assert [json.loads(text)["id"] for text in taken] == [10, 11]
    with pytest.raises(NodeError, match='connection "broker"'):
        source("returns").node.newest_texts(source("returns").context)
    received(source("test-orders"))
    assert read(source("test-orders"), kept.name).everything == [3]
