"""Flows against the same step by hand, from Parquet to Parquet: `python -m benchmarks.flows [rows] [name …]`.

The node alone leaves out what it rejects; a job also counts what passes each node, and keeps what was rejected.
Python, Stateful, For each, windows of streams and what Lookup keeps have benchmarks of their own or wait for another system.

Window reduce, measured once with 100,000 rows on a machine busy with other work (load 7), beside applyInPandas row by row, processor
time: the node alone 0.64 x, a job 0.40 x.

Measured on two processors, a job by clock. With 20,000,000 rows in three rounds: Filter rows 1.05, Compute columns 1.07, Script 1.02,
Expectations 1.22 (0.86 before its rules were compiled in one piece). With 10,000,000 in five: Format 1.07, Mask 0.96, Aggregate 1.02,
Join 0.97 (0.89 in another run), SQL 0.97, Deduplicate 1.03, Rank 1.04, Lookup 0.94. With 5,000,000 in three: Select fields 1.35, Flat map
1.66, Parse 3.29, Sample 0.97, Limit 1.01, Sort 0.99, Repartition 0.97, Union 0.97, Window 1.02 x. Runs of two seconds differ by 15 %.

Lookup was 0.76 to 0.89 before: one row of each key of the table is kept (100,000 rows sorted once: 0.15 s with two partitions, 0.4 s with
Spark's 200), which a broadcast join by hand leaves to luck. A stream does it once for each time the table is read. `several: all` leaves
it out.
"""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pyspark.sql import DataFrame, Observation, SparkSession, Window
from pyspark.sql import functions as F

from benchmarks.comparison import Variant, compare, folder, run_document, session
from jobs.nodes.base import REJECTED, Flow, NodeContext
from jobs.nodes.registry import REGISTRY

TYPES = {
    "id": "long",
    "customer": "long",
    "amount": "double",
    "country": "string",
    "tags": "string",
    "body": "string",
    "at": "timestamp",
}
CUSTOMERS = 100_000
TABLE_TYPES = {"customer": "long", "name": "string", "city": "string"}
COUNT_AND_MORE = [
    {"name": "orders"},
    {"name": "largest", "function": "max", "column": "amount"},
    {"name": "mean", "function": "avg", "column": "amount"},
]


@dataclass(frozen=True)
class Case:
    """One flow over `columns` of the orders; `by_hand` gets them and the customers."""

    config: dict[str, Any]
    by_hand: Callable[[DataFrame, DataFrame], DataFrame]
    columns: tuple[str, ...] = ("id", "amount", "country")
    #: Port → what comes into it.
    inputs: dict[str, str] = field(default_factory=lambda: {"in": "orders"})


def _counted(groups: DataFrame, *keys: Any) -> DataFrame:
    return groups.groupBy(*keys).agg(F.count("*").alias("orders"), F.max("amount").alias("largest"), F.avg("amount").alias("mean"))


def _parsed(orders: DataFrame, _: DataFrame) -> DataFrame:
    """As one does it who wants bad rows apart."""
    kind = "number bigint, price double, who string, bad string"
    parsed = orders.select("id", F.from_json("body", kind, {"columnNameOfCorruptRecord": "bad"}).alias("one"))
    return parsed.select("id", "one.*").filter("bad is null").drop("bad")


def _chosen(orders: DataFrame, _: DataFrame) -> DataFrame:
    """A value that does not fit costs its row, not the job."""
    typed = orders.selectExpr("id number", "amount given", "try_cast(amount as decimal(10, 2)) amount")
    return typed.filter("amount is not null or given is null").drop("given")


def _first_of_each(orders: DataFrame, _: DataFrame) -> DataFrame:
    place = F.row_number().over(Window.partitionBy("customer").orderBy(F.col("amount").desc()))
    return orders.withColumn("place", place).filter("place <= 3")


def _split_text(orders: DataFrame, _: DataFrame) -> DataFrame:
    return orders.withColumn("tag", F.explode(F.transform(F.split("tags", ","), F.trim))).drop("tags")


def _reduced(orders: DataFrame, _: DataFrame) -> DataFrame:
    """As one does it in Python, row by row."""

    def largest(rows: Any) -> Any:
        value = [0, 0.0]
        for amount in rows["amount"]:
            value = [value[0] + 1, max(value[1], amount)]
        return rows[:1][["start", "end", "country"]].assign(orders=value[0], largest=value[1])

    windows = orders.withColumn("window", F.window("at", "1 hour")).select("window.start", "window.end", "country", "amount")
    made = "start timestamp, end timestamp, country string, orders bigint, largest double"
    return windows.groupBy("start", "end", "country").applyInPandas(largest, made)


