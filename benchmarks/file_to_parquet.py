"""File → filter → computed column → Parquet against the same written by hand: `python -m benchmarks.file_to_parquet [rows]`.

Measured with 5,000,000 rows in five rounds, two processors, a job by clock: Parquet as one batch 0.97 to 1.05 x, as batches of new files
0.98 x; CSV as one batch 1.50 x, as batches of new files 1.57 x, for our own reader parts its lines (`jobs/engine/CsvLines.java`).
"""

import sys
from pathlib import Path

from pyspark.sql import functions as F

from benchmarks.comparison import Variant, compare, folder, numbered_csv, run_document, session

COLUMNS = [
    {"name": "id", "type": "long"},
    {"name": "amount", "type": "double"},
    {"name": "country", "type": "string"},
    {"name": "note", "type": "string"},
]
DDL = "id bigint, amount double, country string, note string"


def document(job_type: str, format: str, out: str) -> dict[str, object]:
    return {
        "name": "benchmark",
        "type": job_type,
        "nodes": {
            "in": {"type": "source.file", "config": {"path": format, "format": format, "columns": COLUMNS}},
            "big": {"type": "flow.filter_rows", "config": {"condition": "amount > 300"}},
            "more": {"type": "flow.compute_columns", "config": {"columns": [{"name": "gross", "expression": "amount * 1.19"}]}},
            "out": {"type": "sink.file", "config": {"path": out}},
        },
        "edges": {
            "e1": {"from": ["in", "out"], "to": ["big", "in"]},
            "e2": {"from": ["big", "out"], "to": ["more", "in"]},
            "e3": {"from": ["more", "out"], "to": ["out", "in"]},
        },
    }


def main(rows: int) -> None:
    with folder() as name:
        root = Path(name)
        spark = session(root)
        numbered_csv(spark, root / "csv", rows)
        spark.read.schema(DDL).option("header", "true").csv(str(root / "csv")).write.parquet(str(root / "parquet"))
        for format in ("parquet", "csv"):

            def by_hand(number: int, format: str = format) -> None:
                frame = spark.read.schema(DDL).format(format).option("header", "true").load(str(root / format))
                frame = frame.filter("amount > 300").withColumn("gross", F.expr("amount * 1.19"))
                frame.write.parquet(str(root / "hand" / f"{format}-{number}"))

            def stream_by_hand(number: int, format: str = format) -> None:
                frame = spark.readStream.schema(DDL).format(format).option("header", "true").name("source").load(str(root / format))
                frame = frame.filter("amount > 300").withColumn("gross", F.expr("amount * 1.19"))
                out = str(root / "hand" / f"{format}-stream-{number}")
                query = (
                    frame.writeStream.foreachBatch(lambda batch, batch_id: batch.write.mode("append").parquet(out))
                    .option("checkpointLocation", f"{out}-checkpoint")
                    .trigger(availableNow=True)
                    .start()
                )
                query.awaitTermination()

            def whole(number: int, format: str = format) -> None:
                assert run_document(spark, document("SQL_TASK", format, f"ours/{format}-{number}"), root)["in"] == rows

            def roller(number: int, format: str = format) -> None:
                assert run_document(spark, document("BATCH_ROLLER", format, f"ours/{format}-roller-{number}"), root)["in"] == rows

            compare(
                f"{format} to Parquet, one batch", rows, [Variant("PySpark by hand", by_hand), Variant("SQL_TASK with counters", whole)]
            )
            compare(
                f"{format} to Parquet, availableNow",
                rows,
                [Variant("PySpark by hand", stream_by_hand), Variant("BATCH_ROLLER with counters", roller)],
            )
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000)
