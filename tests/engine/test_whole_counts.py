"""Rows of jobs that read everything as one batch are counted as they are, whatever Spark does to its plan."""

from typing import Any

import pytest

from tests.engine.graphs import COLLECT, Bench, document, files, keep, numbers

pytestmark = pytest.mark.spark

GROUPS = ("flow.aggregate", {"group_by": ["key"], "aggregates": [{"name": "n"}]})
SORT = ("flow.sort", {"order_by": [{"column": "id", "order": "descending"}]})


def sql(query: str) -> tuple[str, dict[str, Any]]:
    return "flow.sql", {"query": query}


@pytest.mark.each_once
@pytest.mark.parametrize(
    "step",
    [
        GROUPS,
        ("flow.window_aggregate", {"time_column": "time", "window": "1 min", "aggregates": [{"name": "n"}]}),
        sql("SELECT key, count(*) AS n FROM input GROUP BY key"),
        ("flow.deduplicate", {"keys": ["key"]}),
        ("flow.rank", {"keys": ["key"], "order_by": [{"column": "id", "order": "descending"}], "rows": 1}),
        SORT,
    ],
)
@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK"])
def test_a_job_of_which_no_row_comes_so_far_completes_and_tells_what_was_read(bench: Bench, step: Any, kind: str) -> None:
    nodes = {"gen": numbers(100, 100), "none": keep("id < 0"), "step": step, "out": COLLECT}
    heard = bench.completed(document(nodes, "gen>none, none>step, step>out", type=kind))
    assert [heard.rows(node_id) for node_id in nodes] == [100, 0, 0, 0]


def test_a_join_of_which_one_side_is_empty_completes(bench: Bench) -> None:
    nodes = {
        "a": numbers(100, 100),
        "b": numbers(50, 50),
        "none": keep("id < 0"),
        "pairs": ("flow.join", {"keys": [{"left": "id"}]}),
        "out": COLLECT,
    }
    heard = bench.completed(document(nodes, "a>pairs.left, b>none, none>pairs.right, pairs>out", type="SQL_TASK"))
    assert (heard.rows("b"), heard.rows("none"), heard.rows("pairs"), heard.rows("out")) == (50, 0, 0, 0)


@pytest.mark.parametrize(
    "step",
    [
        SORT,
        sql("SELECT * FROM input ORDER BY value, id"),
        sql("SELECT id, upper(key) AS key FROM input WHERE id >= 0 ORDER BY value DESC"),
        sql("SELECT * FROM input ORDER BY id DESC LIMIT 400"),
    ],
)
def test_what_is_sorted_is_counted_once(bench: Bench, step: Any) -> None:
    nodes = {"gen": numbers(1000, 1000), "even": keep("id % 2 = 0"), "step": step, "out": COLLECT}
    heard = bench.completed(document(nodes, "gen>even, even>step, step>out", type="SQL_TASK"))
    some = 400 if "LIMIT" in str(step) else 500
    assert [heard.rows(node_id) for node_id in nodes] == [1000, 500, some, some]


def test_what_is_sorted_for_two_readers_is_counted_once(bench: Bench) -> None:
    by_id = ("flow.sort", {"order_by": [{"column": "id"}]})
    nodes = {"gen": numbers(1000, 1000), "even": keep("id % 2 = 0"), "sorted": by_id, "out": COLLECT, "file": files("file")}
    heard = bench.completed(document(nodes, "gen>even, even>sorted, sorted>out, sorted>file", type="SQL_TASK"))
    assert [heard.rows(node_id) for node_id in nodes] == [1000, 500, 500, 500, 500]


def test_groups_that_are_sorted_twice_are_counted_once(bench: Bench) -> None:
    nodes = {"gen": numbers(1000, 1000), "groups": GROUPS, "one": ("flow.sort", {"order_by": [{"column": "n"}]}), "out": COLLECT}
    nodes["two"] = ("flow.sort", {"order_by": [{"column": "key"}]})
    heard = bench.completed(document(nodes, "gen>groups, groups>one, one>two, two>out", type="SQL_TASK"))
    groups = heard.rows("groups")
    assert 0 < groups < 100
    assert [heard.rows(node_id) for node_id in ("gen", "one", "two", "out")] == [1000, groups, groups, groups]


@pytest.mark.parametrize("query", ["SELECT word, count(*) AS n FROM a JOIN b USING (id) GROUP BY word ORDER BY word", "SELECT * FROM b"])
def test_rows_of_a_query_over_several_inputs_are_counted(bench: Bench, query: str) -> None:
    (bench.files / "a.csv").write_text("id\n1\n2\n3\n")
    (bench.files / "b.csv").write_text("id,word\n1,one\n2,two\n3,two\n")
    inputs = [{"name": name, "kind": "files", "path": f"{name}.csv"} for name in ("a", "b")]
    nodes = {"query": ("source.sql", {"query": query, "inputs": inputs}), "two": keep("word = 'two'"), "out": COLLECT}
    heard = bench.completed(document(nodes, "query>two, two>out", type="SQL_TASK"))
    read, two = (2, 1) if "JOIN" in query else (3, 2)
    assert [heard.rows(node_id) for node_id in nodes] == [read, two, two]


