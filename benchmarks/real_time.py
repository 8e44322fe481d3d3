"""From a message's sending to its arrival in another topic: Kafka → parse → filter → Kafka in real time, by hand and ours, and in batches.

`python -m benchmarks.real_time [seconds]`
"""

import json
import statistics
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from benchmarks.comparison import folder, plan_of, session
from jobs.engine.events import EngineEvent
from jobs.engine.runner import Run
from jobs.nodes.base import ConnectionSettings
from tests.servers.kafka import KafkaServer

PARTITIONS = 2
#: Sent in a second; warm after so many seconds; a batch of so many, at whose end the stream stands still for a moment.
RATE, WARM, BATCH = 200, 15, 30
ROUNDS = 2

Stop = Callable[[], object]


class Passage:
    """Sends messages with their time into "in", and notes in milliseconds when those that pass come out of "out"."""

    def __init__(self, bootstrap: str) -> None:
        self.delays: list[float] = []
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
        self._consumer = Consumer(
            {"bootstrap.servers": bootstrap, "group.id": uuid.uuid4().hex, "auto.offset.reset": "latest", "fetch.wait.max.ms": 1}
        )
        self._consumer.subscribe(["out"])

    def measure(self, seconds: float) -> None:
        """The delays of those that were sent in the last `seconds`, after as many as it takes to be warm."""
        ended = threading.Event()
        sending = threading.Thread(target=self._send, args=(ended,))
        sending.start()
        warm, until = time.time() + WARM, time.time() + WARM + seconds
        while time.time() < until:
            message = self._consumer.poll(0.2)
            if message is not None and not message.error():
                arrived, sent = time.time(), json.loads(message.value() or b"{}")["sent"]
                if sent >= warm:
                    self.delays.append((arrived - sent) * 1000)
        ended.set()
        sending.join()
        self._consumer.close()

    def _send(self, ended: threading.Event) -> None:
        number = 0
        while not ended.wait(1 / RATE):
            self._producer.produce("in", json.dumps({"id": number, "sent": time.time()}), partition=number % PARTITIONS)
            self._producer.poll(0)
            number += 1
        self._producer.flush(10)


def by_hand(spark: SparkSession, bootstrap: str, root: Path) -> Stop:
    options = {"kafka.bootstrap.servers": bootstrap, "subscribe": "in", "startingOffsets": "latest"}
    messages = spark.newSession().readStream.name("in").format("kafka").options(**options).load()
    parsed = messages.select(F.from_json(F.col("value").cast("string"), "id bigint, sent double").alias("one")).select("one.*")
    out = parsed.filter("id >= 0").select(F.to_json(F.struct("id", "sent")).alias("value")).writeStream.format("kafka")
    writer: Any = out.options(**{"kafka.bootstrap.servers": bootstrap, "topic": "out"}).outputMode("update")
    query = writer.option("checkpointLocation", str(root / uuid.uuid4().hex)).trigger(realTime=f"{BATCH} seconds").start()
    return lambda: query.stop()


def ours(spark: SparkSession, bootstrap: str, root: Path, **settings: str) -> Stop:
    columns = [{"name": "id", "type": "long"}, {"name": "sent", "type": "double"}]
    source = {"connection": "main", "topic": "in", "columns": columns, "start": "latest"}
    document = {
        "name": "benchmark",
        "type": "STREAMING",
        "nodes": {
            "in": {"type": "source.kafka", "config": source},
            "all": {"type": "flow.filter_rows", "config": {"condition": "id >= 0"}},
            "out": {"type": "sink.kafka", "config": {"connection": "main", "topic": "out"}},
        },
        "edges": {"e1": {"from": ["in", "out"], "to": ["all", "in"]}, "e2": {"from": ["all", "out"], "to": ["out", "in"]}},
        "settings": settings,
    }

    def heard(event: EngineEvent) -> None:
        """Nobody asks."""

    run = Run(spark, plan_of(document, root, {"main": ConnectionSettings("main", "kafka", {"servers": bootstrap})}), heard)
    run.start()

    def stop() -> None:
        run.interrupt()
        run.wait(60)

    return stop


@contextmanager
def running(start: Callable[[], Stop]) -> Iterator[None]:
    stop = start()
    try:
        yield
    finally:
        stop()


def main(seconds: float) -> None:
    with folder() as name, KafkaServer() as kafka:
        root = Path(name)
        spark = session(root)
        kafka.topic_create("in", partitions=PARTITIONS)
        kafka.topic_create("out", partitions=PARTITIONS)
        real_time = {"trigger": "real_time", "trigger_interval": f"{BATCH}s"}
        ways: dict[str, Callable[[], Stop]] = {
            "in real time, PySpark by hand": lambda: by_hand(spark, kafka.bootstrap, root),
            "in real time, ours with counters": lambda: ours(spark, kafka.bootstrap, root, **real_time),
            "in batches as fast as they go, ours": lambda: ours(spark, kafka.bootstrap, root, trigger_interval="0s"),
        }
        found: dict[str, list[float]] = {title: [] for title in ways}
        for _ in range(ROUNDS):
            for title, start in ways.items():
                passage = Passage(kafka.bootstrap)
                with running(start):
                    passage.measure(seconds)
                found[title] += passage.delays
        print(f"\nmilliseconds from sending to arrival, {RATE} messages a second, batches of {BATCH} s in real time")
        for title, delays in found.items():
            p50, p95, p99 = (statistics.quantiles(delays, n=100)[at - 1] for at in (50, 95, 99))
            print(f"{title:40} p50 {p50:8.1f}   p95 {p95:8.1f}   p99 {p99:8.1f}   of {len(delays):,}")
        spark.stop()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60)
