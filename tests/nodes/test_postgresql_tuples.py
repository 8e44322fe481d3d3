"""Rows of large batches on their way into PostgreSQL: every type, value for value as rows of small batches come in."""

import json
from typing import Any
from unittest.mock import patch

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes.base import Batch, NodeError, Written
from tests.nodes.conftest import Build, Database

pytestmark = [pytest.mark.spark, pytest.mark.postgres, pytest.mark.server]

VALUES = """
    SELECT CAST(id AS int) id, id % 3 = 0 flag, CAST(id AS tinyint) tiny, CAST(-id AS smallint) small, id * 4000000000 big,
        CAST(id / 3 AS float) real, CASE id WHEN 1 THEN double('NaN') WHEN 2 THEN double('-Infinity') ELSE id / 7 END double,
        CAST(CASE id % 4 WHEN 0 THEN 0 WHEN 1 THEN -12345678901234567890.0123456789 WHEN 2 THEN 0.0000000001 ELSE 10000 * id END
            AS decimal(38, 10)) amount,
        CAST(concat('1', repeat('0', id % 38)) AS decimal(38, 0)) tens,
        CAST(concat('-0.', repeat('0', id % 38), '1') AS decimal(38, 38)) parts,
        date_from_unix_date(CAST(id * 40000 - 800000 AS int)) day, timestamp_micros(id * 3000000000000001 - 62135596800000000) at,
        CAST(timestamp_micros(id * 1000001) AS timestamp_ntz) local, CAST(concat('Zoë 李 😀', id, '\\n\\t\\\\') AS binary) bytes,
        concat('Zoë 李 😀', id, '\\n\\t\\\\N') name, IF(id = 5, '', NULL) nothing, array(id, NULL) list, map('k', id) map,
        named_struct('a', id, 'b', CAST(NULL AS string)) nested, make_dt_interval(id) took
    FROM range(40)"""


def written_to(build: Build, database: Database, frame: DataFrame, table: str, *, large: bool, **given: Any) -> Written:
    sink = build("sink.jdbc", {"connection": "db", "table": table}, connections=database.connections)
    sink.node.begin(frame.sparkSession, frame.schema, sink.context)
    sink.node._rows_before = 1_000_000 if large else 0
    written: Written = sink.node.write(frame, Batch(int(large), "node", **given), sink.context)
    return written


def all_rows(database: Database, table: str) -> list[str]:
    database.run(f"ALTER TABLE {table} DROP COLUMN _batch")
    return sorted(row for (row,) in database.rows(f"SELECT t::text FROM {table} t"))


def test_each_type_comes_in_as_by_a_small_batch(spark: SparkSession, build: Build, postgres_database: Database) -> None:
    frame = spark.sql(VALUES)
    written_to(build, postgres_database, frame, "small", large=False)
    written_to(build, postgres_database, frame, "large", large=True)
    rows = all_rows(postgres_database, "large")
    assert rows == all_rows(postgres_database, "small")
    assert len(set(rows)) == 40


@pytest.mark.parametrize("columns", [1, 127, 128, 300])
def test_a_row_may_have_any_number_of_columns(spark: SparkSession, build: Build, postgres_database: Database, columns: int) -> None:
    frame = spark.range(3).selectExpr(*(f"id + {place} AS c{place}" for place in range(columns)))
    assert written_to(build, postgres_database, frame, "wide", large=True) == Written(rows=3)
    assert postgres_database.rows(f"SELECT c0, c{columns - 1} FROM wide ORDER BY c0") == [(n, n + columns - 1) for n in range(3)]


def test_a_file_of_many_bytes_is_sent_in_parts(spark: SparkSession, build: Build, postgres_database: Database) -> None:
    frame = spark.range(200).selectExpr("id", "repeat(string(id), 5 + int(id % 7) * 20) text")
    with patch("jobs.nodes.sinks.postgresql_tuples._CHUNK_BYTES", 150):
        assert written_to(build, postgres_database, frame, "parts", large=True) == Written(rows=200)
    expected = sorted((n, str(n) * (5 + n % 7 * 20)) for n in range(200))
    assert postgres_database.rows("SELECT id, text FROM parts ORDER BY id") == expected


def test_rows_with_a_nul_are_shown_with_all_their_values(spark: SparkSession, build: Build, postgres_database: Database) -> None:
    frame = spark.sql(VALUES).withColumnRenamed("nothing", "nul").selectExpr("* EXCEPT (nul)", "IF(id IN (1, 6), 'a\\0b', 'fine') nul")
    written = written_to(build, postgres_database, frame, "shown", large=True)
    assert (written.rows, written.rejected) == (38, 2)
    first, second = (json.loads(text) for _, text in sorted(written.rejected_rows, key=lambda row: json.loads(row[1])["id"]))
    assert (first["id"], first["nul"], first["flag"], first["tiny"], first["small"], first["big"]) == (1, "a\0b", False, 1, -1, 4000000000)
    assert (first["amount"], first["tens"], first["parts"].rstrip("0")) == ("-12345678901234567890.0123456789", "10", "-0.01")
    assert (second["day"], second["local"], second["nested"]) == ("0436-10-09", "1970-01-01T00:00:06.000006", '{"a":6,"b":null}')
    assert bytes.fromhex(second["bytes"]).decode() == "Zoë 李 😀6\n\t\\"


def test_a_time_before_all_of_the_database_is_no_infinity(spark: SparkSession, build: Build, postgres_database: Database) -> None:
    frame = spark.sql("SELECT id, timestamp_micros(IF(id = 1, -9223372036854775807L, 0)) at FROM range(3)")
    with pytest.raises(NodeError, match="timestamp out of range; change the column's type, or convert the value before"):
        written_to(build, postgres_database, frame, "times", large=True, fails_at_rejected=True)


def test_columns_of_other_types_that_tell_where_a_row_comes_from(spark: SparkSession, build: Build, postgres_database: Database) -> None:
    postgres_database.run("CREATE TABLE own (id bigint, _generation varchar(50), _batch integer)")
    assert written_to(build, postgres_database, spark.range(3).toDF("id"), "own", large=True) == Written(rows=3)
    assert postgres_database.rows("SELECT id, _batch FROM own ORDER BY id") == [(0, 1), (1, 1), (2, 1)]
