"""`source.sql`: one query over databases, files, a store and Delta tables; faults are told of the input they are about."""

from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from tests.nodes.conftest import Build, Built, Database
from tests.servers.s3 import SECRET_KEY, S3Server

pytestmark = pytest.mark.spark

ORDERS = {"name": "orders", "kind": "table", "connection": "db", "table": "orders"}


def source(build: Build, query: str, *inputs: dict[str, Any], **given: Any) -> Built:
    return build("source.sql", {"query": query, "inputs": list(inputs)}, job_type="SQL_TASK", **given)


@pytest.fixture
def orders(database: Database) -> Database:
    database.run("CREATE TABLE orders (id integer PRIMARY KEY, customer integer, amount integer)")
    database.run("INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (4, 3, 1)")
    return database


def test_a_table_a_query_files_and_a_delta_table_are_joined(spark: SparkSession, build: Build, orders: Database, root: Path):
    (root / "customers.csv").write_text("id;name;country\n1;Ada;1\n2;Bob;2\n3;Cid;2\nNA;NA;NA\n")
    countries = spark.createDataFrame([(1, "Norway"), (2, "Peru")], "id int, title string")
    countries.write.format("delta").save(str(root / "countries"))
    built = source(
        build,
        "SELECT o.id, c.name, n.title, b.amount > 9 AS big FROM orders o LEFT JOIN big b USING (id) "
        "JOIN customers c ON c.id = o.customer JOIN countries n ON n.id = c.country",
        ORDERS,
        {"name": "big", "kind": "query", "connection": "db", "statement": "SELECT id, amount FROM orders WHERE amount > 9"},
        {"name": "customers", "kind": "files", "path": "customers.csv", "delimiter": ";", "null_value": "NA"},
        {"name": "countries", "kind": "delta", "path": "countries"},
        connections=orders.connections,
    )
    assert built.node.needs_to_begin(built.context) == ""
    rows = sorted(tuple(row) for row in built.node.read(spark, built.context).collect())
    assert rows == [(1, "Ada", "Norway", True), (2, "Ada", "Norway", True), (3, "Bob", "Peru", None), (4, "Cid", "Peru", None)]
    assert not spark.catalog.listTables()


def test_its_columns_are_known_while_it_is_drawn(spark: SparkSession, build: Build, orders: Database):
    query = "SELECT customer, sum(amount) AS total FROM orders GROUP BY customer"
    built = source(build, query, ORDERS, connections=orders.connections, schema_only=True)
    assert [name for name, _ in built.node.read(spark, built.context).dtypes] == ["customer", "total"]


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"table": "ordres"}, "inputs/0/table", 'input "orders": .*ordres'),
        ({"kind": "query", "statement": "SELEC 1"}, "inputs/0/statement", 'input "orders": '),
        ({"connection": "other"}, "inputs/0/connection", 'input "orders": connection "other" does not exist in this project'),
        (
            {"kind": "files", "connection": "", "path": "empty"},
            "inputs/0/name",
            r"list the columns, in a source of its own before a SQL node$",
        ),
        (
            {"kind": "files", "connection": "", "path": "notes.csv"},
            "inputs/0/name",
            r'turn on "Multi line", in a source of its own before a SQL node$',
        ),
        ({"connection": "lake"}, "inputs/0/connection", 'input "orders": connection "lake" is of kind s3, but .* is needed here'),
    ],
)
def test_what_is_wrong_with_an_input_is_told_of_it(
    spark: SparkSession, build: Build, orders: Database, root: Path, given: dict[str, str], field: str, words: str
):
    (root / "empty").mkdir()
    (root / "notes.csv").write_text('id,note\n1,"two\nlines"\n')
    connections = {**orders.connections, "lake": ConnectionSettings("lake", "s3", {})}
    built = source(build, "SELECT * FROM orders", ORDERS | given, connections=connections, schema_only=True)
    with pytest.raises(NodeError, match=words) as caught:
        built.node.check_connection(built.context)
        built.node.read(spark, built.context)
    assert caught.value.field == field


@pytest.mark.server
def test_files_of_a_store_are_copied_for_each_input_and_let_go(spark: SparkSession, build: Build, s3_server: S3Server, tmp_path: Path):
    bucket = f"lake-{uuid4().hex[:8]}"
    s3_server.bucket_create(bucket)
    for name, text in {"a/1.csv": "id\n1\n2\n", "b/1.csv": "id,word\n2,two\n"}.items():
        s3_server.files().pipe_file(f"{bucket}/{name}", text.encode())
    built = source(
        build,
        "SELECT * FROM a JOIN b USING (id)",
        {"name": "a", "kind": "files", "connection": "lake", "path": "a"},
        {"name": "b", "kind": "files", "connection": "lake", "path": "b"},
        connections={"lake": ConnectionSettings("lake", "s3", s3_server.config | {"bucket": bucket}, {"secret_key": SECRET_KEY})},
        limits=Limits(data_dir=tmp_path, http_allowed_hosts=(f"127.0.0.1:{s3_server.port}",)),
    )
    built.node.begin(built.context)
    built.node.receive(built.context, Event())
    assert [tuple(row) for row in built.node.read(spark, built.context).collect()] == [(2, "two")]
    built.node.complete(built.context)
    assert not list(tmp_path.glob("mirrors/**/*.csv"))
