"""`sink.jdbc` on all databases: exactly once, fenced, with every type, and one sentence for each way it can fail."""

import json
import struct
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any
from unittest.mock import patch

import psycopg2
import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes.base import Batch, Limits, NodeError, SinkFenced, Written
from jobs.nodes.connections.postgresql import postgresql_open
from jobs.nodes.sinks.jdbc import _dialect
from jobs.nodes.sinks.jdbc_dialect import Dialect
from jobs.nodes.sinks.postgresql_copy import copy_files
from jobs.nodes.sinks.postgresql_tuples import Tuples
from tests.nodes.conftest import Build, Built, Database

pytestmark = pytest.mark.spark

GENERATION = "a1b2c3d4-0000-4000-8000-000000000001"
NEXT_GENERATION = "b2c3d4e5-0000-4000-8000-000000000002"


def people(spark: SparkSession, *rows: tuple[int, str]) -> DataFrame:
    return spark.createDataFrame(list(rows), "id int, name string")


def sink_for(build: Build, database: Database, frame: DataFrame, config: dict[str, Any] | None = None, **given: Any) -> Built:
    """A sink that has begun."""
    sink = build("sink.jdbc", {"connection": "db", "table": "people"} | (config or {}), connections=database.connections, **given)
    sink.node.begin(frame.sparkSession, frame.schema, sink.context)
    return sink


def write(sink: Built, frame: DataFrame, batch_id: int, **given: Any) -> Written:
    return sink.node.write(frame, Batch(batch_id, "node", **given), sink.context)


def tables(database: Database) -> set[str]:
    schema = {"postgresql": "current_schema()", "mysql": "database()"}[database.settings.kind]
    return {name for (name,) in database.rows(f"SELECT table_name FROM information_schema.tables WHERE table_schema = {schema}")}


def test_an_appending_sink_makes_its_table_and_tells_which_batch_a_row_came_from(spark: SparkSession, build: Build, database: Database):
    frame = people(spark, (1, "Zoë"), (2, "李"))
    sink = sink_for(build, database, frame)
    assert write(sink, frame, 0) == Written(rows=2)
    assert database.rows("SELECT id, name, _generation, _batch FROM people ORDER BY id") == [
        (1, "Zoë", GENERATION, 0),
        (2, "李", GENERATION, 0),
    ]


def test_a_batch_written_again_changes_nothing(spark: SparkSession, build: Build, database: Database):
    frame = people(spark, (1, "a"))
    sink = sink_for(build, database, frame)
    write(sink, frame, 0)
    assert write(sink, frame, 0) == Written(rows=0, repeated=True)
    again = sink_for(build, database, frame, attempt=2)
    assert write(again, frame, 0).repeated
    assert write(again, people(spark, (2, "b")), 1) == Written(rows=1)
    assert database.rows("SELECT id, _batch FROM people ORDER BY id") == [(1, 0), (2, 1)]


def test_a_table_that_vanished_with_written_rows_is_not_made_anew_and_a_job_changed_to_another_table_goes_on_there(
    spark: SparkSession, build: Build, database: Database
):
    write(sink_for(build, database, people(spark, (1, "a"))), people(spark, (1, "a")), 0)
    database.run("DROP TABLE people")
    with pytest.raises(NodeError, match="people is gone with the rows that this job wrote"):
        sink_for(build, database, people(spark, (2, "b")), attempt=2)
    others = {"table": "others"}
    write(sink_for(build, database, people(spark, (2, "b")), others, attempt=3), people(spark, (2, "b")), 1)
    assert database.rows("SELECT id, _batch FROM others") == [(2, 1)]
    database.run("DROP TABLE others")
    with pytest.raises(NodeError, match="others is gone"):
        sink_for(build, database, people(spark, (3, "c")), others, attempt=4)


def test_an_attempt_that_was_taken_over_writes_nothing_more(spark: SparkSession, build: Build, database: Database):
    frame = people(spark, (1, "a"))
    old = sink_for(build, database, frame)
    sink_for(build, database, frame, attempt=2)
    with pytest.raises(SinkFenced, match="another attempt"):
        write(old, frame, 0)
    with pytest.raises(SinkFenced, match="attempt 2 of this job took over"):
        old.node.begin(spark, frame.schema, old.context)
    assert database.rows("SELECT count(*) FROM people") == [(0,)]


