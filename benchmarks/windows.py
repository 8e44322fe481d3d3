"""Windows of a stream, and rows that come too late for them: `python -m benchmarks.windows [rows] [aggregate|reduce …]`.

Spark written by hand loses late rows without a word; a job counts them, and leads them on where the port late is connected. A file is a
batch, and of each from the third on one row in a hundred is too late.

Measured once with 100,000 rows on a machine busy with other work (load 5), processor time of the same by hand ÷ ours. Aggregate: not
counting 0.84, counting 0.82, leading on 0.42 (18 of 20 batches are read twice). Reduce: 0.47, 0.35, 0.35, with rounds of one variant that
differ by more than that.
"""

import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, StatefulProcessor, StatefulProcessorHandle, TimerValues
from pyspark.sql.types import Row

from benchmarks.comparison import Variant, compare, folder, run_document, session
from jobs.engine import fan_out
from jobs.engine.session import STREAMING_CONF

FILES, LATE_FROM, ONE_IN = 20, 2, 100
#: Each file holds so many hours: what the first hour gets later than in the second file is too late.
HOURS_A_FILE = 2
COLUMNS = [{"name": "at", "type": "timestamp"}, {"name": "amount", "type": "double"}, {"name": "country", "type": "string"}]
BY_HOUR = {"time_column": "at", "window": "1 h", "group_by": ["country"], "emit": "close"}
CODE = """
def start():
    return [0, 0.0]


def add(value, row):
    return [value[0] + 1, max(value[1], row["amount"])]


def result(value):
    return {"orders": value[0], "largest": value[1]}
"""
MADE = [{"name": "orders", "type": "long"}, {"name": "largest", "type": "double"}]
NODES: dict[str, dict[str, Any]] = {
    "aggregate": {
        "type": "flow.window_aggregate",
        "config": {**BY_HOUR, "aggregates": [{"name": "orders"}, {"name": "largest", "function": "max", "column": "amount"}]},
    },
    "reduce": {"type": "flow.window_reduce", "config": {**BY_HOUR, "code": CODE, "columns": MADE}},
}


class ByHand(StatefulProcessor):
    """What one would write where Python makes the value of a window: a timer ends it."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.value = handle.getValueState("value", "orders bigint, largest double")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        kept = self.value.get()
        orders, largest = kept if kept else (0, 0.0)
        if not kept:
            self.handle.registerTimer(int(key[1].timestamp() * 1000))
        for row in rows:
            orders, largest = orders + 1, max(largest, row.amount)
        self.value.update((orders, largest))
        return iter(())

    def handleExpiredTimer(self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo) -> Iterator[Row]:  # noqa: N802, N803
        kept = self.value.get()
        orders, largest = kept if kept else (0, 0.0)
        self.value.clear()
        yield Row(start=key[0], end=key[1], country=key[2], orders=orders, largest=largest)

    def close(self) -> None:
        pass


def aggregated(frame: DataFrame) -> DataFrame:
    groups = frame.withWatermark("at", "0 seconds").groupBy(F.window("at", "1 hour"), "country")
    return groups.agg(F.count("*").alias("orders"), F.max("amount").alias("largest"))


def reduced(frame: DataFrame) -> DataFrame:
    marked = frame.withWatermark("at", "0 seconds").withColumn("window", F.window("at", "1 hour"))
    groups = marked.select("at", "amount", "country", "window.start", "window.end").groupBy("start", "end", "country")
    made = "start timestamp, end timestamp, country string, orders bigint, largest double"
    return groups.transformWithState(ByHand(), made, "Append", "EventTime")


HAND: dict[str, Callable[[DataFrame], DataFrame]] = {"aggregate": aggregated, "reduce": reduced}


def fill(spark: SparkSession, root: Path, rows: int) -> int:
    """How many rows are too late."""
    late = 0
    for number in range(FILES):
        first, after = number * rows // FILES, (number + 1) * rows // FILES
        late += len(range(-(-first // ONE_IN) * ONE_IN, after, ONE_IN)) if number >= LATE_FROM else 0
        begins = f"1704067200 + {number * HOURS_A_FILE * 3600}"
        on_time = f"timestamp_seconds({begins} + pmod(hash(id), {HOURS_A_FILE * 3600}))"
        at = f"if(id % {ONE_IN} = 0, timestamp_seconds(1704067200), {on_time})" if number >= LATE_FROM else on_time
        frame = spark.range(first, after, 1, 1).selectExpr(
            f"{at} at", "cast(pmod(hash(id), 100000) / 100.0 as double) amount", "substr('DEFRITES', 1 + 2 * pmod(id, 4), 2) country"
        )
        frame.write.mode("append").parquet(str(root / "orders"))
    return late


def document(step: str, *, leads_late_on: bool) -> dict[str, Any]:
    source = {"path": "orders", "format": "parquet", "columns": COLUMNS, "max_files_per_trigger": 1}
    nodes = {"in": {"type": "source.file", "config": source}, "step": NODES[step], "out": {"type": "sink.none", "config": {}}}
    edges = {"e1": {"from": ["in", "out"], "to": ["step", "in"]}, "e2": {"from": ["step", "out"], "to": ["out", "in"]}}
    if leads_late_on:
        nodes["late"] = {"type": "sink.none", "config": {}}
        edges["e3"] = {"from": ["step", "late"], "to": ["late", "in"]}
    return {"name": "benchmark", "type": "STREAMING", "nodes": nodes, "edges": edges}


def streamed(spark: SparkSession, root: Path, made: Callable[[DataFrame], DataFrame]) -> None:
    """The same files, one a batch, with the same settings."""
    own = spark.newSession()
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    conf = {"spark.sql.shuffle.partitions": "2", "spark.sql.streaming.stateStore.providerClass": provider}
    for key, value in {**STREAMING_CONF, **conf}.items():
        own.conf.set(key, value)
    read = own.readStream.name("in").schema("at timestamp, amount double, country string").option("maxFilesPerTrigger", 1)
    frame = made(read.parquet(str(root / "orders")))
    writer = frame.writeStream.foreachBatch(lambda batch, number: batch.write.format("noop").mode("overwrite").save())
    query = writer.option("checkpointLocation", str(root / "cp" / str(uuid.uuid4()))).trigger(availableNow=True).start()
    assert query.awaitTermination(3000)


def variants(spark: SparkSession, root: Path, step: str, late: int) -> list[Variant]:
    written: dict[str, int] = {}

    def counted(number: int) -> None:
        written["counted"] = run_document(spark, document(step, leads_late_on=False), root, until_drained=True)["out"]

    def uncounted(number: int) -> None:
        with patch.object(fan_out, "with_late_rows", lambda seen, execution, stateful: seen):
            counted(number)

    def led_on(number: int) -> None:
        out = run_document(spark, document(step, leads_late_on=True), root, until_drained=True)["out"]
        assert out == written.setdefault("counted", out - late) + late, f"{out} rows are written, {late} of them too late"

    return [
        Variant("by hand, late rows are lost", lambda number: streamed(spark, root, HAND[step])),
        Variant("a job that does not count them", uncounted),
        Variant("a job that counts them", counted),
        Variant("a job that leads them on", led_on),
    ]


def main(rows: int, steps: tuple[str, ...]) -> None:
    with folder() as name:
        root = Path(name)
        spark = session(root)
        late = fill(spark, root, rows)
        for step in steps:
            compare(f"{step} in {FILES} batches, {late:,} rows too late", rows, variants(spark, root, step, late), rounds=3)
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000, tuple(sys.argv[2:]) or tuple(NODES))
