"""Kafka → parse → filter → computed column → Kafka or Parquet, against the same written by hand: `python -m benchmarks.kafka [rows]`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.comparison import Variant, compare, folder, run_document, session
from jobs.nodes.base import ConnectionSettings
from tests.servers.kafka import KafkaServer

COLUMNS = [{"name": "id", "type": "long"}, {"name": "amount", "type": "double"}, {"name": "country", "type": "string"}]
DDL = "id bigint, amount double, country string"
PARTITIONS = 4


def document(sink: dict[str, Any]) -> dict[str, object]:
    source = {"connection": "main", "topic": "orders", "columns": COLUMNS, "max_records_per_trigger": 0}
    return {
        "name": "benchmark",
        "type": "BATCH_ROLLER",
        "nodes": {
            "in": {"type": "source.kafka", "config": source},
            "big": {"type": "flow.filter_rows", "config": {"condition": "amount > 300"}},
            "more": {"type": "flow.compute_columns", "config": {"columns": [{"name": "gross", "expression": "amount * 1.19"}]}},
            "out": sink,
        },
        "edges": {
            "e1": {"from": ["in", "out"], "to": ["big", "in"]},
            "e2": {"from": ["big", "out"], "to": ["more", "in"]},
            "e3": {"from": ["more", "out"], "to": ["out", "in"]},
        },
    }


def fill(spark: SparkSession, bootstrap: str, rows: int) -> None:
    numbered = spark.range(0, rows, 1, PARTITIONS).selectExpr(
        "to_json(named_struct('id', id, 'amount', pmod(hash(id), 100000) / 100.0, "
        "'country', substr('DEFRITES', 1 + 2 * pmod(id, 4), 2))) value"
    )
    numbered.write.format("kafka").options(**{"kafka.bootstrap.servers": bootstrap, "topic": "orders"}).save()


def by_hand(spark: SparkSession, bootstrap: str, root: Path, write: Callable[[DataFrame, int], None]) -> Callable[[int], object]:
    def run(number: int) -> None:
        messages = (
            spark.readStream.name("orders")
            .format("kafka")
            .options(**{"kafka.bootstrap.servers": bootstrap, "subscribe": "orders", "startingOffsets": "earliest"})
            .load()
        )
        rows = messages.select(F.from_json(F.col("value").cast("string"), DDL).alias("r")).select("r.*")
        rows = rows.filter("amount > 300").withColumn("gross", F.expr("amount * 1.19"))
        writer = rows.writeStream.foreachBatch(lambda batch, _: write(batch, number))
        writer.option("checkpointLocation", str(root / f"checkpoint-{write.__name__}-{number}")).trigger(
            availableNow=True
        ).start().awaitTermination()

    return run


def main(rows: int) -> None:
    with folder() as name, KafkaServer() as server:
        root = Path(name)
        spark = session(root)
        server.topic_create("orders", partitions=PARTITIONS)
        server.topic_create("clean", partitions=PARTITIONS)
        fill(spark, server.bootstrap, rows)
        connections = {"main": ConnectionSettings("main", "kafka", {"servers": server.bootstrap})}

        def to_kafka(batch: DataFrame, number: int) -> None:
            messages = batch.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("value"))
            messages.write.format("kafka").options(**{"kafka.bootstrap.servers": server.bootstrap, "topic": "clean"}).save()

        def to_parquet(batch: DataFrame, number: int) -> None:
            batch.write.mode("append").parquet(str(root / f"hand-{number}"))

        def ours(sink: Callable[[int], dict[str, Any]]) -> Callable[[int], object]:
            def run(number: int) -> None:
                assert run_document(spark, document(sink(number)), root, connections)["in"] == rows

            return run

        kafka = ours(lambda number: {"type": "sink.kafka", "config": {"connection": "main", "topic": "clean"}})
        parquet = ours(lambda number: {"type": "sink.file", "config": {"path": f"ours-{number}"}})
        for title, write, run in (("Kafka to Kafka", to_kafka, kafka), ("Kafka to Parquet", to_parquet, parquet)):
            hand = Variant("PySpark by hand", by_hand(spark, server.bootstrap, root, write))
            compare(title, rows, [hand, Variant("ours with counters", run)])
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
