"""Flows that change rows one by one, run and counted as parts of whole jobs."""

import json
from collections import defaultdict
from typing import Any

import pytest

from jobs.engine.events import RowsRejected
from jobs.engine.validation import Analysis, analyse
from jobs.nodes.base import Limits
from tests.engine.graphs import Bench, document, files, keep, numbers

pytestmark = pytest.mark.spark


def computed(**columns: str) -> tuple[str, dict[str, Any]]:
    return "flow.compute_columns", {"columns": [{"name": name, "expression": text} for name, text in columns.items()]}


def analysis(bench: Bench, nodes: Any, edges: str, **given: Any) -> Analysis:
    limits = Limits(file_roots=(bench.files,), data_dir=bench.root)
    return analyse(bench.spark, document(nodes, edges, **given), connections={}, limits=limits, parameters={})


def test_what_does_not_parse_is_counted_and_kept_with_the_text_as_it_came(bench: Bench) -> None:
    """Numbers are written as JSON, every tenth is cut off, the rest is read back."""
    nodes = {
        "gen": numbers(1000),
        "write": ("flow.format", {"columns": ["id", "value"], "output": "body", "keep": "none"}),
        "damage": computed(body="if(body like '%0,%', substr(body, 1, 8), body)"),
        "read": ("flow.parse", {"column": "body", "columns": [{"name": "id", "type": "long"}, {"name": "value", "type": "double"}]}),
        "out": files("out"),
    }
    heard = bench.completed(document(nodes, "gen>write, write>damage, damage>read, read>out"))
    assert (heard.rows("read", "rows_in"), heard.rows("read", "rows_out"), heard.rows("read", "rejected")) == (1000, 900, 100)
    assert sorted(row.id for row in bench.parquet("out")) == [number for number in range(1000) if number % 10]
    kept = heard.of(RowsRejected)[0].rows
    assert all(row["row"].startswith('{"id":') and len(row["row"]) == 8 for row in kept)  # as it came: cut off
    assert kept[0]["reason"].startswith("body does not fit the columns")


def test_the_rejected_port_of_a_parse_carries_the_text_and_the_reason(bench: Bench) -> None:
    parse = {"column": "body", "format": "regex", "pattern": r"^(\d+)$", "columns": [{"name": "n", "type": "int"}], "keep": "all"}
    nodes = {
        "gen": numbers(10),
        "text": computed(body="if(id = 3, 'three', string(id))"),
        "read": ("flow.parse", parse),
        "good": files("good"),
        "bad": files("bad"),
    }
    bench.completed(document(nodes, "gen>text, text>read, read>good, read.errors>bad"))
    assert [row.n for row in bench.parquet("good")] == [number for number in range(10) if number != 3]
    (bad,) = bench.parquet("bad")
    assert (bad.id, bad.body, bad.rejected_reason) == (3, "three", "the pattern does not fit:\nthree")


def test_the_rejected_port_of_select_fields_carries_the_whole_row_as_it_came(bench: Bench) -> None:
    """Columns that were not chosen, too, so that the row can be mended; where nothing is connected, they are not even read."""
    chosen = [{"column": "id"}, {"column": "tail", "name": "number", "type": "int"}]
    nodes = {
        "gen": numbers(3),
        "rows": computed(tail=r"if(id = 1, 'N:\n1', string(id))", other="map('k.l', value)", gone="cast(null as date)"),
        "chosen": ("flow.select_fields", {"fields": chosen}),
        "good": files("good"),
    }
    bench.completed(document({**nodes, "bad": files("bad")}, "gen>rows, rows>chosen, chosen>good, chosen.errors>bad"))
    (bad,) = bench.parquet("bad")
    assert bad.asDict().keys() == {"id", "number", "rejected_reason"}  # what reads the port finds the columns of before
    why, _, came = bad.rejected_reason.partition(":\n")
    assert (bad.id, bad.number, why) == (1, None, "tail: cannot turn 'N: 1' into int")
    row = json.loads(came)
    assert (row["id"], row["tail"], row["other"], row["gone"]) == (1, "N:\n1", {"k.l": row["value"]}, None)
    heard = bench.completed(document(nodes, "gen>rows, rows>chosen, chosen>good"))
    (kept,) = heard.of(RowsRejected)[0].rows
    assert kept["reason"] == "tail: cannot turn 'N: 1' into int"
    assert json.loads(kept["row"]) == {"id": 1, "number": None}


