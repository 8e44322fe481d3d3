"""Keys that a JDBC driver brings, as the SQL that compares a column with them."""

import pytest

from jobs.nodes.sources.jdbc_dialect import BOUND
from jobs.nodes.sources.jdbc_values import JdbcColumn, key_sql


@pytest.mark.parametrize(
    ("type_name", "product", "sql"),
    [
        ("datetime", "Microsoft SQL Server", f"CAST({BOUND} AS datetime)"),
        ("datetime2", "Microsoft SQL Server", BOUND),
        ("DATETIME", "MariaDB", BOUND),
    ],
)
def test_a_time_that_is_kept_more_roughly_than_it_is_bound_is_compared_as_it_is_kept(type_name: str, product: str, sql: str) -> None:
    """SQL Server's .003 is .00333: the row with the largest key would lie behind .0030000, and be left out."""
    assert key_sql(JdbcColumn("at", 93, type_name, 23, 3, signed=False), product) == sql
