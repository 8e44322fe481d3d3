"""MySQL and MariaDB where they are unlike other databases: TLS, collations, engines, types."""

import socket
import ssl
import threading
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import REJECTED, Limits, NodeError
from jobs.nodes.connections.mysql import MysqlConnection, _creates, mysql_open
from jobs.nodes.sinks.jdbc import _dialect
from tests.nodes.conftest import Build, Database
from tests.nodes.test_jdbc_sink import people, sink_for, write
from tests.nodes.test_jdbc_source import source
from tests.servers.mariadb import MariadbServer

pytestmark = pytest.mark.server
spark_test = pytest.mark.spark


def steps(target: Database, password: str = "", **config: Any) -> list[tuple[str, bool, str]]:
    settings = replace(target.settings, config={**target.settings.config, **config})
    if password:
        settings = replace(settings, secrets={"password": password})
    return [(step.name, step.ok, step.message) for step in MysqlConnection().check(settings, Limits())]


def test_a_good_connection_passes_every_step(mysql_database: Database, mariadb_server: MariadbServer):
    found = steps(mysql_database, tls="verify-full", certificate_authority=mariadb_server.certificate)
    assert [(name, ok) for name, ok, _ in found] == [(name, True) for name in ("name", "port", "TLS", "sign-in", "database")]
    assert "TLSv1." in found[2][2]
    assert "MariaDB" in found[3][2]
    assert "may create tables" in found[4][2]


@pytest.mark.parametrize(
    ("changed", "step", "sentence"),
    [
        ({"host": "no-such-host.invalid"}, "name", 'the name "no-such-host.invalid" is not known'),
        ({"port": 1}, "port", "nothing answers at 127.0.0.1:1"),
        ({"tls": "verify-full"}, "TLS", "no TLS as chosen (self-signed certificate)"),
        ({"tls": "verify-ca", "certificate_authority": "hum"}, "TLS", "is no PEM certificate"),
        ({"password": "canary-4711"}, "sign-in", "user pipeline was refused"),
        ({"database": "no`such"}, "database", "Unknown database 'no`such'; correct the database"),
    ],
)
def test_the_step_that_fails_is_named(mysql_database: Database, changed: dict[str, Any], step: str, sentence: str):
    found = steps(mysql_database, **changed)
    assert [name for name, ok, _ in found if not ok] == [step] == [found[-1][0]]
    assert sentence in found[-1][2]
    assert "canary-4711" not in repr(found)


@pytest.mark.parametrize("tls", ["prefer", "require"])
def test_a_line_that_checks_no_certificate_reads_none(mysql_database: Database, monkeypatch: pytest.MonkeyPatch, tls: str):
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda *_: pytest.fail("they were read"))
    assert "TLSv1." in steps(mysql_database, tls=tls)[2][2]


def test_a_port_that_is_not_a_database_s_is_told_as_that(mysql_database: Database):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with listening.accept()[0] as line:
                line.sendall(b"220 mail.example.com ESMTP\r\n")

        threading.Thread(target=answer, daemon=True).start()
        found = steps(mysql_database, port=listening.getsockname()[1])
    assert [name for name, ok, _ in found if not ok] == ["port"]
    assert "takes connections, but does not answer as MySQL does; check whether the port is MySQL's" in found[-1][2]


def test_a_user_who_may_not_create_tables_is_told_so(mysql_database: Database):
    name = mysql_database.settings.config["database"]
    mysql_database.run(f"CREATE USER reader_{name}@'%' IDENTIFIED BY 'reading'")
    mysql_database.run(f"GRANT SELECT, INSERT ON {name}.* TO reader_{name}@'%'")
    assert "may not create tables" in steps(mysql_database, user=f"reader_{name}", password="reading")[-1][2]
    mysql_database.run(f"REVOKE ALL PRIVILEGES, GRANT OPTION FROM reader_{name}@'%'")
    step, ok, message = steps(mysql_database, user=f"reader_{name}", password="reading")[-1]
    assert (step, ok) == ("database", False)
    assert "Access denied" in message
    mysql_database.run(f"DROP USER reader_{name}@'%'")


