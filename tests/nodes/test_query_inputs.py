"""What the inputs of a SQL node are called: by their nodes, their ports, and in back quotes by any name."""

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import NodeError
from jobs.nodes.flows.sql import SqlConfig, SqlFlow
from jobs.nodes.queries import selected
from jobs.nodes.query_inputs import query_tables, table_names


def test_every_input_is_a_table_of_its_own() -> None:
    assert table_names(("A", "A 3", "a!"), 3) == ["a", "a_3", "a_4"]
    assert table_names(("Orders", "orders", "客户"), 4) == ["orders", "orders_2", "input_3", "input_4"]


@pytest.mark.parametrize(
    ("nodes", "ports", "found"),
    [
        (("SP", "sp"), ("late", "on time"), {"sp": 0, "sp_2": 1, "sp_late": 0, "sp_on_time": 1}),
        (("SP", "sp"), ("on time", "late"), {"sp": 0, "sp_2": 1, "sp_on_time": 0, "sp_late": 1}),
        (("订单", "订单"), ("x", "y"), {"input_1": 0, "input_2": 1, "订单_x": 0, "订单_y": 1}),
        (("order-lines", "订单"), ("out", "out"), {"order_lines": 0, "input_2": 1, "order-lines": 0, "订单": 1}),
        (("A b", "a B"), ("out", "out"), {"a_b": 0, "a_b_2": 1}),  # which of both "a b" would be is not known
        (("csv./etc/passwd",), ("out",), {"csv_etc_passwd": 0, "input": 0}),
        (("sp", "sp late"), ("late", "out"), {"sp": 0, "sp_late": 1, "sp late": 1}),  # as it was before ports had names
    ],
)
def test_an_input_also_goes_by_its_port_and_by_its_nodes_very_name(
    nodes: tuple[str, ...], ports: tuple[str, ...], found: dict[str, int]
) -> None:
    assert query_tables(nodes, ports, range(len(nodes))) == found


@pytest.mark.parametrize(
    ("query", "nodes", "ports", "said"),
    [
        ("SELECT * FROM sp UNION ALL SELECT * FROM sp_2", ("sp", "Sp"), ("late", "rest"), "sp and sp_2: write sp_late and sp_rest"),
        ("SELECT * FROM input_2", ("订单", "客户"), ("out", "x"), "input_1 and input_2: write `订单` and `客户_x`"),
        ("SELECT * FROM sp_2", ("sp", "Sp"), ("out", "out"), "sp and sp_2: give their nodes names of their own"),
        ("SELECT * FROM a_2", ("a", "a!"), ("out", "out"), "a and a_2: give their nodes names of their own"),
        ("SELECT sp.id FROM sp_late AS sp UNION ALL SELECT * FROM sp_rest", ("sp", "Sp"), ("late", "rest"), ""),
    ],
)
def test_a_query_over_inputs_that_only_their_order_tells_apart_is_warned_of(
    query: str, nodes: tuple[str, str], ports: tuple[str, str], said: str
) -> None:
    context: Any = SimpleNamespace(config=SqlConfig(query=query), input_names={"in": nodes}, input_ports={"in": ports}, bounded=True)
    tables, _, remedy = said.partition(": ")
    told = [(caution.field, caution.message) for caution in SqlFlow().cautions(context, [])]
    words = f"an edge drawn anew may swap {tables}, which nothing but their edges' order tells apart: {remedy}"
    assert told == ([("query", words)] if said else [])


def test_a_table_of_any_name_is_read_in_back_quotes_and_gone_behind_the_query(spark: SparkSession) -> None:
    tables = {"order`-lines": spark.range(2), "订单": spark.range(3)}
    found = selected("SELECT count(*) AS n FROM `order``-lines` UNION ALL SELECT count(*) FROM `订单`", tables, drawn=True)
    assert sorted(row.n for row in found.collect()) == [2, 3]
    assert not [table.name for table in spark.catalog.listTables() if table.name in tables]
    with pytest.raises(NodeError, match="there is no input"):
        selected("SELECT * FROM csv.`/etc/passwd`", tables, drawn=True)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT * FROM nix", 'there is no input "nix": the inputs are orders'),
        ("DROP TABLE orders", "only a query over the inputs is allowed here, not DROP"),
        ("SELECT reflect('java.lang.System', 'exit', 1) FROM orders", "the function reflect is not allowed"),
    ],
)
def test_a_query_that_is_none_over_its_inputs_is_refused_on_its_field(spark: SparkSession, query: str, words: str) -> None:
    with pytest.raises(NodeError, match=words) as caught:
        selected(query, {"orders": spark.range(1)}, drawn=True)
    assert caught.value.field == "query"
