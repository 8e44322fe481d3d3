"""Tests of a job, run on the test session: bounded and as a stream, passing, failing and refused."""

import os
import re
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from jobs.dag.document import DagDocument, parse_document
from jobs.engine.pipeline_test import PipelineTestResult, pipeline_test_run, result_data
from jobs.engine.result_lines import result_lines
from tests.engine.graphs import document
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

COLUMNS = [{"name": "id", "type": "long"}, {"name": "amount", "type": "decimal(10, 2)"}, {"name": "time", "type": "timestamp"}]
KAFKA: tuple[str, dict[str, Any]] = ("source.kafka", {"connection": "main", "topic": "orders", "columns": COLUMNS})
BIG: tuple[str, dict[str, Any]] = ("flow.filter_rows", {"condition": "amount >= 100"})
OUT: tuple[str, dict[str, Any]] = ("sink.kafka", {"connection": "main", "topic": "big"})


def orders(test: dict[str, Any], *, type: str = "STREAMING", **nodes: Any) -> DagDocument:
    drawn = {"orders": KAFKA, "big": BIG, "out": OUT, **nodes}
    return document(drawn, "orders>big, big>out", type=type, tests=[{"name": "big orders", **test}])


def run(spark: SparkSession, tmp_path: Path, read: DagDocument, **given: Any) -> PipelineTestResult:
    folder = tmp_path / uuid.uuid4().hex
    result = pipeline_test_run(spark, read, 0, folder=folder, **given)
    wait_until(lambda: not list(folder.glob("*")), seconds=60, what="the folders of a test to be removed")
    return result


GIVEN = [{"id": 1, "amount": "99.99"}, {"id": 2, "amount": 100, "time": "2026-01-31 12:00:00"}, {"id": 3, "amount": 250.5}]


@pytest.mark.parametrize("type", ["STREAMING", "SQL_TASK"])
def test_rows_of_the_sources_own_columns_pass_without_its_server(spark: SparkSession, tmp_path: Path, type: str) -> None:
    expected = [{"id": 3, "amount": 250.5}, {"id": 2, "amount": "100.00", "time": "2026-01-31T13:00:00+01:00"}]
    result = run(spark, tmp_path, orders({"given": {"orders": GIVEN}, "expect": {"out": expected}}, type=type))
    assert (result.status, result.message, result.problems) == ("passed", "", [])
    assert result.outlets[0].columns == ["id", "amount", "time"]


def test_a_failing_test_tells_missing_and_unexpected_rows_and_columns_that_differ(spark: SparkSession, tmp_path: Path) -> None:
    expected = [{"id": 2, "amount": 101, "time": "2026-01-31 12:00:00"}, {"id": 9, "amount": 900, "time": "2026-01-31 09:00:00"}]
    result = run(spark, tmp_path, orders({"given": {"orders": GIVEN}, "expect": {"big": expected}}, type="SQL_TASK"))
    found = result.outlets[0].differences
    assert result.status == "failed"
    assert (found.expected_rows, found.actual_rows) == (2, 2)
    (differing,) = found.differing
    assert (differing.expected["id"], differing.columns) == (2, ["amount"])
    assert differing.expected["time"] == differing.actual["time"] == "2026-01-31T12:00:00Z"
    assert [row["id"] for row in found.missing] == [9]
    assert [row["id"] for row in found.unexpected] == [3]


def test_only_the_named_columns_are_compared_if_so_asked(spark: SparkSession, tmp_path: Path) -> None:
    test = {"given": {"orders": GIVEN}, "expect": {"out": [{"id": 2}, {"id": 3}]}, "only_columns": True}
    result = run(spark, tmp_path, orders(test, type="SQL_TASK"))
    assert (result.status, result.outlets[0].columns) == ("passed", ["id"])


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("INTERVAL '1' DAY", "interval day"),
        ("parse_json('1')", "variant"),
        ("date'9999-12-31' + 1", "date"),
        ("map(date'2026-01-31', 1)", "map<date,int>"),
    ],
)
def test_a_column_that_cannot_be_compared_is_named_and_harms_nobody_who_leaves_it_out(
    spark: SparkSession, tmp_path: Path, expression: str, kind: str
) -> None:
    odd = ("flow.compute_columns", {"columns": [{"name": "odd", "expression": expression}]})
    test = {"given": {"orders": [{"id": 1}]}, "expect": {"big": [{"id": 1}]}}
    result = run(spark, tmp_path, orders(test, type="SQL_TASK", big=odd))
    message = f"the column odd of big is {kind}, and what comes out cannot be compared: make it text before"
    assert (result.status, result.message) == ("error", message)
    assert [problem.pointer for problem in result.problems] == ["/tests/0/expect/big"]
    result = run(spark, tmp_path, orders({**test, "only_columns": True}, type="SQL_TASK", big=odd))
    assert (result.status, result.message) == ("passed", "")


