"""Previews on sample rows: they stand for their sources, typed as a test types its rows, and no system is touched for them."""

from typing import Any

import pytest

from jobs.dag.samples import SampleColumn, SampleRows
from jobs.engine.compiler import PlanInvalid
from jobs.engine.preview import preview
from jobs.nodes.base import Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, keep, numbers

pytestmark = pytest.mark.spark

#: It fails whenever it is read.
AWAY: tuple[str, dict[str, Any]] = ("source.broken", {})
SHOP = [{"id": 1, "amount": 5.5}, {"id": 2, "amount": None}, {"id": 3, "amount": 20}]


def looked_at(
    bench: Bench, nodes: Any, edges: str, node_id: str, samples: dict[str, SampleRows], rows: int = 5, **more: Any
) -> dict[str, Any]:
    limits = Limits(file_roots=(bench.files,), data_dir=bench.root)
    drawn = document(nodes, edges, settings={"time_zone": "Europe/Berlin"}, **more)
    return preview(bench.spark, drawn, node_id, rows=rows, connections={}, limits=limits, registry=REGISTRY, samples=samples)


def test_rows_stand_for_a_source_whose_system_is_away(bench: Bench) -> None:
    nodes = {"shop": AWAY, "dear": keep("amount > 10"), "out": COLLECT}
    found = looked_at(bench, nodes, "shop>dear, dear>out", "dear", {"shop": SampleRows(rows=SHOP)})
    assert (found["inputs"]["in"]["rows"], found["out"]["rows"], found["given"]) == (SHOP, [SHOP[2]], ["shop"])
    assert found["out"]["columns"] == [{"name": "id", "type": "bigint"}, {"name": "amount", "type": "double"}]


def test_a_value_that_was_supposed_for_a_parameter_is_told(bench: Bench) -> None:
    kinds = {"least": {"type": "integer"}, "unused": {"type": "string"}, "known": {"type": "integer", "default": 3}}
    nodes = {"shop": AWAY, "dear": keep("amount > ${least} + ${known}"), "own": ("flow.python", {"code": "def process(row): return row"})}
    given = {"shop": SampleRows(rows=SHOP)}
    edges = "shop>dear, dear>own"
    assert looked_at(bench, nodes, edges, "shop", given, parameters=kinds)["supposed"] == {}
    assert looked_at(bench, nodes, edges, "dear", given, parameters=kinds)["supposed"] == {"least": 1}
    assert looked_at(bench, nodes, edges, "own", given, parameters=kinds)["supposed"] == {"least": 1, "unused": ""}


def test_sources_without_sample_rows_are_read(bench: Bench) -> None:
    lookup = ("flow.lookup", {"keys": [{"left": "id", "right": "id"}], "columns": ["amount"]})
    nodes = {"gen": numbers(), "shop": AWAY, "priced": lookup, "out": COLLECT}
    found = looked_at(bench, nodes, "gen>priced, shop>priced.table, priced>out", "priced", {"shop": SampleRows(rows=SHOP)})
    assert {row["id"]: row["amount"] for row in found["out"]["rows"]} == {0: None, 1: 5.5, 2: None, 3: 20, 4: None}
    assert found["given"] == ["shop"]


def test_what_a_stream_only_looks_things_up_in_is_previewed_as_the_query_it_is(bench: Bench) -> None:
    """On its own it could be no stream: it is sorted, and its API gives its rows once."""
    api: tuple[str, dict[str, Any]] = ("source.http_api", {"connection": "api", "path": "x", "columns": [{"name": "id", "type": "long"}]})
    nodes = {
        "gen": numbers(None),
        "api": api,
        "sorted": ("flow.sort", {"order_by": [{"column": "id", "order": "descending"}]}),
        "twice": ("flow.sql", {"query": "SELECT id, id * 2 AS double FROM sorted ORDER BY id LIMIT 2"}),
        "look": ("flow.lookup", {"keys": [{"left": "id"}], "columns": ["double"]}),
        "out": COLLECT,
    }
    edges = "gen>look, api>sorted, sorted>twice, twice>look.table, look>out"
    samples = {"api": SampleRows(rows=[{"id": 1}, {"id": 3}, {"id": 2}])}
    found = looked_at(bench, nodes, edges, "sorted", samples, type="STREAMING")
    assert [row["id"] for row in found["out"]["rows"]] == [3, 2, 1]
    found = looked_at(bench, nodes, edges, "twice", samples, type="STREAMING")
    assert found["out"]["rows"] == [{"id": 1, "double": 2}, {"id": 2, "double": 4}]


