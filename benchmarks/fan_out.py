"""Two sinks of one stream against a persisted foreachBatch written by hand: `python -m benchmarks.fan_out [rows]`."""

import sys
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.comparison import Variant, compare, folder, numbered_csv, run_document, session
from benchmarks.file_to_parquet import DDL, document


def two_sinks(format: str, out: str) -> dict[str, object]:
    raw = document("BATCH_ROLLER", format, f"{out}-a")
    raw["nodes"]["other"] = {"type": "sink.file", "config": {"path": f"{out}-b", "format": "json"}}  # type: ignore[index]
    raw["edges"]["e4"] = {"from": ["more", "out"], "to": ["other", "in"]}  # type: ignore[index]
    return raw


def main(rows: int) -> None:
    with folder() as name:
        root = Path(name)
        spark = session(root)
        numbered_csv(spark, root / "csv", rows)
        spark.read.schema(DDL).option("header", "true").csv(str(root / "csv")).write.parquet(str(root / "parquet"))

        def by_hand(number: int) -> None:
            out = root / "hand" / str(number)

            def write(batch: DataFrame, batch_id: int) -> None:
                batch.persist(StorageLevel.MEMORY_AND_DISK)
                batch.write.mode("append").parquet(f"{out}-a")
                batch.write.mode("append").option("ignoreNullFields", "false").json(f"{out}-b")
                batch.unpersist()

            frame = spark.readStream.schema(DDL).name("source").parquet(str(root / "parquet"))
            frame = frame.filter("amount > 300").withColumn("gross", F.expr("amount * 1.19"))
            query = (
                frame.writeStream.foreachBatch(write).option("checkpointLocation", f"{out}-checkpoint").trigger(availableNow=True).start()
            )
            query.awaitTermination()

        def ours(number: int) -> None:
            assert run_document(spark, two_sinks("parquet", f"ours/{number}"), root)["in"] == rows

        compare("two sinks", rows, [Variant("persisted foreachBatch by hand", by_hand), Variant("one document, two sinks", ours)])
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000)
