"""Hadoop's settings in a session: what each plan copies, and each task is handed."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def settings(spark: SparkSession) -> Any:
    return spark._jsparkSession.sessionState().newHadoopConf()


def test_settings_are_handed_out_without_what_no_task_here_asks_for(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.parquet(str(tmp_path / "out"))  # loads what would bring the rest back
    java = settings(spark)
    names = {entry.getKey() for entry in java.iterator()}
    assert [name for name in names if name.startswith(("yarn.", "ipc.server."))] == []
    assert [name for name in names if name.startswith("mapreduce.fileoutputcommitter.")] != []
    assert java.getPropertySources("io.file.buffer.size") is None
    assert java.get("io.file.buffer.size") == "65536"


def test_what_a_person_set_for_hadoop_stays(spark: SparkSession) -> None:
    spark.conf.set("fs.s3a.endpoint", "http://127.0.0.1:1")
    try:
        assert settings(spark).get("fs.s3a.endpoint") == "http://127.0.0.1:1"
    finally:
        spark.conf.unset("fs.s3a.endpoint")
    assert settings(spark).get("fs.file.impl") == "pipeline_web.LocalFiles"
