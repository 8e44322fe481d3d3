"""Files in an S3 store: what is there is read once, what is written appears once, whoever dies when."""

import gzip
import io
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from pyspark.sql import DataFrame, SparkSession
from s3fs import S3FileSystem

from jobs.nodes.base import Batch, ConnectionSettings, Limits, NodeError, SinkFenced, Written
from jobs.nodes.roll_back import RollBackPoint
from jobs.nodes.sinks.store_ledger import StoreLedger
from jobs.nodes.stores.mirror import local_name
from tests.nodes.conftest import Build, Built
from tests.nodes.streams import Drained
from tests.servers.s3 import SECRET_KEY, S3Server

pytestmark = [pytest.mark.spark, pytest.mark.server]

NEXT_GENERATION = "b2c3d4e5-0000-4000-8000-000000000002"
ID = [{"name": "id", "type": "long"}]


class Lake:
    """A bucket of its own; `folder` is where its connection begins."""

    def __init__(self, server: S3Server, build: Build, tmp_path: Path) -> None:
        self.bucket = f"lake-{uuid4().hex[:8]}"
        server.bucket_create(self.bucket)
        self.files: S3FileSystem = server.files()
        self.folder = f"{self.bucket}/plant"
        config = server.config | {"bucket": self.bucket, "folder": "plant"}
        self.connections = {"lake": ConnectionSettings("lake", "s3", config, {"secret_key": SECRET_KEY})}
        self.limits = Limits(data_dir=tmp_path, http_allowed_hosts=(f"127.0.0.1:{server.port}",))
        self._build = build
        self._live = tmp_path / "live"

    def put(self, name: str, text: str | bytes) -> None:
        self.files.pipe_file(f"{self.folder}/{name}", text.encode() if isinstance(text, str) else text)

    def names(self, folder: str = "") -> list[str]:
        found = self.files.find(f"{self.folder}/{folder}".rstrip("/"))
        return sorted(name.removeprefix(f"{self.folder}/") for name in found if "/.pipeline/" not in name)

    def node(self, type_name: str, config: dict[str, Any] | None = None, **given: Any) -> Built:
        given = {"connections": self.connections, "limits": self.limits, "live_dir": self._live} | given
        return self._build(type_name, {"connection": "lake", "path": "in"} | (config or {}), **given)


@pytest.fixture
def lake(s3_server: S3Server, build: Build, tmp_path: Path) -> Lake:
    return Lake(s3_server, build, tmp_path)


def received(source: Built) -> Built:
    """As the engine does before a bounded run: begun, and all there."""
    source.node.begin(source.context)
    source.node.receive(source.context, threading.Event())
    return source


def drained(spark: SparkSession, source: Built, folder: Path, *, column: str = "id") -> Drained:
    source = Built(source.node, replace(source.context, mode="stream"))
    rows = Drained(column)
    rows.run(received(source).node.read(spark, source.context), folder)
    return rows


def looked_at(spark: SparkSession, source: Built) -> list[Any]:
    return sorted(source.node.read(spark, source.context).collect())


@pytest.mark.parametrize("file_format", ["csv", "json", "parquet", "orc", "avro", "xml", "text"])
def test_every_format_is_read_and_its_columns_are_found(spark: SparkSession, lake: Lake, tmp_path: Path, file_format: str):
    rows = spark.createDataFrame([(1, "é"), (2, "b")], "id long, word string").coalesce(1)
    (rows.select("word") if file_format == "text" else rows).write.format(file_format).option("header", "true").option(
        "rowTag", "ROW"
    ).save(str(tmp_path / "made"))
    (made,) = (tmp_path / "made").glob("part-*")
    lake.put(f"in/{made.name}", made.read_bytes())
    config = {"format": file_format} | ({"row_tag": "ROW"} if file_format == "xml" else {})
    seen = lake.node("source.file", config, generation="").node.read(spark, lake.node("source.file", config, generation="").context)
    words = "value" if file_format == "text" else "word"
    assert sorted(row[words] for row in seen.collect()) == ["b", "é"]
    run = received(lake.node("source.file", config))
    frame = run.node.read(spark, run.context)
    assert sorted(row[words] for row in frame.collect()) == ["b", "é"]
    if file_format != "text":
        assert [row["id"] for row in frame.orderBy("id").collect()] == [1, 2]


