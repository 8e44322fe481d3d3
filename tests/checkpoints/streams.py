"""Real streaming queries over numbered files, by what they keep: nothing, windows, distinct ids, a join."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from checkpoints.spark_folder import last_committed
from jobs.nodes.base import NodeContext
from jobs.nodes.flows.stateful import Stateful
from jobs.nodes.flows.stateful_config import StatefulConfig

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
MEMORY = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
ROWS_A_FILE = 5
SCHEMA = "id long, at timestamp, kind string"

#: A source's name → the frame of its rows.
Read = Callable[[str], DataFrame]
Shape = Callable[[Read], DataFrame]


def plain(read: Read) -> DataFrame:
    return read("orders").where("id % 7 != 0")


def windows(read: Read) -> DataFrame:
    late = read("orders").withWatermark("at", "10 minutes")
    return late.groupBy(F.window("at", "5 minutes"), "kind").agg(F.count("*").alias("n"), F.sum("id").alias("total"))


def distinct(read: Read) -> DataFrame:
    return read("orders").withWatermark("at", "1 hour").dropDuplicates(["id", "at"])


def joined(read: Read) -> DataFrame:
    """With a second read of the same files, under a name of its own: several stores a partition."""
    left = read("orders").withWatermark("at", "1 hour")
    right = read("again").select(F.col("id").alias("other"), F.col("at").alias("other_at")).withWatermark("other_at", "1 hour")
    return left.join(right, F.expr("id = other and at = other_at"), "inner")


COUNTED = """
def process(key, rows, state, timers):
    for row in rows:
        state.ids.put(row["id"], state.ids.get(row["id"], 0) + 1)
        state.last.append(row["at"])
        yield {"id": row["id"], "count": len(state.ids) + 1000 * len(state.last)}
    state.last.set(list(state.last)[-7:])
"""


def counted(read: Read) -> DataFrame:
    """By a person's own code, with state of several kinds."""
    ids = {"name": "ids", "kind": "map", "key_type": "long", "type": "int"}
    config = {
        "keys": ["kind"],
        "time_column": "at",
        "state": [ids, {"name": "last", "kind": "list", "type": "timestamp"}],
        "columns": [{"name": "id", "type": "long"}, {"name": "count", "type": "long"}],
        "code": COUNTED,
    }
    context = NodeContext("own", "Own", StatefulConfig.model_validate(config), mode="stream", bounded=False)
    return Stateful().apply({"in": [read("orders")]}, context)


@dataclass
class Stream:
    """One query. `written` is batch → rows: a batch that runs again overwrites, as an idempotent sink would have it."""

    spark: SparkSession
    root: Path
    shape: Shape = plain
    provider: str = ROCKSDB
    live: Path = field(default_factory=Path)
    written: dict[int, list[Any]] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.live = self.live if self.live != Path() else self.root / "live"

    @property
    def folder(self) -> Path:
        return self.root / "in"

    def feed(self, files: int) -> None:
        """More files of five rows, numbered on, oldest first."""
        self.folder.mkdir(parents=True, exist_ok=True)
        begun = len(list(self.folder.iterdir()))
        for number in range(begun, begun + files):
            ids = range(number * ROWS_A_FILE, (number + 1) * ROWS_A_FILE)
            rows = [{"id": one, "at": f"2026-01-01T{one // 60:02d}:{one % 60:02d}:00Z", "kind": "abc"[one % 3]} for one in ids]
            path = self.folder / f"{number:05d}.json"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))

    def started(self, *, available: bool = False) -> StreamingQuery:
        session = self.spark.newSession()
        session.conf.set("spark.sql.shuffle.partitions", "2")
        session.conf.set("spark.sql.streaming.stateStore.providerClass", self.provider)
        session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2" if self.provider == ROCKSDB else "1")
        for key, value in self.conf.items():
            session.conf.set(key, value)
        frame = self.shape(lambda name: self._read(session, name))
        mode = "update" if self.shape is windows else "append"
        writer = frame.writeStream.foreachBatch(self._write).outputMode(mode).option("checkpointLocation", self.live.as_uri())
        trigger: dict[str, Any] = {"availableNow": True} if available else {"processingTime": "50 milliseconds"}
        return writer.trigger(**trigger).start()

    def drained(self) -> Stream:
        """All files read; the query has ended."""
        query = self.started(available=True)
        assert query.awaitTermination(100), "the query did not end"
        return self

    def wait_for_batch(self, batch_id: int, timeout: float = 60) -> int:
        deadline = time.monotonic() + timeout
        while (found := last_committed(self.live)) < batch_id:
            assert time.monotonic() < deadline, f"batch {batch_id} was not committed within {timeout} s"
            time.sleep(0.02)
        return found

    def restored(self, live: Path) -> Stream:
        """The same query, going on from another live folder."""
        return Stream(self.spark, self.root, self.shape, self.provider, live)

    def result(self, *, upto: int = 10**9) -> list[tuple[Any, ...]]:
        """What a sink holds after batch `upto`: the latest row of each key, or every row; equal lists mean equal results."""
        batches = [self.written[batch] for batch in sorted(self.written) if batch <= upto]
        if self.shape is windows:
            latest = {(row.window.start, row.kind): (row.n, row.total) for rows in batches for row in rows}
            return sorted((*key, *value) for key, value in latest.items())
        names = [name for name in ("id", "kind", "count") if self.shape is counted or name == "id"]
        return sorted(tuple(row[name] for name in names) for rows in batches for row in rows)

    def _read(self, session: SparkSession, name: str) -> DataFrame:
        read = session.readStream.name(name).schema(SCHEMA).option("maxFilesPerTrigger", 1).option("maxFileAge", "36500d")
        return read.json(str(self.folder))

    def _write(self, frame: DataFrame, batch_id: int) -> None:
        self.written[batch_id] = frame.collect()


def together(first: Stream, upto: int, second: Stream) -> list[tuple[Any, ...]]:
    """What one sink holds that took `first` up to a batch and then all of `second`."""
    merged = Stream(first.spark, first.root, first.shape, first.provider)
    merged.written = {batch: rows for batch, rows in first.written.items() if batch <= upto} | second.written
    return merged.result()
