"""What Spark refuses of a stream when it starts is told while it is drawn, at the node that is to blame."""

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql.types import StructType

from jobs.dag.problems import Problem
from jobs.engine.given_rows import GivenTable
from jobs.engine.validation import Analysis, analyse
from jobs.nodes.base import Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, numbers

pytestmark = pytest.mark.spark

Errors = Callable[..., list[Problem]]


@pytest.fixture
def analysed(bench: Bench) -> Callable[..., Analysis]:
    def found(nodes: Any, edges: str, kind: str = "STREAMING") -> Analysis:
        limits = Limits(file_roots=(bench.files,), data_dir=bench.root)
        drawn = document(nodes, edges, type=kind)
        return analyse(bench.spark, drawn, connections={}, limits=limits, parameters={}, registry=REGISTRY)

    return found


def errors(analysis: Analysis) -> list[Problem]:
    return [problem for problem in analysis.problems if problem.severity == "error"]


def query(text: str) -> tuple[str, dict[str, Any]]:
    return "flow.sql", {"query": text}


def join(kind: str = "inner") -> tuple[str, dict[str, Any]]:
    times = {"left_time": "time", "right_time": "time", "before": "1 min", "after": "1 min"}
    return "flow.join", {"kind": kind, "keys": [{"left": "key"}], **times}


def windows(emit: str = "close") -> tuple[str, dict[str, Any]]:
    aggregates = [{"name": "n", "function": "count"}]
    return "flow.window_aggregate", {"time_column": "time", "window": "1 min", "emit": emit, "aggregates": aggregates}


NEIGHBOUR = "lag(id) OVER (PARTITION BY key ORDER BY id)"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT * FROM input ORDER BY id", "it sorts, and a stream has no end"),
        ("SELECT *, row_number() OVER (PARTITION BY key ORDER BY id) r FROM input", "looks at a row's neighbours"),
        ("SELECT * FROM input LIMIT 3", "gives no more after them"),
        ("SELECT * FROM input LIMIT int(3)", "gives no more after them"),
        ("SELECT * FROM input OFFSET abs(-3)", "it skips rows of a stream once in its life"),
        ("SELECT * FROM (SELECT * FROM input LIMIT 3) WHERE id > 1", "gives no more after them"),
        ("SELECT id FROM input UNION ALL SELECT id + 1 FROM input", "reads an input more than once"),
        ("SELECT a.id FROM input a JOIN input b ON a.id = b.id", "reads an input more than once"),
        ("SELECT id FROM input TABLESAMPLE (10 PERCENT)", "use the node Sample"),
        ("SELECT key, count(DISTINCT value) AS n FROM input GROUP BY key", "use approx_count_distinct"),
        ("SELECT * FROM (SELECT id, key FROM input) PIVOT (count(*) FOR key IN ('a'))", "groups what it has grouped already"),
    ],
)
def test_sql_that_a_stream_cannot_end_is_refused_at_its_query(analysed: Callable[..., Analysis], text: str, words: str) -> None:
    nodes = {"gen": numbers(None), "ask": query(text), "out": COLLECT}
    (problem,) = errors(analysed(nodes, "gen>ask, ask>out"))
    assert (problem.node_id, problem.pointer) == ("ask", "/nodes/ask/config/query")
    assert words in problem.message
    assert errors(analysed({**nodes, "gen": numbers(10)}, "gen>ask, ask>out", "SQL_TASK")) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT id FROM one EXCEPT SELECT id FROM other", "it compares whole inputs"),
        ("SELECT id FROM one INTERSECT SELECT id FROM other", "it compares whole inputs"),
        ("SELECT id FROM one WHERE id IN (SELECT id FROM other)", "inside an expression"),
        ("SELECT (SELECT max(id) FROM other) AS most FROM one", "inside an expression"),
        ("SELECT count(*) AS n FROM (SELECT 1 AS one)", "reads none of its inputs"),
    ],
)
def test_sql_over_two_streams_that_spark_refuses_is_told_in_plain_words(analysed: Callable[..., Analysis], text: str, words: str) -> None:
    nodes = {"one": numbers(None), "other": numbers(None), "ask": query(text), "out": COLLECT}
    (problem,) = errors(analysed(nodes, "one>ask, other>ask, ask>out"))
    assert (problem.node_id, problem.pointer) == ("ask", "/nodes/ask/config/query")
    assert words in problem.message
    assert "Spark" not in problem.message
    assert errors(analysed({**nodes, "one": numbers(9), "other": numbers(9)}, "one>ask, other>ask, ask>out", "SQL_TASK")) == []