def test_a_new_generation_closes_the_one_before(spark: SparkSession, build: Build, database: Database):
    frame = people(spark, (1, "a"))
    old = sink_for(build, database, frame)
    new = sink_for(build, database, frame, generation=NEXT_GENERATION, attempt=2)
    with pytest.raises(SinkFenced):
        write(old, frame, 0)
    with pytest.raises(SinkFenced, match="superseded"):
        sink_for(build, database, frame, attempt=3)
    assert write(new, frame, 0) == Written(rows=1)


def test_a_fence_raised_after_the_first_look_still_stops_the_transaction(spark: SparkSession, build: Build, database: Database):
    frame = people(spark, (1, "a"))
    old = sink_for(build, database, frame)
    from jobs.nodes.sinks.jdbc_marker import Marker

    with patch.object(Marker, "state", side_effect=["new", SinkFenced("taken over")]):
        sink_for(build, database, frame, attempt=2)
        with pytest.raises(SinkFenced):
            write(old, frame, 0)
    assert database.rows("SELECT count(*) FROM people") == [(0,)]


def test_an_upsert_replaces_rows_by_key_and_the_last_of_a_batch_wins(spark: SparkSession, build: Build, database: Database):
    frame = people(spark, (1, "a"), (2, "b"), (1, "c")).coalesce(1)
    sink = sink_for(build, database, frame, {"mode": "upsert", "keys": ["id"]})
    write(sink, frame, 0)
    write(sink, people(spark, (2, "B"), (3, "d")), 1)
    assert database.rows("SELECT id, name FROM people ORDER BY id") == [(1, "c"), (2, "B"), (3, "d")]


def test_an_overwriting_sink_empties_the_table_only_in_the_first_batch_of_a_fresh_start(
    spark: SparkSession, build: Build, database: Database
):
    frame = people(spark, (1, "a"))
    first = sink_for(build, database, frame, {"mode": "overwrite"})
    write(first, frame, 0, first_of_fresh_generation=True)
    write(first, people(spark, (2, "b")), 1)
    assert database.rows("SELECT id FROM people ORDER BY id") == [(1,), (2,)]
    second = sink_for(build, database, frame, {"mode": "overwrite"}, generation=NEXT_GENERATION, attempt=2)
    write(second, people(spark, (3, "c")), 0, first_of_fresh_generation=True)
    assert database.rows("SELECT id FROM people") == [(3,)]


EVERY_TYPE = (
    "id int, big bigint, small smallint, flag boolean, ratio double, price decimal(20, 5), day date, at timestamp, local timestamp_ntz, "
    "raw binary, tags array<string>, facts map<string, int>, words string"
)
FULL_ROW = (
    1,
    2**62,
    -3,
    True,
    0.1,
    Decimal("123456789012345.12345"),
    date(2024, 2, 29),
    datetime(2024, 3, 31, 1, 30, 0, 123456, tzinfo=UTC),
    datetime(2024, 3, 31, 2, 30),
    bytearray(b"\x00\xff"),
    ["a", 'q"'],
    {"k": 1},
    "naïve 🚀 'quoted' \"double\" %s\n \\N \\. \t \r end\\",
)


@pytest.mark.parametrize("large", [False, True])
def test_every_type_arrives_as_it_was(spark: SparkSession, build: Build, database: Database, large: bool):
    frame = spark.createDataFrame([FULL_ROW, (2, *[None] * 12)], EVERY_TYPE)
    sink = sink_for(build, database, frame)
    sink.node._rows_before = 1_000_000 if large else 1
    assert write(sink, frame, 0) == Written(rows=2)
    full, empty = database.rows(f"SELECT {', '.join(frame.columns)} FROM people ORDER BY id")
    assert all(value is None for value in empty[1:])
    if database.settings.kind == "sqlite":
        at, local, raw = "2024-03-31 01:30:00.123456", "2024-03-31 02:30:00", b"\x00\xff"
        assert full[:3] + full[3:6] == (1, 2**62, -3, 1, 0.1, "123456789012345.12345")
        assert full[6:10] == ("2024-02-29", at, local, raw)
    else:
        assert full[:6] == FULL_ROW[:6]
        assert (full[6], full[7].replace(tzinfo=UTC), full[8]) == FULL_ROW[6:9]
        assert bytes(full[9]) == b"\x00\xff"
    assert full[10:] == ('["a","q\\""]', '{"k":1}', FULL_ROW[12])


