"""`source.jdbc` on all databases: whole or by key, resumed, with every type, and one sentence for each way it can fail."""

import json
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.types import StructType

from jobs.nodes.base import REJECTED, NodeError
from jobs.nodes.readers.table_rows import TableRowsStreamReader
from jobs.nodes.sources import jdbc
from jobs.nodes.sources.jdbc import read_dialect, reader_options
from jobs.nodes.sources.jdbc_dialect import Chunk, ReadDialect
from jobs.nodes.worker_errors import Carried, WorkerFailure, node_error_in
from tests.nodes.conftest import Build, Built, Database
from tests.nodes.streams import Drained

pytestmark = pytest.mark.spark


def source(build: Build, database: Database, config: dict[str, Any], **given: Any) -> Built:
    return build("source.jdbc", {"connection": "db"} | config, connections=database.connections, **given)


def numbered(database: Database, first: int, last: int) -> None:
    """Rows `first` … `last - 1` of table `numbers`."""
    if first == 0:
        database.run("CREATE TABLE numbers (id integer PRIMARY KEY, name text)")
    database.run(
        f"INSERT INTO numbers VALUES {', '.join(f'({number}, $$n{number}$$)' for number in range(first, last))}".replace("$$", "'")
    )


def test_a_table_is_read_whole(spark: SparkSession, build: Build, database: Database):
    numbered(database, 0, 25)
    built = source(build, database, {"table": "numbers"})
    frame = built.node.read(spark, built.context)
    assert frame.columns == ["id", "name", REJECTED]
    assert sorted((row["id"], row["name"]) for row in frame.collect()) == [(number, f"n{number}") for number in range(25)]


def test_a_query_may_hold_percent_and_question_marks(spark: SparkSession, build: Build, database: Database, tmp_path: Path):
    numbered(database, 0, 12)
    joined = "concat(name, '%s?')" if database.settings.kind == "mysql" else "name || '%s?'"
    query = f"SELECT id, {joined} AS label FROM numbers WHERE name LIKE 'n1%';"
    built = source(build, database, {"query": query, "key_column": "id", "rows_per_batch": 2}, mode="stream")
    drained = Drained("label")
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.everything == ["n1%s?", "n10%s?", "n11%s?"]


def test_chunks_follow_the_key_and_a_later_run_goes_on_behind_it(spark: SparkSession, build: Build, database: Database, tmp_path: Path):
    numbered(database, 0, 25)
    built = source(build, database, {"table": "numbers", "key_column": "id", "rows_per_batch": 10}, mode="stream")
    drained = Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {0: list(range(10)), 1: list(range(10, 20)), 2: list(range(20, 25))}
    assert drained.end_offset()["progress"] == {"done": 25, "total": 25, "unit": "rows"}
    numbered(database, 25, 28)
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches[3] == [25, 26, 27]


def test_a_batch_that_failed_reads_the_same_chunk_again(spark: SparkSession, build: Build, database: Database, tmp_path: Path):
    numbered(database, 0, 20)
    built = source(build, database, {"table": "numbers", "key_column": "id", "rows_per_batch": 10}, mode="stream")
    drained = Drained()
    drained.failing = 1
    with pytest.raises(StreamingQueryException, match="the sink is away"):
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    numbered(database, 20, 23)
    drained.failing = None
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {0: list(range(10)), 1: list(range(10, 20)), 2: [20, 21, 22]}


def test_rows_that_come_to_an_empty_table_while_a_run_goes_on_belong_to_the_next_run(spark: SparkSession, build: Build, database: Database):
    database.run("CREATE TABLE numbers (id integer PRIMARY KEY, name text)")
    built = source(build, database, {"table": "numbers", "key_column": "id", "late_rows_seconds": 0.01}, bounded=True)
    options = reader_options(read_dialect(built.context), built.context)

    def begun() -> TableRowsStreamReader:
        reader = TableRowsStreamReader(options, StructType([]))
        reader.prepareForTriggerAvailableNow()
        return reader

    first = begun()
    database.run("INSERT INTO numbers VALUES (7, 'late')")
    start = first.initialOffset()
    assert first.latestOffset(start, ReadAllAvailable()) == start
    assert begun().latestOffset(start, ReadAllAvailable())["key"] in (7, "7")


