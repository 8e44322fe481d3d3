"""The exactly-once PostgreSQL sink against Spark's JDBC writer: `python -m benchmarks.postgres_sink [rows]`.

Measured with 5,000,000 rows in three rounds, two processors: 2.14 x Spark's writer as it comes, 1.08 x the tuned one, which has no
guarantee; and our rows also tell where they come from, which nearly doubles what the server stores.
"""

import sys
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.comparison import Variant, compare, folder, run_document, session
from jobs.nodes.base import ConnectionSettings
from tests.servers.postgres import PostgresServer


def document(table: str) -> dict[str, object]:
    return {
        "name": "benchmark",
        "type": "SQL_TASK",
        "nodes": {
            "in": {"type": "source.file", "config": {"path": "parquet", "format": "parquet"}},
            "out": {"type": "sink.jdbc", "config": {"connection": "db", "table": table, "mode": "append"}},
        },
        "edges": {"e1": {"from": ["in", "out"], "to": ["out", "in"]}},
    }


def main(rows: int) -> None:
    with folder() as name, PostgresServer() as server:
        root, at = Path(name), urlsplit(server.url)
        spark = session(root)
        spark.range(0, rows, 1, 2).selectExpr(
            "id",
            "cast(pmod(hash(id), 100000) / 100.0 as double) amount",
            "concat('note ', id) note",
            "timestamp_seconds(1700000000 + id) at",
        ).write.parquet(str(root / "parquet"))
        settings = {"host": at.hostname, "port": at.port, "database": at.path.lstrip("/"), "user": at.username}
        database = ConnectionSettings("db", "postgresql", settings, {"password": at.password or ""})
        url = f"jdbc:postgresql://{at.hostname}:{at.port}{at.path}"

        def plain(number: int, **options: str) -> None:
            frame = spark.read.parquet(str(root / "parquet"))
            signing = {"user": at.username or "", "password": at.password or "", "driver": "org.postgresql.Driver"}
            frame.write.format("jdbc").options(url=url, dbtable=f"plain_{len(options)}_{number}", **signing, **options).save()

        def tuned(number: int) -> None:
            plain(number, reWriteBatchedInserts="true", batchsize="10000")

        def ours(number: int) -> None:
            assert run_document(spark, document(f"ours_{number}"), root, {"db": database}) == {"in": rows, "out": rows}

        compare(
            "into PostgreSQL",
            rows,
            [
                Variant("Spark's writer as it comes", plain),
                Variant("Spark's writer, tuned", tuned),
                Variant("sink.jdbc, exactly once", ours),
            ],
            rounds=3,
        )
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