@pytest.mark.parametrize("mode", ["append", "upsert", "overwrite"])
def test_a_large_batch_travels_in_files_and_leaves_none_behind(spark: SparkSession, build: Build, server_database: Database, mode: str):
    frame = spark.range(30_000).selectExpr("cast(id as int) AS id", "concat('n', id) AS name")
    sink = sink_for(build, server_database, frame, {"mode": mode, "keys": ["id"] if mode == "upsert" else []})
    assert write(sink, frame, 0, first_of_fresh_generation=True) == Written(rows=30_000)
    assert write(sink, frame, 0) == Written(rows=0, repeated=True)
    assert write(sink, frame, 1) == Written(rows=30_000)
    times = 1 if mode == "upsert" else 2
    assert server_database.rows("SELECT count(*), min(name), max(id) FROM people") == [(30_000 * times, "n0", 29_999)]
    if mode == "append":
        assert server_database.rows("SELECT _generation, _batch, count(*) FROM people GROUP BY 1, 2 ORDER BY 2") == [
            (GENERATION, 0, 30_000),
            (GENERATION, 1, 30_000),
        ]
    assert tables(server_database) == {"people", "pipeline_sink_marker"}
    assert not list((sink.context.work_dir / "rows").iterdir())


def test_a_large_batch_that_was_taken_over_on_its_way_leaves_no_row(spark: SparkSession, build: Build, server_database: Database):
    frame = people(spark, (1, "a"), (2, "b"))
    sink = sink_for(build, server_database, frame)
    dialect = _dialect(sink.context).__class__
    send = dialect.append_files

    def meanwhile(self: Dialect, *given: Any) -> int:
        rows = send(self, *given)
        sink_for(build, server_database, frame, attempt=2)
        return rows

    with patch.object(dialect, "append_files", meanwhile), pytest.raises(SinkFenced):
        write(sink, frame, 0)
    assert server_database.rows("SELECT count(*) FROM people") == [(0,)]


@pytest.mark.postgres
@pytest.mark.server
def test_times_of_a_large_batch_are_exact_in_any_zone_and_any_year(spark: SparkSession, build: Build, postgres_database: Database):
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    micros = [1698541200_000001, 1698544800_000001, -62135596800_000000, 253402300800_000000, -3786825600_000000]
    frame = session.createDataFrame([(one,) for one in micros], "id bigint").selectExpr(
        "id", "timestamp_micros(id) at", "date_from_unix_date(-719529 + id % 2) day", "make_date(12024, 2, 29) late"
    )
    sink = sink_for(build, postgres_database, frame)
    sink.node._rows_before = 1_000_000
    write(sink, frame, 0)
    assert postgres_database.rows("SELECT id, (extract(epoch FROM at) * 1000000)::bigint FROM people ORDER BY id") == [
        (one, one) for one in sorted(micros)
    ]
    assert postgres_database.rows("SELECT DISTINCT day::text, late::text FROM people WHERE id = 253402300800000000") == [
        ("0002-12-31 BC", "12024-02-29")
    ]


@pytest.mark.postgres
@pytest.mark.server
def test_what_the_server_says_of_a_row_in_a_large_batch_is_one_sentence(spark: SparkSession, build: Build, postgres_database: Database):
    frame = people(spark, (1, "a"), (2, "zero \x00 byte"))
    sink = sink_for(build, postgres_database, frame)
    sink.node._rows_before = 1_000_000
    with pytest.raises(NodeError, match='writing to "db": invalid byte sequence for encoding "UTF8": 0x00') as raised:
        write(sink, frame, 0, fails_at_rejected=True)
    assert raised.value.permanent