def test_without_a_key_a_stream_is_one_batch(spark: SparkSession, build: Build, database: Database, tmp_path: Path):
    numbered(database, 0, 5)
    built = source(build, database, {"table": "numbers", "rows_per_batch": 2}, mode="stream")
    drained = Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {0: [0, 1, 2, 3, 4]}


def test_a_chunk_ends_only_where_the_key_changes(spark: SparkSession, build: Build, database: Database, tmp_path: Path):
    database.run("CREATE TABLE numbers (id integer, place text)")
    database.run("INSERT INTO numbers VALUES (1, 'a'), (1, 'b'), (2, 'a'), (2, 'b'), (2, 'c'), (3, 'a')")
    built = source(build, database, {"table": "numbers", "key_column": "id", "rows_per_batch": 3}, mode="stream")
    drained = Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {0: [1, 1, 2, 2, 2], 1: [3]}


def test_a_key_may_be_text(spark: SparkSession, build: Build, database: Database, tmp_path: Path):
    database.run("CREATE TABLE people (name varchar(20) PRIMARY KEY)")
    database.run("INSERT INTO people VALUES ('Ann'), ('Bo''b'), ('Zoë'), ('李')")
    built = source(build, database, {"table": "people", "key_column": "name", "rows_per_batch": 1}, mode="stream")
    drained = Drained("name")
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert sorted(drained.everything) == ["Ann", "Bo'b", "Zoë", "李"]
    assert len(drained.batches) == 4


@pytest.mark.postgres
@pytest.mark.server
def test_every_postgresql_type_is_read_exactly(spark: SparkSession, build: Build, postgres_database: Database):
    postgres_database.run(
        "CREATE TABLE kinds (flag boolean, small smallint, n integer, big bigint, r real, d double precision, price numeric(20, 5), "
        "any_number numeric, day date, at timestamptz, local timestamp, raw bytea, words text, short varchar(5), "
        "c char(3), doc jsonb, u uuid, tags text[])"
    )
    postgres_database.run(
        "INSERT INTO kinds VALUES (true, -1, 2, 9223372036854775807, 0.5, 0.1, 123456789012345.12345, 1.10, '2024-02-29', "
        "'2024-03-31 03:30:00.123456+02', '2024-03-31 02:30:00', '\\x00ff', 'Zoë %', 'ab', 'c', '{\"a\": 1}', "
        "'0b0f6c3e-0000-4000-8000-000000000001', '{x,y}')"
    )
    postgres_database.run("INSERT INTO kinds DEFAULT VALUES")
    built = source(build, postgres_database, {"table": "kinds"})
    frame = built.node.read(spark, built.context)
    full, empty = sorted(frame.drop(REJECTED).collect(), key=lambda row: row["flag"] is None)
    assert [value for value in empty if value is not None] == []
    assert tuple(full[:8]) == (True, -1, 2, 2**63 - 1, 0.5, 0.1, Decimal("123456789012345.12345"), Decimal("1.100000000000000000"))
    times = frame.selectExpr("unix_micros(at)", "unix_micros(local)").filter("`unix_micros(at)` IS NOT NULL").first()
    expected = [datetime(2024, 3, 31, 1, 30, 0, 123456, tzinfo=UTC), datetime(2024, 3, 31, 2, 30, tzinfo=UTC)]
    assert times is not None
    assert list(times) == [round(time.timestamp() * 1_000_000) for time in expected]
    assert full["day"] == date(2024, 2, 29)
    assert bytes(full["raw"]) == b"\x00\xff"
    assert tuple(full[12:]) == ("Zoë %", "ab", "c", '{"a": 1}', "0b0f6c3e-0000-4000-8000-000000000001", "{x,y}")