def test_a_time_of_long_ago_whose_offset_has_seconds_is_the_one_expected(spark: SparkSession, tmp_path: Path) -> None:
    row = {"id": 1, "amount": 100, "time": "1900-01-01 00:00:00"}
    drawn = orders({"given": {"orders": [row]}, "expect": {"big": [row]}}, type="SQL_TASK")
    settings = drawn.settings.model_copy(update={"time_zone": "Asia/Shanghai"})
    assert run(spark, tmp_path, drawn.model_copy(update={"settings": settings})).status == "passed"


def test_a_row_that_does_not_fit_is_named_with_its_column(spark: SparkSession, tmp_path: Path) -> None:
    given = [{"id": 1, "amount": "12.345"}, {"id": "two", "amont": 1}]
    result = run(spark, tmp_path, orders({"given": {"orders": given}, "expect": {"out": [{"id": 1.5}]}}))
    assert result.status == "error"
    assert {problem.pointer: problem.message for problem in result.problems} == {
        "/tests/0/given/orders/0/amount": '"big orders": orders, row 1, column amount: "12.345" is no decimal(10,2): it takes a number of '
        "at most 10 digits, 2 of them behind the point",
        "/tests/0/given/orders/1/id": '"big orders": orders, row 2, column id: "two" is no bigint: it takes a whole number of 64 bits',
        "/tests/0/given/orders/1/amont": '"big orders": orders, row 2, column amont: there is no column amont; did you mean amount? '
        "The columns are id, amount, time",
    }


API: tuple[str, dict[str, Any]] = ("source.http_api", {"connection": "shop", "path": "orders"})


@pytest.mark.parametrize("given", [[], [{}]])
def test_rows_that_show_no_columns_are_refused_where_the_source_tells_none(
    spark: SparkSession, tmp_path: Path, given: list[dict[str, Any]]
) -> None:
    result = run(spark, tmp_path, orders({"given": {"orders": given}, "expect": {"out": []}}, type="SQL_TASK", orders=API))
    words = '"big orders": the columns of orders: neither the source nor a row tells any: name them under columns'
    assert (result.status, result.message) == ("error", words)
    assert [problem.pointer for problem in result.problems] == ["/tests/0/columns/orders"]


@pytest.mark.parametrize(
    ("columns", "difference"),
    [
        ("id string, amount decimal(10, 2), time timestamp", "id: the test has string, and the source itself bigint"),
        ("id bigint, amount decimal(10, 2)", "time: the test has no such column, and the source itself timestamp"),
        (
            "id bigint, amount decimal(10, 2), time timestamp, page string",
            "page: the test has string, and the source itself no such column",
        ),
    ],
)
def test_columns_that_differ_from_those_of_the_sources_form_are_refused(
    spark: SparkSession, tmp_path: Path, columns: str, difference: str
) -> None:
    test = {"given": {"orders": [{"id": "abc"}]}, "columns": {"orders": columns}, "expect": {"out": []}}
    result = run(spark, tmp_path, orders(test))
    words = f"{difference}; leave the columns out, or change the source's"
    assert (result.status, result.message) == ("error", f'"big orders": the columns of orders: {words}')
    assert [(problem.code, problem.pointer) for problem in result.problems] == [("test.columns", "/tests/0/columns/orders")]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("id bigintt", "they cannot be read: there is no type bigintt; write one such as bigint, decimal(10, 2), string or timestamp"),
        ("id bigint page string", 'they cannot be read at "page": write them as in id bigint, name string'),
        ("id", "they cannot be read at their end: write them as in id bigint, name string"),
        ("id decimal(50, 2)", "they cannot be read: Decimal precision 50 exceeds max precision 38."),
    ],
)
def test_columns_that_cannot_be_read_are_told_without_the_words_of_spark(
    spark: SparkSession, tmp_path: Path, columns: str, words: str
) -> None:
    test = {"given": {"orders": [{"id": 1}]}, "columns": {"orders": columns}, "expect": {"out": []}}
    result = run(spark, tmp_path, orders(test, type="SQL_TASK", orders=API))
    assert (result.status, result.message) == ("error", f'"big orders": the columns of orders: {words}')