@pytest.mark.postgres
@pytest.mark.server
@pytest.mark.parametrize("rows_before", [0, 1_000_000], ids=["rows", "files"])
def test_a_text_that_no_table_can_hold_is_a_rejected_row(spark: SparkSession, build: Build, postgres_database: Database, rows_before: int):
    frame = people(spark, (1, "a"), (2, "zero \x00 byte"), (3, "c"))
    sink = sink_for(build, postgres_database, frame)
    sink.node._rows_before = rows_before
    written = write(sink, frame, 0)
    assert (written.rows, written.rejected) == (2, 1)
    ((reason, text),) = written.rejected_rows
    assert reason == "a text holds the character NUL, which PostgreSQL cannot store"
    assert "zero" in text
    assert write(sink, frame, 0) == replace(written, rows=0, repeated=True)
    assert postgres_database.rows("SELECT id, name FROM people ORDER BY id") == [(1, "a"), (3, "c")]


@pytest.mark.postgres
@pytest.mark.server
@pytest.mark.parametrize("rows_before", [0, 1_000_000], ids=["rows", "files"])
def test_a_time_that_no_table_can_hold_is_a_rejected_row(spark: SparkSession, build: Build, postgres_database: Database, rows_before: int):
    frame = spark.sql(
        "SELECT * FROM VALUES (1, DATE '-4713-11-23', NULL), (2, DATE '-4713-11-24', TIMESTAMP '-4713-11-24 00:00:00'), "
        "(3, NULL, TIMESTAMP '-4713-11-23 23:59:59.999999'), (4, date_from_unix_date(2145042905), TIMESTAMP '+294000-01-01 00:00:00'), "
        "(5, date_from_unix_date(2145042906), NULL), (6, NULL, timestamp_micros(-9223372036854775807L)) AS t (id, day, at)"
    )
    sink = sink_for(build, postgres_database, frame)
    sink.node._rows_before = rows_before
    written = write(sink, frame, 0)
    assert (written.rows, written.rejected) == (2, 4)
    assert {reason for reason, _ in written.rejected_rows} == {
        "a date or time lies outside those that PostgreSQL can store: from 24 November 4714 BC to the year 5874897"
    }
    assert {json.loads(text)["id"] for _, text in written.rejected_rows} == {1, 3, 5, 6}
    assert postgres_database.rows("SELECT id, day::text, (at AT TIME ZONE 'UTC')::text FROM people ORDER BY id") == [
        (2, "4714-11-24 BC", "4714-11-24 00:00:00 BC"),
        (4, "5874897-12-31", "294000-01-01 00:00:00"),
    ]
    with pytest.raises(NodeError, match="out of range"):
        write(sink, frame, 1, fails_at_rejected=True)


FAR_TIMES = [1698541200_000001, -62135596800_000000, -30_000_000_000_000000, 253402300799_999999]
TOO_FAR_TIMES = [253402300800_000000, -62135596800_000001]


def timed(session: SparkSession, micros: list[int]) -> DataFrame:
    days = "date_from_unix_date(cast(floor(cast(id AS decimal(20)) / 86400000000) AS int)) day"
    return session.createDataFrame([(one,) for one in micros], "id bigint").selectExpr("id", "timestamp_micros(id) at", days)


def test_times_that_sqlite_does_not_know_reject_their_row(spark: SparkSession, build: Build, sqlite_database: Database):
    frame = timed(spark, [*FAR_TIMES, *TOO_FAR_TIMES])
    sink = sink_for(build, sqlite_database, frame)
    written = write(sink, frame, 0)
    assert (written.rows, written.rejected) == (4, 2)
    assert {reason for reason, _ in written.rejected_rows} == {"a time lies outside the years 1 to 9999, which are all that SQLite knows"}
    assert [json.loads(shown) for _, shown in written.rejected_rows] == [
        {"id": TOO_FAR_TIMES[0], "at": "+10000-01-01 00:00:00", "day": "+10000-01-01"},
        {"id": TOO_FAR_TIMES[1], "at": "0000-12-31 23:59:59.999999", "day": "0000-12-31"},
    ]
    assert sqlite_database.rows("SELECT at, day FROM people ORDER BY id") == [
        ("0001-01-01 00:00:00", "0001-01-01"),
        ("1019-05-04 18:40:00", "1019-05-04"),
        ("2023-10-29 01:00:00.000001", "2023-10-29"),
        ("9999-12-31 23:59:59.999999", "9999-12-31"),
    ]
    again = sink_for(build, sqlite_database, frame, attempt=2)
    assert write(again, frame, 0) == replace(written, rows=0, repeated=True)
    with pytest.raises(NodeError, match="outside the years 1 to 9999"):
        write(again, frame, 1, fails_at_rejected=True)