@pytest.mark.postgres
@pytest.mark.server
def test_a_postgresql_value_that_spark_has_not_rejects_its_row_alone(spark: SparkSession, build: Build, postgres_database: Database):
    postgres_database.run("CREATE TABLE odd (id integer, day date, at timestamp, instant timestamptz, n numeric)")
    postgres_database.run(
        "INSERT INTO odd VALUES (1, '0044-03-15 BC', NULL, NULL, NULL), (2, NULL, '12000-01-01', NULL, NULL), "
        "(3, NULL, NULL, '0044-03-15 00:00+00 BC', NULL), (4, NULL, NULL, NULL, 'NaN'), "
        "(5, '0001-01-01', '9999-12-31', '1582-10-10 00:00+00', 1), (6, 'infinity', NULL, NULL, NULL), (7, NULL, '-infinity', NULL, NULL)"
    )
    built = source(build, postgres_database, {"table": "odd"})
    frame = built.node.read(spark, built.context).orderBy("id").select("id", "day", "n", REJECTED)
    assert [tuple(row) for row in frame.collect()] == [
        (1, None, None, "day: cannot read '0044-03-15 BC' as date"),
        (2, None, None, "at: cannot read '12000-01-01 00:00:00+00' as timestamp"),
        (3, None, None, "instant: cannot read '0044-03-15 00:00:00+00 BC' as timestamp"),
        (4, None, None, "n: cannot read 'NaN' as decimal(38,18)"),
        (5, date(1, 1, 1), Decimal(1), None),
        (6, None, None, "day: cannot read 'infinity' as date"),
        (7, None, None, "at: cannot read '-infinity' as timestamp"),
    ]


@pytest.mark.postgres
@pytest.mark.server
def test_columns_that_spark_takes_for_one_are_refused(spark: SparkSession, build: Build, postgres_database: Database):
    built = source(build, postgres_database, {"query": 'SELECT 1 AS id, 2 AS n, 3 AS "ID"'})
    with pytest.raises(NodeError, match="two columns are called ID, in capitals or not: write a query") as caught:
        built.node.read(spark, built.context)
    assert (caught.value.permanent, caught.value.field) == (True, "query")


def test_a_query_may_end_in_a_comment(spark: SparkSession, build: Build, database: Database):
    numbered(database, 0, 3)
    built = source(build, database, {"query": "SELECT id FROM numbers -- all of them"})
    assert built.node.read(spark, built.context).count() == 3


def test_a_sqlite_value_that_does_not_fit_its_column_rejects_the_row(spark: SparkSession, build: Build, sqlite_database: Database):
    sqlite_database.run("CREATE TABLE kinds (n integer, at timestamp, price decimal(6, 2), flag boolean, day date, free)")
    sqlite_database.run(
        "INSERT INTO kinds VALUES (1, '2024-03-31 01:30:00', '12.345', 1, '2024-02-29', 1), (2, NULL, NULL, NULL, NULL, 2.5)"
    )
    sqlite_database.run("INSERT INTO kinds VALUES ('many', '2024-03-31', 1, 0, '2024-02-29', 3), (3, 'noon', 1, 0, '2024-02-29', 4)")
    built = source(build, sqlite_database, {"table": "kinds"})
    frame = built.node.read(spark, built.context)
    assert dict(frame.dtypes) == {
        "n": "bigint", "at": "timestamp", "price": "decimal(6,2)", "flag": "boolean", "day": "date", "free": "double", REJECTED: "string",
    }  # fmt: skip
    rows = frame.filter(f"{REJECTED} IS NULL").selectExpr("n", "unix_seconds(at)", "price", "flag", "day", "free").orderBy("n").collect()
    assert tuple(rows[0]) == (1, 1711848600, Decimal("12.34"), True, date(2024, 2, 29), 1.0)
    assert tuple(rows[1]) == (2, None, None, None, None, 2.5)
    reasons = sorted(row[0] for row in frame.filter(f"{REJECTED} IS NOT NULL").select(REJECTED).collect())
    assert reasons == ["at: cannot read 'noon' as timestamp", "n: cannot read 'many' as bigint"]


