"""A process that runs numbered rows into appending sinks, one of them behind what a table refuses, to be killed from outside.

`python -m tests.engine.killed_run FOLDER GENERATION ATTEMPT`
"""

import dataclasses
import json
import sqlite3
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobs.engine.events import BatchWritten, EngineEvent, QueryStarted
from jobs.engine.runner import Run
from jobs.engine.session import SessionOptions, session_build
from jobs.nodes.base import ConnectionSettings
from tests.engine.graphs import REGISTRY, Bench, document, files, keep, numbers

ROWS = 15_000
BATCH = 300
#: The table takes no id that leaves 3 when it is divided by this.
REFUSED = 7


def tell(event: EngineEvent) -> None:
    if isinstance(event, BatchWritten | QueryStarted):
        said({"kind": type(event).__name__, **dataclasses.asdict(event)})


def said(facts: Mapping[str, Any]) -> None:
    """A line of its own, whichever threads say something at this moment: `print` would write its end apart."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


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
    bench = Bench(spark, folder)
    table = ("sink.jdbc", {"connection": "db", "table": "numbers", "mode": "append", "add_columns": True})
    wide = ("sink.file", {"path": "wide", "roll_megabytes": 0.01})
    nodes = {"gen": numbers(ROWS, BATCH), "odd": keep("id % 2 = 1"), "out": files("out"), "table": table, "wide": wide, "bad": files("bad")}
    plan = bench.plan(document(nodes, "gen>odd, odd>out, gen>table, odd>wide, table.errors>bad"), generation=generation, attempt=attempt)
    path = bench.files / "numbers.sqlite"
    with sqlite3.connect(path) as made:
        made.execute(f"CREATE TABLE IF NOT EXISTS numbers (id integer, _batch integer, CHECK (id % {REFUSED} <> 3))")
    database = ConnectionSettings("db", "sqlite", {"path": str(path)})
    run = Run(spark, dataclasses.replace(plan, connections={"db": database}), tell, registry=REGISTRY)
    run.start()
    said({"kind": "outcome", "outcome": run.wait()})
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
