"""`sink.hbase` and its connection against a real HBase: which cells come to be, which go, and what goes wrong."""

import json
import struct
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes.base import Batch, ConnectionSettings, Limits, NodeError, Written
from jobs.nodes.connections.hbase import HbaseConnection
from jobs.nodes.connections.hbase_client import HbaseLine
from tests.nodes.conftest import Build, Built
from tests.nodes.rejections import rejections_in, rows_led_on
from tests.servers.hbase import HbaseServer
from tests.servers.waiting import wait_until

#: The first test also starts the server.
pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.timeout(300)]

Cells = dict[bytes, bytes]


class Table:
    """A table of the run's HBase, to look at from outside."""

    def __init__(self, settings: ConnectionSettings, name: str) -> None:
        self.settings, self.name = settings, name

    def call(self, name: str, *arguments: Any) -> Any:
        with HbaseLine(self.settings, "looking") as line:
            return line.call(name, *arguments)

    def make(self, *families: str, versions: int = 5) -> None:
        import happybase.connection as happy

        described = [happy.ColumnDescriptor(name=f"{family}:".encode(), maxVersions=versions) for family in families]
        self.call("createTable", self.name.encode(), described)

    def row(self, key: bytes) -> Cells:
        found = self.call("getRow", self.name.encode(), key, {})
        return {cell: one.value for cell, one in found[0].columns.items()} if found else {}

    def versions(self, key: bytes, cell: bytes) -> list[tuple[int, bytes]]:
        """Every version that is kept, the newest first."""
        return [(one.timestamp, one.value) for one in self.call("getVer", self.name.encode(), key, cell, 100, {})]

    def row_keys(self) -> list[bytes]:
        from Hbase_thrift import TScan

        with HbaseLine(self.settings, "looking") as line:
            scan = line.call("scannerOpenWithScan", self.name.encode(), TScan(caching=1000), {})
            found = []
            while rows := line.call("scannerGetList", scan, 1000):
                found += [row.row for row in rows]
            line.call("scannerClose", scan)
        return found


@pytest.fixture
def table(hbase_server: HbaseServer) -> Table:
    return Table(hbase_server.settings, f"t{uuid4().hex[:12]}")


def sink(build: Build, table: Table, **config: Any) -> Built:
    given = {"connection": "main", "table": table.name, "row_key": "id", "family": "cf", **config}
    return build("sink.hbase", given, connections={"main": table.settings})


def written(built: Built, frame: DataFrame, *, number: int = 0, **batch: Any) -> Written:
    built.node.begin(frame.sparkSession, frame.schema, built.context)
    done: Written = built.node.write(frame, Batch(number, "q", **batch), built.context)
    return done


def test_a_table_is_made_and_each_column_becomes_a_cell_of_text(spark: SparkSession, build: Build, table: Table):
    built = sink(build, table, row_key="concat(country, '|', id)", columns=[{"name": "total", "family": "sums", "qualifier": "t"}])
    frame = spark.sql(
        """SELECT 7 AS id, 'é' AS country, 12.50BD AS total, true AS paid, 1.5D AS rate, DATE '2024-02-29' AS day,
        TIMESTAMP '2024-02-29 12:00:00.000001' AS at, TIMESTAMP_NTZ '2024-02-29 12:00:00' AS plain, X'00FF' AS raw,
        array(1, null) AS list, named_struct('a', '中') AS nested, CAST(null AS string) AS nothing, '' AS empty"""
    )
    assert written(built, frame) == Written(rows=1)
    assert table.row("é|7".encode()) == {
        b"sums:t": b"12.50",
        b"cf:id": b"7",
        b"cf:country": "é".encode(),
        b"cf:paid": b"true",
        b"cf:rate": b"1.5",
        b"cf:day": b"2024-02-29",
        b"cf:at": b"2024-02-29T12:00:00.000001Z",
        b"cf:plain": b"2024-02-29T12:00:00.000000",
        b"cf:raw": b"\x00\xff",
        b"cf:list": b"[1,null]",
        b"cf:nested": '{"a":"中"}'.encode(),
        b"cf:empty": b"",
    }