def test_a_source_that_nothing_reads_yet_is_previewed_as_the_stream_it_is(bench: Bench) -> None:
    mqtt: tuple[str, dict[str, Any]] = (
        "source.mqtt",
        {"connection": "plant", "topics": "a", "columns": [{"name": "id", "type": "long"}]},
    )
    nodes = {"gen": numbers(None), "mqtt": mqtt, "out": COLLECT}
    found = looked_at(bench, nodes, "gen>out", "mqtt", {"mqtt": SampleRows(rows=[{"id": 1}])}, type="STREAMING")
    assert found["out"]["rows"] == [{"id": 1}]


def kept(bench: Bench) -> set[int]:
    """What Spark holds in memory or on disk."""
    return set(bench.spark.sparkContext._jsc.getPersistentRDDs())


def test_a_table_is_looked_up_in_whole_however_few_rows_are_asked_for(bench: Bench) -> None:
    bench.spark.range(1000).selectExpr("id", "id * 2 AS double").coalesce(1).write.parquet(str(bench.files / "doubles"))
    table = (
        "source.file",
        {"path": "doubles", "format": "parquet", "columns": [{"name": "id", "type": "long"}, {"name": "double", "type": "long"}]},
    )
    lookup = ("flow.lookup", {"keys": [{"left": "id"}]})
    nodes = {"gen": numbers(), "late": keep("id >= 3"), "table": table, "doubled": lookup, "out": COLLECT}
    edges = "gen>late, late>doubled, table>doubled.table, doubled>out"
    given = SampleRows(rows=[{"id": number} for number in (3, 999)])
    before = kept(bench)
    found = looked_at(bench, nodes, edges, "doubled", {"gen": given}, rows=2)
    assert [row["double"] for row in found["out"]["rows"]] == [6, 1998]
    assert {name: [row["id"] for row in side["rows"]] for name, side in found["inputs"].items()} == {"in": [3, 999], "table": [0, 1]}
    assert {name: side["more"] for name, side in found["inputs"].items()} == {"in": False, "table": True}
    few = looked_at(
        bench, nodes, edges, "doubled", {"gen": given, "table": SampleRows(rows=[{"id": n, "double": n} for n in range(5)])}, rows=2
    )
    assert [row["double"] for row in few["out"]["rows"]] == [3, None]
    assert kept(bench) <= before


def test_a_table_with_more_rows_than_a_lookup_may_have_is_an_error_here_too(bench: Bench) -> None:
    lookup = ("flow.lookup", {"keys": [{"left": "id"}], "most_rows": 3})
    nodes = {"gen": numbers(), "table": AWAY, "found": lookup, "out": COLLECT}
    table = SampleRows(rows=[{"id": number, "name": "x"} for number in range(4)])
    with pytest.raises(PlanInvalid) as refused:
        looked_at(bench, nodes, "gen>found, table>found.table, found>out", "found", {"table": table})
    assert [(problem.node_id, "more than 3 rows" in problem.message) for problem in refused.value.problems] == [("found", True)]