@pytest.mark.parametrize("format", ["json", "xml"])
def test_the_rejected_port_carries_all_of_a_long_text_and_a_shown_row_its_beginning(bench: Bench, format: str) -> None:
    """A whole order can be mended and read again."""
    long = '{"n": "x", "note": "' + "y" * 5000 + '"}' if format == "json" else "<r><n>x</n>" + "y" * 5000
    parse = {"column": "body", "format": format, "columns": [{"name": "n", "type": "int"}, {"name": "note", "type": "string"}]}
    nodes = {"gen": numbers(1), "text": computed(body=f"'{long}'"), "read": ("flow.parse", parse), "good": files("good")}
    bench.completed(document({**nodes, "bad": files("bad")}, "gen>text, text>read, read>good, read.errors>bad"))
    (bad,) = bench.parquet("bad")
    why, _, came = bad.rejected_reason.partition(":\n")
    assert came == long
    assert why.startswith("body does not fit the columns")
    heard = bench.completed(document(nodes, "gen>text, text>read, read>good"))
    (told,) = heard.of(RowsRejected)[0].rows
    assert told["row"] == long[:2000]


def test_what_is_escaped_in_a_template_is_neither_a_parameter_nor_a_column(bench: Bench) -> None:
    template = "$${id} ${id} $${day} ${day} $${x}"
    nodes = {
        "gen": numbers(1),
        "write": ("flow.format", {"format": "text", "template": template, "keep": "none"}),
        "out": files("out"),
    }
    drawn = document(nodes, "gen>write, write>out", parameters={"day": {"type": "string"}})
    bench.completed(drawn, parameters={"day": "monday"})
    assert [row.value for row in bench.parquet("out")] == ["${id} 0 ${day} monday ${x}"]


def test_names_that_a_format_cannot_hold_are_told_of_its_node_while_the_job_is_drawn(bench: Bench) -> None:
    nodes = {
        "gen": numbers(10),
        "odd": computed(**{"c d": "id"}),
        "avro": ("flow.format", {"format": "avro"}),
        "xml": ("flow.format", {"format": "xml"}),
        "a": files("a"),
        "b": files("b"),
    }
    found = analysis(bench, nodes, "gen>odd, odd>avro, odd>xml, avro>a, xml>b").problems
    assert [(problem.code, problem.node_id, problem.pointer) for problem in found] == [
        ("node.refused", name, f"/nodes/{name}/config/columns") for name in ("avro", "xml")
    ]
    assert found[0].message.startswith('"Avro": Avro cannot hold the names "c d": ')


@pytest.mark.parametrize("edges", ["gen>text, text>xml, xml>good, xml.errors>bad", "gen>text, text>xml, xml>good"])
def test_a_row_that_xml_cannot_hold_goes_its_own_way(bench: Bench, edges: str) -> None:
    nodes = {
        "gen": numbers(10),
        "text": computed(body=r"if(id = 3, 'a\u0001b', string(id))"),
        "xml": ("flow.format", {"format": "xml", "columns": ["body"], "output": "text"}),
        "good": files("good"),
        "bad": files("bad"),
    }
    if "bad" not in edges:
        del nodes["bad"]
    heard = bench.completed(document(nodes, edges))
    assert (heard.rows("xml", "rows_out"), heard.rows("xml", "rejected")) == (9, 1)
    assert [row.id for row in bench.parquet("good")] == [number for number in range(10) if number != 3]
    if "bad" in edges:
        (bad,) = bench.parquet("bad")
        assert (bad.id, bad.rejected_reason.split("\n")[1]) == (3, r'{"body":"a\u0001b"}')


def test_lists_and_maps_become_rows_that_are_counted(bench: Bench) -> None:
    nodes = {
        "gen": numbers(100, batch=30),
        "lists": computed(items="sequence(1, int(id % 4))", pairs="map('a', id, 'b', -id)"),
        "keep": ("flow.flat_map", {"column": "items", "position": "nr"}),
        "both": ("flow.flat_map", {"column": "pairs", "output": "number", "key": "letter"}),
        "out": files("out"),
    }
    heard = bench.completed(document(nodes, "gen>lists, lists>keep, keep>both, both>out"))
    # sequence(1, 0) counts down: two elements
    elements = [(id, nr, item) for id in range(100) for nr, item in enumerate([1, 0] if id % 4 == 0 else range(1, id % 4 + 1))]
    found = bench.parquet("out")
    assert sorted((row.id, row.nr, row["items"]) for row in found if row.letter == "a") == elements
    assert all(row.number == (row.id if row.letter == "a" else -row.id) for row in found)
    assert (heard.rows("keep"), heard.rows("both")) == (len(elements), 2 * len(elements))
    assert len(found) == 2 * len(elements)