def test_a_time_tells_the_seconds_of_its_offset(spark: SparkSession, build: Build, table: Table):
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Shanghai")
    written(sink(build, table, skipped_columns=["id"]), session.sql("SELECT 1 AS id, TIMESTAMP '1899-12-31 10:00:00' AS at"))
    assert table.row(b"1") == {b"cf:at": b"1899-12-31T10:00:00.000000+08:05:43"}


def test_numbers_can_be_the_bytes_that_java_makes_of_them(spark: SparkSession, build: Build, table: Table):
    built = sink(build, table, encoding="bytes", skipped_columns=["id"])
    frame = spark.sql(
        """SELECT -2L AS id, CAST(1 AS tinyint) AS b, CAST(-1 AS smallint) AS s, 258 AS i, 1.5F AS f, -0.5D AS d, true AS yes,
        false AS no, CAST(-1.28 AS decimal(38, 2)) AS money, CAST(0 AS decimal(5, 0)) AS zero,
        CAST('99999999999999999999999999999999999999' AS decimal(38, 0)) AS many, TIMESTAMP '1970-01-01 00:00:01.5' AS at, 'ü' AS text"""
    )
    written(built, frame)
    assert table.row(struct.pack(">q", -2)) == {
        b"cf:b": b"\x01",
        b"cf:s": b"\xff\xff",
        b"cf:i": b"\x00\x00\x01\x02",
        b"cf:f": struct.pack(">f", 1.5),
        b"cf:d": struct.pack(">d", -0.5),
        b"cf:yes": b"\xff",
        b"cf:no": b"\x00",
        b"cf:money": b"\x00\x00\x00\x02\x80",
        b"cf:zero": b"\x00\x00\x00\x00\x00",
        b"cf:many": b"\x00\x00\x00\x00" + (10**38 - 1).to_bytes(16, "big"),
        b"cf:at": struct.pack(">q", 1500),
        b"cf:text": "ü".encode(),
    }


def test_large_values_and_many_rows_go_in_requests_of_their_size(
    spark: SparkSession, build: Build, hbase_server: HbaseServer, table: Table
):
    with hbase_server.gateway("-f", "-c", transport="framed", protocol="compact") as settings:
        through = Table(settings, table.name)
        frame = spark.sql("SELECT id, repeat('ä', 500000) AS text FROM range(4)")
        assert written(sink(build, through), frame).rows == 4
        assert HbaseConnection().check(settings, Limits())[-1].ok
    assert table.row(b"3")[b"cf:text"] == "ä".encode() * 500_000
    assert written(sink(build, table, batch_size=100), spark.range(0, 5000, 1, 2), number=1).rows == 5000
    assert len(table.row_keys()) == 5000


def test_a_repeated_batch_writes_the_same_versions_and_the_next_one_newer_ones(spark: SparkSession, build: Build, table: Table):
    table.make("cf")
    built = sink(build, table)
    first = spark.sql("SELECT 1 AS id, 'a' AS name")
    for _ in range(2):
        assert written(built, first).rows == 1
    ((at, value),) = table.versions(b"1", b"cf:name")
    assert value == b"a"
    written(built, spark.sql("SELECT 1 AS id, 'b' AS name"), number=1)
    (newer, older) = table.versions(b"1", b"cf:name")
    assert (newer[1], older) == (b"b", (at, b"a"))
    assert newer[0] > at


def test_a_column_can_hold_the_time_of_the_cells(spark: SparkSession, build: Build, table: Table):
    table.make("cf")
    rows = "VALUES (1, 'new', 2000L), (1, 'old', 1000L), (2, 'x', null), (3, 'y', -1L) AS t(id, name, at)"
    done = written(sink(build, table, timestamp_column="at"), spark.sql(f"SELECT * FROM {rows}"))
    assert (done.rows, done.rejected) == (2, 2)
    assert table.versions(b"1", b"cf:name") == [(2000, b"new"), (1000, b"old")]
    assert {reason for reason, _ in done.rejected_rows} == {
        "at is null: its cells have no time",
        "at is before 1970, which HBase does not hold",
    }
    as_time = spark.sql("SELECT 4 AS id, TIMESTAMP '1970-01-01 00:00:03' AS at")
    written(sink(build, table, timestamp_column="at", skipped_columns=["id"]), as_time)
    assert [at for at, _ in table.versions(b"4", b"cf:at")] == [3000]