@pytest.mark.parametrize(
    "aside",
    [
        ("flow.sort", {"order_by": [{"column": "id"}]}),
        ("flow.limit", {"rows": 3}),
        ("flow.aggregate", {"group_by": ["key"], "aggregates": [{"name": "n", "function": "count"}]}),
        ("flow.deduplicate", {"keys": ["key"]}),
        query("SELECT key, id FROM input QUALIFY row_number() OVER (PARTITION BY key ORDER BY id) = 1 ORDER BY id LIMIT 3"),
        ("flow.compute_columns", {"columns": [{"name": "b", "expression": NEIGHBOUR}]}),
    ],
)
def test_what_stands_beside_a_stream_is_read_whole(analysed: Callable[..., Analysis], aside: Any) -> None:
    """A second aggregate, which no stream may have behind one that sends its groups again, too."""
    per = ("flow.aggregate", {"group_by": ["key"], "aggregates": [{"name": "most", "function": "count"}]})
    look = ("flow.lookup", {"keys": [{"left": "key"}], "columns": ["most"]})
    nodes = {"gen": numbers(None), "other": numbers(90), "aside": aside, "per": per, "look": look, "out": COLLECT}
    found = analysed(nodes, "gen>look, other>aside, aside>per, per>look.table, look>out")
    assert [problem.message for problem in found.problems] == []


@pytest.mark.parametrize("text", ["  ", " ; ", "\n"])
def test_a_query_of_blanks_is_told_as_empty(analysed: Callable[..., Analysis], text: str) -> None:
    (problem,) = errors(analysed({"gen": numbers(9), "ask": query(text), "out": COLLECT}, "gen>ask, ask>out", "SQL_TASK"))
    assert problem.pointer == "/nodes/ask/config/query"
    assert problem.message.endswith("the query is empty: begin with SELECT or WITH")


@pytest.mark.parametrize(
    ("node", "field"),
    [
        (
            ("flow.compute_columns", {"columns": [{"name": "a", "expression": "1"}, {"name": "b", "expression": NEIGHBOUR}]}),
            "columns/1/expression",
        ),
        (("flow.script", {"script": f"a = 1\nb = {NEIGHBOUR}"}), "script"),
    ],
)
def test_a_row_of_a_stream_has_no_neighbours_in_any_expression(analysed: Callable[..., Analysis], node: Any, field: str) -> None:
    (problem,) = errors(analysed({"gen": numbers(None), "ask": node, "out": COLLECT}, "gen>ask, ask>out"))
    assert (problem.node_id, problem.pointer) == ("ask", f"/nodes/ask/config/{field}")
    assert "looks at a row's neighbours" in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "SELECT collect_list(id) ids FROM input",
        "SELECT key, percentile(value, 0.5) middle FROM input GROUP BY key",
        "SELECT upper(key) AS key, id FROM input WHERE value > 1 -- ORDER BY id",
    ],
)
def test_sql_that_a_stream_can_run_is_taken(analysed: Callable[..., Analysis], text: str) -> None:
    assert errors(analysed({"gen": numbers(None), "ask": query(text), "out": COLLECT}, "gen>ask, ask>out")) == []


def test_sql_that_remembers_for_ever_is_warned_of(analysed: Callable[..., Analysis]) -> None:
    nodes = {"gen": numbers(None), "ask": query("SELECT DISTINCT key FROM input"), "out": COLLECT}
    (problem,) = analysed(nodes, "gen>ask, ask>out").problems
    assert (problem.severity, problem.code, problem.pointer) == ("warning", "state.grows", "/nodes/ask/config/query")
    assert analysed({**nodes, "gen": numbers(10)}, "gen>ask, ask>out", "SQL_TASK").problems == []


