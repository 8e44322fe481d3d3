"""Rows that a sink's target refuses, put down and read again."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.rejected_rows import whole_row
from tests.nodes.rejections import rejections_in

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    "value",
    [
        "interval '1' day",
        "interval '3' month",
        "make_interval(1, 2, 3, 4, 5, 6, 7)",
        "parse_json('{\"a\": [1]}')",
        "float('nan')",
        "double('-inf')",
        "float(0.1)",
        "x'00ff'",
        "array(null, 1)",
        "named_struct('A', 1, 'a', 2)",
        "map('a', array(map('b', 1)))",
        "timestamp'-0044-03-15 00:00:00'",
        "timestamp'1883-11-18 12:03:58.123456'",
        "timestamp'12024-01-01 00:00:00'",
        "timestamp'1900-01-01 00:00:00 Asia/Shanghai'",
        "timestamp_ntz'0001-01-01 00:00:00.000001'",
        "date'12024-01-01'",
        "cast('1.10' as decimal(38, 18))",
        "time'12:00:00.123456'",
        "char(7) || char(0) || '\\n\\\\ 🚀'",
        "null",
    ],
)
def test_a_value_comes_back_as_it_was(spark: SparkSession, tmp_path: Path, value: str) -> None:
    frame = spark.sql(f"SELECT 1 AS id, {value} AS v")
    rejections = rejections_in(tmp_path)
    with rejections.part("0") as part:
        part.add("no", frame.select(whole_row(frame)).first()[0])  # type: ignore[index]
    rejections.complete()
    shown = ("id", "cast(v AS string) AS v", "v IS NULL AS none")
    found = rejections.read(spark, frame.schema)
    assert found.selectExpr(*shown, "rejected_reason").collect() == frame.selectExpr(*shown, "'no' AS rejected_reason").collect()


def test_a_time_from_before_zones_kept_whole_minutes_comes_back_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Shanghai")
    frame = session.sql("SELECT timestamp'1899-12-31 10:00:00.5' AS at")
    rejections = rejections_in(tmp_path)
    with rejections.part("0") as part:
        part.add("no", frame.select(whole_row(frame)).first()[0])  # type: ignore[index]
    rejections.complete()
    assert [row.at for row in rejections.read(session, frame.schema).selectExpr("cast(at AS string) AS at").collect()] == [
        "1899-12-31 10:00:00.5"
    ]