def test_sqlite_numbers_are_read_to_the_last_digit_and_those_that_are_too_long_reject_their_row(
    spark: SparkSession, build: Build, sqlite_database: Database
):
    """SQLite keeps whatever is written, however a column is declared."""
    sqlite_database.run("CREATE TABLE ids (id integer, price decimal(5, 2), rate text, long decimal(38, 18))")
    sqlite_database.run(
        "INSERT INTO ids VALUES (1234567890123456789, 123.45, 'a', 123456789012345), (9007199254740993, 1, 'b', 1), "
        "(3, 123456.78, 'c', 1), (4, 'NaN', 'd', 1), (-9223372036854775808, 1, 'e', 1), (6, 1e3, 'f', 1)"
    )
    built = source(build, sqlite_database, {"table": "ids"})
    frame = built.node.read(spark, built.context)
    good = frame.filter(f"{REJECTED} IS NULL").orderBy("rate").collect()
    assert [row.id for row in good] == [1234567890123456789, 9007199254740993, -9223372036854775808]
    assert good[0].long == 123456789012345
    assert sorted(row[0] for row in frame.filter(f"{REJECTED} IS NOT NULL").select(REJECTED).collect()) == [
        "price: cannot read '1000' as decimal(5,2)",
        "price: cannot read '123456.78' as decimal(5,2)",
        "price: cannot read 'NaN' as decimal(5,2)",
    ]


def test_a_sqlite_text_that_is_no_utf_8_rejects_its_row(spark: SparkSession, build: Build, sqlite_database: Database):
    sqlite_database.run("CREATE TABLE words (id integer PRIMARY KEY, word text, raw blob)")
    latin = "CAST(x'63616665e9' AS text)"
    sqlite_database.run(f"INSERT INTO words VALUES (1, 'café', 'é'), (2, {latin}, 'b'), (3, 'c', {latin})")
    built = source(build, sqlite_database, {"table": "words", "key_column": "id"})
    rows = built.node.read(spark, built.context).orderBy("id").collect()
    assert [(row.id, row.word, bytes(row.raw)) for row in rows if row[REJECTED] is None] == [
        (1, "café", "é".encode()),
        (3, "c", b"cafe\xe9"),
    ]
    assert [row[REJECTED] for row in rows if row[REJECTED]] == [r"word: cannot read 'b'cafe\xe9'' as string"]


NAMED_LAST = {
    "real": ("-Infinity", "0.1", "0.2", "1e10", "Infinity", "NaN", "NaN"),
    "numeric": ("-Infinity", "0.1", "0.2", "1e10", "Infinity", "NaN", "NaN"),
    "timestamptz": ("-infinity", "2020-01-01", "2021-01-01", "infinity", "infinity"),
    "date": ("-infinity", "2020-01-01", "2021-01-01", "infinity", "infinity"),
}


@pytest.mark.each_once
@pytest.mark.postgres
@pytest.mark.server
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("kind", NAMED_LAST)
def test_a_key_behind_which_none_can_come_is_read_once_and_never_read_on_from(
    spark: SparkSession, build: Build, postgres_database: Database, tmp_path: Path, kind: str, parts: int
):
    keys = NAMED_LAST[kind]
    postgres_database.run(f"CREATE TABLE odd (key {kind}, id integer)")
    postgres_database.run(f"INSERT INTO odd VALUES {', '.join(f'($${key}$$, {number})' for number, key in enumerate(keys))}")
    config = {"table": "odd", "key_column": "key", "rows_per_batch": 2, "partitions": parts}
    built = source(build, postgres_database, config, mode="stream")
    drained = Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.everything == list(range(len(keys)))

    def refused(position: dict[str, Any], **given: Any) -> Carried | None:
        context = source(build, postgres_database, config | given, mode="stream", bounded="incremental" in given).context
        reader = TableRowsStreamReader(reader_options(read_dialect(context), context), StructType([]))
        with pytest.raises(WorkerFailure) as told:
            reader.prepareForTriggerAvailableNow() if position["key"] is None and given else reader.latestOffset(
                position, ReadAllAvailable()
            )
        return node_error_in(str(told.value))

    looked_ahead = refused({"key": None, "rows": 0}, incremental=True)
    for told, found in ((looked_ahead, keys[-1]), (refused({"key": keys[2], "rows": 3}), keys[4])):
        assert told is not None
        assert told.error.message == (
            f"reading a table: the key column key holds {found}, which is no place to read on from; "
            "leave such rows out by a query, or choose another"
        )
        assert (told.error.permanent, told.error.field) == (True, "key_column")
    postgres_database.run("DELETE FROM odd")
    told = refused({"key": keys[-1], "rows": 7})
    assert told is not None
    assert f"the last key that was read is {keys[-1]}" in told.error.message


