"""`sink.jdbc` on all databases: rows that the table refuses, rows to delete, columns to change or to add, and a person's own SQL."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes.base import NodeError, Written
from jobs.nodes.rejected_rows import RejectedRows
from jobs.nodes.sinks.jdbc_config import JdbcSinkConfig
from tests.nodes.conftest import Build, Database
from tests.nodes.test_jdbc_sink import EVERY_TYPE, FULL_ROW, people, sink_for, tables, write

UPSERT = {"mode": "upsert", "keys": ["id"]}


def refused(written: Written) -> list[tuple[dict[str, Any], str]]:
    """(row, reason) of each."""
    return [(json.loads(row), reason) for reason, row in written.rejected_rows]


def strict_table(database: Database) -> None:
    database.run(
        "CREATE TABLE people (id integer PRIMARY KEY, name varchar(5) NOT NULL UNIQUE, age integer, "
        "CHECK (age >= 0), CHECK (length(name) < 6))"
    )


@pytest.mark.spark
@pytest.mark.parametrize(("config", "large"), [({}, False), ({}, True), (UPSERT, True)])
def test_rows_that_break_a_rule_stay_behind_with_the_databases_words_and_the_others_go_in(
    spark: SparkSession, build: Build, database: Database, config: dict[str, Any], large: bool
):
    strict_table(database)
    bad = [(1, None, 5), (2, "toolong", 5), (3, "n4", 5), (5, "neg", -1)]
    good = [(number, f"n{number}", 5) for number in (0, 4, *range(10, 40))]
    frame = spark.createDataFrame([*good[:9], *bad[:2], *good[9:], *bad[2:]], "id int, name string, age int").coalesce(1)
    sink = sink_for(build, database, frame, config)
    sink.node._rows_before = 1_000_000 if large else 1
    written = write(sink, frame, 0)
    assert (written.rows, written.rejected) == (len(good), 4)
    assert database.rows("SELECT id, name, age FROM people ORDER BY id") == good
    found = {row["id"]: reason for row, reason in refused(written)}
    assert [{key: row[key] for key in ("id", "name", "age")} for row, _ in refused(written)] == [
        {"id": number, "name": name, "age": age} for number, name, age in bad
    ]
    words = {
        "sqlite": {1: "NOT NULL", 2: "CHECK", 3: "UNIQUE", 5: "CHECK"},
        "postgresql": {1: "null value in column", 2: "too long", 3: "(name)=(n4)", 5: "violates check constraint"},
        "mysql": {1: "'name' cannot be null", 2: "too long", 3: "Duplicate entry 'n4'", 5: "CONSTRAINT"},
    }[database.settings.kind]
    assert {number: part in found[number] for number, part in words.items()} == dict.fromkeys(words, True), found
    assert write(sink, frame, 0).repeated


@pytest.mark.spark
@pytest.mark.parametrize("large", [False, True])
def test_refused_rows_that_go_on_are_as_they_came(spark: SparkSession, build: Build, database: Database, tmp_path: Path, large: bool):
    rows: list[tuple[Any, ...]] = [(number, *FULL_ROW[1:]) for number in range(30)]
    rows += [(30, *[None] * 12), (31, *FULL_ROW[1:-1], "back\\slash\\\\ \t"), (32, *FULL_ROW[1:-1], "a\0b")]
    frame = spark.createDataFrame(rows, EVERY_TYPE).coalesce(1)
    sink = sink_for(build, database, frame)
    database.run("CREATE UNIQUE INDEX each_once ON people (id)")
    write(sink, spark.createDataFrame([(number, *[None] * 12) for number in range(10, 33)], EVERY_TYPE), 0)
    sink.node._rows_before = 1_000_000 if large else 1
    rejections = RejectedRows(tmp_path / "rejected", 1)
    rejections.begin()
    written = write(sink, frame, 1, rejections=rejections)
    assert (written.rows, written.rejected) == (10, 23)
    found = sorted(rejections.read(spark, frame.schema).collect(), key=lambda row: row.id)
    assert [row[:-1] for row in found] == [tuple(row) for row in frame.filter("id > 9").orderBy("id").collect()]
    assert all(row.rejected_reason for row in found)
    assert rejections.counted(5)[0] == 23
    assert database.rows("SELECT count(*) FROM people") == [(33,)]


@pytest.mark.spark
def test_refused_rows_count_with_their_batch_alone(spark: SparkSession, build: Build, database: Database, tmp_path: Path):
    """What an attempt put down whose transaction never ended is not what the next one gives on."""
    strict_table(database)
    frame = spark.createDataFrame([(1, "a", -1), (2, "b", 1)], "id int, name string, age int").coalesce(1)
    first, second = (RejectedRows(tmp_path / "rejected", attempt) for attempt in (1, 2))
    sink = sink_for(build, database, frame, {"sql_after": "INSERT INTO nowhere VALUES (1)"})
    first.begin()
    with pytest.raises(NodeError, match="the SQL after the rows"):
        write(sink, frame, 0, rejections=first)
    assert first.found() == []
    sink = sink_for(build, database, frame, attempt=2)
    second.begin()
    assert write(sink, frame, 0, rejections=second).rejected == 1
    third = RejectedRows(tmp_path / "rejected", 3)
    third.begin()
    assert write(sink_for(build, database, frame, attempt=3), frame, 0, rejections=third).repeated
    assert [row.id for row in third.read(spark, frame.schema).collect()] == [1]


@pytest.mark.spark
@pytest.mark.server
def test_values_out_of_range_and_of_another_kind_stay_behind(spark: SparkSession, build: Build, server_database: Database):
    server_database.run("CREATE TABLE people (id integer PRIMARY KEY, at date, small smallint, price decimal(5, 2))")
    rows = [
        (1, "2024-02-29", 1, "1.5"),
        (2**40, "2024-02-29", 1, "1"),
        (3, "2024-02-30", 1, "1"),
        (4, "soon", 1, "1"),
        (5, "2024-01-01", 70_000, "1"),
        (6, "2024-01-01", 1, "1000"),
        (7, "2024-01-01", 1, "much"),
        (8, None, None, None),
    ]
    frame = spark.createDataFrame(rows, "id bigint, at string, small int, price string")
    sink = sink_for(build, server_database, frame, UPSERT)
    written = write(sink, frame, 0)
    assert server_database.rows("SELECT id FROM people ORDER BY id") == [(1,), (8,)]
    assert (written.rows, written.rejected) == (2, 6)
    assert sorted(row["id"] for row, _ in refused(written)) == [3, 4, 5, 6, 7, 2**40]


@pytest.mark.spark
def test_what_is_wrong_with_the_table_and_not_with_a_row_fails_the_batch(spark: SparkSession, build: Build, server_database: Database):
    frame = people(spark, (1, "a"))
    sink = sink_for(build, server_database, frame)
    server_database.run("ALTER TABLE people DROP COLUMN name")
    with pytest.raises(NodeError, match="has no column name"):
        write(sink, frame, 0)


def changes(spark: SparkSession, *rows: tuple[int, str | None, bool | None]) -> DataFrame:
    return spark.createDataFrame(list(rows), "id int, name string, gone boolean").coalesce(1)


@pytest.mark.spark
@pytest.mark.parametrize("large", [False, True])
def test_rows_that_are_flagged_are_deleted_and_the_last_of_a_key_decides(
    spark: SparkSession, build: Build, database: Database, large: bool
):
    frame = changes(spark, (1, "a", False), (2, "b", None), (3, "c", False), (4, "d", True))
    sink = sink_for(build, database, frame, {**UPSERT, "delete_flag": "gone"})
    sink.node._rows_before = 1_000_000 if large else 1
    write(sink, frame, 0)
    assert database.rows("SELECT * FROM people ORDER BY id") == [(1, "a"), (2, "b"), (3, "c")]
    again = changes(
        spark, (1, None, True), (2, "B", False), (2, None, True), (3, None, True), (3, "C", False), (5, "e", False), (5, "", True)
    )
    assert write(sink, again, 1).rows == 7
    assert database.rows("SELECT * FROM people ORDER BY id") == [(3, "C")]


@pytest.mark.spark
def test_only_the_columns_that_are_named_change_in_a_row_that_is_there(spark: SparkSession, build: Build, database: Database):
    schema = "id int, name string, seen int"
    frame = spark.createDataFrame([(1, "first", 1)], schema)
    sink = sink_for(build, database, frame, {**UPSERT, "update_columns": ["seen"]})
    write(sink, frame, 0)
    write(sink, spark.createDataFrame([(1, "later", 2), (2, "new", 1)], schema), 1)
    assert database.rows("SELECT id, name, seen FROM people ORDER BY id") == [(1, "first", 2), (2, "new", 1)]


@pytest.mark.spark
@pytest.mark.parametrize("at_once", [False, True])
def test_what_comes_of_a_key_does_not_depend_on_where_batches_are_cut(spark: SparkSession, build: Build, database: Database, at_once: bool):
    rows = [
        *((1, "old", 1, False), (1, None, None, True), (1, "anew", 2, None), (1, "later", 3, False)),
        *((2, "first", 1, False), (2, "second", 2, False)),
        *((3, "a", 1, False), (3, "b", 2, False), (3, None, None, True)),
    ]
    schema = "id int, name string, seen int, gone boolean"
    config = {**UPSERT, "update_columns": ["seen"], "delete_flag": "gone"}
    sink = sink_for(build, database, spark.createDataFrame(rows, schema), config)
    parts = [rows[:1], rows[1:]] if at_once else [[row] for row in rows]
    for number, part in enumerate(parts):
        write(sink, spark.createDataFrame(part, schema).coalesce(1), number)
    assert database.rows("SELECT id, name, seen FROM people ORDER BY id") == [(1, "anew", 3), (2, "first", 2)]


@pytest.mark.spark
def test_of_a_new_key_that_comes_twice_the_first_row_gives_the_columns_that_stay(spark: SparkSession, build: Build, database: Database):
    schema = "id int, name string, seen int"
    frame = spark.createDataFrame([(1, "first", 1), (1, "later", 2), (2, "new", 1)], schema).coalesce(1)
    write(sink_for(build, database, frame, {**UPSERT, "update_columns": ["seen"]}), frame, 0)
    assert database.rows("SELECT id, name, seen FROM people ORDER BY id") == [(1, "first", 2), (2, "new", 1)]


@pytest.mark.spark
@pytest.mark.parametrize("config", [{}, {"mode": "overwrite"}])
def test_rows_that_bring_what_tells_where_a_row_comes_from_are_refused(
    spark: SparkSession, build: Build, database: Database, config: dict[str, Any]
):
    """They come along where the rows are read from a table that a node like this one filled."""
    frame = people(spark, (1, "a")).selectExpr("*", "'g' AS _generation", "1L AS _Batch")
    for attempt in (1, 2):
        with pytest.raises(NodeError, match=r"filled by the node itself; rename or drop _generation before") as caught:
            sink_for(build, database, frame, config, attempt=attempt)
        assert caught.value.field == "table"
        if attempt == 1:
            database.run("CREATE TABLE people (id integer, name varchar(9), _generation varchar(99), _batch bigint)")


@pytest.mark.spark
def test_columns_of_these_names_stand_in_tables_that_tell_rows_apart_by_keys_or_have_but_one(
    spark: SparkSession, build: Build, database: Database
):
    frame = people(spark, (1, "a")).selectExpr("*", "'mine' AS _generation", "7L AS _batch")
    write(sink_for(build, database, frame, UPSERT), frame, 0)
    assert database.rows("SELECT _generation, _batch FROM people") == [("mine", 7)]
    database.run("DROP TABLE people")
    database.run("DROP TABLE pipeline_sink_marker")
    database.run("CREATE TABLE people (id integer, name varchar(9), _batch bigint)")
    one = frame.drop("_generation")
    write(sink_for(build, database, one), one, 0)
    assert database.rows("SELECT _batch FROM people") == [(7,)]


@pytest.mark.spark
@pytest.mark.postgres
@pytest.mark.server
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("timestamp(0)", "timestamp_ntz'2024-05-01 10:00:00.1', timestamp_ntz'2024-05-01 10:00:00.2'"),
        ("timestamptz(3)", "timestamp'2024-05-01 10:00:00.0001', timestamp'2024-05-01 10:00:00.0002'"),
        ("time(0)", "'10:00:00.1', '10:00:00.2'"),
        ("numeric(10,2)", "1.001BD, 1.002BD"),
    ],
)
@pytest.mark.parametrize("flag", [False, True])
def test_keys_that_become_one_where_they_are_stored_are_one(
    spark: SparkSession, build: Build, postgres_database: Database, kind: str, values: str, flag: bool
):
    postgres_database.run(f"CREATE TABLE people (id {kind} PRIMARY KEY, name varchar(5))")
    rows = f"SELECT explode(array({values})) AS id"
    frame = spark.sql(f"SELECT id, concat('n', row_number() OVER (ORDER BY id)) AS name, false AS gone FROM ({rows})").coalesce(1)
    frame = frame if flag else frame.drop("gone")
    sink = sink_for(build, postgres_database, frame, UPSERT | ({"delete_flag": "gone"} if flag else {}))
    write(sink, frame, 0)
    assert postgres_database.rows("SELECT name FROM people") == [("n2",)]
    if flag:
        write(sink, frame.selectExpr("id", "name", "true AS gone"), 1)
        assert postgres_database.rows("SELECT * FROM people") == []


@pytest.mark.spark
def test_columns_that_the_table_lacks_are_added_where_that_is_allowed(spark: SparkSession, build: Build, database: Database):
    frame = people(spark, (1, "a"))
    write(sink_for(build, database, frame), frame, 0)
    wider = frame.selectExpr("id + 1 AS id", "name", "2.5D AS ratio", "array(1) AS parts")
    config = {"add_columns": True}
    sink = build("sink.jdbc", {"connection": "db", "table": "people"} | config, connections=database.connections, attempt=2)
    sink.node.check(spark, wider.schema, sink.context)
    sink = sink_for(build, database, wider, config, attempt=2)
    write(sink, wider, 1)
    assert database.rows("SELECT id, ratio, parts FROM people ORDER BY id") == [(1, None, None), (2, 2.5, "[1]")]


@pytest.mark.spark
@pytest.mark.parametrize("large", [False, True])
def test_own_sql_runs_with_each_batch_in_its_transaction(spark: SparkSession, build: Build, database: Database, large: bool):
    database.run("CREATE TABLE told (what varchar(20), how_many integer)")
    frame = people(spark, (1, "a"), (2, "b"))
    told = "INSERT INTO told SELECT '{} 100%', count(*) FROM people"
    sink = sink_for(build, database, frame, {"sql_before": told.format("before"), "sql_after": told.format("after")})
    sink.node._rows_before = 1_000_000 if large else 1
    write(sink, frame, 0)
    assert write(sink, frame, 0).repeated
    assert database.rows("SELECT what, how_many FROM told ORDER BY how_many") == [("before 100%", 0), ("after 100%", 2)]
    failing = sink_for(
        build, database, frame, {"sql_before": told.format("again"), "sql_after": "INSERT INTO nowhere VALUES (1)"}, attempt=2
    )
    with pytest.raises(NodeError, match=r"the SQL after the rows: .*nowhere") as caught:
        write(failing, frame, 1)
    assert caught.value.field == "sql_after"
    assert database.rows("SELECT count(*) FROM told") == [(2,)]
    assert database.rows("SELECT count(*) FROM people") == [(2,)]


@pytest.mark.spark
@pytest.mark.parametrize("when", ["sql_before", "sql_after"])
def test_own_sql_that_ends_the_transaction_is_refused_and_the_batch_is_in_whole_or_not(
    spark: SparkSession, build: Build, database: Database, when: str
):
    frame = people(spark, (1, "a"), (2, "b"))
    ending = "CREATE TABLE other (id int)" if database.settings.kind == "mysql" else "COMMIT"
    sink = sink_for(build, database, frame, {when: ending})
    with pytest.raises(NodeError, match="ended the batch's transaction; take out what commits") as caught:
        write(sink, frame, 0)
    assert (caught.value.field, caught.value.permanent) == (when, True)
    (batch_id,) = database.rows("SELECT batch_id FROM pipeline_sink_marker")[0]
    assert database.rows("SELECT count(*) FROM people") == [(2 if batch_id == 0 else 0,)]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"delete_flag": "name"}, "the delete flag name is string, not true or false"),
        ({"delete_flag": "nothing"}, "there is no column nothing; the columns are id, name"),
        ({"update_columns": ["nothing"]}, "there is no column nothing; the columns are id, name"),
    ],
)
def test_a_column_that_is_not_what_it_should_be_is_named(
    spark: SparkSession, build: Build, sqlite_database: Database, config: dict[str, Any], sentence: str
):
    with pytest.raises(NodeError, match=sentence) as caught:
        sink_for(build, sqlite_database, people(spark), {**UPSERT, **config})
    assert caught.value.field in config


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"delete_flag": "gone"}, "delete flag has no meaning for append"),
        ({"update_columns": ["a"]}, "update columns have no meaning for append"),
        ({**UPSERT, "delete_flag": "ID"}, "the delete flag is among the keys"),
        ({**UPSERT, "update_columns": ["ID"]}, "ID is a key, which does not change"),
    ],
)
def test_what_does_not_go_together_is_said(config: dict[str, Any], sentence: str):
    with pytest.raises(ValidationError, match=sentence):
        JdbcSinkConfig.model_validate({"connection": "db", "table": "t"} | config)


@pytest.mark.spark
@pytest.mark.server
def test_many_refused_rows_are_all_counted_and_some_are_shown(spark: SparkSession, build: Build, server_database: Database):
    server_database.run("CREATE TABLE people (id integer PRIMARY KEY, name varchar(5))")
    frame = spark.range(12_000).selectExpr("cast(id AS int) AS id", "if(id % 20 = 0, 'too long', 'fits') AS name")
    sink = sink_for(build, server_database, frame)
    written = write(sink, frame, 0)
    assert (written.rows, written.rejected, len(written.rejected_rows)) == (11_400, 600, 100)
    assert server_database.rows("SELECT count(*), count(DISTINCT id) FROM people") == [(11_400, 11_400)]
    assert tables(server_database) == {"people", "pipeline_sink_marker"}


@pytest.mark.spark
@pytest.mark.postgres
@pytest.mark.server
def test_texts_of_fixed_length_are_never_cut(spark: SparkSession, build: Build, postgres_database: Database):
    postgres_database.run("CREATE TABLE people (id char(3) PRIMARY KEY, name bit(3))")
    frame = spark.createDataFrame([("abc", "101"), ("abd", "011"), ("abcd", "101"), ("x", "1011")], "id string, name string")
    sink = sink_for(build, postgres_database, frame, UPSERT)
    assert sorted(row["id"] for row, _ in refused(write(sink, frame, 0))) == ["abcd", "x"]
    assert postgres_database.rows("SELECT id, name::text FROM people ORDER BY id") == [("abc", "101"), ("abd", "011")]


@pytest.mark.spark
@pytest.mark.parametrize("statement", ["ATTACH DATABASE '{path}' AS other", "VACUUM INTO '{path}'"])
def test_own_sql_opens_no_other_file(spark: SparkSession, build: Build, sqlite_database: Database, tmp_path: Path, statement: str):
    outside = tmp_path / "outside.sqlite3"
    frame = people(spark, (1, "a"))
    sink = sink_for(build, sqlite_database, frame, {"sql_before": statement.format(path=outside)})
    with pytest.raises(NodeError, match="the SQL before the rows"):
        write(sink, frame, 0)
    assert not outside.exists()


@pytest.mark.each_once
@pytest.mark.spark
@pytest.mark.parametrize("key_type", ["long", "string"])
@pytest.mark.parametrize("flag", [False, True])
def test_a_row_without_its_key_is_rejected_and_makes_no_key(
    spark: SparkSession, build: Build, database: Database, key_type: str, flag: bool
):
    rows = [(None, "first", False), (5, "five", False), (None, "second", False), (1, "one", False)]
    frame = spark.createDataFrame(rows, "id long, name string, gone boolean").coalesce(1)
    frame = frame.withColumn("id", frame.id.cast(key_type)) if flag else frame.select(frame.id.cast(key_type).alias("id"), "name")
    sink = sink_for(build, database, frame, {"mode": "upsert", "keys": ["id"]} | ({"delete_flag": "gone"} if flag else {}))
    written = write(sink, frame, 0)
    assert (written.rows, written.rejected) == (2, 2)
    assert [json.loads(row)["name"] for _, row in written.rejected_rows] == ["first", "second"]
    assert all("null" in reason.lower() for reason, _ in written.rejected_rows)
    write(sink, frame, 1)
    assert database.rows("SELECT count(*), count(id), max(name) FROM people") == [(2, 2, "one")]
    with pytest.raises(NodeError, match=r"null|NULL"):
        write(sink, frame, 2, fails_at_rejected=True)
