"""The exactly-once sink into MariaDB against its Python client in Spark's tasks: `python -m benchmarks.mysql_sink [rows]`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymysql
from pyspark.sql import Row

from benchmarks.comparison import Variant, compare, folder, run_document, session
from jobs.nodes.base import ConnectionSettings
from tests.servers.mariadb import USER, MariadbServer

COLUMNS = "id bigint, amount double, note longtext, at datetime(6)"


def document(table: str, config: dict[str, Any]) -> dict[str, object]:
    return {
        "name": "benchmark",
        "type": "SQL_TASK",
        "nodes": {
            "in": {"type": "source.file", "config": {"path": "parquet", "format": "parquet"}},
            "out": {"type": "sink.jdbc", "config": {"connection": "db", "table": table, **config}},
        },
        "edges": {"e1": {"from": ["in", "out"], "to": ["out", "in"]}},
    }


def main(rows: int) -> None:
    with folder() as name, MariadbServer() as server:
        root = Path(name)
        spark = session(root)
        spark.range(0, rows, 1, 2).selectExpr(
            "id",
            "cast(pmod(hash(id), 100000) / 100.0 as double) amount",
            "concat('note ', id) note",
            "timestamp_seconds(1700000000 + id) at",
        ).write.parquet(str(root / "parquet"))
        own = server.open()
        own.cursor().execute("CREATE DATABASE bench")
        address: dict[str, Any] = {"host": "127.0.0.1", "port": server.port, "database": "bench", "user": USER}
        database = ConnectionSettings("db", "mysql", address, {"password": server.password})
        password = server.password

        def by_hand(number: int) -> None:
            own.cursor().execute(f"CREATE TABLE bench.by_hand_{number} ({COLUMNS})")

            def send(part: Iterator[Row]) -> None:
                sending = pymysql.connect(password=password, **address)
                with sending.cursor() as cursor:
                    cursor.executemany(f"INSERT INTO by_hand_{number} VALUES (%s, %s, %s, %s)", part)
                sending.commit()

            spark.read.parquet(str(root / "parquet")).foreachPartition(send)

        def ours(mode: str, number: int) -> None:
            config = {"mode": mode, "keys": ["id"] if mode == "upsert" else []}
            assert run_document(spark, document(f"{mode}_{number}", config), root, {"db": database}) == {"in": rows, "out": rows}

        compare(
            "into MariaDB",
            rows,
            [
                Variant("the Python client in each task", by_hand),
                Variant("sink.jdbc, append, exactly once", lambda number: ours("append", number)),
                Variant("sink.jdbc, upsert, exactly once", lambda number: ours("upsert", number)),
            ],
            rounds=2,
        )
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