@pytest.mark.parametrize(
    ("grant", "creates"),
    [
        ("GRANT ALL PRIVILEGES ON *.* TO `u`@`%`", True),
        ("GRANT SELECT, CREATE ON `ware%`.* TO `u`@`%`", True),
        ("GRANT SELECT, CREATE ON `ware\\_house`.* TO `u`@`%`", False),
        ("GRANT CREATE TEMPORARY TABLES ON `warehouse`.* TO `u`@`%`", False),
        ("GRANT CREATE ON `warehouse`.`one_table` TO `u`@`%`", False),
    ],
)
def test_grants_are_read_as_the_server_means_them(grant: str, creates: bool):
    assert _creates(grant, "warehouse") is creates


@spark_test
def test_a_session_is_lost_by_a_client_that_freezes_in_a_transaction(spark: SparkSession, build: Build, mysql_database: Database):
    sink = sink_for(build, mysql_database, people(spark))
    with _dialect(sink.context).transaction() as cursor:
        cursor.execute("SELECT @@wait_timeout, @@net_read_timeout, @@time_zone, @@tx_isolation")
        assert cursor.fetchone() == (10, 10, "+00:00", "READ-COMMITTED")


@spark_test
def test_keys_are_equal_by_the_collation_of_their_column(spark: SparkSession, build: Build, mysql_database: Database):
    mysql_database.run(
        "CREATE TABLE people (name varchar(20) CHARACTER SET latin1 COLLATE latin1_german1_ci PRIMARY KEY, "
        "at datetime(3), id int, UNIQUE (id))"
    )
    frame = spark.createDataFrame([("Zoë", 1), ("bob", 2), ("ZOE", 3)], "name string, id int").coalesce(1)
    sink = sink_for(build, mysql_database, frame, {"mode": "upsert", "keys": ["name"]})
    write(sink, frame, 0)
    write(sink, spark.createDataFrame([("BOB", 4)], frame.schema), 1)
    assert mysql_database.rows("SELECT name, id FROM people ORDER BY id") == [("ZOE", 3), ("bob", 4)]


@spark_test
def test_tables_that_we_make_tell_keys_apart_to_the_last_blank(spark: SparkSession, build: Build, mysql_database: Database):
    frame = spark.createDataFrame([("a", 1), ("a ", 2), ("A", 3)], "name string, id int")
    sink = sink_for(build, mysql_database, frame, {"mode": "upsert", "keys": ["name"]})
    write(sink, frame, 0)
    write(sink, frame, 1)
    assert mysql_database.rows("SELECT name, id FROM people ORDER BY id") == [("a", 1), ("a ", 2), ("A", 3)]


@spark_test
@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("decimal(38,10)", [Decimal("1234567890123456789012345678.0000000001"), Decimal("1234567890123456789012345678.0000000002")]),
        ("timestamp", [datetime(2024, 10, 27, 0, 30, 0, 1, tzinfo=UTC), datetime(2024, 10, 27, 1, 30, 0, 1, tzinfo=UTC)]),
        ("date", [date(1, 1, 1), date(9999, 12, 31)]),
        ("bigint", [-(2**63), 2**63 - 1]),
        ("double", [0.1, 1e300]),
        ("binary", [bytearray(b"\x00'\\"), bytearray(b"")]),
        ("boolean", [False, True]),
    ],
)
def test_a_row_is_found_again_by_a_key_of_any_type(
    spark: SparkSession, build: Build, mysql_database: Database, key: str, values: list[Any]
):
    frame = spark.createDataFrame([(value, n) for n, value in enumerate(values)], f"id {key}, name int")
    sink = sink_for(build, mysql_database, frame, {"mode": "upsert", "keys": ["id"]})
    write(sink, frame, 0)
    write(sink, frame.selectExpr("id", "name + 10 AS name"), 1)
    assert mysql_database.rows("SELECT name FROM people ORDER BY name") == [(10,), (11,)]


