"""`source.jdbc` on tables that change while they are read, in several partitions, and again where the run before ended."""

import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from jobs.nodes.base import REJECTED
from jobs.nodes.sources.jdbc import JdbcSourceConfig
from tests.nodes.conftest import Build, Database
from tests.nodes.streams import Drained
from tests.nodes.test_jdbc_source import numbered, source
from tests.servers.waiting import wait_until

BY_KEY = {"table": "numbers", "key_column": "id"}


def reading_on(frame: DataFrame, live: Path, found: list[int]) -> StreamingQuery:
    """A query that puts the ids of what it reads into `found`, five times a second."""
    writer = frame.writeStream.foreachBatch(lambda batch, _: found.extend(row["id"] for row in batch.collect()))
    return writer.option("checkpointLocation", str(live)).trigger(processingTime="200 milliseconds").start()


@pytest.mark.spark
def test_rows_that_come_and_go_while_pages_are_read_shift_none_of_the_others(
    spark: SparkSession, build: Build, database: Database, tmp_path: Path
):
    database.run("CREATE TABLE numbers (id integer PRIMARY KEY, name varchar(9))")
    database.run(f"INSERT INTO numbers VALUES {', '.join(f'({number}, null)' for number in range(0, 200, 2))}")
    built = source(build, database, BY_KEY | {"rows_per_batch": 20}, mode="stream", job_type="BATCH_ROLLER")
    drained = Drained()

    def meanwhile(batch_id: int) -> None:
        """Behind and before the place of reading, which is at 40 × (batch + 1) - 2: an offset of 20 rows would now be another row."""
        place = 40 * (batch_id + 1)
        database.run(f"DELETE FROM numbers WHERE id IN ({place - 10}, {place - 12}, {place - 14}, {place + 8})")
        if place < 190:
            database.run(
                f"INSERT INTO numbers VALUES ({place - 11}, 'late'), ({place - 13}, 'late'), ({place + 1}, 'new'), ({place + 3}, 'new')"
            )

    drained.meanwhile = meanwhile
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    went = {40 * n + 8 for n in range(1, 5)}
    came = {40 * n + more for n in range(1, 5) for more in (1, 3)}
    assert drained.everything == sorted((set(range(0, 200, 2)) - went) | came)
    assert len(drained.batches) > 4


@pytest.mark.each_once
@pytest.mark.spark
@pytest.mark.parametrize("mode", ["stream", "batch"])
def test_several_tasks_read_each_their_share(spark: SparkSession, build: Build, database: Database, tmp_path: Path, mode: str):
    numbered(database, 0, 100)
    database.run("INSERT INTO numbers VALUES (100000, 'far away')")
    built = source(build, database, BY_KEY | {"rows_per_batch": 60, "partitions": 4}, mode=mode)
    frame = built.node.read(spark, built.context)
    if mode == "batch":
        shares = [len(rows) for rows in frame.rdd.glom().collect()]
        assert sorted(row["id"] for row in frame.collect()) == [*range(100), 100000]
        assert shares == [26, 26, 26, 23]
        return
    drained = Drained()
    drained.run(frame, tmp_path / "live")
    assert drained.batches == {0: list(range(60)), 1: [*range(60, 100), 100000]}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("kind", "keys"), [("varchar(20)", ["'a'", "'b'", "'Zoë'", "'李'"]), ("decimal(20, 3)", ["-1.5", "0", "2.125", "99"])]
)
def test_a_table_is_parted_by_a_key_of_any_type(spark: SparkSession, build: Build, database: Database, kind: str, keys: list[str]):
    database.run(f"CREATE TABLE numbers (id {kind} NOT NULL, n integer)")
    rows = [f"({key}, {n})" for key in keys for n in range(3)]
    database.run(f"INSERT INTO numbers VALUES {', '.join(rows)}")
    built = source(build, database, BY_KEY | {"partitions": 3})
    frame = built.node.read(spark, built.context).drop(REJECTED)
    assert frame.count() == 12
    assert frame.distinct().count() == 12
    parts = [{row["id"] for row in part} for part in frame.rdd.glom().collect()]
    assert sum(len(part) for part in parts) == 4, "a key is in one part only"
    assert len([part for part in parts if part]) > 1


