"""Spark starts from an archive of its classes."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from pyspark.sql import SparkSession

from jobs.engine.session import class_archive_place
from scripts.class_archive import archive_make

pytestmark = pytest.mark.spark


def test_sparks_jvm_has_the_archive_in_its_memory(spark: SparkSession) -> None:
    java: Any = spark
    process = java._jvm.java.lang.ProcessHandle.current().pid()
    assert str(class_archive_place(settings.SPARK_JARS_DIR)) in Path(f"/proc/{process}/maps").read_text()


def test_an_archive_that_is_there_is_not_made_again() -> None:
    place = class_archive_place(settings.SPARK_JARS_DIR)
    assert archive_make(settings.SPARK_JARS_DIR)
    before = place.stat().st_mtime_ns
    assert archive_make(settings.SPARK_JARS_DIR)
    assert place.stat().st_mtime_ns == before