def test_a_test_says_of_an_expression_what_the_editor_says_of_it(spark: SparkSession, tmp_path: Path) -> None:
    wrong = ("flow.compute_columns", {"columns": [{"name": "next", "expression": "idd + 1"}]})
    test = {"given": {"orders": [{"id": 1}]}, "expect": {"big": []}}
    result = run(spark, tmp_path, orders(test, type="SQL_TASK", big=wrong))
    words = '"Big": next: there is no column idd; did you mean id? The columns are id, amount, time'
    assert (result.status, result.message, result.node_id) == ("error", words, "big")
    assert [problem.message for problem in result.problems] == [words]


def test_columns_that_are_those_of_the_sources_form_may_be_said_again_in_any_order(spark: SparkSession, tmp_path: Path) -> None:
    test = {"given": {"orders": GIVEN[:1]}, "columns": {"orders": "time timestamp, amount decimal(10,2), id long"}, "expect": {"out": []}}
    assert run(spark, tmp_path, orders(test, type="SQL_TASK")).status == "passed"


def test_empty_objects_are_given_and_come_out_again(spark: SparkSession, tmp_path: Path) -> None:
    rows = [{"id": 1, "amount": 100, "tags": {}}]
    result = run(spark, tmp_path, orders({"given": {"orders": rows}, "expect": {"out": rows}}, type="SQL_TASK", orders=API))
    assert (result.status, result.message) == ("passed", "")


def test_what_no_file_holds_is_an_error_of_that_test_alone(spark: SparkSession, tmp_path: Path) -> None:
    test = {"given": {"orders": [{"tags": {}}]}, "columns": {"orders": "amount int, tags struct<>"}, "expect": {"out": []}}
    result = run(spark, tmp_path, orders(test, type="SQL_TASK", orders=API))
    assert (result.status, result.message.startswith("The Parquet datasource does not support")) == ("error", True), result.message


def test_an_expected_row_that_does_not_fit_is_named_too(spark: SparkSession, tmp_path: Path) -> None:
    result = run(spark, tmp_path, orders({"given": {"orders": []}, "expect": {"big.out": [{"id": 1.5}]}}, type="SQL_TASK"))
    assert (result.status, [problem.pointer for problem in result.problems]) == ("error", ["/tests/0/expect/big.out/0/id"])


CLOSED: tuple[str, dict[str, Any]] = (
    "flow.window_aggregate",
    {"time_column": "time", "window": "1 min", "emit": "close", "aggregates": [{"name": "n"}]},
)


CLOSED_SESSIONS: tuple[str, dict[str, Any]] = (CLOSED[0], {**CLOSED[1], "kind": "session", "window": "90 s", "group_by": ["page"]})
REDUCED: tuple[str, dict[str, Any]] = ("flow.window_reduce", {"time_column": "time", "window": "1 min"})


def test_a_row_of_a_batch_is_named_with_its_batch(spark: SparkSession, tmp_path: Path) -> None:
    result = run(spark, tmp_path, orders({"given": {"orders": [[{"id": 1}], [{"id": 2}, {"id": "x"}]]}, "expect": {"out": []}}))
    (problem,) = result.problems
    assert problem.pointer == "/tests/0/given/orders/1/1/id"
    assert problem.message.startswith('"big orders": orders in batch 2, row 2, column id: "x" is no bigint')


def windowed(expected: dict[str, Any], *batches: list[str], window: tuple[str, dict[str, Any]] = CLOSED) -> DagDocument:
    given = {"clicks": [[{"time": f"2026-01-31 12:0{minute}:00"} for minute in batch] for batch in batches]}
    test = {"name": "windows", "given": given, "columns": {"clicks": "time timestamp, page string"}, "expect": expected, "ordered": True}
    drawn = {"clicks": ("source.mqtt", {"connection": "home", "topics": "clicks"}), "window": window, "out": OUT}
    return document(drawn, "clicks>window, window>out", type="STREAMING", tests=[test])