def test_odd_names_partitions_patterns_and_compressed_files(spark: SparkSession, lake: Lake):
    lake.put("in/at 2026-11-22T01:00 [ü]*?#100%.csv", "id\n1\n")
    lake.put("in/" + "long" * 48 + ".csv", "id\n2\n")
    lake.put("in/b.csv.gz", gzip.compress(b"id\n3\n"))
    for hidden in ("in/.hidden.csv", "in/_note.csv", "in/_run/c.csv", "in/below/d.csv", "in/e.txt", "inside.csv"):
        lake.put(hidden, "id\n99\n")
    source = lake.node("source.file", {"columns": ID, "pattern": "*.csv*"})
    frame = received(source).node.read(spark, source.context)
    assert sorted(row["id"] for row in frame.collect()) == [1, 2, 3]
    below = lake.node("source.file", {"columns": ID, "pattern": "*.csv", "subfolders": True}, node_id="below")
    assert 99 in {row["id"] for row in received(below).node.read(spark, below.context).collect()}
    lake.put("parts/carrier=U A/x.csv", "id\n7\n")
    parts = lake.node("source.file", {"path": "parts", "format": "csv"}, node_id="parts")
    assert received(parts).node.read(spark, parts.context).select("id", "carrier").collect() == [(7, "U A")]
    single = lake.node("source.file", {"path": "inside.csv", "format": "csv"}, node_id="single")
    assert [row["id"] for row in received(single).node.read(spark, single.context).collect()] == [99]


def test_names_on_this_machine_differ_where_those_in_the_store_do():
    names = ["a:b", "a%3Ab", "a/b", "a%2Fb", "x" * 300, "x" * 301, "é.csv", "a b.csv.gz", "ü" * 120 + ".csv.gz"]
    made = [local_name(name, flat=True) for name in names]
    assert len(set(made)) == len(names)
    assert all(len(name.encode()) < 255 and "/" not in name and ":" not in name for name in made)
    assert made[-1].endswith(".csv.gz")
    assert local_name("stadt=Köln 01%3A00/ü:b.csv", flat=False) == "stadt=Köln 01%3A00/%C3%BC%3Ab.csv"


def test_a_stream_reads_each_file_once_by_time_and_what_it_has_read_makes_room(spark: SparkSession, lake: Lake, tmp_path: Path):
    for number in range(6):
        lake.put(f"in/{number}.csv", f"id\n{number}\n")
    config = {"columns": ID, "max_files_per_trigger": 2}
    folder = tmp_path / "live" / "q"
    rows = drained(spark, lake.node("source.file", config), folder)
    assert [rows.batches[batch] for batch in sorted(rows.batches)] == [[0, 1], [2, 3], [4, 5]]
    source = lake.node("source.file", config)
    source.node.checkpointed({"logOffset": 2}, source.context)
    source.node.trim(lambda: [{"logOffset": 2}, {"logOffset": 1}], source.context)
    mirror = tmp_path / "mirrors" / source.context.job_uid / "node" / "files"
    assert sorted(file.name for file in mirror.iterdir() if not file.name.startswith(".")) == ["4.csv", "5.csv"]
    lake.put("in/6.csv", "id\n6\n")
    lake.put("in/0.csv", "id\n100\n")  # a name that was read is not read again
    again = drained(spark, lake.node("source.file", config, attempt=2), folder)
    assert again.everything == [6]
    fresh = lake.node("source.file", config, generation=NEXT_GENERATION, live_dir=tmp_path / "other")
    assert sorted(drained(spark, fresh, tmp_path / "other" / "q").everything) == [1, 2, 3, 4, 5, 6, 100]


def test_files_are_read_in_the_order_of_their_names_where_that_is_asked_for(spark: SparkSession, lake: Lake, tmp_path: Path):
    for number in (3, 1, 2, 0):
        lake.put(f"in/{number}.csv", f"id\n{number}\n")
    config = {"columns": ID, "max_files_per_trigger": 1, "order": "name"}
    rows = drained(spark, lake.node("source.file", config), tmp_path / "live" / "q")
    assert [rows.batches[batch] for batch in sorted(rows.batches)] == [[0], [1], [2], [3]]