@spark_test
@pytest.mark.parametrize(
    ("column", "key", "values", "kept"),
    [
        ("char(4) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin", "string", ["a ", "b", "b "], ["61", "62"]),
        ("binary(4)", "binary", [bytearray(b"a "), bytearray(b"b"), bytearray(b"b\0")], ["61200000", "62000000"]),
        ("binary(4)", "string", ["é", "bbbb"], ["C3A90000", "62626262"]),
        ("bit(8)", "int", [5, 200], ["5", "C8"]),
        ("bit(64)", "decimal(20,0)", [Decimal(5), Decimal(2**63 + 1)], ["5", "8000000000000001"]),
        ("bit(16)", "double", [5.0, 1e4], ["5", "2710"]),
        ("bit(1)", "boolean", [False, True], ["0", "1"]),
        ("bit(8)", "binary", [bytearray(b"\x05"), bytearray(b"\xf0")], ["5", "F0"]),
    ],
)
def test_a_row_is_found_again_by_a_key_that_is_stored_otherwise(
    spark: SparkSession, build: Build, mysql_database: Database, column: str, key: str, values: list[Any], kept: list[str]
):
    mysql_database.run(f"CREATE TABLE people (id {column} PRIMARY KEY, name int)")
    frame = spark.createDataFrame([(value, n) for n, value in enumerate(values)], f"id {key}, name int").coalesce(1)
    sink = sink_for(build, mysql_database, frame, {"mode": "upsert", "keys": ["id"]})
    assert write(sink, frame, 0).rejected == 0
    assert write(sink, frame.selectExpr("id", "name + 10 AS name"), 1).rejected == 0
    assert mysql_database.rows("SELECT hex(id), name >= 10 FROM people ORDER BY name") == [(one, 1) for one in kept]


@spark_test
@pytest.mark.parametrize("large", [False, True])
def test_bits_take_the_number_not_its_letters(spark: SparkSession, build: Build, mysql_database: Database, large: bool):
    mysql_database.run("CREATE TABLE people (id int, flags bit(64))")
    frame = spark.sql("SELECT * FROM VALUES (1, 5BD), (2, 9223372036854775809BD) AS given(id, flags)")
    sink = sink_for(build, mysql_database, frame)
    sink.node._rows_before = 1_000_000 if large else 1
    assert write(sink, frame, 0).rejected == 0
    assert mysql_database.rows("SELECT id, flags + 0 FROM people ORDER BY id") == [(1, 5), (2, 9223372036854775809)]


@spark_test
@pytest.mark.parametrize("large", [False, True])
def test_times_are_exact_in_any_zone(spark: SparkSession, build: Build, mysql_database: Database, large: bool):
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    micros = [1729989000_000001, 1729992600_000001, -62135596800_000000, 253402300799_999999, -1]
    frame = session.createDataFrame([(one,) for one in micros], "id bigint").selectExpr("id", "timestamp_micros(id) at")
    sink = sink_for(build, mysql_database, frame)
    sink.node._rows_before = 1_000_000 if large else 1
    write(sink, frame, 0)
    shown = mysql_database.rows("SELECT id, timestampdiff(MICROSECOND, '1970-01-01', at) FROM people ORDER BY id")
    assert shown == [(one, one) for one in sorted(micros)]


@spark_test
def test_a_table_without_transactions_is_refused(spark: SparkSession, build: Build, mysql_database: Database):
    mysql_database.run("CREATE TABLE people (id int, name text) ENGINE=MyISAM")
    with pytest.raises(NodeError, match="table people is kept by MyISAM, which knows no transactions; ALTER TABLE it to ENGINE=InnoDB"):
        sink_for(build, mysql_database, people(spark))


