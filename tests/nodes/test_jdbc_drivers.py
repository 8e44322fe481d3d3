"""`source.jdbc` through the JDBC drivers that an administrator allows, on an H2 server: types, keys, and what goes wrong in a sentence."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import jpype
import psutil
import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import REJECTED, ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.databases import database_silent
from jobs.nodes.connections.jdbc import JdbcConnection
from jobs.nodes.connections.jdbc_session import jdbc_close, jdbc_open
from jobs.nodes.jdbc_drivers import jdbc_drivers
from jobs.nodes.node_error import SystemAway
from jobs.nodes.sources.jdbc import JdbcSourceConfig, read_dialect
from jobs.nodes.sources.jdbc_dialect import Chunk, dialect_for
from tests.nodes.conftest import Build, Built
from tests.nodes.streams import Drained
from tests.servers.h2 import H2Server

pytestmark = [pytest.mark.spark, pytest.mark.server]

TABLE = 'CREATE TABLE "numbers" ("id" BIGINT PRIMARY KEY, "name" VARCHAR(50)); '


class Shop:
    """A database of its own."""

    def __init__(self, server: H2Server) -> None:
        self.server = server
        self.name = f"shop_{uuid4().hex[:8]}"
        self.limits = Limits(jdbc_drivers=server.drivers)

    def run(self, sql: str) -> None:
        self.server.run(self.name, sql)

    def settings(self, password: str | None = None, **config: Any) -> ConnectionSettings:
        secrets = {"password": self.server.password if password is None else password}
        return ConnectionSettings("db", "jdbc", {**self.server.config, "database": self.name, **config}, secrets)

    def source(self, build: Build, config: dict[str, Any], **given: Any) -> Built:
        connections = given.pop("connections", {"db": self.settings()})
        return build("source.jdbc", {"connection": "db"} | config, connections=connections, limits=self.limits, **given)


@pytest.fixture
def shop(h2_server: H2Server) -> Shop:
    return Shop(h2_server)


def numbers(first: int, last: int) -> str:
    return "".join(f"""INSERT INTO "numbers" VALUES ({number}, 'n{number}'); """ for number in range(first, last))


def test_values_of_every_type_are_read_as_they_are(spark: SparkSession, build: Build, shop: Shop):
    shop.run(
        """CREATE TABLE "kinds" ("flag" BOOLEAN, "tiny" TINYINT, "small" SMALLINT, "whole" INT, "big" BIGINT, "real" REAL,
        "double" DOUBLE PRECISION, "money" DECIMAL(12, 3), "huge" DECIMAL(60, 2), "day" DATE, "at" TIMESTAMP(9),
        "moment" TIMESTAMP WITH TIME ZONE, "clock" TIME, "text" VARCHAR(50), "long" CLOB, "bytes" VARBINARY(10), "id" UUID);
        INSERT INTO "kinds" VALUES (TRUE, -7, -300, 70000, 9007199254740993, 0.5, 1e300, -12.345, 123456789012345678901234567890.25,
        '2024-02-29', '2024-02-29 23:59:59.123456789', '2024-03-31 02:30:00+05:30', '12:34:56', 'é ☕ ''x''', 'long', X'00ff',
        '0190d7c2-0000-7000-8000-000000000001');
        INSERT INTO "kinds" ("text") VALUES (NULL);"""
    )
    built = shop.source(build, {"table": "kinds"})
    frame = built.node.read(spark, built.context)
    types = dict(frame.dtypes)
    assert (types["money"], types["huge"], types["at"], types["moment"]) == ("decimal(12,3)", "string", "timestamp", "timestamp")
    first, empty = sorted((row.asDict() for row in frame.collect()), key=lambda row: row["whole"] is None)
    assert set(empty.values()) == {None}
    first["bytes"] = bytes(first["bytes"])
    moments = {name: first.pop(name).astimezone(UTC) for name in ("at", "moment")}
    assert moments == {"at": datetime(2024, 2, 29, 23, 59, 59, 123456, UTC), "moment": datetime(2024, 3, 30, 21, 0, tzinfo=UTC)}
    assert first == {
        "flag": True, "tiny": -7, "small": -300, "whole": 70000, "big": 9007199254740993, "real": 0.5, "double": 1e300,
        "money": Decimal("-12.345"), "huge": "123456789012345678901234567890.25", "day": date(2024, 2, 29), "clock": "12:34:56",
        "text": "é ☕ 'x'", "long": "long", "bytes": b"\x00\xff", "id": "0190d7c2-0000-7000-8000-000000000001", REJECTED: None,
    }  # fmt: skip


class WithoutSize:
    """A result whose size a driver lets nobody set."""

    def __init__(self, results: Any) -> None:
        self._results = results

    def __getattr__(self, name: str) -> Any:
        return self._refuse if name == "setFetchSize" else getattr(self._results, name)

    def _refuse(self, rows: int) -> None:
        raise jpype.JClass("java.sql.SQLFeatureNotSupportedException")("setFetchSize")


@pytest.mark.parametrize(("type_name", "at_once"), [("VARCHAR(50)", 1_000), ("VARCHAR(100000)", 167), ("CLOB", 50)])
def test_a_driver_that_takes_no_other_size_in_between_fetches_by_how_long_rows_may_be(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, type_name: str, at_once: int
):
    shop.run(f"""CREATE TABLE "named" ("id" BIGINT, "name" {type_name});
        INSERT INTO "named" SELECT x, 'n' || x FROM system_range(1, 1100);""")
    dialect = dialect_for(shop.settings(), shop.limits, JdbcSourceConfig(connection="db", table="named"))
    with dialect.cursor() as cursor:
        columns = dialect.columns(cursor)
        results, asked = cursor.results, []

        @contextmanager
        def without_size(*given: Any, fetched: int, **named: Any) -> Iterator[WithoutSize]:
            asked.append(fetched)
            with results(*given, fetched=fetched, **named) as found:
                yield WithoutSize(found)

        monkeypatch.setattr(cursor, "results", without_size)
        assert sorted(row[0] for row in dialect.read(cursor, columns, Chunk())) == list(range(1, 1_101))
    assert asked == [at_once]


def test_chunks_follow_the_key_and_a_later_run_goes_on_behind_it(spark: SparkSession, build: Build, shop: Shop, tmp_path: Path):
    shop.run(TABLE + numbers(0, 25))
    built = shop.source(build, {"table": "numbers", "key_column": "id", "rows_per_batch": 10, "partitions": 3}, mode="stream")
    drained = Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert {batch: sorted(ids) for batch, ids in drained.batches.items()} == {
        0: list(range(10)),
        1: list(range(10, 20)),
        2: list(range(20, 25)),
    }
    assert drained.end_offset()["progress"] == {"done": 25, "total": 25, "unit": "rows"}
    shop.run(numbers(25, 28))
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert sorted(drained.batches[3]) == [25, 26, 27]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("VARCHAR(20)", "'k' || lpad(x, 3, '0')"),
        ("DECIMAL(20, 4)", "x / 4.0"),
        ("DOUBLE PRECISION", "x / 8.0"),
        ("DATE", "dateadd(DAY, x, DATE '2024-01-01')"),
        ("TIMESTAMP(9)", "dateadd(NANOSECOND, x, TIMESTAMP '2024-01-01 00:00:00')"),
        ("TIMESTAMP(9) WITH TIME ZONE", "dateadd(NANOSECOND, x, TIMESTAMP WITH TIME ZONE '2024-01-01 00:00:00+02')"),
    ],
)
def test_a_key_of_any_type_that_has_an_order_is_read_on_by(
    spark: SparkSession, build: Build, shop: Shop, tmp_path: Path, kind: str, value: str
):
    shop.run(
        f'CREATE TABLE "keyed" ("key" {kind} PRIMARY KEY, "id" BIGINT); INSERT INTO "keyed" SELECT {value}, x FROM system_range(1, 20);'
    )
    config = {"query": 'SELECT "key", "id" FROM "keyed" WHERE "id" <> 3', "key_column": "key", "rows_per_batch": 7}
    built = shop.source(build, config, mode="stream")
    drained = Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert [sorted(ids) for _, ids in sorted(drained.batches.items())] == [[1, 2, *range(4, 9)], list(range(9, 16)), list(range(16, 21))]


def test_what_is_no_number_is_no_key(build: Build, shop: Shop):
    shop.run("""CREATE TABLE "odd" ("key" DOUBLE PRECISION); INSERT INTO "odd" VALUES (1), ('NaN'), ('-Infinity');""")
    dialect = read_dialect(shop.source(build, {"table": "odd", "key_column": "key"}).context)
    with dialect.cursor() as cursor:
        dialect.columns(cursor)
        for asked, found in ((dialect.last_key, "NaN"), (lambda cursor: dialect.chunk_end(cursor, Chunk(), 1), "-Infinity")):
            with pytest.raises(NodeError, match=f"the key column key holds {found}, which is no place to read on from") as refused:
                asked(cursor)
            assert (refused.value.permanent, refused.value.field) == (True, "key_column")


@pytest.mark.parametrize(
    ("config", "sentence", "field"),
    [
        ({"table": "gone"}, 'Table "gone" not found', "table"),
        ({"table": "capitals"}, "keeps names in capitals: try CAPITALS", "table"),
        ({"query": "SELEKT 1"}, "correct table, query or rights", "query"),
        ({"table": "numbers", "key_column": "nmae"}, "there is no column nmae; did you mean name? The columns are id, name", "key_column"),
        ({"table": "flags", "key_column": "flag"}, "holds boolean, which has no order", "key_column"),
        ({"table": "numbers", "key_column": "name"}, "name has empty values", "key_column"),
    ],
)
def test_what_is_wrong_is_told(spark: SparkSession, build: Build, shop: Shop, config: dict[str, Any], sentence: str, field: str):
    shop.run(f"""{TABLE} INSERT INTO "numbers" ("id") VALUES (1); CREATE TABLE capitals (a INT); CREATE TABLE "flags" ("flag" BOOLEAN);""")
    built = shop.source(build, config)
    with pytest.raises(NodeError) as caught:
        built.node.read(spark, built.context)
    assert sentence in caught.value.message
    assert (caught.value.permanent, caught.value.kind, caught.value.field) == (True, "user", field)


def test_a_wrong_sign_in_and_a_driver_that_is_not_allowed_are_told(spark: SparkSession, build: Build, shop: Shop):
    shop.run(TABLE)
    for connection, sentence in (
        (shop.settings(password="canary-4711"), "the sign-in was refused"),
        (shop.settings(driver="oracle"), 'the database driver "oracle" is not allowed here, there are: h2'),
    ):
        built = shop.source(build, {"table": "numbers"}, connections={"db": connection})
        with pytest.raises(NodeError) as caught:
            built.node.read(spark, built.context)
        assert sentence in caught.value.message
        assert caught.value.permanent
        assert "canary-4711" not in str(caught.value)


def test_the_connection_test_names_the_step_that_fails(shop: Shop):
    def steps(settings: ConnectionSettings, limits: Limits = shop.limits) -> list[tuple[str, bool, str]]:
        return [(step.name, step.ok, step.message) for step in JdbcConnection().check(settings, limits)]

    shop.run(TABLE)
    good = steps(shop.settings())
    assert [(name, ok) for name, ok, _ in good] == [("name", True), ("port", True), ("driver", True), ("sign-in", True)]
    assert "org.h2.Driver 2." in good[2][2]
    assert "signed in as PIPELINE" in good[3][2]
    for settings, step, sentence in (
        (shop.settings(host="no-such-host.invalid"), "name", "is not known"),
        (shop.settings(port=1), "port", "does not answer"),
        (shop.settings(driver="db2"), "driver", "is not allowed here"),
        (shop.settings(password="canary-4711"), "sign-in", "the sign-in was refused"),
    ):
        found = steps(settings)
        assert (found[-1][:2], sentence in found[-1][2]) == ((step, False), True)
        assert "canary-4711" not in repr(found)
    assert "there are none" in steps(shop.settings(), Limits())[-1][2]


def test_a_server_that_is_away_is_waited_for(spark: SparkSession, build: Build, shop: Shop):
    shop.run(TABLE + numbers(0, 3))
    built = shop.source(build, {"table": "numbers"})
    assert database_silent(shop.settings(), shop.limits) == ""
    shop.server.kill()
    try:
        assert database_silent(shop.settings(), shop.limits) == "h2 db"
        with pytest.raises(SystemAway, match="does not answer"):
            built.node.read(spark, built.context)
    finally:
        shop.server.start()
    assert built.node.read(spark, built.context).count() == 3


def test_a_host_that_vanishes_while_a_driver_waits_for_it_is_noticed(shop: Shop):
    shop.run(TABLE)
    session = jdbc_open(shop.settings(), shop.limits)
    try:
        kept = {line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) for line in lines_to(shop.server.port)}
        idle = {line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) for line in lines_to(shop.server.port)}
    finally:
        jdbc_close(session)
    assert (kept, idle) == ({1}, {10})


@pytest.mark.parametrize(("listed", "seconds"), [({}, 30), ({"login_seconds": 0}, 0), ({"login_seconds": 90}, 90)])
def test_signing_in_has_the_time_limit_of_its_driver(shop: Shop, tmp_path: Path, listed: dict[str, int], seconds: int):
    shop.run(TABLE)
    drivers = tmp_path / "drivers.json"
    drivers.write_text(json.dumps({"h2": json.loads(shop.server.drivers.read_text())["h2"] | listed}))
    jdbc_close(jdbc_open(shop.settings(), replace(shop.limits, jdbc_drivers=drivers)))
    assert jpype.JClass("java.sql.DriverManager").getLoginTimeout() == seconds


def lines_to(port: int) -> Iterator[socket.socket]:
    """Those of this process to a server of this machine."""
    for found in psutil.Process().net_connections("tcp"):
        if found.raddr and found.raddr.port == port:
            with socket.socket(fileno=os.dup(found.fd)) as line:
                yield line


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "No such file"),
        ("{", "Invalid JSON"),
        ({"jars": []}, "h2/title: Field required"),
        ({"url": "jdbc:h2:mem:"}, "must say where {host} and {port} stand"),
        ({"url": "jdbc:h2:tcp://{host}:{port}/{user}"}, "may hold {host}, {port} and {database} only"),
        ({"class": "rm -rf"}, "h2/class"),
    ],
)
def test_a_list_of_drivers_that_is_wrong_says_where(shop: Shop, tmp_path: Path, content: Any, sentence: str):
    listed = tmp_path / "drivers.json"
    if isinstance(content, str):
        listed.write_text(content)
    elif content is not None:
        known = json.loads(shop.server.drivers.read_text())["h2"]
        listed.write_text(json.dumps({"h2": content if "jars" in content else known | content}))
    with pytest.raises(NodeError, match="have an administrator correct what JDBC_DRIVERS names") as caught:
        jdbc_drivers(Limits(jdbc_drivers=listed))
    assert sentence in caught.value.message


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"jars": ["/gone.jar"]}, "/gone.jar is not there"),
        ({"class": "org.h2.Gone"}, "org.h2.Gone"),
        ({"url": "jdbc:other:{host}:{port}"}, "it does not take the url"),
    ],
)
def test_a_driver_that_cannot_be_used_is_told(
    spark: SparkSession, build: Build, shop: Shop, tmp_path: Path, changed: dict[str, Any], sentence: str
):
    listed = tmp_path / "drivers.json"
    listed.write_text(json.dumps({"h2": json.loads(shop.server.drivers.read_text())["h2"] | changed}))
    shop.limits = replace(shop.limits, jdbc_drivers=listed)
    built = shop.source(build, {"table": "numbers"})
    with pytest.raises(NodeError, match="the JDBC driver of H2") as caught:
        built.node.read(spark, built.context)
    assert sentence in caught.value.message


def test_the_form_offers_the_drivers_that_are_allowed(shop: Shop):
    field = JdbcConnection.form(shop.limits)["properties"]["driver"]
    assert (field["enum"], field["x-choices"], field["x-sets"]) == (["h2"], {"h2": "H2"}, {"h2": {"port": 9092}})
    with pytest.raises(NodeError, match="no JDBC driver is allowed here"):
        JdbcConnection.form(Limits())
