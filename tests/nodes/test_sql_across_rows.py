"""Which queries look at several rows at once, and so reach across the batches of what they read."""

import pytest

from jobs.nodes.flows.sql import SqlConfig, SqlFlow


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM input",
        "SELECT id FROM input ORDER BY id",
        "SELECT id FROM input LIMIT 5",
        "SELECT id FROM input UNION SELECT id FROM other",
        "SELECT rank() OVER w FROM input WINDOW w AS (ORDER BY id)",
        "SELECT id FROM input WHERE id IN (SELECT id FROM other)",
        "SELECT id FROM input UNION ALL SELECT -id FROM input",
        "SELECT a.id FROM a, b WHERE a.id = b.id",
        "SELECT x.id FROM (SELECT id, k FROM a) AS x , b AS y WHERE x.id = y.id",
        "SELECT id FROM a WHERE (id = 1) UNION ALL SELECT a.id FROM a AS one,\n b two",
        "SELECT regr_slope(y, x) FROM input",
        "SELECT approx_top_k(id) FROM input",
    ],
)
def test_these_do(query: str) -> None:
    assert SqlFlow().is_stateful(SqlConfig(query=query))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id * 2 AS id FROM input WHERE id > 1",
        "SELECT id FROM input UNION ALL SELECT id FROM other",
        "SELECT extract(year FROM time) AS y, EXTRACT(hour FROM time) AS h FROM input",
        "SELECT trim(BOTH FROM name) AS a, trim(LEADING 'x' FROM name) AS b FROM input",
        "SELECT 'order by, limit 5 and over ()' AS words, order_by, over FROM input -- ORDER BY id",
        "SELECT id, count, sum AS max FROM input WHERE count > 1",
        "SELECT * EXCEPT (id, k) FROM input",
        "SELECT id, k, v FROM input LATERAL VIEW explode(m) t AS k, v",
        "SELECT coalesce(a, b), c FROM (SELECT a, b, c FROM input WHERE a IN (1, 2)) WHERE c IN (1, 2)",
        "FROM input SELECT id, k",
        "FROM input |> SELECT id, k",
        "SELECT id FROM input UNION ALL SELECT id FROM VALUES (1, 2), (3, 4) AS t (id, k)",
    ],
)
def test_these_do_not(query: str) -> None:
    assert not SqlFlow().is_stateful(SqlConfig(query=query))