@pytest.mark.postgres
@pytest.mark.server
def test_a_text_may_say_nan(spark: SparkSession, build: Build, postgres_database: Database, tmp_path: Path):
    postgres_database.run("CREATE TABLE words (id text)")
    postgres_database.run("INSERT INTO words VALUES ('NaN'), ('infinity')")
    config = {"table": "words", "key_column": "id", "rows_per_batch": 1, "incremental": True}
    built = source(build, postgres_database, config, mode="stream")
    drained = Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert sorted(drained.everything) == ["NaN", "infinity"]


def test_a_number_of_sqlite_without_an_end_is_no_key(build: Build, sqlite_database: Database):
    sqlite_database.run("CREATE TABLE odd (key REAL)")
    sqlite_database.run("INSERT INTO odd VALUES (-9e999), (0.5), (9e999)")
    dialect = read_dialect(source(build, sqlite_database, {"table": "odd", "key_column": "key"}).context)
    with dialect.cursor() as cursor:
        for asked, found in ((dialect.last_key, "Infinity"), (lambda cursor: dialect.chunk_end(cursor, Chunk(), 1), "-Infinity")):
            with pytest.raises(NodeError, match=f"the key column key holds {found}, which is no place to read on from") as refused:
                asked(cursor)
            assert (refused.value.field, refused.value.permanent) == ("key_column", True)
        assert dialect.chunk_end(cursor, Chunk(), 2) == 0.5


@pytest.mark.parametrize("kind", ["text", "blob"])
@pytest.mark.parametrize(
    "asked",
    [
        lambda dialect, cursor: dialect.last_key(cursor),
        lambda dialect, cursor: dialect.chunk_end(cursor, Chunk(), 2),
        lambda dialect, cursor: dialect.split(cursor, Chunk(), 3, 3),
    ],
)
def test_a_key_of_sqlite_that_is_no_text_is_refused(build: Build, sqlite_database: Database, kind: str, asked: Callable[[Any, Any], Any]):
    sqlite_database.run("CREATE TABLE words (word)")
    sqlite_database.run(f"INSERT INTO words VALUES ('a'), (CAST(x'62e9' AS {kind}))")
    dialect = read_dialect(source(build, sqlite_database, {"table": "words", "key_column": "word"}).context)
    with dialect.cursor() as cursor, pytest.raises(NodeError, match="the key column word holds binary") as refused:
        asked(dialect, cursor)
    assert (refused.value.field, refused.value.permanent) == ("key_column", True)


@pytest.mark.each_once
@pytest.mark.parametrize("name", ["shown", "chunk_key", "place"])
def test_a_key_may_be_called_as_it_likes(spark: SparkSession, build: Build, database: Database, tmp_path: Path, name: str):
    database.run(f"CREATE TABLE numbers ({name} integer, id integer)")
    database.run("INSERT INTO numbers VALUES " + ", ".join(f"({number}, {number})" for number in range(12)))
    built = source(build, database, {"table": "numbers", "key_column": name, "rows_per_batch": 5}, mode="stream")
    drained = Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {0: list(range(5)), 1: list(range(5, 10)), 2: [10, 11]}