def test_rows_without_a_key_are_rejected_and_the_others_are_written(spark: SparkSession, build: Build, table: Table):
    rows = "VALUES ('a', 1), (null, 2), ('', 3), (repeat('k', 40000), 4), ('b', 5) AS t(id, n)"
    done = written(sink(build, table), spark.sql(f"SELECT * FROM {rows}").coalesce(1))
    assert (done.rows, done.rejected, table.row_keys()) == (2, 3, [b"a", b"b"])
    assert [reason for reason, _ in done.rejected_rows] == [
        "the row key is null",
        "the row key is empty",
        "the row key is longer than 32767 bytes",
    ]
    assert json.loads(done.rejected_rows[0][1]) == {"id": None, "n": 2}


def test_a_value_that_hbase_refuses_rejects_its_row_alone(spark: SparkSession, build: Build, table: Table):
    frame = spark.sql("SELECT id, IF(id = 2, repeat('x', 11000000), 'y') AS text FROM range(5)").coalesce(1)
    done = written(sink(build, table), frame)
    assert (done.rows, done.rejected, len(table.row_keys())) == (4, 1, 4)
    assert done.rejected_rows == (("HBase refuses it: KeyValue size too large", '{"row key": "2"}'),)


def test_refused_rows_go_on_whole(spark: SparkSession, build: Build, table: Table, tmp_path: Path):
    """Those that share a cell with the one to blame too."""
    texts = "IF(id < 2, repeat('x', 11000000), 'y') AS text"
    frame = spark.sql(f"SELECT id, CASE WHEN id < 2 THEN 'k' WHEN id > 2 THEN 'l' || id END AS key, {texts} FROM range(5)").coalesce(1)
    rejections = rejections_in(tmp_path)
    done = written(sink(build, table, row_key="key"), frame, rejections=rejections)
    assert (done.rows, done.rejected, len(table.row_keys())) == (2, 3, 2)
    assert [row[0] for row in rows_led_on(rejections, frame)] == [0, 1, 2]


def test_nulls_leave_older_values_or_delete_them(spark: SparkSession, build: Build, table: Table):
    full, half = spark.sql("SELECT 1 AS id, 'a' AS x, 'b' AS y"), spark.sql("SELECT 1 AS id, 'c' AS x, CAST(null AS string) AS y")
    built = sink(build, table, skipped_columns=["id"])
    written(built, full)
    written(built, half, number=1)
    assert table.row(b"1") == {b"cf:x": b"c", b"cf:y": b"b"}
    deleting = Built(built.node, replace(built.context, config=built.context.config.model_copy(update={"empty_cells": "delete"})))
    written(deleting, half, number=2)
    assert table.row(b"1") == {b"cf:x": b"c"}
    both = spark.sql("SELECT * FROM VALUES (1, 'd', null), (1, null, 'e') AS t(id, x, y)").coalesce(1)
    assert written(deleting, both, number=3).rows == 2
    assert table.row(b"1") == {b"cf:y": b"e"}


def test_a_flag_deletes_whole_rows_in_the_order_of_the_batch(spark: SparkSession, build: Build, table: Table):
    table.make("cf", "other")
    table.call("mutateRow", table.name.encode(), b"gone", [mutation(b"other:z", b"1")], {})
    built = sink(build, table, delete_flag="deleted", skipped_columns=["id"])
    written(built, spark.sql("SELECT id, 'old' AS a, 'old' AS b, false AS deleted FROM VALUES ('gone'), ('again'), ('stays') AS t(id)"))
    steps: list[Any] = [("gone", "x", None, False), ("gone", None, None, True), ("again", None, None, True), ("again", "new", None, False)]
    steps += [("again", None, "more", False), ("stays", "newer", None, None)]
    frame = spark.createDataFrame(steps, "id string, a string, b string, deleted boolean").coalesce(1)
    for _ in range(2):
        assert written(built, frame, number=1).rows == 6
        assert table.row_keys() == [b"again", b"stays"]
        assert table.row(b"again") == {b"cf:a": b"new", b"cf:b": b"more"}
        assert table.row(b"stays") == {b"cf:a": b"newer", b"cf:b": b"old"}