def minute(start: int, rows: int) -> dict[str, Any]:
    return {"window_start": f"2026-01-31 12:0{start}:00", "window_end": f"2026-01-31 12:0{start + 1}:00", "n": rows}


def test_a_window_closes_when_a_later_batch_passes_its_end(spark: SparkSession, tmp_path: Path) -> None:
    closed = [minute(0, 3), minute(1, 1)]
    result = run(spark, tmp_path, windowed({"window": closed, "out": closed}, ["0", "0", "1"], ["0"], ["3"], ["0", "3"]))
    assert (result.status, result.message, result.problems) == ("passed", "", [])
    open_still = run(spark, tmp_path, windowed({"out": []}, ["0"], ["0"]))
    assert (open_still.status, open_still.message) == ("passed", "")


@pytest.mark.parametrize("window", [CLOSED, REDUCED], ids=["aggregate", "reduce"])
def test_rows_that_come_too_late_are_expected_at_their_port(
    spark: SparkSession, tmp_path: Path, window: tuple[str, dict[str, Any]]
) -> None:
    rows = "n" if window is CLOSED else "rows"
    closed = [{rows if name == "n" else name: value for name, value in minute(start, count).items()} for start, count in ((0, 3), (1, 1))]
    late = [{"time": "2026-01-31 12:00:00"}]
    expected = {"window": closed, "out": closed, "window.late": late}
    result = run(spark, tmp_path, windowed(expected, ["0", "0", "1"], ["0"], ["3"], ["0", "3"], window=window))
    assert (result.status, result.message, result.problems) == ("passed", "", [])


@pytest.mark.parametrize(
    ("window", "closed"),
    [
        (CLOSED, [("12:00:00", "12:01:00", 2), ("12:01:00", "12:02:00", 1)]),
        (CLOSED_SESSIONS, [("12:00:00", "12:02:30", 3)]),
        (REDUCED, [("12:00:00", "12:01:00", 2), ("12:01:00", "12:02:00", 1)]),
    ],
    ids=["tumbling", "session", "reduce"],
)
def test_a_test_that_expects_what_came_out_passes_unchanged(
    spark: SparkSession, tmp_path: Path, window: tuple[str, dict[str, Any]], closed: list[tuple[str, str, int]]
) -> None:
    """The newest row's own window stays open, which a preview would show."""
    read = windowed({"window": [], "out": []}, ["0", "0", "1", "4"], window=window)
    first = run(spark, tmp_path, read)
    assert first.status == "failed"
    came = {outlet.outlet: outlet.rows for outlet in first.outlets}
    assert came["window"] == came["out"]
    assert [(row["window_start"][11:19], row["window_end"][11:19], row.get("n", row.get("rows"))) for row in came["window"]] == closed
    made = read.model_copy(update={"tests": (read.tests[0].model_copy(update={"expect": came}),)})
    assert run(spark, tmp_path, made).status == "passed"
    assert result_data(first)["outlets"][0]["rows"] == []
    assert result_data(first, rows=True)["outlets"][0]["rows"] == came["window"]


def test_rows_of_an_earlier_batch_are_known_to_a_later_one(spark: SparkSession, tmp_path: Path) -> None:
    once = ("flow.deduplicate", {"keys": ["id"]})
    batches = [[{"id": 1}, {"id": 1}], [{"id": 2}, {"id": 1}], [], [{"id": 3}, {"id": 2}]]
    test = {"given": {"orders": batches}, "expect": {"out": [{"id": 1}, {"id": 2}, {"id": 3}]}, "only_columns": True, "ordered": True}
    result = run(spark, tmp_path, orders(test, big=once))
    assert (result.status, result.message, result.problems) == ("passed", "", [])