def test_a_long_value_is_cut_and_its_row_is_shown_with_all_others(bench: Bench) -> None:
    expressions = {"more": "repeat('\"x', 524288)", "list": "array_repeat('y', 300000)", "bytes": "cast(repeat('z', 900000) as binary)"}
    large = ("flow.compute_columns", {"columns": [{"name": name, "expression": text} for name, text in expressions.items()]})
    nodes = {"shop": AWAY, "large": large, "out": COLLECT}
    side = looked_at(bench, nodes, "shop>large, large>out", "large", {"shop": SampleRows(rows=SHOP)}, rows=100)["out"]
    assert [(row["id"], row["amount"]) for row in side["rows"]] == [(1, 5.5), (2, None), (3, 20)]
    assert {(one["column"], one["characters"]) for one in side["cut"]} == {("more", 1_048_576), ("list", 1_200_001), ("bytes", 1_200_000)}
    assert [one["row"] for one in side["cut"]] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    row = side["rows"][0]
    assert (row["more"][:4], row["list"][:9], row["bytes"][:4]) == ('"x"x', '["y","y",', "enp6")
    assert all(row[name].endswith("…") and len(row[name]) == 32_000_000 // 100 // 10 + 1 for name in expressions)


def test_values_that_have_room_are_shown_whole(bench: Bench) -> None:
    large = ("flow.compute_columns", {"columns": [{"name": "more", "expression": "repeat('x', 1000000)"}]})
    nodes = {"shop": AWAY, "large": large, "out": COLLECT}
    side = looked_at(bench, nodes, "shop>large, large>out", "large", {"shop": SampleRows(rows=SHOP)}, rows=10)["out"]
    assert ([len(row["more"]) for row in side["rows"]], side["cut"]) == ([1_000_000] * 3, [])


def test_each_input_is_shown_under_the_name_of_its_port_or_of_where_it_comes_from(bench: Bench) -> None:
    join = ("flow.join", {"keys": [{"left": "id", "right": "id"}]})
    nodes = {"one": AWAY, "two": AWAY, "both": join, "out": COLLECT}
    samples = {"one": SampleRows(rows=[{"id": 1}]), "two": SampleRows(rows=[{"id": 2}])}

    def inputs(nodes: Any, edges: str) -> dict[str, list[int]]:
        found = looked_at(bench, nodes, edges, "both", samples, type="BATCH_ROLLER")
        return {name: [row["id"] for row in side["rows"]] for name, side in found["inputs"].items()}

    assert inputs(nodes, "one>both.left, two>both.right, both>out") == {"left": [1], "right": [2]}
    union = nodes | {"odd": ("flow.split", {"branches": [{"name": "odd", "condition": "id = 1"}]}), "both": ("flow.union", {})}
    assert inputs(union, "one>odd, odd.odd>both, odd.else>both, two>both, both>out") == {"odd.odd": [1], "odd.else": [], "two": [2]}


def test_samples_of_sources_that_do_not_lead_to_the_node_are_passed_over(bench: Bench) -> None:
    nodes = {"gen": numbers(), "shop": AWAY, "out": COLLECT, "other": COLLECT}
    found = looked_at(bench, nodes, "gen>out, shop>other", "out", {"shop": SampleRows(rows=[{"id": [1, "x"]}])})
    assert ([row["id"] for row in found["inputs"]["in"]["rows"]], found["given"]) == ([0, 1, 2, 3, 4], [])


def test_no_more_rows_are_taken_than_are_asked_for(bench: Bench) -> None:
    many = SampleRows(rows=[{"id": number} for number in range(1000)])
    found = looked_at(bench, {"shop": AWAY, "odd": keep("id % 2 = 1")}, "shop>odd", "odd", {"shop": many}, rows=4)
    assert ([row["id"] for row in found["inputs"]["in"]["rows"]], [row["id"] for row in found["out"]["rows"]]) == ([0, 1, 2, 3], [1, 3])


def test_columns_are_those_the_source_tells_then_those_that_are_said_then_those_the_rows_show(bench: Bench) -> None:
    rows = [{"id": "7"}]
    told = looked_at(bench, {"gen": numbers(), "out": COLLECT}, "gen>out", "gen", {"gen": SampleRows(rows=rows, columns="id string")})[
        "out"
    ]
    assert [column["name"] for column in told["columns"]] == ["id", "time", "key", "value"]
    assert told["rows"] == [{"id": 7, "time": None, "key": None, "value": None}]
    for columns, shown, kind in (("id int", 7, "int"), ("", "7", "string")):
        found = looked_at(bench, {"shop": AWAY, "out": COLLECT}, "shop>out", "shop", {"shop": SampleRows(rows=rows, columns=columns)})[
            "out"
        ]
        assert (found["rows"], found["columns"]) == ([{"id": shown}], [{"name": "id", "type": kind}])


def test_a_value_that_does_not_fit_is_told_with_its_row_and_column(bench: Bench) -> None:
    rows = SampleRows(rows=[{"id": 1}, {"id": "one", "odd/name": 1}], columns="id int, at timestamp")
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench, {"shop": AWAY, "out": COLLECT}, "shop>out", "out", {"shop": rows})
    found = {problem.pointer: problem for problem in caught.value.problems}
    assert set(found) == {"/samples/shop/rows/1/id", "/samples/shop/rows/1/odd~1name"}
    assert (found["/samples/shop/rows/1/id"].node_id, found["/samples/shop/rows/1/id"].code) == ("shop", "sample.misfit")
    assert 'sample rows of Shop, row 2, column id: "one" is no int' in found["/samples/shop/rows/1/id"].message


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (SampleRows(rows=[], columns="id bigin"), "they cannot be read"),
        (SampleRows(rows=[{"id": 1}], columns="bigint"), '"bigint" names none'),
        (SampleRows(rows=[{}]), "neither the source nor a row tells any"),
        (SampleRows(rows=[{"id": 1}, {"id": "a"}]), "its values are of several types"),
    ],
)
def test_columns_that_cannot_be_made_are_told(bench: Bench, sample: SampleRows, words: str) -> None:
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench, {"shop": AWAY, "out": COLLECT}, "shop>out", "out", {"shop": sample})
    (problem,) = caught.value.problems
    assert (problem.pointer, words in problem.message) == ("/samples/shop/columns", True), problem


