"""The node Stateful against transformWithState by hand, on streams: `python -m benchmarks.stateful [rows] [keys]`."""

import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.stateful_processor import ExpiredTimerInfo, StatefulProcessor, StatefulProcessorHandle, TimerValues
from pyspark.sql.types import Row

from benchmarks.comparison import Variant, compare, folder, run_document, session
from jobs.engine.session import STREAMING_CONF
from jobs.nodes.base import REJECTED, NodeContext
from jobs.nodes.flows.stateful import Stateful

FILES = 4
COLUMNS = [{"name": "id", "type": "long"}, {"name": "key", "type": "long"}, {"name": "amount", "type": "double"}]
CODE = """
def process(key, rows, state, timers):
    total = state.total.get(0.0)
    for row in rows:
        total += row["amount"]
        yield {"id": row["id"], "total": total}
    state.total.set(total)
"""
OWN: dict[str, Any] = {
    "keys": ["key"],
    "state": [{"name": "total", "type": "double"}],
    "columns": [{"name": "id", "type": "long"}, {"name": "total", "type": "double"}],
    "code": CODE,
}


class ByHand(StatefulProcessor):
    """What one would write: the same, and nothing more."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.total = handle.getValueState("total", "total double")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        kept = self.total.get()
        total = kept[0] if kept else 0.0
        for row in rows:
            total += row.amount
            yield Row(key=key[0], id=row.id, total=total)
        self.total.update((total,))

    def handleExpiredTimer(self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo) -> Iterator[Row]:  # noqa: N802, N803
        return iter(())

    def close(self) -> None:
        pass


def document() -> dict[str, Any]:
    source = {"path": "parquet", "format": "parquet", "columns": COLUMNS, "max_files_per_trigger": 1}
    return {
        "name": "benchmark",
        "type": "STREAMING",
        "nodes": {
            "in": {"type": "source.file", "config": source},
            "own": {"type": "flow.stateful", "config": OWN},
            "out": {"type": "sink.none", "config": {}},
        },
        "edges": {"e1": {"from": ["in", "out"], "to": ["own", "in"]}, "e2": {"from": ["own", "out"], "to": ["out", "in"]}},
    }


def streamed(spark: SparkSession, root: Path, made: Callable[[DataFrame], DataFrame]) -> None:
    """The same files, one a batch, with the same settings."""
    own = spark.newSession()
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    conf = {"spark.sql.shuffle.partitions": "2", "spark.sql.streaming.stateStore.providerClass": provider}
    for key, value in {**STREAMING_CONF, **conf}.items():
        own.conf.set(key, value)
    read = own.readStream.name("in").schema("id bigint, key bigint, amount double").option("maxFilesPerTrigger", 1)
    frame = made(read.parquet(str(root / "parquet")))
    writer = frame.writeStream.foreachBatch(lambda batch, number: batch.write.format("noop").mode("overwrite").save())
    query = writer.option("checkpointLocation", str(root / "cp" / str(uuid.uuid4()))).trigger(availableNow=True).start()
    assert query.awaitTermination(1000)


def main(rows: int, keys: int) -> None:
    with folder() as name:
        root = Path(name)
        spark = session(root)
        spark.range(0, rows, 1, FILES).selectExpr("id", f"id % {keys} key", "id / 100 amount").write.parquet(str(root / "parquet"))

        def by_hand(number: int) -> None:
            streamed(
                spark,
                root,
                lambda frame: frame.groupBy("key").transformWithState(ByHand(), "key bigint, id bigint, total double", "Append", "None"),
            )

        def alone(number: int) -> None:
            context = NodeContext("own", "Own", Stateful.Config.model_validate(OWN), mode="stream")
            streamed(spark, root, lambda frame: Stateful().apply({"in": [frame]}, context).drop(REJECTED))

        def ours(number: int) -> None:
            assert run_document(spark, document(), root, job_uid="job", until_drained=True)["out"] == rows

        variants = [Variant("by hand", by_hand), Variant("the node alone", alone), Variant("a job, with counters", ours)]
        compare(f"{keys:,} keys", rows, variants, rounds=3)
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, int(sys.argv[2]) if len(sys.argv) > 2 else 500)