JOINED = "SELECT id, name FROM input i JOIN (VALUES ('a', 'Anna'), ('b', 'Ben')) AS names(short, name) ON i.key = names.short"


def test_sql_that_joins_a_stream_with_rows_of_its_own_remembers_nothing(analysed: Callable[..., Analysis]) -> None:
    nodes = {"gen": numbers(None), "ask": query(JOINED), "out": COLLECT}
    assert analysed(nodes, "gen>ask, ask>out").problems == []
    both = "SELECT l.id FROM left_one l JOIN right_one r ON l.key = r.key"
    two = {"left_one": numbers(None), "right_one": numbers(None), "ask": query(both), "out": COLLECT}
    assert [problem.code for problem in analysed(two, "left_one>ask, right_one>ask, ask>out").problems] == ["state.grows"]


def test_an_outer_join_of_two_streams_in_sql_is_referred_to_the_node_that_does_it(analysed: Callable[..., Analysis]) -> None:
    text = "SELECT l.id FROM left_one l LEFT JOIN right_one r ON l.key = r.key"
    nodes = {"left_one": numbers(None), "right_one": numbers(None), "ask": query(text), "out": COLLECT}
    (problem,) = errors(analysed(nodes, "left_one>ask, right_one>ask, ask>out"))
    assert problem.node_id == "ask"
    assert "use the Join node" in problem.message


@pytest.mark.parametrize(("time", "words"), [("time", ""), ("other", 'so does "Once" before it')])
def test_a_join_takes_over_the_time_of_deduplicated_rows(analysed: Callable[..., Analysis], time: str, words: str) -> None:
    other = ("flow.compute_columns", {"columns": [{"name": "other", "expression": "time"}]})
    once = ("flow.deduplicate", {"keys": ["id"], "time_column": time})
    nodes = {"a": numbers(None), "b": numbers(None), "more": other, "once": once, "pairs": join(), "out": COLLECT}
    found = errors(analysed(nodes, "a>pairs.left, b>more, more>once, once>pairs.right, pairs>out"))
    assert [words in problem.message for problem in found] == ([True] if words else [])


@pytest.mark.parametrize("behind", [windows(), windows("update"), ("flow.deduplicate", {"keys": ["id"], "time_column": "time"})])
def test_a_second_event_time_behind_a_join_is_refused(analysed: Callable[..., Analysis], behind: Any) -> None:
    nodes = {"a": numbers(None), "b": numbers(None), "pairs": join(), "next": behind, "out": COLLECT}
    (problem,) = errors(analysed(nodes, "a>pairs.left, b>pairs.right, pairs>next, next>out"))
    assert problem.node_id == "next"
    assert 'so does "Pairs" before it' in problem.message


def test_a_group_that_is_sent_again_behind_an_outer_join_is_refused(analysed: Callable[..., Analysis]) -> None:
    groups = ("flow.aggregate", {"group_by": ["key"], "aggregates": [{"name": "n", "function": "count"}]})
    nodes = {"a": numbers(None), "b": numbers(None), "pairs": join("left"), "next": groups, "out": COLLECT}
    (problem,) = errors(analysed(nodes, "a>pairs.left, b>pairs.right, pairs>next, next>out"))
    assert problem.node_id == "next"
    assert "rows without a partner" in problem.message
    nodes["pairs"] = join()
    assert errors(analysed(nodes, "a>pairs.left, b>pairs.right, pairs>next, next>out")) == []


@pytest.mark.parametrize("kind", ["inner", "left", "right", "full", "semi"])
def test_joins_and_windows_alone_are_taken(analysed: Callable[..., Analysis], kind: str) -> None:
    nodes = {"a": numbers(None), "b": numbers(None), "pairs": join(kind), "out": COLLECT}
    assert errors(analysed(nodes, "a>pairs.left, b>pairs.right, pairs>out")) == []
    assert errors(analysed({"a": numbers(None), "next": windows(), "out": COLLECT}, "a>next, next>out")) == []


