"""Rows counted by Spark's own operators: as exact as observing them, whatever Spark makes of the filters."""

from typing import Any

import pytest

from jobs.engine.events import RowsRejected
from tests.engine.graphs import COLLECT, Bench, document, keep, numbers

pytestmark = pytest.mark.spark

ROLLER_AND_WHOLE = pytest.mark.parametrize("job_type", ["BATCH_ROLLER", "SQL_TASK"])
BROKEN_ELEMENT = "<row><id>two</id><amount>20</amount></row>"
COLUMNS = [{"name": "id", "type": "long"}, {"name": "amount", "type": "double"}]
MORE: tuple[str, dict[str, Any]] = ("flow.compute_columns", {"columns": [{"name": "twice", "expression": "value * 2"}]})


@pytest.mark.each_once
@ROLLER_AND_WHOLE
@pytest.mark.parametrize("never", ["'${env}' = 'prod'", "1 = 0", "id > 0 and false", "cast(null as boolean)"])
@pytest.mark.parametrize("between", [False, True])
def test_a_filter_that_lets_nothing_through_whatever_comes(bench: Bench, job_type: str, never: str, between: bool) -> None:
    (bench.files / "orders.csv").write_text("id,amount\n1,10\ntwo,20\n3,30\n")
    source: tuple[str, dict[str, Any]] = ("source.file", {"path": "orders.csv", "columns": COLUMNS})
    nodes: dict[str, tuple[str, dict[str, Any]]] = {
        "in": source,
        "check": ("flow.rejects", {"condition": "id = 3"}),
        "never": keep(never),
        "out": COLLECT,
    }
    edges = "in>check, check>never, never>out" if between else "in>never, never>out"
    given = nodes if between else {name: node for name, node in nodes.items() if name != "check"}
    heard = bench.completed(document(given, edges, type=job_type, parameters={"env": {"type": "string", "default": "dev"}}))
    assert (heard.rows_in(), heard.rows("in"), heard.rows("in", "rejected")) == (3, 2, 1)
    assert (heard.rows("never"), heard.rows("out")) == (0, 0)
    if between:
        assert (heard.rows("check"), heard.rows("check", "rejected")) == (1, 1)


@ROLLER_AND_WHOLE
@pytest.mark.parametrize(("city", "rows"), [("O'Hare", 1), ("' OR '1'='1", 0), ("\\", 0)])
def test_a_value_of_a_parameter_is_a_text_whatever_it_holds(bench: Bench, job_type: str, city: str, rows: int) -> None:
    (bench.files / "cities.csv").write_text("city\nO'Hare\nMidway\n")
    cities: tuple[str, dict[str, Any]] = ("source.file", {"path": "cities.csv", "columns": [{"name": "city"}]})
    nodes = {"in": cities, "one": keep("city = '${city}'"), "out": COLLECT}
    parameters = {"city": {"type": "string", "default": city}}
    heard = bench.completed(document(nodes, "in>one, one>out", type=job_type, parameters=parameters))
    assert heard.rows("one") == rows


@ROLLER_AND_WHOLE
def test_filters_that_follow_one_another_are_counted_each(bench: Bench, job_type: str) -> None:
    nodes = {
        "gen": numbers(1000, 500),
        "a": keep("id < 800"),
        "more": MORE,
        "b": keep("id % 2 = 0"),
        "c": keep("id % 4 = 0"),
        "out": COLLECT,
    }
    heard = bench.completed(document(nodes, "gen>a, a>more, more>b, b>c, c>out", type=job_type))
    assert [heard.rows(node_id) for node_id in ("gen", "a", "more", "b", "c", "out")] == [1000, 800, 800, 400, 200, 200]


@ROLLER_AND_WHOLE
def test_a_filter_that_spark_drops_still_counts(bench: Bench, job_type: str) -> None:
    heard = bench.completed(document({"gen": numbers(1000, 500), "all": keep("true"), "out": COLLECT}, "gen>all, all>out", type=job_type))
    assert (heard.rows_in(), heard.rows("all"), heard.rows("out")) == (1000, 1000, 1000)


@ROLLER_AND_WHOLE
def test_a_filter_that_leaves_nothing_counts_what_came_in(bench: Bench, job_type: str) -> None:
    heard = bench.completed(
        document({"gen": numbers(1000, 500), "none": keep("id < 0"), "out": COLLECT}, "gen>none, none>out", type=job_type)
    )
    assert (heard.rows_in(), heard.rows("none"), heard.rows("out")) == (1000, 0, 0)


