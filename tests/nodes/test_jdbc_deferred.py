"""`sink.jdbc` on PostgreSQL: rules of the table that the server looks at only when the transaction ends."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes.base import NodeError
from tests.nodes.conftest import Build, Database
from tests.nodes.test_jdbc_rules import UPSERT, refused
from tests.nodes.test_jdbc_sink import sink_for, write

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.server]

_WAITS = "DEFERRABLE INITIALLY DEFERRED"


def staff(spark: SparkSession, *rows: tuple[int, int | None, str | None]) -> DataFrame:
    return spark.createDataFrame(list(rows), "id int, boss int, name string").coalesce(1)


@pytest.fixture
def database(postgres_database: Database) -> Database:
    """With a table whose names and bosses are looked at late, and its key at once."""
    postgres_database.run(f"CREATE TABLE people (id int PRIMARY KEY, boss int, name text NOT NULL UNIQUE {_WAITS})")
    postgres_database.run(f'ALTER TABLE people ADD CONSTRAINT "Its boss %" FOREIGN KEY (boss) REFERENCES people (id) {_WAITS}')
    return postgres_database


def ids(database: Database) -> list[int]:
    return [number for (number,) in database.rows("SELECT id FROM people ORDER BY id")]


@pytest.mark.parametrize("large", [False, True])
def test_rows_that_break_a_deferred_rule_stay_behind_and_the_others_go_in(
    spark: SparkSession, build: Build, database: Database, large: bool
):
    bad = [(49, None, "n2"), (50, 99, "nobody's"), (51, None, None)]
    frame = staff(
        spark, *((number, 1, f"n{number}") for number in range(1, 20)), *bad, *((number, 19, f"n{number}") for number in range(60, 80))
    )
    sink = sink_for(build, database, frame)
    sink.node._rows_before = 1_000_000 if large else 1
    written = write(sink, frame, 0)
    assert (written.rows, written.rejected) == (39, 3)
    assert ids(database) == [*range(1, 20), *range(60, 80)]
    assert [(row["id"], words.partition(" (")[0]) for row, words in refused(written)] == [
        (49, 'duplicate key value violates unique constraint "people_name_key"'),
        (50, 'insert or update on table "people" violates foreign key constraint "Its boss %"'),
        (51, 'null value in column "name" of relation "people" violates not-null constraint'),
    ]
    assert write(sink, frame, 0).repeated
    with pytest.raises(NodeError, match="people_name_key"):
        write(sink, staff(spark, (52, None, "n2")), 1, fails_at_rejected=True)


def test_rows_that_need_later_ones_of_their_batch_go_in_where_another_is_refused(spark: SparkSession, build: Build, database: Database):
    frame = staff(spark, *((number, 40 - number, f"n{number}") for number in range(1, 40)), (41, None, None))
    written = write(sink_for(build, database, frame), frame, 0)
    assert (written.rows, [row["id"] for row, _ in refused(written)]) == (39, [41])
    assert ids(database) == [*range(1, 40)]


def test_a_row_that_others_still_need_is_not_deleted(spark: SparkSession, build: Build, postgres_database: Database):
    postgres_database.run("CREATE TABLE people (id int PRIMARY KEY, name text)")
    postgres_database.run(f"CREATE TABLE badges (owner int REFERENCES people (id) {_WAITS})")
    postgres_database.run("INSERT INTO people VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    postgres_database.run("INSERT INTO badges VALUES (2)")
    frame = spark.createDataFrame([(1, "", True), (2, "", True), (4, "d", False)], "id int, name string, gone boolean").coalesce(1)
    written = write(sink_for(build, postgres_database, frame, UPSERT | {"delete_flag": "gone"}), frame, 0)
    assert [row["id"] for row, _ in refused(written)] == [2]
    assert ids(postgres_database) == [2, 3, 4]


def test_what_the_jobs_own_sql_breaks_is_not_laid_on_the_rows(spark: SparkSession, build: Build, database: Database):
    frame = staff(spark, (1, None, "a"), (2, 99, "b"))
    sink = sink_for(build, database, frame, {"sql_before": "INSERT INTO people VALUES (7, 98, 'c')"})
    with pytest.raises(NodeError, match="Its boss"):
        write(sink, frame, 0)
    later = sink_for(build, database, frame, {"sql_after": "INSERT INTO people VALUES (5, 6, 'd'), (6, 5, 'e')"})
    assert write(later, frame, 0).rejected == 1
    assert ids(database) == [1, 5, 6]


def test_a_key_that_is_looked_at_late_does_not_do_for_upsert(spark: SparkSession, build: Build, database: Database):
    with pytest.raises(NodeError, match="has no unique key over name; add one that is not DEFERRABLE"):
        sink_for(build, database, staff(spark, (1, None, "a")), {"mode": "upsert", "keys": ["name"]})