def test_what_stands_beside_a_stream_is_not_asked_again(bench: Bench) -> None:
    """A table that is given for a test has no system that could be asked."""
    look = ("flow.lookup", {"keys": [{"left": "key"}], "columns": ["colour"]})
    colours = ("source.file", {"path": "nowhere"})
    nodes = {"gen": numbers(None), "colours": colours, "look": look, "next": windows(), "out": COLLECT}
    drawn = document(nodes, "gen>look, colours>look.table, look>next, next>out", type="STREAMING")
    given = {"colours": GivenTable(StructType().add("key", "string").add("colour", "string"), ())}
    limits = Limits(file_roots=(bench.files,), data_dir=bench.root)
    found = analyse(bench.spark, drawn, connections={}, limits=limits, parameters={}, registry=REGISTRY, given=given)
    assert found.problems == []


def test_numbers_that_a_union_would_round_are_warned_of(analysed: Callable[..., Analysis]) -> None:
    """A key of 19 digits beside a column that a sample made floating point."""
    ratio = "flow.compute_columns", {"columns": [{"name": "id", "expression": "value / 2"}]}
    nodes = {"gen": numbers(10), "other": numbers(10), "half": ratio, "all": ("flow.union", {}), "out": COLLECT}
    (problem,) = analysed(nodes, "gen>all, other>half, half>all, all>out", "SQL_TASK").problems
    assert (problem.severity, problem.code, problem.pointer) == ("warning", "numbers.rounded", "/nodes/all")
    assert "the column id holds exact numbers in one input and floating point in another" in problem.message
    assert analysed({**nodes, "half": ("flow.limit", {"rows": 1})}, "gen>all, other>half, half>all, all>out", "SQL_TASK").problems == []


AGGREGATE = ("flow.aggregate", {"group_by": ["key"], "aggregates": [{"name": "n", "function": "count"}]})
LEFT = ("flow.join", {**join("left")[1], "late": "1 min"})


@pytest.mark.parametrize("again", [AGGREGATE, windows("update")])
@pytest.mark.parametrize("meet", [("flow.union", {}), query("SELECT n FROM once UNION ALL SELECT n FROM again")])
@pytest.mark.parametrize("sources", [("one", "one"), ("one", "other")])
def test_windows_that_close_do_not_meet_what_is_sent_again(
    analysed: Callable[..., Analysis], again: Any, meet: Any, sources: tuple[str, str]
) -> None:
    """Spark would send the windows again as well, as far as they are filled."""
    nodes = {**dict.fromkeys(sources, numbers(None)), "once": windows(), "again": again, "meet": meet, "out": COLLECT}
    edges = f"{sources[0]}>once, {sources[1]}>again, once>meet, again>meet, meet>out"
    (problem,) = errors(analysed(nodes, edges))
    assert problem.node_id == "meet"
    assert '"Once" sends each window once, when it closes, and "Again" sends a group again' in problem.message
    assert errors(analysed({**nodes, **dict.fromkeys(sources, numbers(9))}, edges, "SQL_TASK")) == []


def test_a_join_that_gives_rows_without_a_partner_does_not_meet_them_either(analysed: Callable[..., Analysis]) -> None:
    nodes = {
        "a": numbers(None),
        "b": numbers(None),
        "c": numbers(None),
        "both": LEFT,
        "again": windows("update"),
        "meet": ("flow.union", {}),
    }
    (problem,) = errors(analysed({**nodes, "out": COLLECT}, "a>both.left, b>both.right, c>again, both>meet, again>meet, meet>out"))
    assert (problem.node_id, "rows without a partner" in problem.message) == ("meet", True)


@pytest.mark.parametrize(("sources", "cautions"), [(("one", "other"), ["times.meet"]), (("one", "one"), [])])
def test_windows_of_two_sources_that_meet_wait_for_the_slower_one(
    analysed: Callable[..., Analysis], sources: tuple[str, str], cautions: list[str]
) -> None:
    nodes = {**dict.fromkeys(sources, numbers(None)), "a": windows(), "b": windows(), "meet": ("flow.union", {}), "out": COLLECT}
    found = analysed(nodes, f"{sources[0]}>a, {sources[1]}>b, a>meet, b>meet, meet>out")
    assert [problem.code for problem in found.problems] == cautions