@ROLLER_AND_WHOLE
def test_rejecting_between_filters_counts_every_kind(bench: Bench, job_type: str) -> None:
    nodes = {
        "gen": numbers(1000, 500),
        "a": keep("id < 800"),
        "check": ("flow.rejects", {"condition": "id % 10 = 3"}),
        "b": keep("id % 2 = 1"),
        "out": COLLECT,
    }
    heard = bench.completed(document(nodes, "gen>a, a>check, check>b, b>out", type=job_type))
    assert [heard.rows(node_id) for node_id in ("gen", "a", "check", "b", "out")] == [1000, 800, 720, 320, 320]
    assert heard.rows("check", "rejected") == 80


@pytest.mark.each_once
@ROLLER_AND_WHOLE
@pytest.mark.parametrize("format", ["csv", "json", "parquet", "orc", "avro", "xml"])
def test_a_file_whose_filter_spark_could_push_into_the_scan_counts_every_row(bench: Bench, job_type: str, format: str) -> None:
    frame = bench.spark.range(0, 1000, 1, 2).selectExpr("id", "cast(id as double) amount")
    frame.write.options(header="true", rowTag="row").format(format).save(str(bench.files / "in"))
    source = ("source.file", {"path": "in", "format": format, "columns": COLUMNS})
    heard = bench.completed(document({"in": source, "few": keep("id < 10"), "out": COLLECT}, "in>few, few>out", type=job_type))
    assert (heard.rows_in(), heard.rows("few"), heard.rows("out")) == (1000, 10, 10)


@ROLLER_AND_WHOLE
@pytest.mark.parametrize("encoding", ["UTF-8", "windows-1252"])
def test_lines_of_text_are_counted_in_every_encoding(bench: Bench, job_type: str, encoding: str) -> None:
    (bench.files / "lines").write_text("".join(f"€{number}\n" for number in range(1000)), encoding=encoding)
    source = ("source.file", {"path": "lines", "format": "text", "encoding": encoding})
    nodes = {"in": source, "few": keep("value < '€10'"), "out": COLLECT}
    heard = bench.completed(document(nodes, "in>few, few>out", type=job_type))
    assert (heard.rows_in(), heard.rows("few"), heard.rows("out")) == (1000, 2, 2)


@ROLLER_AND_WHOLE
def test_broken_rows_of_a_file_are_counted_beside_the_filter(bench: Bench, job_type: str) -> None:
    (bench.files / "orders.csv").write_text("id,amount\n1,10\ntwo,20\n3,30\n4\n5,50\n")
    source = ("source.file", {"path": "orders.csv", "columns": COLUMNS})
    heard = bench.completed(document({"csv": source, "big": keep("amount > 20"), "out": COLLECT}, "csv>big, big>out", type=job_type))
    assert (heard.rows_in(), heard.rows("csv"), heard.rows("csv", "rejected"), heard.rows("big")) == (5, 3, 2, 2)


@ROLLER_AND_WHOLE
@pytest.mark.parametrize("format", ["csv", "json", "xml"])
def test_broken_rows_of_a_line_are_kept_to_look_at(bench: Bench, job_type: str, format: str) -> None:
    elements = ("<row><id>1</id><amount>10</amount></row>", BROKEN_ELEMENT, "<row><id>3</id><amount>30</amount></row>")
    lines = {
        "csv": "id,amount\n1,10\ntwo,20\n3,30\n",
        "json": '{"id":1,"amount":10}\n{"id":"two","amount":20}\n{"id":3,"amount":30}\n',
        "xml": f"<rows>{''.join(elements)}</rows>",
    }
    (bench.files / "orders").write_text(lines[format])
    source = ("source.file", {"path": "orders", "format": format, "columns": COLUMNS})
    heard = bench.completed(document({"in": source, "big": keep("amount > 20"), "out": COLLECT}, "in>big, big>out", type=job_type))
    (rejected,) = heard.of(RowsRejected)
    assert (rejected.node_id, rejected.total) == ("in", 1)
    came, reason = rejected.rows[0]["row"], rejected.rows[0]["reason"]
    assert came == {"csv": "two,20", "json": '{"id":"two","amount":20}', "xml": BROKEN_ELEMENT}[format]
    misfit = 'id should be bigint, not "two"'
    words = {"csv": f"the line does not fit the columns: {misfit}", "json": f"the row does not fit the columns: {misfit}"}
    assert reason == words.get(format, "the row does not fit the columns")


@ROLLER_AND_WHOLE
def test_a_print_at_the_end_of_a_line_counts_every_row(bench: Bench, job_type: str) -> None:
    nodes = {"gen": numbers(1000, 500), "odd": keep("id % 2 = 1"), "show": ("sink.print", {"rows": 1})}
    heard = bench.completed(document(nodes, "gen>odd, odd>show", type=job_type))
    assert (heard.rows_in(), heard.rows("odd"), heard.rows("show")) == (1000, 500, 500)