def test_a_stream_copies_ahead_no_more_than_it_may(lake: Lake, tmp_path: Path):
    for number in range(5):
        lake.put(f"in/{number}.csv", b"id\n" + b"1\n" * 300_000)
    source = lake.node("source.file", {"columns": ID, "max_local_megabytes": 1, "list_every_seconds": 0.2}, bounded=False)
    source.node.begin(source.context)
    stopping = StopsWhenWaitedFor()
    source.node.receive(source.context, stopping)
    assert stopping.waited[0] == 0.5, "it waits for room, not for the next listing"
    mirror = tmp_path / "mirrors" / source.context.job_uid / "node" / "files"
    assert len(list(mirror.iterdir())) == 2


class StopsWhenWaitedFor(threading.Event):
    """`waited`: how long each wait was to be at most."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout)
        self.set()
        return True


def test_a_look_at_large_files_copies_their_beginnings_only(spark: SparkSession, lake: Lake, tmp_path: Path):
    lake.put("in/big.csv", b"id,word\n" + b"1,abcdefgh\n" * 500_000)
    look = lake.node("source.file", {"format": "csv"}, generation="")
    frame = look.node.read(spark, look.context)
    assert frame.schema.simpleString().startswith("struct<id:int,word:string")
    (sample,) = (tmp_path / "samples").rglob("big.csv")
    assert sample.stat().st_size < 1_100_000
    assert not (tmp_path / "mirrors").exists()


def test_what_is_wrong_is_said_in_words(spark: SparkSession, lake: Lake):
    empty = lake.node("source.file", {"path": "nothing"})
    with pytest.raises(NodeError, match='s3 lake has no file at "nothing"; correct the path'):
        received(empty)
    for path in ("../other", "a//b", "a/./b"):
        outside = lake.node("source.file", {"path": path, "columns": ID})
        with pytest.raises(NodeError, match="is not allowed"):
            outside.node.read(spark, outside.context)


@pytest.mark.parametrize("order", ["time", "name"])
def test_what_every_checkpoint_has_read_is_archived_and_nothing_else(spark: SparkSession, lake: Lake, tmp_path: Path, order: str):
    for number in range(4):
        lake.put(f"in/{number}.csv", f"id\n{number}\n")
    config = {"columns": ID, "max_files_per_trigger": 1, "order": order, "afterwards": "archive", "archive": "read"}
    drained(spark, lake.node("source.file", config), tmp_path / "live" / "q")
    source = lake.node("source.file", config, bounded=False)
    checkpoints = [cut_at(tmp_path, number) for number in (1, 2)]
    source.node.put_away(list, source.context)
    assert lake.names() == ["in/0.csv", "in/1.csv", "in/2.csv", "in/3.csv"], "no checkpoint, no floor"
    source.node.put_away(lambda: checkpoints, source.context)
    assert lake.names() == ["in/2.csv", "in/3.csv", "read/0.csv", "read/1.csv"]
    lake.put("in/4.csv", "id\n4\n")
    assert drained(spark, lake.node("source.file", config), tmp_path / "live" / "q").everything == [4]


def test_a_move_into_the_archive_that_was_broken_off_is_ended(spark: SparkSession, lake: Lake, tmp_path: Path):
    lake.put("in/0.csv", "id\n0\n")
    config = {"columns": ID, "afterwards": "archive", "archive": "read"}
    drained(spark, lake.node("source.file", config), tmp_path / "live" / "q")
    lake.files.copy(f"{lake.folder}/in/0.csv", f"{lake.folder}/read/0.csv")
    source = lake.node("source.file", config, bounded=False)
    source.node.put_away(lambda: [cut_at(tmp_path, 0)], source.context)
    assert lake.names() == ["read/0.csv"]


def cut_at(tmp_path: Path, entry: int) -> Path:
    """The part of a checkpoint that tells which files were read: the log up to an entry."""
    folder = tmp_path / f"checkpoint-{entry}" / "q" / "sources" / "node"
    folder.mkdir(parents=True)
    for number in range(entry + 1):
        shutil.copy(tmp_path / "live" / "q" / "sources" / "node" / str(number), folder)
    return folder.parents[2]


# ── the sink ──────────────────────────────────────────────────────────────


def sink_for(spark: SparkSession, lake: Lake, config: dict[str, Any] | None = None, **given: Any) -> Built:
    sink = lake.node("sink.file", {"path": "out"} | (config or {}), **given)
    sink.node.begin(spark, spark.range(1).schema, sink.context)
    return sink


def write(sink: Built, frame: DataFrame, batch_id: int, **given: Any) -> Written:
    return sink.node.write(frame, Batch(batch_id, "node", **given), sink.context)


def numbers(spark: SparkSession, first: int, last: int) -> DataFrame:
    return spark.range(first, last, 1, 2)


def visible(lake: Lake) -> list[int]:
    """What any reader of the folder sees."""
    import pandas as pd

    parts = [pd.read_parquet(io.BytesIO(lake.files.cat_file(f"{lake.folder}/{name}"))) for name in lake.names("out")]
    return sorted(int(number) for part in parts for number in part["id"])


def test_a_batch_written_again_changes_nothing(spark: SparkSession, lake: Lake):
    sink = sink_for(spark, lake)
    assert write(sink, numbers(spark, 0, 10), 0, rows=10) == Written(rows=10)
    assert write(sink, numbers(spark, 0, 10), 0, rows=10) == Written(rows=0, repeated=True)
    again = sink_for(spark, lake, attempt=2)
    assert write(again, numbers(spark, 0, 10), 0).repeated
    assert not write(again, numbers(spark, 10, 20), 1).repeated
    assert visible(lake) == list(range(20))
    assert lake.names("out") == [f"out/part-a1b2c3d40000-node-{batch:08d}-0000{part}.snappy.parquet" for batch in (0, 1) for part in (0, 1)]


@pytest.mark.parametrize("copies_before_death", [0, 1])
def test_a_death_between_claim_and_move_is_mended_by_the_next_attempt(spark: SparkSession, lake: Lake, copies_before_death: int):
    sink = sink_for(spark, lake)
    moved: list[str] = []
    move = StoreLedger._move

    def dying(self: StoreLedger, aside: str, name: str) -> None:
        if len(moved) == copies_before_death:
            raise KeyboardInterrupt
        moved.append(name)
        move(self, aside, name)

    with patch.object(StoreLedger, "_move", dying), pytest.raises(KeyboardInterrupt):
        write(sink, numbers(spark, 0, 10), 0)
    again = sink_for(spark, lake, attempt=2)
    assert visible(lake) == list(range(10))
    assert write(again, numbers(spark, 0, 10), 0).repeated
    assert visible(lake) == list(range(10))


def test_a_consumer_may_take_files_away_without_harm_to_the_next_attempt(spark: SparkSession, lake: Lake):
    write(sink_for(spark, lake), numbers(spark, 0, 10), 0)
    for name in lake.names("out"):
        lake.files.rm_file(f"{lake.folder}/{name}")
    again = sink_for(spark, lake, attempt=2)
    assert write(again, numbers(spark, 0, 10), 0).repeated
    assert lake.names("out") == []


def test_an_attempt_frozen_before_its_claim_loses_to_the_one_that_took_over(spark: SparkSession, lake: Lake):
    """It wakes after the other wrote the batch: its own files never appear, and are cleared away."""
    old = sink_for(spark, lake)
    claim = StoreLedger.claim

    def late(self: StoreLedger, batch_id: int, attempt: int, files: Any) -> bool:
        if attempt == 1:
            write(sink_for(spark, lake, attempt=2, work_dir=lake.limits.data_dir / "second"), numbers(spark, 0, 10), 0)
        return claim(self, batch_id, attempt, files)

    with patch.object(StoreLedger, "claim", late), pytest.raises(SinkFenced, match="another attempt took over"):
        write(old, numbers(spark, 0, 10), 0)
    with pytest.raises(SinkFenced):
        write(old, numbers(spark, 10, 20), 1)
    assert visible(lake) == list(range(10))
    sink_for(spark, lake, attempt=3)
    assert not [name for name in lake.files.find(lake.folder) if "/aside/" in name]


def test_an_attempt_frozen_for_so_long_that_the_log_was_trimmed_still_loses(spark: SparkSession, lake: Lake):
    old = sink_for(spark, lake)
    with patch("jobs.nodes.sinks.store_ledger._ENTRIES_KEPT", 1):
        new = sink_for(spark, lake, generation=NEXT_GENERATION, attempt=2, work_dir=lake.limits.data_dir / "second")
        for batch_id in range(4):
            write(new, numbers(spark, batch_id, batch_id + 1), batch_id)
    ledger = old.node._ledger(old.context)
    with pytest.raises(SinkFenced), patch.object(StoreLedger, "_refresh"):  # it looked before it froze
        write(old, numbers(spark, 100, 110), 0)
    assert ledger._entry.generation == old.context.generation
    assert visible(lake) == [0, 1, 2, 3]
    write(new, numbers(spark, 4, 5), 4)
    assert visible(lake) == [0, 1, 2, 3, 4]


def test_a_roll_back_removes_what_was_written_behind_a_checkpoint(spark: SparkSession, lake: Lake):
    old = sink_for(spark, lake)
    for batch in range(3):
        write(old, spark.range(batch, batch + 1, 1, 1), batch)
    lake.put("out/part-a1b2c3d40000-other-00000002-00000.snappy.parquet", lake.files.cat_file(f"{lake.folder}/{lake.names('out')[0]}"))
    new = sink_for(spark, lake, generation=NEXT_GENERATION, attempt=2)
    point = RollBackPoint(old.context.generation, 0)
    view, done = new.node.roll_back_view(new.context, point), new.node.roll_back(new.context, point)
    assert view == done
    assert (done.way, done.unit, done.count) == ("removed", "files", 2)
    assert new.node.roll_back(new.context, point).count == 0
    assert visible(lake) == [0, 0]
    with pytest.raises(SinkFenced):
        old.node.roll_back(old.context, point)


def test_files_in_folders_of_a_column_that_begins_with_an_underscore_are_rolled_back_too(spark: SparkSession, lake: Lake):
    rows = spark.range(1).selectExpr("id", "7 AS _day")
    old = lake.node("sink.file", {"path": "out", "partition_by": ["_day"]})
    old.node.begin(spark, rows.schema, old.context)
    for batch in range(2):
        write(old, rows, batch)
    new = sink_for(spark, lake, generation=NEXT_GENERATION, attempt=2)
    assert new.node.roll_back(new.context, RollBackPoint(old.context.generation, 0)).count == 1
    assert lake.names("out") == ["out/_day=7/part-a1b2c3d40000-node-00000000-00000.snappy.parquet"]


def test_rows_of_several_batches_appear_as_one_file(spark: SparkSession, lake: Lake):
    sink = sink_for(spark, lake, {"roll_seconds": 600})
    for batch in range(4):
        write(sink, numbers(spark, batch, batch + 1), batch)
    assert sink.node.mark(sink.context, 1)
    sink.node.settle(spark, sink.context, committed=3, last=False)
    assert visible(lake) == [0, 1]
    again = sink_for(spark, lake, {"roll_seconds": 600}, attempt=2)
    with pytest.raises(SinkFenced):
        sink.node.settle(spark, sink.context, committed=3, last=True)
    again.node.settle(spark, again.context, committed=3, last=True)
    assert visible(lake) == [0, 1, 2, 3]
    begins = "out/part-a1b2c3d40000-node-"
    assert lake.names("out") == [
        f"{begins}{last}-00000.since-{first}.snappy.parquet" for last, first in (("00000001", "00000000"), ("00000003", "00000002"))
    ]
    assert not [name for name in lake.files.find(lake.folder) if "/gathered/" in name or "/aside/" in name]


@pytest.mark.parametrize("copies_before_death", [0, 1])
def test_a_death_while_files_are_put_together_is_mended(spark: SparkSession, lake: Lake, copies_before_death: int):
    config = {"roll_seconds": 600, "max_rows_per_file": 2}
    sink = sink_for(spark, lake, config)
    for batch in range(2):
        write(sink, numbers(spark, 2 * batch, 2 * batch + 2), batch)
    moved: list[str] = []
    move = StoreLedger._move

    def dying(self: StoreLedger, aside: str, name: str) -> None:
        if len(moved) == copies_before_death:
            raise KeyboardInterrupt
        moved.append(name)
        move(self, aside, name)

    with patch.object(StoreLedger, "_move", dying), pytest.raises(KeyboardInterrupt):
        sink.node.settle(spark, sink.context, committed=1, last=True)
    again = sink_for(spark, lake, config, attempt=2)
    again.node.settle(spark, again.context, committed=1, last=True)
    assert visible(lake) == [0, 1, 2, 3]


def test_a_batch_that_is_written_while_others_are_put_together_is_no_other_attempt(spark: SparkSession, lake: Lake):
    """Both would take the next number of the log at once."""
    sink = sink_for(spark, lake, {"roll_seconds": 600})
    write(sink, numbers(spark, 0, 2), 0)
    both, append = threading.Barrier(2), StoreLedger._append

    def meeting(self: StoreLedger, entry: Any) -> bool:
        with suppress(threading.BrokenBarrierError):
            both.wait(2)
        return append(self, entry)

    with patch.object(StoreLedger, "_append", meeting), ThreadPoolExecutor(1) as watcher:
        settled = watcher.submit(sink.node.settle, spark, sink.context, committed=0, last=True)
        write(sink, numbers(spark, 2, 4), 1)
        settled.result()
    assert visible(lake) == [0, 1]
    again = sink_for(spark, lake, {"roll_seconds": 600}, attempt=2)
    assert write(again, numbers(spark, 2, 4), 1).repeated
    again.node.settle(spark, again.context, committed=1, last=True)
    assert visible(lake) == [0, 1, 2, 3]


def test_a_batch_cut_off_in_its_moves_is_in_place_before_others_are_put_together(spark: SparkSession, lake: Lake):
    sink = sink_for(spark, lake, {"roll_seconds": 600})
    write(sink, numbers(spark, 0, 2), 0)
    with patch.object(StoreLedger, "_move", side_effect=NodeError("the store is away")), pytest.raises(NodeError):
        write(sink, numbers(spark, 2, 4), 1)
    sink.node.settle(spark, sink.context, committed=0, last=True)
    again = sink_for(spark, lake, {"roll_seconds": 600}, attempt=2)
    assert write(again, numbers(spark, 2, 4), 1).repeated
    again.node.settle(spark, again.context, committed=1, last=True)
    assert visible(lake) == [0, 1, 2, 3]


def test_a_roll_back_takes_away_what_waits(spark: SparkSession, lake: Lake):
    old = sink_for(spark, lake, {"roll_seconds": 600})
    for batch in range(3):
        write(old, spark.range(batch, batch + 1, 1, 1), batch)
    new = sink_for(spark, lake, {"roll_seconds": 600}, generation=NEXT_GENERATION, attempt=2)
    point = RollBackPoint(old.context.generation, 0)
    assert new.node.roll_back_view(new.context, point) == new.node.roll_back(new.context, point)
    new.node.settle(spark, new.context, committed=-1, last=False)
    assert visible(lake) == [0]


def test_overwriting_empties_the_folder_only_when_a_start_is_fresh(spark: SparkSession, lake: Lake):
    first = sink_for(spark, lake, {"mode": "overwrite"})
    write(first, numbers(spark, 0, 5), 0, first_of_fresh_generation=True)
    write(first, numbers(spark, 5, 10), 1)
    assert visible(lake) == list(range(10))
    second = sink_for(spark, lake, {"mode": "overwrite"}, generation=NEXT_GENERATION, attempt=2)
    assert visible(lake) == list(range(10))
    write(second, numbers(spark, 100, 103), 0, first_of_fresh_generation=True)
    assert visible(lake) == [100, 101, 102]


@pytest.mark.parametrize("file_format", ["csv", "json", "orc", "avro", "text"])
def test_what_is_written_in_any_format_can_be_read_back(spark: SparkSession, lake: Lake, file_format: str):
    rows = spark.range(5).selectExpr("cast(id as string) line", "cast(id % 2 as string) part")
    sink = lake.node("sink.file", {"path": "out", "format": file_format, "partition_by": ["part"]})
    sink.node.begin(spark, rows.schema, sink.context)
    write(sink, rows, 0)
    assert {name.split("/")[1] for name in lake.names("out")} == {"part=0", "part=1"}
    source = lake.node("source.file", {"path": "out", "format": file_format}, node_id="back")
    frame = received(source).node.read(spark, source.context)
    assert sorted((str(row[0]), str(row["part"])) for row in frame.collect()) == sorted((str(n), str(n % 2)) for n in range(5))


def test_an_answer_that_was_lost_is_not_taken_for_a_refusal(spark: SparkSession, lake: Lake):
    sink = sink_for(spark, lake)
    store = sink.node._ledger(sink.context)._store
    lost: list[str] = []
    pipe = store._files.pipe_file

    def losing(path: str, content: bytes, **given: Any) -> None:
        pipe(path, content, **given)
        if path.endswith(".json") and not lost:
            lost.append(path)
            raise TimeoutError("no answer")

    with patch.object(store._files, "pipe_file", losing):
        assert write(sink, numbers(spark, 0, 10), 0, rows=10) == Written(rows=10)
    assert lost
    assert visible(lake) == list(range(10))