def test_rows_in_front_of_a_repartition_are_counted_as_they_are(bench: Bench) -> None:
    nodes = {
        "gen": numbers(1000),
        "even": keep("id % 2 = 0"),
        "spread": ("flow.repartition", {"partitions": 3}),
        "few": keep("id < 100"),
        "out": files("out"),
    }
    for kind in ("BATCH_ROLLER", "SQL_TASK"):
        heard = bench.completed(document(nodes, "gen>even, even>spread, spread>few, few>out", type=kind))
        assert [heard.rows(node) for node in ("gen", "even", "spread", "few", "out")] == [1000, 500, 500, 50, 50], kind


def test_a_sample_keeps_about_its_share_and_whole_keys(bench: Bench) -> None:
    nodes = {
        "gen": numbers(4000, batch=2000),
        "chance": ("flow.sample", {"percent": 25}),
        "some": files("some"),
        "keyed": computed(group="id % 500"),
        "groups": ("flow.sample", {"percent": 25, "keys": ["group"]}),
        "whole": files("whole"),
    }
    heard = bench.completed(document(nodes, "gen>chance, chance>some, gen>keyed, keyed>groups, groups>whole"))
    some, whole = bench.parquet("some"), bench.parquet("whole")
    assert 800 < len(some) < 1200
    assert heard.rows("chance") == len(some)
    sizes: dict[int, int] = defaultdict(int)
    for row in whole:
        sizes[row.group] += 1
    assert set(sizes.values()) == {8}
    assert 80 < len(sizes) < 170


def test_a_stream_of_single_rows_is_sampled_by_chance_in_every_batch(bench: Bench) -> None:
    """One seed for all batches would keep the first row of each, or none at all."""
    nodes = {"gen": numbers(24, batch=1), "half": ("flow.sample", {"percent": 50}), "out": files("out")}
    heard = bench.completed(document(nodes, "gen>half, half>out"))
    assert len(heard.batches()) == 24
    assert 0 < heard.rows("half") < 24


def test_sorted_and_limited_rows_come_out_in_order_from_a_job_of_many_pages(bench: Bench) -> None:
    nodes = {
        "gen": numbers(1000, batch=100),
        "sort": ("flow.sort", {"order_by": [{"column": "id", "order": "descending"}]}),
        "top": ("flow.limit", {"rows": 5}),
        "out": files("out", "json"),
    }
    heard = bench.completed(document(nodes, "gen>sort, sort>top, top>out"))
    lines = [json.loads(line) for path in sorted((bench.files / "out").glob("*.json")) for line in path.read_text().splitlines()]
    assert [line["id"] for line in lines] == [999, 998, 997, 996, 995]
    assert (heard.rows("gen"), heard.rows("sort"), heard.rows("top"), heard.rows("out")) == (1000, 1000, 5, 5)


@pytest.mark.parametrize(
    ("flow", "words"),
    [
        (("flow.sort", {"order_by": [{"column": "id"}]}), "sorting needs all rows, and a stream has no last row"),
        (("flow.limit", {"rows": 5}), "a limit ends the input, and a stream has no last row"),
    ],
)
def test_what_needs_the_last_row_is_refused_on_a_stream_while_it_is_drawn(bench: Bench, flow: Any, words: str) -> None:
    nodes = {"gen": numbers(None), "flow": flow, "out": files("out")}
    (problem,) = analysis(bench, nodes, "gen>flow, flow>out", type="STREAMING").problems
    assert (problem.severity, problem.node_id) == ("error", "flow")
    assert words in problem.message


def test_a_fault_in_a_script_is_told_with_its_line_and_what_was_meant(bench: Bench) -> None:
    script = {"script": "# doubled\ntwice = value * 2\nkeep if twce > 1"}
    (problem,) = analysis(bench, {"gen": numbers(), "do": ("flow.script", script), "out": files("o")}, "gen>do, do>out").problems
    assert (problem.code, problem.pointer) == ("column.unknown", "/nodes/do/config/script")
    assert problem.message == '"Do": line 3: there is no column twce; did you mean twice? The columns are id, time, key, value, twice'


def test_a_source_whose_format_refuses_nothing_has_an_empty_port_for_errors(bench: Bench) -> None:
    bench.spark.range(20).write.parquet(str(bench.files / "in"))
    source = "source.file", {"path": "in", "format": "parquet"}
    nodes = {"src": source, "good": files("good"), "bad": files("bad", "json")}
    edges = "src>good, src.errors>bad"
    assert analysis(bench, nodes, edges).problems == []
    heard = bench.completed(document(nodes, edges))
    assert (heard.rows("good"), heard.rows("bad"), len(bench.parquet("good"))) == (20, 0, 20)
    assert list((bench.files / "bad").glob("*.json")) == [], "no file for a batch without rows"
