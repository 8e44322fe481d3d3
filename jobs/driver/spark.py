"""Spark as this installation's settings want it."""

from pathlib import Path
from typing import Any

from django.conf import settings
from pyspark.sql import SparkSession

from jobs.engine.prepared import jars_in
from jobs.engine.session import SessionOptions, session_build


def spark_start(local_dir: Path, *, memory: str) -> SparkSession:
    """This process's session; `local_dir` is for Spark's own files, `memory` the heap as Spark writes it ("2g")."""
    options = SessionOptions(
        master=settings.SPARK_MASTER,
        jars=jars_in(settings.SPARK_JARS_DIR),
        memory=memory,
        local_dir=local_dir,
        java_options=settings.SPARK_DRIVER_JAVA_OPTIONS,
        prepared=settings.SPARK_JARS_DIR,
    )
    return session_build(options)


def spark_silence(spark: SparkSession, *, traces: bool) -> None:
    """Spark says nothing more on the terminal: what ends a run or a test is told in one sentence, and Spark would add pages about it.

    Its workers pass on there, too, what they print as they begin a node with state. `traces`: errors are shown all the same.
    """
    spark.sparkContext.setLogLevel("ERROR" if traces else "OFF")
    if not traces:
        java: Any = spark._jvm
        java.java.lang.System.setErr(java.java.io.PrintStream(java.java.io.OutputStream.nullOutputStream()))
