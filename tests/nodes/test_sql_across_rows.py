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
        "SELECT id FROM input LIMIT (10)",
        "SELECT last_value(a) IGNORE NULLS OVER w FROM input WINDOW w AS (ORDER BY id)",
        "SELECT id FROM input WHERE a IS DISTINCT FROM b UNION SELECT id FROM other",
        "SELECT id FROM input MINUS SELECT id FROM other",
        "SELECT id FROM input minus all\nSELECT id FROM other",
        "SELECT id FROM input MINUS(SELECT id FROM other)",
        "SELECT id FROM input MINUS DISTINCT (SELECT id FROM other)",
        "SELECT id FROM input MINUS VALUES (1), (2)",
        "SELECT id FROM input MINUS TABLE other",
        "SELECT id FROM input MINUS FROM other",
        "SELECT id FROM input WHERE abs(id) > 1 MINUS ALL FROM other",
        "FROM input SELECT id MINUS FROM other SELECT id",
        "SELECT id FROM input MINUS ((SELECT id FROM other))",
        "SELECT id FROM input MINUS WITH o AS (FROM other) SELECT id FROM o",
        "SELECT schema_of_variant_agg(v) FROM input",
        "SELECT tuple_sketch_agg_double(k, v) FROM input",
        "SELECT tuple_union_agg_integer(v) FROM input",
        "SELECT `sum`(id), `Max` (id) FROM input",
        "SELECT id FROM `a` UNION ALL SELECT -id FROM `a`",
        "SELECT o.*, o.amount * (SELECT rate FROM rates) AS eur FROM orders o",
        "SELECT o.*, (SELECT r.rate FROM rates r WHERE r.currency = o.currency) AS rate FROM orders o",
        "SELECT id FROM a WHERE id IN ((SELECT id FROM b))",
        "SELECT id FROM a WHERE id IN (FROM b SELECT id)",
        "SELECT id FROM a WHERE id IN (TABLE b)",
        "SELECT id FROM a WHERE NOT EXISTS (FROM b WHERE b.id = a.id)",
        "(SELECT id FROM a) UNION ALL (SELECT coalesce((SELECT id FROM c), id) FROM b)",
        "SELECT vector_sum(v) FROM input",
        "SELECT vector_avg(v) FROM input",
        "SELECT id FROM input LIMIT CAST(10 AS INT)",
        "SELECT id FROM input LIMIT int(10)",
        "SELECT id FROM input limit\n`int` (10)",
        "SELECT id FROM `my input` LIMIT length('ten rows')",
        "SELECT id FROM input WHERE name = 'x' LIMIT '10'::int",
        "SELECT id FROM input LIMIT CASE WHEN true THEN 5 END",
        "SELECT id FROM input WHERE done IS NULL LIMIT -(-5)",
        "SELECT id FROM (SELECT id FROM input /* none */ OFFSET if(true, 1, 2)) AS rest",
        "SELECT limit FROM limit LIMIT /* rows */ + 3",
        "SELECT m['a'] AS offset FROM input AS offset OFFSET int(2)",
        "SELECT id FROM abs(1) LIMIT ALL OFFSET greatest(1, 2)",
        "FROM input |> WHERE id > 1 |> LIMIT int(3)",
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
        "SELECT id, limit FROM input WHERE a IS NOT DISTINCT FROM b AND c is distinct\nfrom 'x'",
        "SELECT a IS DISTINCT FROM b, c FROM input",
        "SELECT plus, minus FROM input WHERE minus > 1",
        "SELECT plus - minus AS minus FROM input",
        "SELECT price minus FROM input",
        "SELECT a.b minus from a",
        "SELECT extract(year FROM d) y, abs(price) minus FROM input",
        "SELECT id FROM a UNION ALL SELECT price minus FROM b",
        "SELECT minus (1) FROM input",
        "SELECT `sum`, `group by` FROM `a` UNION ALL SELECT `max`, `distinct` FROM `b`",
        "SELECT id FROM input WHERE name LIKE ANY ('a%', 'b%') AND name NOT LIKE ALL ('c%') OR name ILIKE SOME ('d%')",
        "FROM input |> SELECT id, k",
        "(SELECT id FROM a) UNION ALL ((SELECT id FROM b))",
        "SELECT id FROM ((SELECT id FROM a) UNION ALL (SELECT id FROM b)) AS both",
        "WITH a1 AS (SELECT id FROM a) (SELECT id FROM a1 UNION ALL (FROM b SELECT id))",
        "SELECT id FROM a UNION ALL BY NAME (SELECT id FROM b)",
        "SELECT id, (SELECT label FROM VALUES (1, 'one') AS t (k, label) WHERE k = id) AS label FROM input",
        "SELECT abs(table) AS table, limit FROM a UNION ALL SELECT struct(table AS t), limit FROM (SELECT * FROM b)",
        "SELECT id FROM input UNION ALL SELECT id FROM VALUES (1, 2), (3, 4) AS t (id, k)",
        "SELECT offset, limit - 1 AS less, offset::int, abs(offset - (limit)) FROM input",
        "SELECT id, value offset FROM input limit WHERE (limit.offset > 1) AND offset IN (1, 2) OR NOT limit BETWEEN (1) AND (2)",
        "SELECT CASE offset WHEN (1) THEN limit ELSE (offset) END AS offset, k limit FROM input offset",
        "SELECT id FROM input LIMIT ALL",
        "SELECT id FROM `order-lines` UNION ALL SELECT id FROM `订单`",
        "SELECT id, 'limit' AS `limit 5`, offset 'x' FROM input WHERE `limit` (1) AND partition LIKE limit || 'y'",
        "SELECT id FROM input AS limit UNION ALL (SELECT id FROM offset UNION ALL SELECT offset (1) FROM other offset)",
    ],
)
def test_these_do_not(query: str) -> None:
    assert not SqlFlow().is_stateful(SqlConfig(query=query))


@pytest.mark.parametrize("query", ["SELECT * FROM input WHERE c IS DISTINCT FROM 'XX'", "SELECT * FROM input WHERE c LIKE SOME ('a', 'b')"])
def test_a_comparison_within_a_row_sends_no_group_again(query: str) -> None:
    assert SqlFlow().output_mode(SqlConfig(query=query)) == "append"
