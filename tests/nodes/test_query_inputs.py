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
    ("query", "nodes", "ports", "found"),
    [
        ("from sp_late, sp_on_time", ("SP", "sp"), ("late", "on time"), {"sp": 0, "sp_2": 1, "sp_late": 0, "sp_on_time": 1}),
        ("from sp_on_time, sp_late", ("SP", "sp"), ("on time", "late"), {"sp": 0, "sp_2": 1, "sp_on_time": 0, "sp_late": 1}),
        (
            "from `Order-Lines`, `订单`",
            ("order-lines", "订单"),
            ("out", "out"),
            {"order_lines": 0, "input_2": 1, "order-lines": 0, "订单": 1},
        ),
        ("from `a b`", ("A b", "a B"), ("out", "out"), {"a_b": 0, "a_b_2": 1}),  # which of both is not known
        ("from `csv./etc/passwd`", ("csv./etc/passwd",), ("out",), {"csv_etc_passwd": 0, "input": 0}),
        ("from input", ("sp",), ("late",), {"sp": 0, "input": 0}),
        ("from sp_late", ("sp", "sp late"), ("late", "out"), {"sp": 0, "sp_late": 1}),  # as it was before ports had names
    ],
)
def test_an_input_goes_by_its_port_and_its_nodes_very_name_where_the_query_says_so(
    query: str, nodes: tuple[str, ...], ports: tuple[str, ...], found: dict[str, int]
) -> None:
    assert query_tables(query, nodes, ports, range(len(nodes))) == found


@pytest.mark.parametrize(
    ("query", "ports", "said"),
    [
        ("SELECT * FROM sp UNION ALL SELECT * FROM sp_2", ("late", "rest"), "write sp_late and sp_rest"),
        ("SELECT * FROM sp_2", ("out", "out"), "give their nodes names of their own"),
        ("SELECT * FROM sp_late UNION ALL SELECT * FROM sp_rest", ("late", "rest"), ""),
    ],
)
def test_a_query_over_inputs_that_only_their_order_tells_apart_is_warned_of(query: str, ports: tuple[str, str], said: str) -> None:
    context: Any = SimpleNamespace(config=SqlConfig(query=query), input_names={"in": ("sp", "Sp")}, input_ports={"in": ports}, bounded=True)
    told = [(caution.field, caution.message) for caution in SqlFlow().cautions(context, [])]
    assert told == (
        [("query", f"an edge drawn anew may swap sp and sp_2, which nothing but their edges' order tells apart: {said}")] if said else []
    )


def test_a_table_of_any_name_is_read_in_back_quotes_and_gone_behind_the_query(spark: SparkSession) -> None:
    tables = {"order`-lines": spark.range(2), "订单": spark.range(3)}
    found = selected("SELECT count(*) AS n FROM `order``-lines` UNION ALL SELECT count(*) FROM `订单`", tables, drawn=True)
    assert sorted(row.n for row in found.collect()) == [2, 3]
    assert not [table.name for table in spark.catalog.listTables() if table.name in tables]
    with pytest.raises(NodeError, match="there is no input"):
        selected("SELECT * FROM csv.`/etc/passwd`", tables, drawn=True)
