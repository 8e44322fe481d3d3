"""Spark's home without zipped PySpark, which workers would compile anew."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

from jobs.engine.prepared import spark_home_in, spark_home_place
from scripts.spark_home import spark_home_make

PACKAGE = Path(pyspark.__file__).resolve().parent


@pytest.mark.spark
def test_python_workers_take_pyspark_from_where_it_is_compiled(spark: SparkSession) -> None:
    def places(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"place": [pyspark.__file__]})

    (row,) = spark.range(0, 1, 1, 1).mapInArrow(places, "place string").collect()
    assert row["place"] == pyspark.__file__


def test_it_is_made_once_and_mended_where_it_leads_elsewhere(tmp_path: Path) -> None:
    assert spark_home_in(tmp_path) is None
    spark_home_make(tmp_path)
    home = spark_home_place(tmp_path)
    assert (home / "bin" / "spark-submit").is_file()
    assert not (home / "python").exists()
    assert spark_home_in(tmp_path) == home
    (home / "jars").unlink()
    (home / "jars").symlink_to(tmp_path / "the jars of before")
    assert spark_home_in(tmp_path) is None
    spark_home_make(tmp_path)
    assert (home / "jars").readlink() == PACKAGE / "jars"
    assert {part.name for part in home.iterdir()} == {"bin", "conf", "jars"}