def test_what_a_sink_wrote_comes_back_as_it_was(spark: SparkSession, build: Build, database: Database):
    from jobs.nodes.base import Batch

    frame = spark.createDataFrame(
        [(1, "Zoë", True, 0.1, Decimal("1.50"), date(2024, 2, 29))], "id int, name string, flag boolean, d double, p decimal(6,2), day date"
    )
    frame = frame.selectExpr("*", "timestamp_micros(1711848600123456) AS at")
    sink = build("sink.jdbc", {"connection": "db", "table": "back", "mode": "overwrite"}, connections=database.connections)
    sink.node.begin(spark, frame.schema, sink.context)
    sink.node.write(frame, Batch(0, "node"), sink.context)
    built = source(build, database, {"table": "back"})
    found = built.node.read(spark, built.context).selectExpr(
        "id", "name", "flag", "d", "cast(p AS decimal(6,2))", "cast(day AS date)", "cast(at AS timestamp)"
    )
    assert found.collect() == frame.collect()


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        (
            {"table": "nowhere"},
            r'reading from "db": (no such table: nowhere|relation "nowhere" does not exist|Table .*nowhere.* exist); correct table',
        ),
        ({"query": "SELEC 1"}, r'reading from "db": .*(syntax error|SQL syntax).*; correct table'),
        ({"query": "DELETE FROM numbers RETURNING id"}, r'reading from "db": .*(syntax error|SQL syntax)'),
        ({"table": "numbers", "key_column": "zz"}, "there is no column zz; the columns are id, name"),
    ],
)
def test_each_mistake_has_its_sentence(spark: SparkSession, build: Build, database: Database, config: dict[str, Any], sentence: str):
    numbered(database, 0, 3)
    built = source(build, database, config)
    with pytest.raises(NodeError, match=sentence) as caught:
        built.node.read(spark, built.context)
    assert caught.value.permanent


def test_a_key_with_empty_values_is_refused(spark: SparkSession, build: Build, database: Database):
    database.run("CREATE TABLE numbers (id integer, name text)")
    database.run("INSERT INTO numbers VALUES (1, 'a'), (NULL, 'b')")
    built = source(build, database, {"table": "numbers", "key_column": "id"})
    with pytest.raises(NodeError, match="the key column id has empty values"):
        built.node.read(spark, built.context)


def test_a_job_that_never_ends_needs_a_key(spark: SparkSession, build: Build, database: Database):
    built = source(build, database, {"table": "numbers"}, bounded=False)
    with pytest.raises(NodeError, match="a job that never ends needs a key column"):
        built.node.read(spark, built.context)


def test_a_sqlite_file_outside_the_allowed_folders_is_refused(spark: SparkSession, build: Build):
    from jobs.nodes.base import ConnectionSettings

    away = ConnectionSettings("db", "sqlite", {"path": "/etc/../etc/passwd"})
    built = build("source.jdbc", {"connection": "db", "table": "x"}, connections={"db": away})
    with pytest.raises(NodeError, match="it leads outside the allowed folders"):
        built.node.read(spark, built.context)


@pytest.mark.postgres
@pytest.mark.server
def test_a_password_shows_in_no_plan(spark: SparkSession, build: Build, postgres_database: Database):
    numbered(postgres_database, 0, 1)
    built = source(build, postgres_database, {"table": "numbers"})
    plan: Any = built.node.read(spark, built.context)
    assert postgres_database.settings.secrets["password"] not in plan._jdf.queryExecution().toString()


@pytest.mark.postgres
@pytest.mark.server
def test_a_table_that_changes_under_a_job_is_told_by_its_column(spark: SparkSession, build: Build, postgres_database: Database):
    numbered(postgres_database, 0, 5)
    built = source(build, postgres_database, {"table": "numbers"})
    frame = built.node.read(spark, built.context)

    def told() -> Carried | None:
        with pytest.raises(Exception) as failed:
            frame.collect()
        return node_error_in(str(failed.value))

    postgres_database.run("ALTER TABLE numbers ADD COLUMN extra text")
    assert len(frame.collect()) == 5, "a new column is left out"
    postgres_database.run("ALTER TABLE numbers ALTER COLUMN id TYPE text USING 'n' || id")
    changed = told()
    assert changed is not None
    assert (changed.node_id, changed.error.permanent) == (built.context.node_id, False)
    assert 'reading from "db": column id holds what is no int32 any more' in changed.error.message
    postgres_database.run("ALTER TABLE numbers DROP COLUMN name")
    gone = told()
    assert gone is not None
    assert "the table has no column name any more" in gone.error.message


