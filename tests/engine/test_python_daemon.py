"""The process that Python workers are forked from: it takes over nothing that a fork would break."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

_THREADS = "import os; from jobs.engine.python_daemon import preload; preload(); print(len(os.listdir('/proc/self/task')))"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_what_is_imported_ahead_begins_no_thread() -> None:
    done = subprocess.run([sys.executable, "-c", _THREADS], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["1"]
    assert not done.stderr


@pytest.mark.spark
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
def test_workers_are_forked_from_it(spark: SparkSession) -> None:
    def parents(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"text": [Path(f"/proc/{os.getppid()}/cmdline").read_text()]})

    (row,) = spark.range(0, 1, 1, 1).mapInArrow(parents, "text string").collect()
    assert "jobs.engine.python_daemon" in row.text