@pytest.mark.spark
@pytest.mark.server
@pytest.mark.parametrize(
    ("server", "kind", "keys"),
    [
        pytest.param("postgres", "char(4)", ["A050", "A051", "B001"], marks=pytest.mark.postgres),
        pytest.param("postgres", "bit(4)", ["0010", "0011", "1000"], marks=pytest.mark.postgres),
        ("mysql", "char(4)", ["A050", "A051", "B001"]),
        ("mysql", "enum('small', 'medium', 'large')", ["small", "medium", "large"]),
        ("mysql", "set('b', 'a')", ["b", "a", "b,a"]),
    ],
)
def test_rows_whose_key_has_a_fixed_length_or_is_a_listed_word_are_all_read(
    spark: SparkSession, build: Build, request: pytest.FixtureRequest, tmp_path: Path, server: str, kind: str, keys: list[str]
):
    database: Database = request.getfixturevalue(f"{server}_database")
    database.run(f"CREATE TABLE numbers (id {kind} NOT NULL)")
    database.run("INSERT INTO numbers VALUES " + ", ".join(f"('{key}'), ('{key}')" for key in keys))
    built = source(build, database, BY_KEY | {"rows_per_batch": 2, "partitions": 2}, mode="stream")
    drained = Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {number: [key, key] for number, key in enumerate(keys)}


@pytest.mark.spark
@pytest.mark.server
@pytest.mark.parametrize("bounded", [True, False])
def test_a_row_of_a_slow_transaction_is_waited_for(
    spark: SparkSession, build: Build, server_database: Database, tmp_path: Path, bounded: bool
):
    numbered(server_database, 0, 3)
    slow = server_database._open_session()
    slow.cursor().execute("INSERT INTO numbers VALUES (3, 'slow')")
    server_database.run("INSERT INTO numbers VALUES (4, 'fast')")
    built = source(build, server_database, BY_KEY | {"late_rows_seconds": 3}, mode="stream", bounded=bounded)
    frame = built.node.read(spark, built.context)
    if bounded:
        committing = threading.Timer(1, slow.commit)
        committing.start()
        drained = Drained()
        drained.run(frame, tmp_path / "live")
        committing.join()
        assert drained.everything == [0, 1, 2, 3, 4]
    else:
        found: list[int] = []
        query = reading_on(frame, tmp_path / "live", found)
        try:
            wait_until(lambda: bool(query.recentProgress), seconds=60, what="a first look at the table")
            assert found == []
            slow.commit()
            wait_until(lambda: len(found) >= 5, seconds=60, what="all rows")
        finally:
            query.stop()
        assert sorted(found) == [0, 1, 2, 3, 4]
    slow.close()


@pytest.mark.spark
def test_a_row_whose_key_is_empty_does_not_keep_those_behind_it_from_being_read(
    spark: SparkSession, build: Build, database: Database, tmp_path: Path
):
    database.run("CREATE TABLE numbers (id integer, name text)")
    built = source(build, database, BY_KEY | {"late_rows_seconds": 1}, mode="stream", bounded=False)
    frame = built.node.read(spark, built.context)
    database.run("INSERT INTO numbers VALUES (NULL, 'empty'), (1, 'a'), (2, 'b')")
    found: list[int] = []
    query = reading_on(frame, tmp_path / "live", found)
    try:
        wait_until(lambda: len(found) >= 2, seconds=60, what="the rows that have a key")
    finally:
        query.stop()
    assert sorted(found) == [1, 2]


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"incremental": True}, "reading on behind the last key needs a key column"),
        ({"late_rows_seconds": 1}, "waiting for late rows needs a key column"),
        ({"partitions": 2}, "reading in several partitions needs a key column"),
    ],
)
def test_what_needs_a_key_says_so(config: dict[str, Any], sentence: str):
    with pytest.raises(ValidationError, match=sentence):
        JdbcSourceConfig.model_validate({"connection": "db", "table": "t"} | config)
