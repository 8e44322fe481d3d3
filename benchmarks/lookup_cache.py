"""What Lookup gains by keeping its table between batches: a table of a database, or the answer of an API, beside files
that an import reads one a batch.

`python -m benchmarks.lookup_cache [rows] [rows of the table] [jdbc|http …]`

Measured once with 100,000 rows in 20 batches and a table of 2,000 rows, on a machine busy with other work (load 10, then 3), seconds
of processor time: of a database read for each batch 16.9, kept 9.4; of an API read for each batch 18.1, kept 9.1.
"""

import json
import sqlite3
import sys
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.comparison import Variant, compare, folder, plan_of, run_plan, session
from jobs.engine.session import STREAMING_CONF
from jobs.nodes.base import ConnectionSettings
from tests.nodes.api_server import api_server, as_json

FILES = 20
COLUMNS = [{"name": "id", "type": "long"}, {"name": "customer", "type": "long"}, {"name": "amount", "type": "double"}]
TABLE_COLUMNS = [{"name": "customer", "type": "long"}, {"name": "name"}, {"name": "city"}]
TABLES: dict[str, dict[str, Any]] = {
    "jdbc": {"type": "source.jdbc", "config": {"connection": "beside", "table": "customers"}},
    "http": {
        "type": "source.http_api",
        "config": {"connection": "beside", "path": "customers", "paging": "none", "columns": TABLE_COLUMNS},
    },
}

Read = Callable[[], DataFrame]


def customers(rows: int) -> list[tuple[int, str, str]]:
    return [(number, f"name {number}", f"city {number % 500}") for number in range(rows)]


@contextmanager
def beside(spark: SparkSession, root: Path, kind: str, rows: int) -> Iterator[tuple[ConnectionSettings, str, Read]]:
    """The connection to the table, the host to allow, and how one reads the table by hand."""
    if kind == "jdbc":
        place = root / "customers.sqlite3"
        with closing(sqlite3.connect(place)) as database, database:
            database.execute("CREATE TABLE customers (customer bigint, name text, city text)")
            database.executemany("INSERT INTO customers VALUES (?, ?, ?)", customers(rows))
        options = {"url": f"jdbc:sqlite:{place}", "dbtable": "customers", "driver": "org.sqlite.JDBC"}
        yield ConnectionSettings("beside", "sqlite", {"path": str(place)}), "", lambda: spark.read.format("jdbc").options(**options).load()
        return
    told = as_json([dict(zip(("customer", "name", "city"), one, strict=True)) for one in customers(rows)])
    with api_server(lambda request: told) as server:

        def fetched() -> DataFrame:
            with urllib.request.urlopen(f"{server.url}/customers") as answer:
                found = [(one["customer"], one["name"], one["city"]) for one in json.load(answer)]
            return spark.createDataFrame(found, "customer bigint, name string, city string")

        yield ConnectionSettings("beside", "http_api", {"base_url": server.url}), server.host, fetched


def streamed(spark: SparkSession, root: Path, table: Read) -> None:
    """The same files, one a batch, with the same settings."""
    own = spark.newSession()
    for key, value in {**STREAMING_CONF, "spark.sql.shuffle.partitions": "2"}.items():
        own.conf.set(key, value)

    def write(batch: DataFrame, number: int) -> None:
        joined = batch.join(F.broadcast(table()), "customer", "left")
        joined.write.format("noop").mode("overwrite").save()

    read = own.readStream.name("in").schema("id bigint, customer bigint, amount double").option("maxFilesPerTrigger", 1)
    writer = read.parquet(str(root / "orders")).writeStream.foreachBatch(write)
    query = writer.option("checkpointLocation", str(root / "cp" / str(uuid.uuid4()))).trigger(availableNow=True).start()
    assert query.awaitTermination(3000)


def document(kind: str, refresh: str) -> dict[str, Any]:
    source = {"path": "orders", "format": "parquet", "columns": COLUMNS, "max_files_per_trigger": 1}
    return {
        "name": "benchmark",
        "type": "BATCH_ROLLER",
        "nodes": {
            "in": {"type": "source.file", "config": source},
            "table": TABLES[kind],
            "look": {"type": "flow.lookup", "config": {"keys": [{"left": "customer"}], "refresh": refresh}},
            "out": {"type": "sink.none", "config": {}},
        },
        "edges": {
            "e1": {"from": ["in", "out"], "to": ["look", "in"]},
            "e2": {"from": ["table", "out"], "to": ["look", "table"]},
            "e3": {"from": ["look", "out"], "to": ["out", "in"]},
        },
    }


def variants(spark: SparkSession, root: Path, kind: str, rows: int, there: tuple[ConnectionSettings, str, Read]) -> list[Variant]:
    connection, host, read = there

    def ours(refresh: str) -> None:
        plan = plan_of(document(kind, refresh), root, {"beside": connection})
        limits = replace(plan.limits, http_allowed_hosts=(host,) if host else ())
        assert run_plan(spark, replace(plan, limits=limits))["out"] == rows

    def kept(number: int) -> None:
        table = read().cache()
        streamed(spark, root, lambda: table)
        table.unpersist()

    return [
        Variant("by hand, read for each batch", lambda number: streamed(spark, root, read)),
        Variant("by hand, read once and cached", kept),
        Variant("a job that reads it for each batch", lambda number: ours("0s")),
        Variant("a job that keeps it for 10 min", lambda number: ours("10 min")),
    ]


def main(rows: int, table_rows: int, kinds: tuple[str, ...]) -> None:
    with folder() as name:
        root = Path(name)
        spark = session(root)
        orders = spark.range(0, rows, 1, FILES).selectExpr(
            "id", f"cast(pmod(hash(id), {table_rows}) as bigint) customer", "cast(id / 100.0 as double) amount"
        )
        orders.write.parquet(str(root / "orders"))
        for kind in kinds:
            with beside(spark, root, kind, table_rows) as there:
                title = f"{kind}, a table of {table_rows:,} rows, {FILES} batches"
                compare(title, rows, variants(spark, root, kind, rows, there), rounds=3)
        spark.stop()


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else 5_000_000, int(given[1]) if len(given) > 1 else 10_000, tuple(given[2:]) or tuple(TABLES))
