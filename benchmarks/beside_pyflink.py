"""The same work by PyFlink and by us, on the same two cores: file → filter → file, and Kafka → windowed count → Kafka.

`python -m benchmarks.beside_pyflink [rows]`. PyFlink comes into an environment of its own below .venv, as its packages and ours exclude
each other; it takes 730 MB. SeaTunnel Zeta is not measured: neither the program that starts its jobs (seatunnel-starter) nor the Hadoop
jar of its file connector is in Maven Central.

Measured with 2,000,000 rows in three rounds: file to file 1.10 x PyFlink by the clock and 1.13 by processor, Kafka to Kafka 0.94 and 1.08.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from pyspark.sql import SparkSession

from benchmarks import kafka_windows
from benchmarks.comparison import Variant, compare, folder, run_document, session
from jobs.nodes.base import ConnectionSettings
from scripts.fetch_jars import jars_fetch
from tests.servers.kafka import KafkaServer

HERE = Path(__file__).resolve().parent
HOME = HERE.parent / ".venv" / "pyflink"
JARS = HERE.parent / ".venv" / "pyflink-jars"
VERSION = "2.3.0"
PARTITIONS = 2
COLUMNS = [{"name": "id", "type": "long"}, {"name": "amount", "type": "double"}, {"name": "country", "type": "string"}]
FIELDS = "id BIGINT, amount DOUBLE, country STRING"


def pyflink_install() -> str:
    """Its interpreter."""
    python = HOME / "bin" / "python"
    if not (HOME / "lib" / "python3.11" / "site-packages" / "pyflink").is_dir():
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(HOME)], check=True)
        packages = [f"apache-flink=={VERSION}", "setuptools<80", "wheel"]
        subprocess.run([*uv, "pip", "install", "--quiet", "--python", str(python), *packages], check=True)
    jars_fetch(JARS, ivy_file=HERE / "beside_pyflink_ivy.xml", lock=HERE / "beside_pyflink_jars.lock")
    return str(python)


class PyFlink:
    """A warm process, as ours is."""

    def __init__(self, process: "subprocess.Popen[str]", answers: TextIO) -> None:
        self._process, self._answers = process, answers
        (jar,) = JARS.glob("*.jar")
        self._say({"jar": jar.as_uri(), "parallelism": PARTITIONS}, "ready")

    def run(self, mode: str, *statements: str) -> None:
        self._say({"mode": mode, "sql": statements}, "done")

    def _say(self, what: dict[str, Any], expected: str) -> None:
        assert self._process.stdin is not None
        print(json.dumps(what), file=self._process.stdin, flush=True)
        answer = self._answers.readline().strip()
        if answer != expected:
            raise RuntimeError("PyFlink ended; what it said stands above")


@contextmanager
def pyflink() -> Iterator[PyFlink]:
    reading, writing = os.pipe()
    command = [pyflink_install(), str(HERE / "beside_pyflink_jobs.py"), str(writing)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=sys.stderr, text=True, pass_fds=[writing])
    os.close(writing)
    with os.fdopen(reading) as answers:
        try:
            yield PyFlink(process, answers)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(30)


def files(spark: SparkSession, flink: PyFlink, root: Path, rows: int) -> None:
    source = {"path": "csv", "format": "csv", "header": False, "columns": COLUMNS}
    spark.range(0, rows, 1, 4).selectExpr(
        "id", "cast(pmod(hash(id), 100000) / 100.0 as double) amount", "substr('DEFRITES', 1 + 2 * pmod(id, 4), 2) country"
    ).write.csv(str(root / "csv"))

    def theirs(number: int) -> None:
        there = "WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{}')"
        flink.run(
            "batch",
            f"CREATE TABLE arriving ({FIELDS}) {there.format((root / 'csv').as_uri())}",
            f"CREATE TABLE leaving ({FIELDS}) {there.format((root / f'flink-{number}').as_uri())}",
            "INSERT INTO leaving SELECT * FROM arriving WHERE amount > 300",
        )

    def ours(number: int) -> None:
        document = {
            "name": "benchmark",
            "type": "SQL_TASK",
            "nodes": {
                "in": {"type": "source.file", "config": source},
                "big": {"type": "flow.filter_rows", "config": {"condition": "amount > 300"}},
                "out": {"type": "sink.file", "config": {"path": f"ours-{number}", "format": "csv"}},
            },
            "edges": {"e1": {"from": ["in", "out"], "to": ["big", "in"]}, "e2": {"from": ["big", "out"], "to": ["out", "in"]}},
        }
        assert run_document(spark, document, root)["in"] == rows

    compare("CSV → filter → CSV", rows, [Variant(f"PyFlink {VERSION}", theirs), Variant("ours with counters", ours)], rounds=3)


def windows(spark: SparkSession, flink: PyFlink, root: Path, kafka: KafkaServer, rows: int) -> None:
    """Ten thousand events to a minute, of a hundred keys."""
    kafka.topic_create("events", partitions=PARTITIONS)
    kafka.topic_create("counts", partitions=PARTITIONS)
    kafka_windows.fill(spark, kafka.bootstrap, rows)
    at = f"'connector' = 'kafka', 'properties.bootstrap.servers' = '{kafka.bootstrap}', 'format' = 'json'"
    bounds = "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', 'json.timestamp-format.standard' = 'ISO-8601'"

    def theirs(number: int) -> None:
        flink.run(
            "streaming",
            "CREATE TABLE arriving (`key` BIGINT, `time` TIMESTAMP_LTZ(3), WATERMARK FOR `time` AS `time` - INTERVAL '10' MINUTE) "
            f"WITH ({at}, 'topic' = 'events', {bounds})",
            f"CREATE TABLE leaving (begun TIMESTAMP(3), `key` BIGINT, n BIGINT) WITH ({at}, 'topic' = 'counts')",
            "INSERT INTO leaving SELECT window_start, `key`, COUNT(*) FROM "
            "TABLE(TUMBLE(TABLE arriving, DESCRIPTOR(`time`), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, `key`",
        )

    def ours(number: int) -> None:
        connections = {"main": ConnectionSettings("main", "kafka", {"servers": kafka.bootstrap})}
        assert run_document(spark, kafka_windows.document(), root, connections, until_drained=True)["in"] == rows

    compare("Kafka → windowed count → Kafka", rows, [Variant(f"PyFlink {VERSION}", theirs), Variant("ours with counters", ours)], rounds=3)


def main(rows: int) -> None:
    with folder() as name, KafkaServer() as kafka, pyflink() as flink:
        spark = session(Path(name))
        files(spark, flink, Path(name), rows)
        windows(spark, flink, Path(name), kafka, rows)
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000)
