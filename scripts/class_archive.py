"""Keeps the JVM's archive of the classes that Spark loads, beside Spark's jars: a driver then starts in half of the processor's time.

Made once for a Java and a PySpark, by a Spark that does a little of everything and writes the archive when it ends. Without it, or with
another Java's, Spark starts as ever.
"""

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.engine.prepared import class_archive_in, class_archive_place, jars_in, java_classes_in
from jobs.engine.session import SessionOptions, session_build
from scripts.fetch_jars import JarsUnavailable
from scripts.java_classes import java_classes_make
from scripts.spark_home import spark_home_make

ROOT = Path(__file__).resolve().parent.parent
_SECONDS = 600


def archive_make(folder: Path) -> bool:
    """Make the archive of `folder`, where Spark's jars are, unless it is there and up to date. Whether it is there then.

    And before it all else that stands there prepared.
    """
    folder = folder.resolve()  # the archive is good for these very paths on the class path
    spark_home_make(folder)
    java_classes_make(folder)  # they stand first on the class path, for which the archive is made
    place, stamp = class_archive_place(folder), folder / "classes.stamp"
    made_for = _made_for(folder)
    if class_archive_in(folder) and stamp.is_file() and stamp.read_text() == made_for:
        return True
    place.unlink(missing_ok=True)  # of another Java or other jars: a JVM that has one writes no other
    with tempfile.TemporaryDirectory(dir=folder, prefix="archive-") as work:
        part = Path(work) / place.name
        command = [sys.executable, "-m", "scripts.class_archive", str(folder), str(part)]
        subprocess.run(command, cwd=ROOT, capture_output=True, timeout=_SECONDS, check=False)
        if not part.is_file():
            return False
        stamp.unlink(missing_ok=True)
        part.replace(place)
    stamp.write_text(made_for)
    return True


def _made_for(folder: Path) -> str:
    """What an archive belongs to: another Java, PySpark or set of jars, or another place of any of them, wants another one."""
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    jars = " ".join(jar.name for jar in jars_in(folder))
    classes = java_classes_in(folder)
    first = classes.stat().st_mtime_ns if classes else ""  # the JVM asks for the same one, by its time
    return hashlib.sha256(
        f"{java}\n{pyspark.__version__}\n{Path(pyspark.__file__).resolve()}\n{folder.resolve()}\n{jars}\n{first}\n".encode()
    ).hexdigest()


def train(folder: Path, part: Path) -> None:
    """Let Spark load what drivers commonly need; its JVM writes `part` when it ends."""
    local = part.parent / "spark"
    # One compiler: what is archived are classes, and the second compiler only takes time here.
    options = f'"-XX:ArchiveClassesAtExit={part}" -XX:TieredStopAtLevel=1'
    spark = session_build(SessionOptions("local[2]", jars_in(folder), memory="1g", local_dir=local, java_options=options, prepared=folder))
    gateway: Any = spark.sparkContext._gateway
    try:
        _work(spark, local)
    finally:
        spark.stop()
        gateway.proc.stdin.close()
        gateway.proc.wait(_SECONDS)


def _work(spark: SparkSession, folder: Path) -> None:
    """Files, JSON, an aggregate, a join, Python rows; a stream with state into a batch function."""
    numbers = (
        spark.range(0, 1000, 1, 2).withColumn("name", F.concat(F.lit("n"), F.col("id") % 7)).withColumn("at", F.timestamp_seconds("id"))
    )
    lines, parts = str(folder / "lines"), str(folder / "parts")
    numbers.write.json(lines)
    numbers.write.parquet(parts)
    read = spark.read.schema(numbers.schema).json(lines).filter("id > 10")
    read.join(spark.read.parquet(parts).groupBy("name").count(), "name").orderBy("id").collect()
    read.select(F.from_json(F.to_json(F.struct("*")), numbers.schema).alias("r")).mapInArrow(
        lambda batches: batches, "r struct<id: long>"
    ).count()
    windows = spark.readStream.name("lines").schema(numbers.schema).json(lines).withWatermark("at", "1 minute")
    counts = windows.groupBy(F.window("at", "5 minutes"), "name").count().writeStream.outputMode("update")
    query = counts.foreachBatch(_count).option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination(_SECONDS)


def _count(batch: DataFrame, number: int) -> None:
    batch.observe("seen", F.count(F.lit(1)).alias("rows")).count()


def main() -> int:
    if len(sys.argv) == 3:
        train(Path(sys.argv[1]), Path(sys.argv[2]))
        return 0
    folder = Path(os.environ.get("SPARK_JARS_DIR") or ROOT / ".venv" / "spark-jars")
    os.nice(19)  # beside a product that has just started
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a product that is stopped meanwhile: nothing half-made stays behind
    try:
        archive_make(folder)
    except KeyboardInterrupt:
        return 0
    except JarsUnavailable as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Spark will start without its archive of classes, in twice the time: {error}")
    return 0 if java_classes_in(folder) else 1


if __name__ == "__main__":
    raise SystemExit(main())