def test_rejected_rows_are_expected_at_their_port(spark: SparkSession, tmp_path: Path) -> None:
    parse: tuple[str, dict[str, Any]] = (
        "flow.parse",
        {"column": "line", "format": "json", "keep": "all", "columns": [{"name": "id", "type": "long"}]},
    )
    test = {
        "name": "lines",
        "given": {"lines": [{"line": '{"id": 1}'}, {"line": "nothing"}]},
        "expect": {"parse.errors": [{"line": "nothing"}], "out": [{"id": 1}]},
        "only_columns": True,
    }
    drawn = {"lines": ("source.file", {"path": "lines", "format": "text"}), "parse": parse, "out": OUT}
    for policy in ("dead_letter", "fail"):
        read = document(drawn, "lines>parse, parse>out", type="SQL_TASK", tests=[test], settings={"rejected_rows": policy})
        result = run(spark, tmp_path, read)
        assert (result.status, result.message, result.problems) == ("passed", "", [])


def test_rows_that_a_reference_gives_are_joined(spark: SparkSession, tmp_path: Path) -> None:
    test = {
        "name": "names",
        "given": {"orders": [[{"id": 1}], [{"id": 2}]], "people": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Kurt"}]},
        "expect": {"out": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Kurt"}]},
        "only_columns": True,
    }
    people: tuple[str, dict[str, Any]] = ("source.jdbc", {"connection": "db", "table": "people", "key_column": "id"})
    drawn = {"orders": KAFKA, "people": people, "look": ("flow.lookup", {"keys": [{"left": "id"}], "columns": ["name"]}), "out": OUT}
    read = document(drawn, "orders>look, people>look.table, look>out", type="STREAMING", tests=[test])
    result = run(spark, tmp_path, read)
    assert (result.status, result.message, result.problems) == ("passed", "", [])


def test_what_a_stream_only_looks_things_up_in_is_tested_as_the_query_it_is(spark: SparkSession, tmp_path: Path) -> None:
    people = {"people": [{"id": 2, "name": "Kurt"}, {"id": 1, "name": "Ada"}, {"id": 3, "name": "Emmy"}]}
    test = {"name": "first", "given": people, "expect": {"first": [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Kurt"}]}}
    drawn: dict[str, tuple[str, dict[str, Any]]] = {
        "orders": KAFKA,
        "people": ("source.jdbc", {"connection": "db", "table": "people"}),
        "sorted": ("flow.sort", {"order_by": [{"column": "id"}]}),
        "first": ("flow.limit", {"rows": 2}),
        "look": ("flow.lookup", {"keys": [{"left": "id"}], "columns": ["name"]}),
        "out": OUT,
    }
    edges = "orders>look, people>sorted, sorted>first, first>look.table, look>out"
    result = run(spark, tmp_path, document(drawn, edges, type="STREAMING", tests=[{**test, "ordered": True, "only_columns": True}]))
    assert (result.status, result.message, result.problems) == ("passed", "", [])


def test_a_fault_of_the_job_is_told_where_it_is(spark: SparkSession, tmp_path: Path) -> None:
    unknown = run(
        spark, tmp_path, orders({"given": {"orders": GIVEN}, "expect": {"out": []}}, big=("flow.filter_rows", {"condition": "x > 1"}))
    )
    assert (unknown.status, unknown.node_id) == ("error", "big")
    assert [problem.pointer for problem in unknown.problems] == ["/nodes/big/config/condition"]
    zero = run(
        spark,
        tmp_path,
        orders({"given": {"orders": GIVEN}, "expect": {"out": []}}, big=("flow.filter_rows", {"condition": "1 / (id - 1) > 0"})),
    )
    assert (zero.status, zero.problems, "ivision by zero" in zero.message) == ("error", [], True)


def test_a_test_that_the_drawing_left_behind_is_not_run(spark: SparkSession, tmp_path: Path) -> None:
    result = run(spark, tmp_path, orders({"given": {}, "expect": {"gone": [], "out": []}}))
    assert result.status == "error"
    assert {problem.pointer for problem in result.problems} == {"/tests/0/expect/gone", "/tests/0/given"}


def test_a_test_ends_when_its_time_is_over_or_it_is_cancelled(spark: SparkSession, tmp_path: Path) -> None:
    query = "SELECT orders.* FROM orders CROSS JOIN (SELECT id AS n FROM range(1000000000000)) WHERE n + orders.id < 0"
    endless = ("flow.sql", {"query": query})
    test = {"given": {"orders": GIVEN}, "expect": {"out": []}}
    result = run(spark, tmp_path, orders(test, big=endless), seconds=3)
    assert (result.status, result.message) == ("error", "it took too long and was ended: give it fewer rows or batches")
    result = run(spark, tmp_path, orders(test, big=endless), cancelled=lambda: True)
    assert (result.status, result.message) == ("error", "it was cancelled")


def test_folders_of_tests_that_were_killed_are_removed_by_a_later_one(spark: SparkSession, tmp_path: Path) -> None:
    old, running = tmp_path / "test-old", tmp_path / "test-running"
    for folder in (old, running):
        (folder / "live").mkdir(parents=True)
    long_ago = old.stat().st_mtime - 7200
    os.utime(old, (long_ago, long_ago))
    read = orders({"given": {"orders": []}, "expect": {"out": []}}, type="SQL_TASK")
    assert pipeline_test_run(spark, read, 0, folder=tmp_path).status == "passed"
    assert list(tmp_path.iterdir()) == [running]


DOCS = Path(__file__).resolve().parents[2] / "docs" / "pipeline-tests.md"


@pytest.mark.parametrize("number", [0, 1])
def test_the_examples_of_the_docs_pass(spark: SparkSession, tmp_path: Path, number: int) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 2
    read, problems = parse_document(yaml.safe_load(blocks[number]))
    assert read is not None, problems
    for number in range(len(read.tests)):
        result = pipeline_test_run(spark, read, number, folder=tmp_path)
        assert (result.name, result.status, result.message) == (result.name, "passed", "")


def own(code: str) -> tuple[str, dict[str, Any]]:
    return ("flow.python", {"code": code})


def test_a_persons_code_runs_in_tests_in_workers_that_all_tests_of_a_project_share(spark: SparkSession, tmp_path: Path) -> None:
    code = "import os\n\ndef process(row):\n    return {**row, 'id': os.getppid()}\n"
    seen = set()
    for project in ("one", "one", "other"):
        test = {"given": {"orders": GIVEN}, "expect": {"out": []}}
        result = run(spark, tmp_path, orders(test, type="SQL_TASK", big=own(code)), owner=project)
        assert (result.status, len(result.outlets[0].differences.unexpected)) == ("failed", 3), result.message
        seen.add((project, result.outlets[0].differences.unexpected[0]["id"]))
    assert len(seen) == 2
    assert len({parent for _, parent in seen}) == 2


@pytest.mark.parametrize("type", ["STREAMING", "SQL_TASK"])
def test_what_python_prints_is_told_with_the_result(spark: SparkSession, tmp_path: Path, type: str) -> None:
    code = "def process(row):\n    print('saw', row['id'], 'x' * 9000)\n    return 1 / (row['id'] - 3) and row\n"
    given = [[{"id": 1}], [{"id": 2}]] if type == "STREAMING" else [{"id": 1}, {"id": 2}]
    test = {"given": {"orders": given}, "expect": {"out": given if type == "SQL_TASK" else [{"id": 1}, {"id": 2}]}, "only_columns": True}
    result = run(spark, tmp_path, orders(test, type=type, big=own(code)))
    assert (result.status, {one["node_id"] for one in result.printed}) == ("passed", {"big"}), result.message
    assert re.findall(r"saw \d", "".join(one["text"] for one in result.printed)) == ["saw 1", "saw 2"]
    assert sum(len(one["text"]) for one in result.printed) <= 16_002
    assert result_data(result)["printed"] == result.printed
    assert sum(line.startswith("  printed at big: saw") for line in result_lines(result)) == 2


def test_what_was_printed_before_a_test_broke_is_told(spark: SparkSession, tmp_path: Path) -> None:
    """What a task prints that fails is lost, as Spark forgets what such a task has counted."""
    code = "def process(row):\n    print('saw', row['id'])\n    return 1 / (row['id'] - 3) and row\n"
    broken = {"name": "broken", "given": {"orders": [[{"id": 1}], [{"id": 3}]]}, "expect": {"out": []}}
    drawn = {"orders": KAFKA, "big": own(code), "out": OUT}
    result = run(
        spark, tmp_path, document(drawn, "orders>big, big>out", type="STREAMING", tests=[broken], settings={"rejected_rows": "fail"})
    )
    assert (result.status, "division by zero" in result.message) == ("error", True)
    assert result.printed == [{"node_id": "big", "text": "saw 1"}]


def test_a_persons_code_that_does_not_end_is_ended_with_its_test(spark: SparkSession, tmp_path: Path) -> None:
    code = "def process(row):\n    while row:\n        pass\n    return row\n"
    endless = orders({"given": {"orders": GIVEN}, "expect": {"out": []}}, big=own(code))
    result = run(spark, tmp_path, endless, seconds=15)
    told = "it took too long and was ended: give it fewer rows or batches, or look for a loop without an end in its Python"
    assert (result.status, result.message) == ("error", told)
    after = orders({"given": {"orders": GIVEN}, "expect": {"out": [{"id": 2}, {"id": 3}]}, "only_columns": True})
    assert run(spark, tmp_path, after).status == "passed"


@pytest.mark.parametrize("type", ["STREAMING", "SQL_TASK"])
def test_a_loop_without_an_end_is_told_with_its_node_and_line(spark: SparkSession, tmp_path: Path, type: str) -> None:
    code = "def process(row):\n    while row:\n        pass\n    return row\n"
    endless = orders({"given": {"orders": GIVEN}, "expect": {"out": []}}, type=type, big=own(code))
    result = run(spark, tmp_path, endless, code_seconds=2)
    assert (result.status, result.node_id) == ("error", "big")
    assert re.match(r'"Big": its Python did not end within 2 s and was stopped in line [23]: ', result.message), result.message


def test_batches_that_take_too_long_to_be_written_end_with_the_test(spark: SparkSession, tmp_path: Path) -> None:
    begun = time.monotonic()
    test = {"given": {"orders": [GIVEN] * 2000}, "expect": {"out": []}}
    assert run(spark, tmp_path, orders(test), seconds=3).message == "it took too long and was ended: give it fewer rows or batches"
    asked: list[float] = []

    def cancelled() -> bool:
        asked.append(time.monotonic())
        return len(asked) > 2

    assert run(spark, tmp_path, orders(test), cancelled=cancelled).message == "it was cancelled"
    assert time.monotonic() - begun < 30


COUNTING: dict[str, Any] = {
    "keys": ["id"],
    "state": [{"name": "count", "ttl": "1 d"}],
    "code": "def process(key, rows, state, timers):\n"
    "    state.count.set(state.count.get(0) + len(rows))\n"
    "    yield {'count': state.count.get(0)}\n",
}


def test_state_that_is_forgotten_by_the_clock_is_kept_for_a_test_which_ends(spark: SparkSession, tmp_path: Path) -> None:
    given = [[{"id": 1, "amount": 100}, {"id": 2, "amount": 100}], [{"id": 1, "amount": 200}]]
    expected = [{"id": 1, "count": 1}, {"id": 2, "count": 1}, {"id": 1, "count": 2}]
    test = {"given": {"orders": given}, "expect": {"big": expected}}
    result = run(spark, tmp_path, orders(test, big=("flow.stateful", COUNTING)), seconds=120)
    assert (result.status, result.message) == ("passed", "")


def test_timers_by_the_clock_are_refused_in_a_test_of_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    test = {"given": {"orders": GIVEN}, "expect": {"big": []}}
    result = run(spark, tmp_path, orders(test, big=("flow.stateful", COUNTING | {"time": "processing"})))
    assert (result.status, result.node_id) == ("error", "big")
    assert "its timers go by the clock" in result.message


def test_too_many_rows_are_told_of_where_they_come_out(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.engine.trial_nodes.MOST_ROWS", 1)
    result = run(spark, tmp_path, orders({"given": {"orders": GIVEN}, "expect": {"big": []}}))
    assert (result.status, result.node_id) == ("error", "big")
    assert result.message == '"expect: big": more than 1 rows come out: give the test fewer rows'


def test_a_node_may_be_called_as_those_that_a_test_adds(spark: SparkSession, tmp_path: Path) -> None:
    drawn = orders({"given": {"orders": GIVEN}, "expect": {"big": []}})
    named = drawn.nodes["orders"].model_copy(update={"name": "expect: big"})
    result = run(spark, tmp_path, drawn.model_copy(update={"nodes": {**drawn.nodes, "orders": named}}))
    assert (result.status, result.message) == ("failed", "")
