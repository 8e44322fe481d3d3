"""SQL and expressions that look at several rows see all rows of a paged import, however many batches it has."""

import pytest

from tests.engine.graphs import Bench, document, files, numbers

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT id % 3 AS id FROM input UNION SELECT id % 4 AS id FROM input", [0, 1, 2, 3]),
        ("SELECT id FROM input WHERE id < 2 UNION ALL SELECT id + 8 FROM input WHERE id < 2", [0, 1, 8, 9]),
        ("SELECT id FROM input ORDER BY id DESC LIMIT 2", [8, 9]),
        ("SELECT id FROM input ORDER BY id OFFSET 8", [8, 9]),
        ("SELECT id FROM input LIMIT int(3)", [0, 1, 2]),
        ("SELECT id FROM input OFFSET length('12345678')", [8, 9]),
        ("SELECT CAST(row_number() OVER w AS long) AS id FROM input WINDOW w AS (ORDER BY id)", [*range(1, 11)]),
        ("SELECT id FROM input WHERE id IN (SELECT id + 7 FROM input)", [7, 8, 9]),
        ("WITH low AS (SELECT id FROM input WHERE id < 1) SELECT id FROM low UNION ALL SELECT id + 1 FROM low", [0, 1]),
    ],
)
def test_a_query_over_several_rows_sees_all_of_them(bench: Bench, query: str, found: list[int]) -> None:
    nodes = {"gen": numbers(10, 4), "ask": ("flow.sql", {"query": query}), "out": files("out")}
    bench.completed(document(nodes, "gen>ask, ask>out", type="BATCH_ROLLER"))
    assert sorted(row.id for row in bench.parquet("out")) == found


def test_a_value_is_looked_up_in_another_input_for_the_rows_of_all_batches(bench: Bench) -> None:
    ask = ("flow.sql", {"query": "SELECT id, id * (SELECT id + 2 FROM rates) AS found FROM gen"})
    nodes = {"gen": numbers(10, 4), "rates": numbers(1), "ask": ask, "out": files("out")}
    bench.completed(document(nodes, "gen>ask, rates>ask, ask>out", type="BATCH_ROLLER"))
    assert sorted((row.id, row.found) for row in bench.parquet("out")) == [(number, 2 * number) for number in range(10)]


def test_an_expression_sees_the_neighbours_of_a_row_in_all_batches(bench: Bench) -> None:
    place = ("flow.compute_columns", {"columns": [{"name": "place", "expression": "row_number() OVER (ORDER BY id)"}]})
    nodes = {"gen": numbers(10, 4), "place": place, "out": files("out")}
    bench.completed(document(nodes, "gen>place, place>out", type="BATCH_ROLLER"))
    assert sorted(row.place for row in bench.parquet("out")) == [*range(1, 11)]
