"""What checkpoints cost a running stream, and how fast large state is cut, copied and restored.

`python -m benchmarks.checkpoint_cost [rows] [GiB of state]`
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from benchmarks.comparison import Variant, compare, folder, numbered_csv, plan_of, run_plan, session
from benchmarks.file_to_parquet import COLUMNS
from checkpoints.checksums import Digests
from checkpoints.coordinator import Coordinator
from checkpoints.cut import cut_restore, folder_remove, query_cut
from checkpoints.job_cut import job_queries, run_facts
from checkpoints.ledger import CheckpointResult, Ticket
from checkpoints.spark_folder import last_committed
from checkpoints.triggers import Triggers

FILES = 60
INTERVAL_SECONDS = 2.0
KEPT = 10
KEY_BYTES = 256
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclass
class Numbered:
    """Numbers checkpoints and keeps the newest ten, without a database."""

    root: Path
    milliseconds: list[int] = field(default_factory=list)

    def begin(self, *, origin: str, requested_by: str, savepoint: bool, label: str) -> Ticket:
        number = len(self.milliseconds) + 1
        return Ticket(number, self.root / str(number), number)

    def complete(self, ticket: Ticket, result: CheckpointResult) -> None:
        self.milliseconds.append(sum(result.phases.values()))
        folder_remove(self.root / str(ticket.number - KEPT))

    def fail(self, ticket: Ticket, reason: str, phases: Mapping[str, int]) -> None:
        raise RuntimeError(reason)


def stream_cost(spark: SparkSession, root: Path, rows: int) -> None:
    """A stateless stream of small files, each a batch, with a checkpoint every two seconds and without any."""
    numbered_csv(spark, root / "csv", rows, files=FILES)
    taken: list[int] = []
    nodes = {
        "in": {"type": "source.file", "config": {"path": "csv", "columns": COLUMNS, "max_files_per_trigger": 1}},
        "big": {"type": "flow.filter_rows", "config": {"condition": "amount > 300"}},
    }
    edges = {"e1": {"from": ["in", "out"], "to": ["big", "in"]}, "e2": {"from": ["big", "out"], "to": ["out", "in"]}}

    def run(number: int, interval: float) -> None:
        out = {"type": "sink.file", "config": {"path": f"out/{interval:g}-{number}"}}
        raw = {"name": "cost", "type": "STREAMING", "nodes": {**nodes, "out": out}, "edges": edges, "settings": {"trigger_interval": "0s"}}
        plan = replace(plan_of(raw, root), until_drained=True)
        book = Numbered(root / "checkpoints" / plan.generation)
        made = Coordinator(
            book, run_facts(plan, execution_id="execution", version=1), job_queries(plan), triggers=Triggers(interval=interval)
        )
        made.start()
        assert run_plan(spark, plan, made.hear)["in"] == rows
        made.close()
        taken.extend(book.milliseconds)

    compare(
        f"a stream of {FILES} files",
        rows,
        [
            Variant("without checkpoints", lambda number: run(number, 0)),
            Variant(f"one every {INTERVAL_SECONDS:g} s", lambda number: run(number, INTERVAL_SECONDS)),
        ],
    )
    mean = sum(taken) / max(1, len(taken))
    print(f"  {len(taken)} checkpoints, {mean:.0f} ms each: every 10 s that is {mean / 10_000:.2%} of a thread (aim: 1 % of throughput)")


def state_made(spark: SparkSession, root: Path, gib: float) -> Path:
    """The live folder of a deduplication that remembers `gib` GiB of keys that do not compress, in eleven batches."""
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    rows = int(gib * 2**30 / KEY_BYTES)
    parts = [F.unhex(F.sha2(F.concat(F.col("id").cast("string"), F.lit(f"-{part}")), 256)) for part in range(KEY_BYTES // 32)]
    spark.range(0, rows, 1, 11).select(F.concat(*parts).alias("key")).write.parquet(str(root / "keys"))
    live = root / "state"
    query = (
        spark.readStream.schema("key binary")
        .option("maxFilesPerTrigger", "1")
        .name("keys")
        .parquet(str(root / "keys"))
        .dropDuplicates(["key"])
        .writeStream.format("noop")
        .option("checkpointLocation", str(live))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return live


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def state_cost(spark: SparkSession, root: Path, gib: float) -> None:
    live = state_made(spark, root, gib)
    newest, digests = last_committed(live), Digests()
    cuts = root / "cuts"
    first = seconds(lambda: query_cut(live, newest - 1, cuts / "1", real_copy=False, digests=digests))
    second = seconds(lambda: query_cut(live, newest, cuts / "2", real_copy=False, digests=digests))
    size = sum(path.stat().st_size for path in (cuts / "2").rglob("*") if path.is_file()) / 2**30
    print(f"\n{size:.2f} GiB of state, {KEY_BYTES} bytes a key, load {os.getloadavg()[0]:.1f}")
    print(f"  a first cut by links, every file read once: {first:.2f} s; the next one: {second:.2f} s (aim below 2 s for 1 GiB)")
    for _ in range(3):
        print(f"  {copies(live, newest, cuts, digests)}")


def copies(live: Path, newest: int, cuts: Path, digests: Digests) -> str:
    """A plain copy, a savepoint and a restore of the same state, in words; nothing of them is left."""
    plain, kept, back = cuts / "plain", cuts / "kept", cuts / "back"
    copied = seconds(lambda: plain_copy(cuts / "2", plain))
    saved = seconds(lambda: query_cut(live, newest, kept, real_copy=True, digests=digests))
    restored = seconds(lambda: cut_restore(cuts / "2", back))
    for made in (plain, kept, back):
        shutil.rmtree(made)
    words = f"cp and sync {copied:.2f} s; a savepoint {saved:.2f} s: {copied / saved:.2f} x (aim 0.8)"
    return f"{words}; a restore {restored:.2f} s (aim below 3)"


def plain_copy(source: Path, target: Path) -> None:
    """What `cp` takes until all of it is on disk."""
    subprocess.run(["cp", "-r", str(source), str(target)], check=True)
    subprocess.run(["sync", "-f", str(target)], check=True)


def main(rows: int, gib: float) -> None:
    with folder() as name:
        root = Path(name)
        spark = session(root)
        stream_cost(spark, root, rows)
        state_cost(spark, root, gib)
        spark.stop()


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 3_000_000, float(given[1]) if given[1:] else 1.0)