def _scripted(orders: DataFrame, _: DataFrame) -> DataFrame:
    computed = orders.withColumn("gross", F.expr("amount * 1.19"))
    return computed.withColumn("band", F.expr("case when gross > 600 then 'high' else 'low' end")).filter("amount > 10")


def _expected(orders: DataFrame, _: DataFrame) -> DataFrame:
    """As one does it who wants to know how many rows break each rule."""
    counts = (F.count_if(F.expr(f"not coalesce({rule['condition']}, false)")).alias(rule["name"]) for rule in RULES)
    return orders.observe(Observation(), *counts).filter("amount >= 0 and country <> ''")


PARSED = [{"name": "number", "type": "long"}, {"name": "price", "type": "double"}, {"name": "who"}]
RULES = [{"name": "positive", "condition": "amount >= 0"}, {"name": "known", "condition": "country <> ''"}]
FIELDS = [{"column": "id", "name": "number"}, {"column": "amount", "type": "decimal(10, 2)"}]
REDUCE = """
def start():
    return [0, 0.0]


def add(value, row):
    return [value[0] + 1, max(value[1], row["amount"])]


def result(value):
    return {"orders": value[0], "largest": value[1]}
"""
REDUCED = [{"name": "orders", "type": "long"}, {"name": "largest", "type": "double"}]
SCRIPT = "gross = amount * 1.19\nband = case when gross > 600 then 'high' else 'low' end\nkeep if amount > 10"
BY_CUSTOMER = {"keys": [{"left": "customer"}]}
BY_AMOUNT = [{"column": "amount", "order": "descending"}]
QUERY = "SELECT country, customer, sum(amount) AS total FROM input WHERE amount > 10 GROUP BY ALL"

CASES = {
    "filter_rows": Case({"condition": "amount > 300"}, lambda orders, _: orders.filter("amount > 300")),
    "compute_columns": Case(
        {"columns": [{"name": "gross", "expression": "amount * 1.19"}]},
        lambda orders, _: orders.withColumn("gross", F.expr("amount * 1.19")),
    ),
    "select_fields": Case({"fields": FIELDS}, _chosen),
    "script": Case({"script": SCRIPT}, _scripted),
    "flat_map": Case({"column": "tags", "separator": ",", "output": "tag"}, _split_text, ("id", "tags")),
    "parse": Case({"column": "body", "columns": PARSED}, _parsed, ("id", "body")),
    "format": Case(
        {"keep": "none"}, lambda orders, _: orders.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("value"))
    ),
    "mask": Case(
        {"salt": "pepper", "fields": [{"column": "tags"}]},
        lambda orders, _: orders.withColumn("tags", F.sha2(F.concat(F.lit("pepper"), "tags"), 256)),
        ("id", "tags"),
    ),
    "expectations": Case({"rules": RULES}, _expected),
    "sample": Case({"percent": 50}, lambda orders, _: orders.sample(0.5)),
    "limit": Case({"rows": 100_000}, lambda orders, _: orders.limit(100_000)),
    "sort": Case({"order_by": BY_AMOUNT}, lambda orders, _: orders.orderBy(F.col("amount").desc())),
    "repartition": Case({"partitions": 4, "keys": ["country"]}, lambda orders, _: orders.repartition(4, "country")),
    "union": Case({}, lambda orders, _: orders.unionByName(orders), inputs={"in": "orders", "in ": "orders"}),
    "aggregate": Case(
        {"group_by": ["customer"], "aggregates": COUNT_AND_MORE},
        lambda orders, _: _counted(orders, "customer"),
        ("customer", "amount"),
    ),
    "window_aggregate": Case(
        {"time_column": "at", "window": "1 h", "group_by": ["country"], "aggregates": COUNT_AND_MORE},
        lambda orders, _: _counted(orders, F.window("at", "1 hour"), "country").select(
            "window.start", "window.end", "country", "orders", "largest", "mean"
        ),
        ("at", "amount", "country"),
    ),
    "window_reduce": Case(
        {"time_column": "at", "window": "1 h", "group_by": ["country"], "code": REDUCE, "columns": REDUCED},
        _reduced,
        ("at", "amount", "country"),
    ),
    "deduplicate": Case({"keys": ["customer"]}, lambda orders, _: orders.dropDuplicates(["customer"]), ("id", "customer")),
    "rank": Case(
        {"keys": ["customer"], "order_by": BY_AMOUNT, "rows": 3, "rank_column": "place"}, _first_of_each, ("id", "customer", "amount")
    ),
    "join": Case(
        BY_CUSTOMER,
        lambda orders, customers: orders.join(customers, "customer"),
        ("id", "customer", "amount"),
        {"left": "orders", "right": "customers"},
    ),
    "lookup": Case(
        BY_CUSTOMER,
        lambda orders, customers: orders.join(F.broadcast(customers), "customer", "left"),
        ("id", "customer", "amount"),
        {"in": "orders", "table": "customers"},
    ),
    "sql": Case(
        {"query": QUERY},
        lambda orders, _: orders.filter("amount > 10").groupBy("country", "customer").agg(F.sum("amount").alias("total")),
        ("customer", "amount", "country"),
    ),
}