def test_a_fault_behind_the_rows_is_told_at_its_node(bench: Bench) -> None:
    nodes = {"shop": AWAY, "dear": keep("amuont > 10"), "out": COLLECT}
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench, nodes, "shop>dear, dear>out", "out", {"shop": SampleRows(rows=SHOP)})
    assert [(problem.code, problem.pointer) for problem in caught.value.problems] == [("column.unknown", "/nodes/dear/config/condition")]


@pytest.mark.parametrize(
    ("node", "field", "words"),
    [
        (
            ("flow.expectations", {"rules": [{"name": "whole", "condition": "cast(word as int) >= 0", "action": "warn"}]}),
            "rules/0/condition",
            'The value \'one\' of the type "STRING" cannot be cast to "INT"',
        ),
        (("flow.mask", {"fields": [{"column": "word"}, {"column": "Word"}]}), "fields/1/column", "Word is masked already"),
        (
            ("flow.compute_columns", {"columns": [{"name": "x", "expression": "explode(split(word, ''))"}]}),
            "columns/0/expression",
            "it makes several rows of one, or none",
        ),
        (("flow.script", {"script": "x = 1\nif id > 1 then x = word"}), "script", "line 2: x is string here and int in line 1"),
    ],
)
def test_what_a_run_or_the_analysis_refuses_a_preview_refuses(bench: Bench, node: Any, field: str, words: str) -> None:
    given = {"shop": SampleRows(rows=[{"id": 1, "word": "one"}])}
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench, {"shop": AWAY, "node": node, "out": COLLECT}, "shop>node, node>out", "node", given)
    (problem,) = caught.value.problems
    assert problem.pointer == f"/nodes/node/config/{field}"
    assert words in problem.message