@pytest.mark.postgres
@pytest.mark.server
def test_times_of_a_small_batch_may_be_of_any_year(spark: SparkSession, build: Build, postgres_database: Database):
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    micros = [*FAR_TIMES, *TOO_FAR_TIMES]
    frame = timed(session, micros)
    sink = sink_for(build, postgres_database, frame)
    sink.node._rows_before = 0
    assert write(sink, frame, 0) == Written(rows=6)
    told = postgres_database.rows(
        "SELECT (extract(epoch FROM at) * 1000000)::bigint, extract(epoch FROM day)::bigint FROM people ORDER BY id"
    )
    assert told == [(one, one // 86400_000000 * 86400) for one in sorted(micros)]


class Recorded:
    """A cursor that keeps which limits it was told."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self.limits: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    def execute(self, statement: str) -> None:
        if (said := statement.rpartition("statement_timeout = ")[2]).isdigit():
            self.limits.append(int(said))
        self._cursor.execute(statement)


def number_lines(*numbers: int) -> BytesIO:
    """As Spark writes them: a field of four bytes, and behind it what the next line begins with."""
    return BytesIO(b"".join(struct.pack(">bii", 1, 4, number) + b"\0" for number in numbers))


def copied_slowly(database: Database, *, seconds: float, limit_ms: int = 0) -> tuple[int, list[int]]:
    """How many rows came into a table that takes so long until it has the third, and the limits on the way."""
    database.run("CREATE TABLE slow (id integer)")
    body = f"BEGIN PERFORM pg_sleep({seconds}) WHERE NOT EXISTS (SELECT FROM slow WHERE id = 3); RETURN NULL; END"
    database.run(f"CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $${body}$$")
    database.run("CREATE TRIGGER dawdling AFTER INSERT ON slow EXECUTE FUNCTION dawdle()")
    with closing(postgresql_open(database.settings, Limits())) as session, session, session.cursor() as cursor:
        cursor.execute(f"SET statement_timeout = {limit_ms}")
        recorded = Recorded(cursor)
        rows = copy_files(recorded, "slow (id)", [number_lines(1, 2), None, number_lines(3)], Tuples(["id"]))
        return rows, recorded.limits


@pytest.mark.postgres
@pytest.mark.server
def test_a_slow_server_is_given_the_time_it_takes_and_told_of(postgres_database: Database, caplog: pytest.LogCaptureFixture):
    with patch("jobs.nodes.sinks.postgresql_copy._CHUNK_MS", 250):
        rows, limits = copied_slowly(postgres_database, seconds=0.6)
    assert (rows, limits[:3]) == (3, [250, 500, 1000])
    assert limits[-1] < max(limits), "a quick chunk shortens it again"
    assert "PostgreSQL is slow to take rows" in caplog.text
    assert postgres_database.rows("SELECT id FROM slow ORDER BY id") == [(1,), (2,), (3,)]


@pytest.mark.postgres
@pytest.mark.server
@pytest.mark.parametrize(("most_ms", "limit_ms"), [(600_000, 150), (150, 0), (150, 600_000)])
def test_no_chunk_takes_longer_than_its_connection_lets_a_statement_nor_for_ever(postgres_database: Database, most_ms: int, limit_ms: int):
    patched = patch.multiple("jobs.nodes.sinks.postgresql_copy", _CHUNK_MS=100, _MOST_MS=most_ms)
    with patched, pytest.raises(psycopg2.errors.QueryCanceled):
        copied_slowly(postgres_database, seconds=1, limit_ms=limit_ms)
    assert postgres_database.rows("SELECT id FROM slow") == []


@pytest.mark.postgres
@pytest.mark.server
def test_a_chunk_has_its_time_where_a_statement_has_less(postgres_database: Database):
    assert copied_slowly(postgres_database, seconds=0.3, limit_ms=100)[0] == 3


def test_files_of_a_dead_attempt_are_removed_by_the_next(spark: SparkSession, build: Build, server_database: Database):
    frame = people(spark, (1, "a"))
    sink = sink_for(build, server_database, frame)
    dialect = _dialect(sink.context).__class__
    with patch("jobs.nodes.sinks.jdbc.shutil.rmtree"), patch.object(dialect, "append_files", side_effect=KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            write(sink, frame, 0)
    assert list((sink.context.work_dir / "rows").iterdir())
    sink_for(build, server_database, frame, attempt=2)
    assert not (sink.context.work_dir / "rows").exists()


def test_small_batches_after_small_ones_need_no_files(spark: SparkSession, build: Build, server_database: Database):
    frame = people(spark, (1, "a"))
    sink = sink_for(build, server_database, frame)
    write(sink, frame, 0)
    with patch.object(_dialect(sink.context).__class__, "append_files", side_effect=AssertionError("in files")):
        assert write(sink, people(spark, (2, "b")), 1) == Written(rows=1)
    assert server_database.rows("SELECT id, _batch FROM people ORDER BY id") == [(1, 0), (2, 1)]


@pytest.mark.postgres
@pytest.mark.server
def test_a_table_made_by_others_takes_rows_in_its_own_types(spark: SparkSession, build: Build, postgres_database: Database):
    postgres_database.run(
        'CREATE TABLE people ("ID" uuid PRIMARY KEY, doc jsonb, at timestamp, short varchar(3), n numeric(6,2) DEFAULT 7)'
    )
    row = ("0b0f6c3e-0000-4000-8000-000000000001", {"a": 1}, datetime(2024, 7, 1, 12, tzinfo=UTC), "abc")
    frame = spark.createDataFrame([row], "id string, doc map<string, int>, at timestamp, short string")
    sink = sink_for(build, postgres_database, frame, {"mode": "upsert", "keys": ["id"]})
    write(sink, frame, 0)
    assert postgres_database.rows('SELECT "ID"::text, doc, at, short, n FROM people') == [
        (row[0], {"a": 1}, datetime(2024, 7, 1, 12), "abc", Decimal("7.00"))
    ]
    with pytest.raises(NodeError, match=r"value too long for type character varying\(3\); change the column's type"):
        write(sink, frame.selectExpr("id", "doc", "at", "'abcd' AS short"), 1, fails_at_rejected=True)


def test_a_missing_table_that_must_not_be_made_is_named(spark: SparkSession, build: Build, database: Database):
    with pytest.raises(NodeError, match="table people does not exist; create it") as caught:
        sink_for(build, database, people(spark), {"create_table": False})
    assert caught.value.permanent
    assert caught.value.field == "table"


@pytest.mark.postgres
@pytest.mark.server
def test_a_missing_schema_is_told_while_the_job_is_drawn(spark: SparkSession, build: Build, postgres_database: Database):
    def check(table: str) -> None:
        sink = build("sink.jdbc", {"connection": "db", "table": table}, connections=postgres_database.connections)
        sink.node.check(spark, people(spark).schema, sink.context)

    ((schema,),) = postgres_database.rows("SELECT current_schema()")
    check(f"{schema}.people")
    with pytest.raises(NodeError, match="schema nowhere does not exist; create the schema, or correct the table's name") as caught:
        check("nowhere.people")
    assert (caught.value.permanent, caught.value.field) == (True, "table")


def test_a_column_the_table_lacks_is_named_with_those_it_has(spark: SparkSession, build: Build, database: Database):
    database.run("CREATE TABLE people (id integer)")
    with pytest.raises(NodeError, match="has no column name; its columns are id"):
        sink_for(build, database, people(spark))


def test_an_upsert_without_a_unique_key_is_refused(spark: SparkSession, build: Build, database: Database):
    database.run("CREATE TABLE people (id integer, name text)")
    with pytest.raises(NodeError, match="has no unique key over id; add one that is not DEFERRABLE, or choose append"):
        sink_for(build, database, people(spark), {"mode": "upsert", "keys": ["id"]})


def test_a_row_that_breaks_a_rule_fails_the_batch_in_one_sentence_and_leaves_no_row(spark: SparkSession, build: Build, database: Database):
    database.run("CREATE TABLE people (id integer PRIMARY KEY, name text NOT NULL)")
    sink = sink_for(build, database, people(spark))
    with pytest.raises(NodeError, match=r'writing to "db": .*(people\.name|"name"|\'name\').*; correct the rows') as caught:
        write(sink, spark.createDataFrame([(1, "a"), (2, None)], "id int, name string"), 0, fails_at_rejected=True)
    assert caught.value.permanent
    assert database.rows("SELECT count(*) FROM people") == [(0,)]
    assert write(sink, people(spark, (1, "a")), 0) == Written(rows=1)


def test_a_table_that_vanished_is_not_made_anew_over_the_rows_that_were_in_it(spark: SparkSession, build: Build, database: Database):
    frame = people(spark, (1, "a"))
    sink = sink_for(build, database, frame)
    write(sink, frame, 0)
    database.run("ALTER TABLE people RENAME TO people_aside")
    with pytest.raises(NodeError, match="people is gone with the rows that this job wrote; put it back"):
        write(sink, frame, 1)
    with pytest.raises(NodeError, match="people is gone"):
        sink_for(build, database, frame, attempt=2)
    database.run("ALTER TABLE people_aside RENAME TO people")
    assert write(sink_for(build, database, frame, attempt=3), people(spark, (2, "b")), 1) == Written(rows=1)
    assert database.rows("SELECT id FROM people ORDER BY id") == [(1,), (2,)]


def test_a_wrong_password_is_said_without_showing_it(spark: SparkSession, build: Build, server_database: Database):
    from dataclasses import replace

    wrong = replace(server_database.settings, secrets={"password": "canary-4711"})
    with pytest.raises(NodeError, match=r'connecting to "db": user pipeline was refused .*correct user or password') as caught:
        sink_for(build, Database(wrong, lambda: None), people(spark))
    assert caught.value.permanent
    assert "canary-4711" not in repr(caught.value) + repr(wrong)


def test_a_server_that_does_not_answer_is_tried_again(spark: SparkSession, build: Build, server_database: Database):
    from dataclasses import replace

    away = replace(server_database.settings, config={**server_database.settings.config, "port": 1})
    with pytest.raises(NodeError, match=r"127\.0\.0\.1:1 does not answer") as caught:
        sink_for(build, Database(away, lambda: None), people(spark))
    assert not caught.value.permanent


def test_names_with_quotes_and_percent_signs_are_only_names(spark: SparkSession, build: Build, database: Database):
    frame = people(spark, (1, "a")).selectExpr("id", 'name AS `na"me %s; DROP TABLE x`')
    sink = sink_for(build, database, frame, {"table": 'pe"ople %s'})
    assert write(sink, frame, 0) == Written(rows=1)
    assert database.rows('SELECT id, "na""me %s; DROP TABLE x" FROM "pe""ople %s"') == [(1, "a")]


def test_an_empty_batch_moves_the_marker(spark: SparkSession, build: Build, database: Database):
    sink = sink_for(build, database, people(spark))
    assert write(sink, people(spark), 0) == Written(rows=0)
    assert database.rows("SELECT attempt, batch_id FROM pipeline_sink_marker") == [(1, 0)]


def test_rows_sent_before_a_later_one_failed_are_not_kept(spark: SparkSession, build: Build, server_database: Database):
    """Files go into the table while Spark writes others: an end in the middle takes all of them back."""
    rows = spark.range(0, 300_000, 1, 1)
    sink = sink_for(build, server_database, rows)
    with pytest.raises(Exception, match="the last one"):
        write(sink, rows.selectExpr("if(id = 299999, raise_error('the last one'), id) AS id"), 0)
    assert server_database.rows("SELECT count(*) FROM people") == [(0,)]
    assert write(sink, rows, 0) == Written(rows=300_000)
    assert server_database.rows("SELECT count(*), count(DISTINCT id), min(id), max(id) FROM people") == [(300_000, 300_000, 0, 299_999)]
