"""Our classes for Spark. Its local files: permissions without a program, the same on the disk as ever."""

import stat
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.engine.prepared import java_classes_in, java_classes_made_of, java_classes_place
from jobs.engine.session import SessionOptions, session_conf
from scripts.fetch_jars import JarsUnavailable
from scripts.java_classes import java_classes_make


@pytest.mark.spark
def test_spark_writes_its_files_through_it(spark: SparkSession, tmp_path: Path) -> None:
    java: Any = spark
    hadoop = java._jvm.org.apache.hadoop.fs
    files = hadoop.FileSystem.get(java._jvm.java.net.URI("file:///"), java._jsc.hadoopConfiguration())
    assert files.getClass().getName() == "pipeline_web.LocalFiles"
    place = hadoop.Path(str(tmp_path / "a file"))
    files.create(place).close()
    assert (tmp_path / "a file").is_file()
    for mode in (0o600, 0o751, 0o444, 0o1777):  # the last one has a bit of which Java does not know
        files.setPermission(place, hadoop.permission.FsPermission(mode))
        assert stat.S_IMODE((tmp_path / "a file").stat().st_mode) == mode
        assert files.getFileStatus(place).getPermission().toOctal() == int(f"{mode:o}")


@pytest.mark.spark
def test_a_batch_of_a_stream_starts_no_program(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(10).write.parquet(str(tmp_path / "warm"))
    with programs_started(spark, tmp_path / "programs.jfr") as programs:
        spark.range(10).write.parquet(str(tmp_path / "again"))
        rates = spark.readStream.name("rates").format("rate-micro-batch").option("rowsPerBatch", 10).load()
        checkpoint = str(tmp_path / "checkpoint")
        query = rates.writeStream.format("noop").option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        assert query.awaitTermination(60)
        java: Any = spark
        java._jvm.java.lang.ProcessBuilder(["ls", str(tmp_path / "this is seen")]).start().waitFor()
    assert [program for program in programs if str(tmp_path) in program] == [f"ls {tmp_path / 'this is seen'}"]


@contextmanager
def programs_started(spark: SparkSession, place: Path) -> Iterator[list[str]]:
    """The command lines of the programs that Spark's JVM starts meanwhile, as its flight recorder tells them."""
    java: Any = spark
    recording = java._jvm.jdk.jfr.Recording()
    recording.enable("jdk.ProcessStart")
    recording.start()
    programs: list[str] = []
    try:
        yield programs
        recording.stop()
        recorded = java._jvm.java.io.File(str(place)).toPath()
        recording.dump(recorded)
        programs += [event.getString("command") for event in java._jvm.jdk.jfr.consumer.RecordingFile.readAllEvents(recorded)]
    finally:
        recording.close()


@pytest.mark.slow
def test_executors_elsewhere_get_it_as_a_jar(tmp_path: Path) -> None:
    java_classes_make(tmp_path)
    at_home = session_conf(SessionOptions("local[2]", prepared=tmp_path))
    away = session_conf(SessionOptions("spark://host:7077", prepared=tmp_path))
    beside = session_conf(SessionOptions("local-cluster[1,2,1024]", prepared=tmp_path))
    assert at_home["spark.hadoop.fs.file.impl"] == "pipeline_web.LocalFiles"
    assert at_home["spark.driver.extraClassPath"] == away["spark.jars"] == str(java_classes_place(tmp_path))
    assert away["spark.jars"] == beside["spark.jars"]
    assert not {"spark.hadoop.fs.file.impl", "spark.driver.extraClassPath"} & (set(away) | set(beside))


def test_one_of_other_sources_is_not_taken(tmp_path: Path) -> None:
    place = java_classes_place(tmp_path)
    place.parent.mkdir()
    with zipfile.ZipFile(place, "w") as jar:
        for name, source in (java_classes_made_of() | {"RowCounts.java": b"package pipeline_web;"}).items():
            jar.writestr(name, source)
    assert java_classes_in(tmp_path) is None
    assert "spark.extraListeners" not in session_conf(SessionOptions("local[2]", prepared=tmp_path))


@pytest.mark.slow
def test_it_is_compiled_once_and_again_where_the_jar_is_damaged(tmp_path: Path) -> None:
    place = java_classes_place(tmp_path)
    java_classes_make(tmp_path)
    before = place.stat().st_mtime_ns
    java_classes_make(tmp_path)
    assert place.stat().st_mtime_ns == before
    place.write_bytes(place.read_bytes()[:-30])
    java_classes_make(tmp_path)
    assert {"pipeline_web/LocalFiles.class", "pipeline_web/RowCounts.class"} <= set(zipfile.ZipFile(place).namelist())
    assert [*tmp_path.iterdir(), *place.parent.iterdir()] == [place.parent, place]


def test_a_java_without_a_compiler_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = subprocess.CompletedProcess([], 1, "", "Module jdk.compiler not found")
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: refused)
    with pytest.raises(JarsUnavailable, match=r"is this Java a JDK\?"):
        java_classes_make(tmp_path)
