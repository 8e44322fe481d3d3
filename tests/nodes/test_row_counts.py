"""Rows are counted where they pass, once however often Spark computes them, inside the code that it compiles."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.engine.row_counter import RowCounter
from jobs.nodes.base import REJECTED
from jobs.nodes.row_counts import RowCounts
from tests.nodes.conftest import Build

pytestmark = pytest.mark.spark


def numbers(spark: SparkSession, rows: int = 1000, parts: int = 4) -> DataFrame:
    return spark.range(0, rows, 1, parts)


def written(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def assert_compiled_in_one(frame: DataFrame) -> None:
    java: Any = frame
    plan = java._jdf.queryExecution().executedPlan().toString()
    assert [line for line in plan.splitlines() if line.strip() and "*(1)" not in line] == []


def test_each_measure_counts_its_rows_and_null_is_not_true(spark: SparkSession) -> None:
    counts = RowCounts(spark, "here", {"all": None, "even": F.expr("id % 2 = 0"), "unknown": F.expr("if(id < 10, true, null)")})
    assert counts.within(numbers(spark)).filter("id >= 900").count() == 100
    assert counts.rows() == {"all": 1000, "even": 500, "unknown": 10}


def test_it_stands_in_the_same_compiled_code_as_what_is_around_it(spark: SparkSession) -> None:
    counts = RowCounts(spark, "here", {"even": F.expr("id % 2 = 0")}, most_kept=1)
    assert_compiled_in_one(counts.within(numbers(spark), (F.expr("id = 7"), F.lit("why"), F.col("id").cast("string"))).filter("id > 3"))


def test_rules_and_what_is_told_of_rows_that_break_them_stand_in_the_same_compiled_code(spark: SparkSession, build: Build) -> None:
    rules = [
        {"name": f"{action} {number}", "condition": f"id > {number}", "action": action} for number in (1, 2) for action in ("warn", "drop")
    ]
    asked = build("flow.expectations", {"rules": rules, "report_column": "warnings"})
    told = cast("DataFrame", asked.node.apply({"in": [numbers(spark)]}, asked.context))
    counter = RowCounter()
    counted = counter.count(told, "asked", sample=True, tallies=asked.node.tallies(asked.context.config))
    assert_compiled_in_one(counted.filter(F.col(REJECTED).isNull()).drop(REJECTED))
    written(counted)
    seen = counter.seen()["asked"]
    assert (seen.rows, seen.rejected, seen.tallies) == (997, 3, {"warn 1": 2, "drop 1": 2, "warn 2": 3, "drop 2": 3})


def test_what_is_computed_again_counts_once_until_other_rows_come(spark: SparkSession) -> None:
    counts = RowCounts(spark, "here", {"all": None})
    counted = counts.within(numbers(spark))
    counted.limit(3).collect()
    for _ in range(2):
        written(counted)
    assert counts.rows() == {"all": 1000}
    written(counted.repartition(3).sortWithinPartitions("id").coalesce(2))
    written(counted.orderBy(F.desc("id")))
    assert counts.rows() == {"all": 1000}
    counts.begin()
    assert counts.rows() == {"all": 0}
    written(counted)
    assert counts.rows() == {"all": 1000}


def test_a_frame_that_is_read_several_times_in_one_plan_counts_once(spark: SparkSession) -> None:
    counts = RowCounts(spark, "here", {"all": None, "even": F.expr("id % 2 = 0")})
    counted = counts.within(numbers(spark))
    few, many = counted.filter("id < 10"), counted.filter("id >= 10")
    for meeting in (few.union(many), few.union(many).union(counted).coalesce(1), few.join(many, "id", "full"), few.crossJoin(many)):
        counts.begin()
        written(meeting)
        assert counts.rows() == {"all": 1000, "even": 500}


def test_as_many_measures_as_bits(spark: SparkSession) -> None:
    every = {f"beyond {number}": F.col("id") >= number for number in range(110)}
    counts = RowCounts(spark, "here", every)
    written(counts.within(numbers(spark)))
    assert counts.rows() == {f"beyond {number}": 1000 - number for number in range(110)}


def test_where_spark_wants_only_what_is_the_same_each_time_rows_are_counted_beside(spark: SparkSession) -> None:
    counts = RowCounts(spark, "here", {"all": None, "bad": F.expr("id = 7")}, most_kept=5)
    counted = counts.beside(numbers(spark), (F.expr("id = 7"), F.lit("why"), F.lit("row")))
    written(spark.sql("SELECT * FROM {one} l, LATERAL (SELECT max(id) FROM {one} r WHERE r.id = l.id)", one=counted))
    assert counts.rows() == {"all": 1000, "bad": 1}
    assert list(counts.texts()) == [("why", "row")]


def test_parts_that_spark_reads_once_more_to_find_where_others_begin_count_once(spark: SparkSession) -> None:
    """Nearly all rows lie in one of eight parts: sorting looks at that one a second time, as the first of one."""
    skewed = numbers(spark, 8, 8).selectExpr("explode(sequence(0, if(id = 5, 50000, 3))) AS id")
    counts = RowCounts(spark, "here", {"all": None})
    written(counts.within(skewed).orderBy("id"))
    assert counts.rows() == {"all": 50_001 + 7 * 4}


def test_some_rows_are_kept_with_two_texts(spark: SparkSession) -> None:
    counts = RowCounts(spark, "here", {"bad": F.expr("id % 100 = 0")}, most_kept=4)
    bad = F.expr("id % 100 = 0")
    written(counts.within(numbers(spark), (bad, F.lit("wrong: ä\x00€"), F.concat(F.lit("row "), F.col("id")))))
    assert counts.rows() == {"bad": 10}
    kept = list(counts.texts())
    assert len(kept) == len(set(kept)) == 4
    counted = counts.within(numbers(spark, parts=1), (bad, F.lit("wrong: ä\x00€"), F.concat(F.lit("row "), F.col("id"))))
    counts.begin()
    counted.limit(500).collect()
    written(counted)
    assert (counts.rows(), len(list(counts.texts()))) == ({"bad": 10}, 4)
    assert {why for why, _ in kept} == {"wrong: ä\x00€"}
    assert {row for _, row in kept} <= {f"row {number}" for number in range(0, 1000, 100)}


def test_a_place_that_is_not_reached_has_no_rows(spark: SparkSession) -> None:
    counts = RowCounts(spark, "here", {"all": None}, most_kept=3)
    counts.within(numbers(spark))
    assert counts.rows() == {"all": 0}
    assert list(counts.texts()) == []


def test_a_spark_without_our_classes_is_told_what_to_do() -> None:
    def missing(*arguments: object) -> None:
        raise TypeError("'JavaPackage' object is not callable")

    without = SimpleNamespace(_jvm=SimpleNamespace(pipeline_web=SimpleNamespace(RowCounts=missing)), _jsparkSession=None)
    with pytest.raises(RuntimeError, match=r"scripts\.class_archive"):
        RowCounts(cast("SparkSession", without), "here", {"all": None})
