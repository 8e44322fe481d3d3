"""What an empty batch costs with each way to write Spark's own files: `python -m benchmarks.batch_overhead [batches]`."""

import sys
import time
import uuid
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.comparison import Variant, compare, folder, session

_KEY = "spark.sql.streaming.checkpointFileManagerClass"
_MANAGERS = "org.apache.spark.sql.execution.streaming.checkpointing"
_DEADLINE_SECONDS = 600


def streamed(spark: SparkSession, live: Path, manager: str, batches: int) -> None:
    """So many batches of one row, one right after the other."""
    own = spark.newSession()
    own.conf.set(_KEY, f"{_MANAGERS}.{manager}")
    frame = own.readStream.name("in").format("rate-micro-batch").option("rowsPerBatch", 1).option("numPartitions", 1).load()
    writer = frame.writeStream.format("noop").option("checkpointLocation", str(live / str(uuid.uuid4())))
    query = writer.trigger(processingTime="0 seconds").start()
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not (query.lastProgress and query.lastProgress["batchId"] >= batches):
        assert query.isActive, query.exception()
        assert time.monotonic() < deadline, "it does not get on"
        time.sleep(0.02)
    query.stop()


def main(batches: int) -> None:
    with folder() as name:
        root = Path(name)
        spark = session(root)
        variants = [
            Variant(words, lambda number, manager=manager: streamed(spark, root / "live", manager, batches))  # type: ignore[misc]
            for words, manager in (
                ("as Spark comes", "FileContextBasedCheckpointFileManager"),
                ("as a driver sets it", "FileSystemBasedCheckpointFileManager"),
            )
        ]
        compare("batches of one row", batches, variants, rounds=3)
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