_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT count(*) AS i FROM n"


def test_who_draws_is_not_held_up_by_a_database_that_takes_its_time(
    spark: SparkSession, build: Build, database: Database, monkeypatch: pytest.MonkeyPatch
):
    """Counting reads no row before the last; its columns are known at once."""
    monkeypatch.setattr(jdbc, "_COLUMNS_SECONDS", 1)
    numbered(database, 0, 1)  # SQLite makes its file
    query = "SELECT benchmark(1000000000000, sha2(rand(), 512)) AS i" if database.settings.kind == "mysql" else _ENDLESS
    dialect = read_dialect(source(build, database, {"query": query, "key_column": "i"}).context)
    with (
        pytest.raises(NodeError, match="the database took longer than 1 s, or something locks the table") as told,
        dialect.cursor() as cursor,
    ):
        dialect.columns(cursor)
        dialect.key_has_empty_values(cursor)
        dialect.last_key(cursor)
    assert not told.value.permanent
    assert read_dialect(source(build, database, {"query": query}, is_run=True).context).seconds == 0


def test_a_script_reads_rows_as_long_as_a_run_does(build: Build, database: Database):
    def seconds(**given: bool) -> int:
        context = source(build, database, {"table": "numbers"}, **given).context
        return int(json.loads(reader_options(read_dialect(context), context)["settings"])["seconds"])

    assert (seconds(), seconds(is_run=True), seconds(for_script=True)) == (60, 0, 0)


def test_a_key_that_takes_long_to_look_through_is_only_looked_through_in_a_run(
    spark: SparkSession, build: Build, database: Database, monkeypatch: pytest.MonkeyPatch
):
    numbered(database, 0, 3)
    built = source(build, database, {"table": "numbers", "key_column": "id"})

    def slow(dialect: ReadDialect, cursor: Any) -> bool:
        raise dialect.took_too_long()

    monkeypatch.setattr(ReadDialect, "key_has_empty_values", slow)
    assert built.node.read(spark, built.context).count() == 3
    running = source(build, database, {"table": "numbers", "key_column": "id"}, is_run=True)
    with pytest.raises(NodeError, match="took longer"):
        running.node.read(spark, running.context)


def test_a_locked_table_does_not_hold_up_who_draws(
    spark: SparkSession, build: Build, postgres_database: Database, monkeypatch: pytest.MonkeyPatch
):
    numbered(postgres_database, 0, 3)
    monkeypatch.setattr(jdbc, "_COLUMNS_SECONDS", 1)
    built = source(build, postgres_database, {"table": "numbers"}, schema_only=True)
    with closing(postgres_database._open_session()) as session:
        session.cursor().execute("LOCK TABLE numbers IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(NodeError, match="the database took longer than 1 s, or something locks the table"):
            built.node.read(spark, built.context)


def test_a_line_that_is_lost_while_rows_are_read_is_an_outage(build: Build, server_database: Database):
    numbered(server_database, 0, 3)
    is_mysql = server_database.settings.kind == "mysql"
    dialect = read_dialect(source(build, server_database, {"table": "numbers"}, is_run=True).context)
    with pytest.raises(NodeError, match=r'^reading from "db": .*it is tried again$') as told, dialect.cursor() as cursor:
        cursor.execute("SELECT connection_id()" if is_mysql else "SELECT pg_backend_pid()")
        own = cursor.fetchone()[0]
        server_database.rows(f"KILL {own}" if is_mysql else f"SELECT pg_terminate_backend({own})")
        list(dialect.rows(cursor, f"SELECT * FROM {dialect.relation}", ()))
    assert told.value.outage == "away"


def test_what_the_server_refuses_is_no_outage(build: Build, server_database: Database):
    numbered(server_database, 0, 3)
    dialect = read_dialect(source(build, server_database, {"table": "numbers"}, is_run=True).context)
    with pytest.raises(NodeError, match="correct table, query or rights") as told, dialect.cursor() as cursor:
        dialect.run(cursor, "SELECT nothing FROM numbers")
    assert told.value.outage == ""
    assert told.value.permanent
