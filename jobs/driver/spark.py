"""Spark as this installation's settings want it."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from jobs.engine.prepared import jars_in
from jobs.engine.session import SessionOptions, few_processors, session_build

#: In each line that a worker of Spark prints as it begins a node with state; an empty one follows.
_CHATTER = "Streaming TransformWithStateInPandas Python worker"
_LAST_WORDS_SECONDS = 5.0
_END_WITHOUT_MEMORY = "-XX:+ExitOnOutOfMemoryError"
#: On two busy processors previews were shown in 0.7 of the time, the first in 0.4 of it (`benchmarks/preview.py`).
_COMPILE_ONCE = "-XX:TieredStopAtLevel=1"


def spark_start(local_dir: Path, *, memory: str, answers: bool = False) -> SparkSession:
    """This process's session; `local_dir` is for Spark's own files, `memory` the heap as Spark writes it ("2g").

    `answers`: people wait for it, for a few rows at a time. It ends at the first want of memory: Spark ends by most of them in any case,
    but may take minutes, or never be done. On few processors what is compiled is not compiled better a second time.
    """
    for_answers = [_END_WITHOUT_MEMORY, *([_COMPILE_ONCE] if few_processors() else [])] if answers else []
    options = SessionOptions(
        master=settings.SPARK_MASTER,
        jars=jars_in(settings.SPARK_JARS_DIR),
        memory=memory,
        local_dir=local_dir,
        java_options=" ".join([*for_answers, settings.SPARK_DRIVER_JAVA_OPTIONS]),
        prepared=settings.SPARK_JARS_DIR,
    )
    return session_build(options)


@contextmanager
def spark_silenced(spark: SparkSession, folder: Path, *, traces: bool) -> Iterator[None]:
    """While inside Spark logs nothing on the terminal: what ends a run or a test is told in one sentence, and Spark would add pages.

    `traces`: errors are shown all the same, and all else that Spark's processes say.
    """
    spark.sparkContext.setLogLevel("ERROR" if traces else "OFF")
    with nullcontext() if traces else chatter_left_out(spark, folder):
        yield


@contextmanager
def chatter_left_out(spark: SparkSession, folder: Path) -> Iterator[None]:
    """While inside, what Java and the workers of `spark` say on stderr comes without what each worker says as it begins a node with state.

    Java writes to a pipe in `folder`, as what it starts may die with words that nobody else would tell.
    """
    pipe = folder / "stderr"
    os.mkfifo(pipe)
    passing = threading.Thread(target=_pass_on, args=(pipe,), name="stderr of Spark", daemon=True)
    passing.start()
    java: Any = spark._jvm
    system = java.java.lang.System
    before, stream = system.err, java.java.io.PrintStream(java.java.io.FileOutputStream(str(pipe)), True)
    system.setErr(stream)
    try:
        yield
    finally:
        with suppress(Py4JError, OSError):  # a Java that died has closed it
            system.setErr(before)
            stream.close()
        passing.join(_LAST_WORDS_SECONDS)


def _pass_on(pipe: Path) -> None:
    was_chatter = False
    with pipe.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            is_chatter = _CHATTER in line or (was_chatter and not line.strip())
            if not is_chatter:
                sys.stderr.write(line)
                sys.stderr.flush()
            was_chatter = is_chatter