def test_a_preview_that_fails_at_a_row_tells_the_expression(bench: Bench) -> None:
    node = ("flow.script", {"script": "x = 1\ny = 1 / (id - 1)\nz = 2"})
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench, {"shop": AWAY, "node": node, "out": COLLECT}, "shop>node, node>out", "node", {"shop": SampleRows(rows=SHOP)})
    (problem,) = caught.value.problems
    assert problem.message.startswith('"Node": Division by zero')
    assert problem.message.endswith(". It happened in 1 / (id - 1)")


def test_rules_that_are_kept_are_asked_in_a_preview_and_change_no_row(bench: Bench) -> None:
    rules = [{"name": "dear", "condition": "amount > 10", "action": "warn"}, {"name": "known", "condition": "amount is not null"}]
    nodes = {"shop": AWAY, "asked": ("flow.expectations", {"rules": rules}), "both": ("flow.union", {}), "out": COLLECT}
    edges = "shop>asked, asked>both, asked.errors>both, both>out"
    found = looked_at(bench, nodes, edges, "both", {"shop": SampleRows(rows=SHOP)})
    assert [row["id"] for row in found["out"]["rows"]] == [1, 3, 2]


def test_given_rows_are_good_ones_where_a_source_can_reject_some(bench: Bench) -> None:
    files = ("source.file", {"path": "nowhere", "format": "csv", "columns": [{"name": "id", "type": "long"}]})
    nodes = {"files": files, "out": COLLECT, "bad": COLLECT}
    samples = {"files": SampleRows(rows=[{"id": 1}, {"id": 2}])}
    drawing = (nodes, "files>out, files.errors>bad")
    assert [row["id"] for row in looked_at(bench, *drawing, "out", samples)["inputs"]["in"]["rows"]] == [1, 2]
    assert looked_at(bench, *drawing, "bad", samples)["inputs"]["in"]["rows"] == []


VALUES = {
    "big": "9223372036854775807",
    "exact": "12345678901234567.89",
    "long": "12345678901.123456789012345678",
    "share": 0.25,
    "sure": True,
    "day": "2026-01-31",
    "at": "2026-01-31T12:00:00.250001+01:00",
    "local": "2026-01-31T12:00:00.250001",
    "bytes": "AAEC",
    "list": [1, None],
    "map": {"a": "x"},
    "inner": {"a b": 1, "list": [{"x": "y"}]},
    "none": None,
}
TYPES = {
    "big": "bigint",
    "exact": "decimal(38,2)",
    "long": "decimal(38,18)",
    "share": "double",
    "sure": "boolean",
    "day": "date",
    "at": "timestamp",
    "local": "timestamp_ntz",
    "bytes": "binary",
    "list": "array<int>",
    "map": "map<string,string>",
    "inner": "struct<`a b`:int,list:array<struct<x:string>>>",
    "none": "string",
}


def test_rows_that_are_shown_can_be_kept_and_come_back_the_same(bench: Bench) -> None:
    columns = [SampleColumn(name=name, type=kind) for name, kind in TYPES.items()]
    shown = looked_at(bench, {"shop": AWAY, "out": COLLECT}, "shop>out", "shop", {"shop": SampleRows(rows=[VALUES], columns=columns)})[
        "out"
    ]
    assert shown["rows"] == [VALUES]
    kept = SampleRows(rows=shown["rows"], columns=[SampleColumn(**column) for column in shown["columns"]])
    assert looked_at(bench, {"shop": AWAY, "out": COLLECT}, "shop>out", "shop", {"shop": kept})["out"] == shown


def test_times_that_were_kept_with_milliseconds_are_read(bench: Bench) -> None:
    columns = [SampleColumn(name="at", type="timestamp"), SampleColumn(name="local", type="timestamp_ntz")]
    kept = SampleRows(rows=[{"at": "2026-01-31T12:00:00.250+01:00", "local": "2026-01-31T12:00:00.250"}], columns=columns)
    shown = looked_at(bench, {"shop": AWAY, "out": COLLECT}, "shop>out", "shop", {"shop": kept})["out"]
    assert shown["rows"] == [{"at": "2026-01-31T12:00:00.250000+01:00", "local": "2026-01-31T12:00:00.250000"}]
