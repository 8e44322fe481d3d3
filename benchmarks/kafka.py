"""Kafka → parse → filter → computed column → Kafka, Parquet or a PostgreSQL upsert, against the same written by hand.

`python -m benchmarks.kafka [rows]`
"""

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg2
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.comparison import Variant, compare, folder, run_document, session
from jobs.nodes.base import ConnectionSettings
from tests.servers.kafka import KafkaServer
from tests.servers.postgres import PostgresServer

COLUMNS = [{"name": "id", "type": "long"}, {"name": "amount", "type": "double"}, {"name": "country", "type": "string"}]
DDL = "id bigint, amount double, country string"
PARTITIONS = 4

Write = Callable[[DataFrame, int], None]


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


def by_hand(spark: SparkSession, bootstrap: str, root: Path, write: Write) -> Callable[[int], object]:
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


def kafka_writer(bootstrap: str) -> Write:
    def to_kafka(batch: DataFrame, number: int) -> None:
        messages = batch.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("value"))
        messages.write.format("kafka").options(**{"kafka.bootstrap.servers": bootstrap, "topic": "clean"}).save()

    return to_kafka


def parquet_writer(root: Path) -> Write:
    def to_parquet(batch: DataFrame, number: int) -> None:
        batch.write.mode("append").parquet(str(root / f"hand-{number}"))

    return to_parquet


def upsert_writer(server: PostgresServer) -> Write:
    """Spark's writer, tuned, into a table beside; one statement takes its rows over."""
    at = urlsplit(server.url)
    url = f"jdbc:postgresql://{at.hostname}:{at.port}{at.path}"
    options = {"user": at.username or "", "password": at.password or "", "driver": "org.postgresql.Driver"}
    options |= {"reWriteBatchedInserts": "true", "batchsize": "10000"}

    def to_postgres(batch: DataFrame, number: int) -> None:
        batch.write.format("jdbc").options(url=url, dbtable=f"beside_{number}", **options).mode("overwrite").save()
        with closing(psycopg2.connect(server.url)) as line, line, line.cursor() as cursor:
            cursor.execute(
                f"CREATE TABLE IF NOT EXISTS hand_{number} "
                "(id bigint PRIMARY KEY, amount double precision, country text, gross double precision)"
            )
            cursor.execute(
                f"INSERT INTO hand_{number} SELECT * FROM beside_{number} ON CONFLICT (id) DO UPDATE SET "
                "amount = excluded.amount, country = excluded.country, gross = excluded.gross"
            )

    return to_postgres


def main(rows: int) -> None:
    with folder() as name, KafkaServer() as kafka, PostgresServer() as postgres:
        root, at = Path(name), urlsplit(postgres.url)
        spark = session(root)
        kafka.topic_create("orders", partitions=PARTITIONS)
        kafka.topic_create("clean", partitions=PARTITIONS)
        fill(spark, kafka.bootstrap, rows)
        settings = {"host": at.hostname, "port": at.port, "database": at.path.lstrip("/"), "user": at.username, "tls": "disable"}
        connections = {
            "main": ConnectionSettings("main", "kafka", {"servers": kafka.bootstrap}),
            "db": ConnectionSettings("db", "postgresql", settings, {"password": at.password or ""}),
        }

        def ours(type_name: str, config: Callable[[int], dict[str, Any]]) -> Callable[[int], object]:
            def run(number: int) -> None:
                sink = {"type": type_name, "config": config(number)}
                assert run_document(spark, document(sink), root, connections)["in"] == rows

            return run

        upsert = {"connection": "db", "mode": "upsert", "keys": ["id"]}
        for title, write, run in (
            ("Kafka to Kafka", kafka_writer(kafka.bootstrap), ours("sink.kafka", lambda number: {"connection": "main", "topic": "clean"})),
            ("Kafka to Parquet", parquet_writer(root), ours("sink.file", lambda number: {"path": f"ours-{number}"})),
            (
                "Kafka to a PostgreSQL upsert",
                upsert_writer(postgres),
                ours("sink.jdbc", lambda number: {**upsert, "table": f"ours_{number}"}),
            ),
        ):
            hand = Variant("PySpark by hand", by_hand(spark, kafka.bootstrap, root, write))
            compare(title, rows, [hand, Variant("ours with counters", run)])
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
