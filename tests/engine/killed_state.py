"""A process that runs all that keeps state over files of rows, one a batch, to be killed from outside.

`python -m tests.engine.killed_state FOLDER GENERATION ATTEMPT`
"""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from jobs.dag.document import DagDocument
from jobs.engine.plan import Plan
from jobs.engine.runner import Run
from jobs.engine.session import SessionOptions, session_build
from tests.engine.graphs import REGISTRY, Bench, document, files
from tests.engine.killed_run import said, tell
from tests.engine.late_reference import EDGES, FAMILIES, Batches
from tests.engine.shuffled import COLUMNS


def batches_drop(bench: Bench, folder: str, batches: Batches) -> None:
    """A file for each batch, by the order of their names."""
    (bench.files / folder).mkdir(parents=True)
    for number, batch in enumerate(batches):
        lines = [json.dumps({**row, "at": row["at"].isoformat()}) for row in batch]
        (bench.files / folder / f"{number:03}.json").write_text("\n".join(lines) + "\n")


def stateful_document() -> DagDocument:
    def read(folder: str) -> tuple[str, dict[str, Any]]:
        own = {"path": folder, "format": "json", "columns": COLUMNS, "max_files_per_trigger": 1, "order": "name"}
        return "source.file", own

    sinks = {f"{family}_out": files(f"out/{family}") for family in FAMILIES}
    edges = ", ".join([EDGES, *(f"{family}>{family}_out" for family in FAMILIES)])
    nodes = {"rows": read("rows"), "more": read("more"), **FAMILIES, **sinks}
    return document(nodes, edges, type="STREAMING", settings={"parallelism": 1})


def stateful_plan(bench: Bench, generation: str = "", attempt: int = 1) -> Plan:
    """It ends once all files have been read."""
    return dataclasses.replace(bench.plan(stateful_document(), generation=generation, attempt=attempt), until_drained=True)


def main(folder: Path, generation: str, attempt: int) -> None:
    options = SessionOptions(
        "local[2]",
        memory="1g",
        local_dir=folder / "spark",
        java_options="-XX:TieredStopAtLevel=1",
        prepared=Path(__file__).resolve().parents[2] / ".venv" / "spark-jars",
    )
    spark = session_build(options)
    spark.sparkContext.setLogLevel("OFF")
    run = Run(spark, stateful_plan(Bench(spark, folder), generation, attempt), tell, registry=REGISTRY)
    run.start()
    said({"kind": "outcome", "outcome": run.wait()})
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
