"""The node Python against the same function by hand (mapInArrow, mapInPandas): `python -m benchmarks.python_function [rows] [shape]`."""

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.comparison import Variant, compare, folder, numbered_csv, run_document, session
from jobs.nodes.base import REJECTED, NodeContext
from jobs.nodes.flows.python import PythonFlow

DDL = "id bigint, amount double, country string, note string"
MADE = f"{DDL}, gross double"
COLUMNS = [{"name": name, "type": kind} for name, kind in (part.split() for part in DDL.replace("bigint", "long").split(", "))]

ARROW = """
import pyarrow.compute as pc

def process(batch):
    kept = batch.filter(pc.greater(batch["amount"], 300))
    return kept.append_column("gross", pc.multiply(kept["amount"], 1.19))
"""
PANDAS = """
def process(frame):
    kept = frame[frame["amount"] > 300]
    return kept.assign(gross=kept["amount"] * 1.19)
"""
ROW = """
def process(row):
    if row["amount"] <= 300:
        return None
    row["gross"] = row["amount"] * 1.19
    return row
"""

CODE = {"arrow": ARROW, "pandas": PANDAS, "row": ROW}


def document(shape: str, code: str, out: str) -> dict[str, Any]:
    own = {"shape": shape, "code": code, "columns": [*COLUMNS, {"name": "gross", "type": "double"}]}
    return {
        "name": "benchmark",
        "type": "SQL_TASK",
        "nodes": {
            "in": {"type": "source.file", "config": {"path": "parquet", "format": "parquet", "columns": COLUMNS}},
            "own": {"type": "flow.python", "config": own},
            "out": {"type": "sink.file", "config": {"path": out}},
        },
        "edges": {"e1": {"from": ["in", "out"], "to": ["own", "in"]}, "e2": {"from": ["own", "out"], "to": ["out", "in"]}},
    }


def by_batch(code: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """What one would write: the function over every batch, and nothing more."""

    def over(batches: Iterable[Any]) -> Iterator[Any]:
        names: dict[str, Any] = {}
        exec(code, names)
        process = names["process"]
        for batch in batches:
            yield process(batch)

    return over


def by_row(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    names: dict[str, Any] = {}
    exec(ROW, names)
    process = names["process"]
    for batch in batches:
        rows = [made for made in map(process, batch.to_pylist()) if made is not None]
        yield pa.RecordBatch.from_pylist(rows, schema=batch.schema.append(pa.field("gross", pa.float64())))


def main(rows: int, shapes: tuple[str, ...]) -> None:
    with folder() as name:
        root = Path(name)
        spark = session(root)
        numbered_csv(spark, root / "csv", rows)
        spark.read.schema(DDL).option("header", "true").csv(str(root / "csv")).write.parquet(str(root / "parquet"))
        for shape in shapes:
            code = CODE[shape]

            def by_hand(number: int, shape: str = shape, code: str = code) -> None:
                frame = spark.read.schema(DDL).parquet(str(root / "parquet"))
                if shape == "pandas":
                    made = frame.mapInPandas(by_batch(code), MADE)
                else:
                    made = frame.mapInArrow(by_batch(code) if shape == "arrow" else by_row, MADE)
                made.write.parquet(str(root / "hand" / f"{shape}-{number}"))

            def alone(number: int, shape: str = shape, code: str = code) -> None:
                config = PythonFlow.Config.model_validate(document(shape, code, "")["nodes"]["own"]["config"])
                frame = spark.read.schema(DDL).parquet(str(root / "parquet"))
                made = PythonFlow().apply({"in": [frame]}, NodeContext("own", "Own", config))
                made.drop(REJECTED).write.parquet(str(root / "alone" / f"{shape}-{number}"))

            def ours(number: int, shape: str = shape, code: str = code) -> None:
                # The same job again, as a stream goes on: the workers of a new one would start first.
                assert run_document(spark, document(shape, code, f"ours/{shape}-{number}"), root, job_uid="job")["in"] == rows

            compare(shape, rows, [Variant("by hand", by_hand), Variant("the node alone", alone), Variant("a job, with counters", ours)])
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000, tuple(sys.argv[2:]) or tuple(CODE))