def fill(spark: SparkSession, root: Path, rows: int) -> None:
    orders = spark.range(0, rows, 1, 4).selectExpr(
        "id",
        f"cast(pmod(hash(id), {CUSTOMERS}) as bigint) customer",
        "cast(pmod(hash(id, 7), 100000) / 100.0 as double) amount",
        "substr('DEFRITES', 1 + 2 * pmod(id, 4), 2) country",
        "concat('red, ', id, ',large') tags",
        "to_json(named_struct('number', id, 'price', id / 8, 'who', concat('customer ', id))) body",
        "timestamp_seconds(1357000000 + id % 864000) at",
    )
    orders.write.parquet(str(root / "orders"))
    customers = spark.range(0, CUSTOMERS, 1, 1).selectExpr("id customer", "concat('name ', id) name", "concat('city ', id % 500) city")
    customers.write.parquet(str(root / "customers"))


def document(name: str, case: Case, out: str) -> dict[str, Any]:
    types = {"orders": {column: TYPES[column] for column in case.columns}, "customers": TABLE_TYPES}
    nodes: dict[str, Any] = {
        "step": {"type": f"flow.{name}", "config": case.config},
        "out": {"type": "sink.file", "config": {"path": out}},
    }
    edges: dict[str, Any] = {"last": {"from": ["step", "out"], "to": ["out", "in"]}}
    for number, (port, table) in enumerate(case.inputs.items()):
        columns = [{"name": column, "type": kind} for column, kind in types[table].items()]
        nodes[f"in{number}"] = {"type": "source.file", "config": {"path": table, "format": "parquet", "columns": columns}}
        edges[f"e{number}"] = {"from": [f"in{number}", "out"], "to": ["step", port.strip()]}
    return {"name": "benchmark", "type": "SQL_TASK", "nodes": nodes, "edges": edges}


def emptied(written: Path) -> Path:
    """What the round before wrote is deleted: of twenty million rows each takes some hundred megabytes."""
    shutil.rmtree(written, ignore_errors=True)
    return written


def variants(spark: SparkSession, root: Path, name: str, case: Case) -> list[Variant]:
    def customers() -> DataFrame:
        return spark.read.parquet(str(root / "customers"))

    def by_hand(_: int) -> None:
        made = case.by_hand(spark.read.parquet(str(root / "orders")).select(*case.columns), customers())
        made.write.parquet(str(emptied(root / "hand" / name)))

    def alone(_: int) -> None:
        flow = cast("type[Flow[Any]]", REGISTRY.get(f"flow.{name}"))
        tables = {"orders": spark.read.parquet(str(root / "orders")).select(*case.columns), "customers": customers()}
        frames: dict[str, list[DataFrame]] = {}
        for port, table in case.inputs.items():
            frames.setdefault(port.strip(), []).append(tables[table])
        context = NodeContext("step", "Step", flow.Config.model_validate(case.config), job_type="SQL_TASK")
        made = cast("DataFrame", flow().apply(frames, context))
        kept = made.filter(F.col(REJECTED).isNull()).drop(REJECTED) if REJECTED in made.columns else made
        kept.write.parquet(str(emptied(root / "alone" / name)))

    def ours(_: int) -> None:
        emptied(root / "ours" / name)
        run_document(spark, document(name, case, f"ours/{name}"), root)

    return [Variant("by hand", by_hand), Variant("the node alone", alone), Variant("a job, with counters", ours)]


def is_same(spark: SparkSession, root: Path, name: str) -> bool:
    """Whether both wrote so many rows; of a sample nearly so many."""
    hand, ours = (spark.read.parquet(str(root / whose / name)).count() for whose in ("hand", "ours"))
    return abs(hand - ours) <= (hand / 100 if name == "sample" else 0)


def main(rows: int, names: tuple[str, ...]) -> None:
    with folder() as name:
        root = Path(name)
        spark = session(root)
        fill(spark, root, rows)
        for flow in names:
            compare(flow, rows, variants(spark, root, flow, CASES[flow]), rounds=5)
            assert is_same(spark, root, flow), f"{flow}: the job and the step by hand write different numbers of rows"
        spark.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000, tuple(sys.argv[2:]) or tuple(CASES))