@spark_test
def test_a_user_without_the_right_to_create_writes_to_what_is_there(spark: SparkSession, build: Build, mysql_database: Database):
    frame = people(spark, (1, "a"))
    sink_for(build, mysql_database, frame)
    name = mysql_database.settings.config["database"]
    mysql_database.run(f"CREATE USER writer_{name}@'%' IDENTIFIED BY 'writing'")
    mysql_database.run(f"GRANT SELECT, INSERT, UPDATE, CREATE TEMPORARY TABLES ON {name}.* TO writer_{name}@'%'")
    less = replace(
        mysql_database.settings, config={**mysql_database.settings.config, "user": f"writer_{name}"}, secrets={"password": "writing"}
    )
    sink = sink_for(build, Database(less, lambda: None), frame, {"mode": "append"}, attempt=2)
    assert write(sink, frame, 0).rows == 1
    mysql_database.run(f"DROP USER writer_{name}@'%'")


@spark_test
def test_every_type_is_read_exactly(spark: SparkSession, build: Build, mysql_database: Database):
    mysql_database.run(
        "CREATE TABLE kinds (flag boolean, t tinyint, tu tinyint unsigned, s smallint unsigned, n int, nu int unsigned, big bigint, "
        "bigu bigint unsigned, f float, d double, price decimal(20, 5), wide decimal(65, 2), day date, at datetime(6), "
        "ts timestamp(3) NULL, t_of_day time, y year, raw varbinary(9), words longtext, short varchar(5), e enum('x', 'y'), "
        "doc json, one bit, many bit(9))"
    )
    mysql_database.run(
        "INSERT INTO kinds VALUES (true, -128, 255, 65535, -5, 4294967295, 9223372036854775807, 18446744073709551615, 0.1, 0.1, "
        "123456789012345.12345, 1.50, '2024-02-29', '2024-03-31 02:30:00.123456', '2024-03-31 01:30:00.5', '-12:30:00', 2024, "
        "x'00ff', 'Zoë %🚀', 'ab', 'y', '{\"a\": 1}', b'1', b'100000001')"
    )
    mysql_database.run("INSERT INTO kinds VALUES ()")
    built = source(build, mysql_database, {"table": "kinds"})
    frame = built.node.read(spark, built.context)
    assert " ".join(kind for _, kind in frame.dtypes) == (
        "boolean tinyint smallint int int bigint bigint decimal(20,0) float double decimal(20,5) string date timestamp timestamp "
        "string smallint binary string string string string boolean decimal(20,0) string"
    )
    rows = frame.drop(REJECTED).selectExpr("*", "unix_micros(at)", "unix_micros(ts)").drop("at", "ts").collect()
    full, empty = sorted(rows, key=lambda row: row["flag"] is None)
    assert [value for value in empty if value is not None] == []
    assert full[:8] == (True, -128, 255, 65535, -5, 4294967295, 2**63 - 1, Decimal(2**64 - 1))
    assert abs(full[8] - 0.1) < 1e-8
    assert full[9:13] == (0.1, Decimal("123456789012345.12345"), "1.50", date(2024, 2, 29))
    assert full[13:] == (
        "-12:30:00", 2024, bytearray(b"\x00\xff"), "Zoë %🚀", "ab", "y", '{"a": 1}', True, Decimal(257),
        1711852200123456, 1711848600500000,
    )  # fmt: skip


@spark_test
def test_what_is_no_date_and_no_truth_rejects_the_row(spark: SparkSession, build: Build, mysql_database: Database):
    mysql_database.run("CREATE TABLE kinds (id int, day date, flag tinyint(1))")
    session = mysql_open(mysql_database.settings)
    with session.cursor() as cursor:
        cursor.execute("SET sql_mode = ''")
        cursor.execute("INSERT INTO kinds VALUES (1, '0000-00-00', 1), (2, '2024-01-01', 2), (3, '2024-01-01', 1)")
    session.commit()
    session.close()
    built = source(build, mysql_database, {"table": "kinds"})
    found = dict(built.node.read(spark, built.context).select("id", REJECTED).collect())
    assert found == {1: "day: cannot read '0000-00-00' as date", 2: "flag: cannot read '2' as boolean", 3: None}
