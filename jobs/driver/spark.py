"""Spark as this installation's settings want it."""

from pathlib import Path

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
