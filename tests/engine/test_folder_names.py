"""The data of an installation may stand in a folder of any name."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.rejected_rows import whole_row
from jobs.nodes.sinks.lines_underway import LinesUnderWay
from tests.engine.graphs import COLLECT, Bench, document, numbers, windows
from tests.nodes.rejections import rejections_in

pytestmark = pytest.mark.spark
NAMES = pytest.mark.parametrize("name", ["a b", "a+b", "50%20off #1", "数据", "[x]{y}?*"])


@NAMES
def test_a_stream_keeps_its_position_where_it_is_looked_for(spark: SparkSession, tmp_path: Path, name: str) -> None:
    bench = Bench(spark, tmp_path / name)
    bench.root.mkdir()
    nodes = {"gen": numbers(400, 200), "minutes": windows("1 min"), "out": COLLECT}
    plan = bench.plan(document(nodes, "gen>minutes, minutes>out", type="STREAMING"))
    heard = bench.drained(plan, 400)
    assert [folder.name for folder in tmp_path.iterdir()] == [name]
    kept = {file.name for file in (plan.locations.live / "out" / "commits").iterdir()}
    assert {str(event.batch_id) for event in heard.committed()} <= kept
    assert {"0", "1"} <= kept


@NAMES
def test_lines_for_a_table_are_read_where_they_are_written(spark: SparkSession, tmp_path: Path, name: str) -> None:
    with LinesUnderWay(tmp_path / name) as lines:
        lines.write(spark.range(10).selectExpr("cast(id AS string) AS line"))
    assert sorted(int(line) for file in lines if file for line in file.readlines()) == list(range(10))
    assert [folder.name for folder in tmp_path.iterdir()] == [name]


@NAMES
def test_rows_that_a_target_refused_are_found_again(spark: SparkSession, tmp_path: Path, name: str) -> None:
    frame = spark.sql("SELECT 1 AS id")
    rejections = rejections_in(tmp_path / name)
    with rejections.part("0") as part:
        part.add("no", frame.select(whole_row(frame)).first()[0])  # type: ignore[index]
    rejections.complete()
    assert [tuple(row) for row in rejections.read(spark, frame.schema).collect()] == [(1, "no")]