def mutation(cell: bytes, value: bytes) -> Any:
    from happybase.batch import Mutation

    return Mutation(column=cell, value=value)


def test_what_is_missing_or_wrong_is_told_on_its_field_before_anything_runs(spark: SparkSession, build: Build, table: Table):
    schema = spark.sql("SELECT 1 AS id, 'a' AS name, 'x' AS deleted").schema

    def refusal(**config: Any) -> tuple[str, str]:
        built = sink(build, table, **config)
        with pytest.raises(NodeError) as caught:
            built.node.check(spark, schema, built.context)
        assert caught.value.permanent
        return caught.value.field, caught.value.message

    assert refusal(create_table=False) == ("table", f"there is no table {table.name}; make it, let the node make it, or correct its name")
    table.make("a", "b")
    field, message = refusal()
    assert (field, "has no column family cf, only a, b" in message) == ("family", True)
    assert refusal(family="a", columns=[{"name": "name", "family": "c"}])[0] == "columns"
    assert refusal(family="a", row_key="nmae")[0] == "row_key"
    assert refusal(family="a", row_key="uuid()") == (
        "row_key",
        "row key: it is another whenever it is computed, so that a repeat would write other rows; use the columns alone",
    )
    assert refusal(family="a", row_key="array(id)")[0] == "row_key"
    assert refusal(family="a", delete_flag="deleted")[0] == "delete_flag"
    assert refusal(family="a", timestamp_column="name")[0] == "timestamp_column"
    assert refusal(family="a", columns=[{"name": "gone"}])[0] == "columns/0/name"
    assert "would both become a:id" in refusal(family="a", columns=[{"name": "name", "qualifier": "id"}])[1]


def test_the_connection_test_says_which_step_failed(hbase_server: HbaseServer):
    def steps(**config: Any) -> list[tuple[str, bool]]:
        settings = hbase_server.settings_with(**config)
        return [(step.name, step.ok) for step in HbaseConnection().check(settings, Limits())]

    assert steps() == [("name", True), ("port", True), ("HBase", True)]
    assert steps(host="nowhere.invalid") == [("name", False)]
    assert steps(port=1) == [("name", True), ("port", False)]
    assert steps(protocol="compact", timeout_seconds=2) == steps(transport="framed", timeout_seconds=2)
    assert steps(protocol="compact")[-1] == ("HBase", False)


@pytest.mark.slow
def test_an_hbase_that_is_killed_while_rows_are_written_is_waited_for(spark: SparkSession, build: Build):
    with HbaseServer() as server:
        table = Table(server.settings, "numbers")
        table.make("cf")
        built = sink(build, table, batch_size=100)
        frame = spark.range(0, 60_000, 1, 2)
        built.node.begin(spark, frame.schema, built.context)
        done: list[Written] = []
        thread = Thread(target=lambda: done.append(built.node.write(frame, Batch(0, "q"), built.context)))
        thread.start()
        wait_until(lambda: len(table.row_keys()) > 1000, seconds=60, what="some rows")
        server.kill()
        assert not done, "all was written before the kill"
        assert built.node.needs_to_begin(built.context) == "hbase main"
        server.start()
        thread.join(240)
        assert done == [Written(rows=60_000)]
        assert built.node.write(frame, Batch(0, "q"), built.context).rows == 60_000
        assert sorted(int(key) for key in table.row_keys()) == list(range(60_000))
        assert {len(table.versions(str(key).encode(), b"cf:id")) for key in range(0, 60_000, 499)} == {1}
        server.kill_master()
        assert built.node.waits_for(built.context) == "hbase main"