def test_rows_of_several_sources_are_counted_each_on_their_way_to_one_sink(bench: Bench) -> None:
    """The same source twice, a filter that Spark could move through the union, groups and an order behind it."""
    nodes = {
        "a": numbers(100, 100),
        "b": numbers(100, 100),
        "few": keep("id < 30"),
        "both": ("flow.union", {}),
        "even": keep("id % 2 = 0"),
        "groups": ("flow.aggregate", {"group_by": ["id"], "aggregates": [{"name": "n"}]}),
        "some": ("flow.limit", {"rows": 40}),
        "out": COLLECT,
    }
    edges = "a>both, b>few, few>both, both>even, even>groups, groups>some, some>out"
    heard = bench.completed(document(nodes, edges, type="SQL_TASK"))
    assert [heard.rows(node_id) for node_id in ("a", "b", "few", "both", "even")] == [100, 100, 30, 130, 65]
    assert 40 <= heard.rows("groups") <= 50, "a limit may leave some unread"
    assert (heard.rows("some"), heard.rows("out")) == (40, 40)


def test_rejected_rows_and_rows_of_one_row_are_counted_before_groups(bench: Bench) -> None:
    nodes = {
        "gen": numbers(1000, 500),
        "check": ("flow.rejects", {"condition": "id % 10 = 3"}),
        "twice": ("flow.flat_map", {"column": "words", "separator": ","}),
        "words": ("flow.compute_columns", {"columns": [{"name": "words", "expression": "'a, b'"}]}),
        "groups": GROUPS,
        "out": COLLECT,
    }
    heard = bench.completed(document(nodes, "gen>check, check>words, words>twice, twice>groups, groups>out", type="SQL_TASK"))
    assert [heard.rows(node_id) for node_id in ("gen", "check", "twice")] == [1000, 900, 1800]
    assert heard.rows("check", "rejected") == 100
    assert heard.rows("groups") == heard.rows("out") > 0


def test_a_job_whose_user_asks_for_the_partition_too_is_counted_as_it_is(bench: Bench) -> None:
    nodes = {"gen": numbers(1000, 500), "none": keep("spark_partition_id() < -1"), "groups": GROUPS, "out": COLLECT}
    heard = bench.completed(document(nodes, "gen>none, none>groups, groups>out", type="SQL_TASK"))
    assert [heard.rows(node_id) for node_id in nodes] == [1000, 0, 0, 0]


def test_an_input_that_is_asked_for_a_single_value_is_counted(bench: Bench) -> None:
    query = "SELECT id FROM a WHERE id > (SELECT max(id) - 10 FROM b) OR id IN (SELECT id FROM few)"
    nodes = {"a": numbers(100, 100), "b": numbers(50, 50), "c": numbers(30, 30), "few": keep("id < 20"), "q": sql(query), "out": COLLECT}
    heard = bench.completed(document(nodes, "a>q, b>q, c>few, few>q, q>out", type="SQL_TASK"))
    assert [heard.rows(node_id) for node_id in ("a", "b", "c", "few")] == [100, 50, 30, 20]
    assert heard.rows("q") == heard.rows("out") == 80


SELF_UNION = "SELECT id, key FROM input WHERE id < 40 UNION ALL SELECT id, key FROM input WHERE id >= 40"


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK"])
def test_a_query_that_reads_its_input_twice_counts_it_once(bench: Bench, kind: str) -> None:
    nodes = {"gen": numbers(100, 100), "even": keep("id % 2 = 0"), "both": sql(SELF_UNION), "out": COLLECT}
    heard = bench.completed(document(nodes, "gen>even, even>both, both>out", type=kind))
    assert [heard.rows(node_id) for node_id in nodes] == [100, 50, 50, 50]


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK"])
def test_ways_that_meet_again_count_what_is_before_them_once(bench: Bench, kind: str) -> None:
    nodes = {
        "gen": numbers(100, 100),
        "file": files("file"),
        "even": keep("id % 2 = 0"),
        "few": keep("id < 10"),
        "many": keep("id >= 10"),
        "both": ("flow.union", {}),
        "out": COLLECT,
    }
    heard = bench.completed(document(nodes, "gen>file, gen>even, even>few, even>many, few>both, many>both, both>out", type=kind))
    assert [heard.rows(node_id) for node_id in ("gen", "file", "even", "few", "many", "both", "out")] == [100, 100, 50, 5, 45, 50, 50]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT l.id, most FROM l, LATERAL (SELECT max(r.id) AS most FROM r WHERE r.id <= l.id)",
        "SELECT l.id, 0 AS most FROM l JOIN r ON l.id = r.id AND l.id <= (SELECT max(id) FROM r)",
        "WITH low AS (SELECT * FROM l WHERE id < 25) SELECT id, 0 AS most FROM low UNION ALL SELECT id, 1 FROM low",
    ],
)
def test_a_query_within_a_query_counts_what_it_reads(bench: Bench, query: str) -> None:
    nodes = {
        "gen": numbers(100, 100),
        "l": keep("id % 2 = 0"),
        "r": keep("id % 5 = 0"),
        "pairs": sql(query),
        "out": COLLECT,
        "file": files("file"),
    }
    edges = "gen>l, gen>r, l>pairs, r>pairs, pairs>out, pairs>file"
    heard = bench.completed(document(nodes, edges, type="SQL_TASK"))
    assert (heard.rows("gen"), heard.rows("l")) == (100, 50)
    assert heard.rows("out") == heard.rows("file") == heard.rows("pairs") > 0
