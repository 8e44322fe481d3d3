"""Spark starts from an archive of its classes."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from pyspark.sql import SparkSession

from jobs.engine.prepared import class_archive_place, java_classes_place, spark_home_place
from scripts.class_archive import ROOT, archive_make
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark


def test_sparks_jvm_has_the_archive_in_its_memory(spark: SparkSession) -> None:
    java: Any = spark
    process = java._jvm.java.lang.ProcessHandle.current().pid()
    assert str(class_archive_place(settings.SPARK_JARS_DIR).resolve()) in Path(f"/proc/{process}/maps").read_text()


def test_an_archive_that_is_there_is_not_made_again() -> None:
    place = class_archive_place(settings.SPARK_JARS_DIR)
    assert archive_make(settings.SPARK_JARS_DIR)
    before = place.stat().st_mtime_ns
    assert archive_make(settings.SPARK_JARS_DIR)
    assert place.stat().st_mtime_ns == before


def test_one_that_is_stopped_while_it_makes_the_archive_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scripts.class_archive"]
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "SPARK_JARS_DIR": str(tmp_path)}) as making:
        wait_until(lambda: any(tmp_path.glob("archive-*")), seconds=60, what="the beginnings of an archive")
        making.send_signal(signal.SIGTERM)
        assert making.wait(30) == 0
    assert set(tmp_path.iterdir()) == {java_classes_place(tmp_path).parent, spark_home_place(tmp_path)}
