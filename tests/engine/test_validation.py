"""Problems that only Spark can find, each on the node and field that is to blame."""

import gzip
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from jobs.dag.problems import Problem
from jobs.engine.compiler import PlanInvalid
from jobs.engine.preview import preview
from jobs.engine.user_code import Cancelled
from jobs.engine.validation import Analysis, analyse
from jobs.nodes.base import ConnectionSettings, Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, keep, numbers

pytestmark = pytest.mark.spark

Analyse = Callable[..., Analysis]


@pytest.fixture
def analysed(bench: Bench) -> Analyse:
    def found(nodes: Any, edges: str, **given: Any) -> Analysis:
        limits = Limits(file_roots=(bench.files,), data_dir=bench.root)
        return analyse(bench.spark, document(nodes, edges, **given), connections={}, limits=limits, parameters={}, registry=REGISTRY)

    return found


def only(analysis: Analysis) -> Problem:
    (problem,) = analysis.problems
    return problem


def test_a_document_that_holds_has_no_problem_and_a_schema_at_every_port(analysed: Analyse) -> None:
    found = analysed({"gen": numbers(), "even": keep("id % 2 = 0"), "out": COLLECT}, "gen>even, even>out")
    assert found.problems == []
    columns = [column["name"] for column in found.schemas["even"]["out"]]
    assert columns == ["id", "time", "key", "value"]
    assert found.schemas["out"]["in"] == found.schemas["even"]["out"]
    assert found.schemas["gen"]["out"][0] == {"name": "id", "type": "bigint", "nullable": True}


def test_a_mistyped_column_is_told_on_its_field_with_the_column_that_was_meant(analysed: Analyse) -> None:
    problem = only(analysed({"gen": numbers(), "big": keep("valeu > 1"), "out": COLLECT}, "gen>big, big>out"))
    assert (problem.code, problem.node_id, problem.pointer) == ("column.unknown", "big", "/nodes/big/config/condition")
    assert problem.message == '"Big": there is no column valeu; did you mean value? The columns are id, time, key, value'


def test_an_analysis_that_nobody_waits_for_asks_no_further_node(bench: Bench) -> None:
    drawn = document({"gen": numbers(), "even": keep("id % 2 = 0"), "out": COLLECT}, "gen>even, even>out")
    answers = iter([False, True])
    with pytest.raises(Cancelled):
        analyse(bench.spark, drawn, connections={}, limits=Limits(), parameters={}, registry=REGISTRY, is_cancelled=lambda: next(answers))


FOLDER = {"folder": {"type": "string"}}
UNKNOWN = pytest.mark.parametrize("parameters", [FOLDER, FOLDER | {"other": {"type": "integer", "default": 1}}])


@UNKNOWN
def test_a_field_that_only_a_start_fills_is_no_fault_of_the_drawing(analysed: Analyse, parameters: Any) -> None:
    source = ("source.file", {"path": "${folder}", "columns": [{"name": "id", "type": "long"}]})
    found = analysed({"in": source, "big": keep("id > 1"), "out": COLLECT}, "in>big, big>out", parameters=parameters)
    assert found.problems == []


@UNKNOWN
def test_what_a_system_says_of_a_sample_is_a_caution(analysed: Analyse, parameters: Any) -> None:
    source = ("source.file", {"path": "of/${folder}/in"})
    problem = only(analysed({"in": source, "out": COLLECT}, "in>out", parameters=parameters))
    assert (problem.severity, problem.node_id) == ("warning", "in")
    assert problem.message.endswith('; ${folder} has no default, so this was tried with ""')


def test_so_is_what_an_expression_lacks_until_a_start_gives_it(analysed: Analyse) -> None:
    nodes = {"gen": numbers(), "big": keep("value > ${folder}"), "bad": keep("valeu > 1"), "out": COLLECT}
    caution = only(analysed({name: node for name, node in nodes.items() if name != "bad"}, "gen>big, big>out", parameters=FOLDER))
    assert (caution.severity, caution.pointer) == ("warning", "/nodes/big/config/condition")
    fault = only(analysed({name: node for name, node in nodes.items() if name != "big"}, "gen>bad, bad>out", parameters=FOLDER))
    assert (fault.severity, fault.code) == ("error", "column.unknown")


TOTAL = ("flow.compute_columns", {"columns": [{"name": "total", "expression": "value + sum(value)"}]})
RULE = ("flow.expectations", {"rules": [{"name": "positive", "condition": "value + 1"}]})


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (keep("qqq > 1"), "there is no column qqq; the columns are id, time, key, value"),
        (keep("sum(value) > 1"), "looks at many, as sum and max do: use a node that groups"),
        (TOTAL, "looks at many, as sum and max do: use a node that groups"),
        (RULE, "positive: a condition is true or false, and this one is double"),
    ],
)
def test_a_wrong_expression_is_told_in_words_of_its_own(analysed: Analyse, node: Any, words: str) -> None:
    problem = only(analysed({"gen": numbers(), "node": node, "out": COLLECT}, "gen>node, node>out"))
    assert (problem.node_id, words in problem.message) == ("node", True), problem.message


def test_a_fault_is_told_once_and_not_again_further_down(analysed: Analyse) -> None:
    found = analysed({"gen": numbers(), "a": keep("nope > 1"), "b": keep("nope > 1"), "out": COLLECT}, "gen>a, a>b, b>out")
    assert only(found).node_id == "a"
    assert "b" not in found.schemas


@pytest.mark.parametrize("job_type", ["STREAMING", "BATCH_ROLLER"])
def test_behind_files_that_are_missing_their_listed_columns_count(analysed: Analyse, job_type: str) -> None:
    listed = {"path": "nowhere", "format": "csv", "columns": [{"name": "id", "type": "long"}, {"name": "at", "type": "timestamp"}]}
    by_hour = ("flow.window_aggregate", {"time_column": "att", "emit": "close"})
    nodes = {"files": ("source.file", listed), "big": keep("idd > 1"), "hours": by_hour, "out": COLLECT, "bad": COLLECT}
    found = analysed(nodes, "files>big, big>out, files>hours, hours>bad", type=job_type)
    assert [(problem.node_id, problem.pointer.rpartition("/")[2]) for problem in found.problems] == [
        ("files", "path"),
        ("big", "condition"),
        ("hours", "time_column"),
    ]
    assert "did you mean id?" in found.problems[1].message
    assert [column["name"] for column in found.schemas["files"]["out"]] == ["id", "at"]
    assert [column["name"] for column in found.schemas["files"]["errors"]] == ["id", "at", "rejected_reason"]


def test_behind_files_that_are_missing_nothing_is_said_where_nobody_knows_their_columns(analysed: Analyse) -> None:
    nodes = {"files": ("source.file", {"path": "nowhere", "format": "csv"}), "big": keep("idd > 1"), "out": COLLECT}
    found = analysed(nodes, "files>big, big>out")
    assert only(found).node_id == "files"
    assert found.schemas == {}


def test_times_in_nanoseconds_are_told_with_what_to_do(bench: Bench, analysed: Analyse) -> None:
    folder = bench.files / "incoming"
    folder.mkdir()
    parquet.write_table(pa.table({"id": [1], "at": pa.array([1], pa.timestamp("ns"))}), folder / "a.parquet")
    source = {"path": "incoming", "format": "parquet"}
    found = only(analysed({"files": ("source.file", source), "out": COLLECT}, "files>out"))
    assert (found.node_id, found.code) == ("files", "file.unreadable")
    assert "hold a time in nanoseconds, which cannot be read; write it in microseconds, or list" in found.message
    source["columns"] = [{"name": "id", "type": "long"}]  # type: ignore[assignment]
    assert not analysed({"files": ("source.file", source), "out": COLLECT}, "files>out").problems


def test_columns_that_differ_in_case_only_are_told_as_that(bench: Bench, analysed: Analyse) -> None:
    folder = bench.files / "incoming"
    folder.mkdir()
    parquet.write_table(pa.table({"id": [1], "ID": ["a"], "name": ["b"]}), folder / "a.parquet")
    source: dict[str, Any] = {"path": "incoming", "format": "parquet"}
    found = only(analysed({"files": ("source.file", source), "out": COLLECT}, "files>out"))
    assert (found.node_id, found.code) == ("files", "column.twice")
    assert "there are several columns id, as upper and lower case make no difference; give all but one of them another" in found.message
    source["columns"] = [{"name": "name", "type": "string"}]
    assert not analysed({"files": ("source.file", source), "out": COLLECT}, "files>out").problems


def test_a_damaged_file_that_the_columns_are_taken_from_is_named(bench: Bench, analysed: Analyse) -> None:
    folder = bench.files / "incoming"
    folder.mkdir()
    whole = gzip.compress("".join(f"{number},{number * number}\n" for number in range(2000)).encode())
    (folder / "cut off.csv.gz").write_bytes(whole[: len(whole) // 2])
    found = only(analysed({"files": ("source.file", {"path": "incoming", "format": "csv"}), "out": COLLECT}, "files>out"))
    assert (found.node_id, found.code) == ("files", "file.unreadable")
    assert f"the file {folder / 'cut off.csv.gz'} cannot be read: it is damaged, cut off or of another format" in found.message


@pytest.mark.parametrize("format", ["avro", "orc"])
def test_a_file_of_another_format_is_told_by_its_whole_name(bench: Bench, analysed: Analyse, format: str) -> None:
    (bench.files / "two words.csv").write_text("id,n\n1,2\n")
    found = only(analysed({"files": ("source.file", {"path": "two words.csv", "format": format}), "out": COLLECT}, "files>out"))
    assert (found.node_id, found.code) == ("files", "file.unreadable")
    assert f"the file {bench.files / 'two words.csv'} cannot be read: it is damaged, cut off or of another format" in found.message


@pytest.mark.parametrize(
    ("condition", "code", "words"),
    [
        ("value >", "expression.syntax", "cannot be read at its end"),
        ("value > > 1", "expression.syntax", 'cannot be read at ">"'),
        ("value > 1\n  and\n  > 2", "expression.syntax", 'cannot be read at ">", in its line 3'),
        ("key = 'a", "expression.syntax", "cannot be read: the quote ' is never closed"),
        ("`key = 'a'", "expression.syntax", "cannot be read: the quote ` is never closed"),
        ("enrichUser(value)", "function.unknown", "there is no function enrichUser"),
        ("  ", "expression.syntax", "the expression is empty: write one"),
        (
            "explode(array(value)) = 1",
            "expression.invalid",
            "gives one value for a row, and this one several, as explode does: use Flat map",
        ),
        (
            "row_number() over (order by id) = 1",
            "expression.aggregate",
            "this one looks at others, as row_number and lag do: use Rank or SQL",
        ),
        ("value + 1", "expression.invalid", "a condition is true or false, and this one is double: compare it with something"),
    ],
)
def test_an_expression_that_cannot_be_is_told_in_words(analysed: Analyse, condition: str, code: str, words: str) -> None:
    problem = only(analysed({"gen": numbers(), "big": keep(condition), "out": COLLECT}, "gen>big, big>out"))
    assert (problem.code, problem.pointer) == (code, "/nodes/big/config/condition")
    assert words in problem.message


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("selec * from input", '"Ask": the query cannot be read at "selec"'),
        ("select *\nfrom input\nwhere > 2", '"Ask": the query cannot be read at ">", in its line 3'),
        ("select 'a from input", '"Ask": the query cannot be read: the quote \' is never closed'),
        ("select key, sum(value) from input", '"Ask": The query does not include a GROUP BY clause'),
    ],
)
def test_a_query_that_cannot_be_is_told_as_a_query(analysed: Analyse, query: str, words: str) -> None:
    problem = only(analysed({"gen": numbers(), "ask": ("flow.sql", {"query": query}), "out": COLLECT}, "gen>ask, ask>out"))
    assert problem.pointer == "/nodes/ask/config/query"
    assert problem.message.startswith(words)


def test_the_right_one_of_several_expressions_is_blamed(analysed: Analyse) -> None:
    columns = [{"name": "a", "expression": "value * 2"}, {"name": "b", "expression": "amuont * 2"}]
    found = analysed({"gen": numbers(), "more": ("flow.compute_columns", {"columns": columns}), "out": COLLECT}, "gen>more, more>out")
    assert only(found).pointer == "/nodes/more/config/columns/1/expression"


TOTALS = ("flow.compute_columns", {"columns": [{"name": "a", "expression": "id"}, {"name": "b", "expression": "sum(id)"}]})


@pytest.mark.parametrize(
    ("node", "place"),
    [
        (("flow.mask", {"fields": [{"column": "key"}, {"column": "nope"}]}), "fields/1/column"),
        (("flow.select_fields", {"fields": [{"column": "key"}, {"column": "nope"}]}), "fields/1/column"),
        (("flow.stateful", {"keys": ["key", "nope"]}), "keys/1"),
        (("flow.deduplicate", {"keys": ["key", "nope"]}), "keys/1"),
        (TOTALS, "columns/1/expression"),
        (("flow.window_aggregate", {"time_column": "time", "group_by": ["key", "nope"]}), "group_by/1"),
    ],
)
def test_what_is_wrong_in_a_list_is_told_on_its_row(analysed: Analyse, node: Any, place: str) -> None:
    problem = only(analysed({"gen": numbers(), "node": node, "out": COLLECT}, "gen>node, node>out", type="STREAMING"))
    assert problem.pointer == f"/nodes/node/config/{place}", problem.message


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"output": "part", "position": "value"}, "position"),
        ({"output": "part", "position": "Part"}, "position"),
        ({"output": "id"}, "output"),
        ({"column": "pairs", "output": "part", "key": "id"}, "key"),
    ],
)
def test_the_field_whose_name_is_taken_is_blamed(analysed: Analyse, config: dict[str, Any], field: str) -> None:
    pairs = ("flow.compute_columns", {"columns": [{"name": "pairs", "expression": "map('a', id)"}]})
    nodes = {"gen": numbers(), "pairs": pairs, "split": ("flow.flat_map", {"column": "key", **config}), "out": COLLECT}
    problem = only(analysed(nodes, "gen>pairs, pairs>split, split>out"))
    assert problem.pointer == f"/nodes/split/config/{field}"
    assert problem.message == f'"Split": {config[field].lower()} would come out more than once: choose other names'


def test_a_key_that_one_input_of_a_join_lacks_is_told_on_its_row(analysed: Analyse) -> None:
    keys = [{"left": "id"}, {"left": "key", "right": "nope"}]
    nodes = {"a": numbers(), "b": numbers(), "both": ("flow.join", {"keys": keys}), "out": COLLECT}
    found = analysed(nodes, "a>both.left, b>both.right, both>out", type="BATCH_ROLLER")
    assert only(found).pointer == "/nodes/both/config/keys/1/right"


def test_a_source_whose_system_is_away_is_a_warning_and_blocks_nothing_else(analysed: Analyse) -> None:
    nodes = {"shop": ("source.broken", {}), "gen": numbers(), "a": COLLECT, "big": keep("nope > 1"), "b": COLLECT}
    found = analysed(nodes, "shop>a, gen>big, big>b")
    assert {(problem.severity, problem.node_id) for problem in found.problems} == {("warning", "shop"), ("error", "big")}


ENDLESS_TABLE = {
    "gen": numbers(None),
    "labels": numbers(None),
    "renamed": ("flow.sql", {"query": "select key, value as label from input"}),
    "look": ("flow.lookup", {"keys": [{"left": "key"}]}),
    "out": COLLECT,
}
INTO_TABLE = "gen>look, labels>renamed, renamed>look.table, look>out"


def test_a_table_to_look_things_up_in_must_have_an_end(analysed: Analyse, bench: Bench) -> None:
    found = analysed(ENDLESS_TABLE, INTO_TABLE, type="STREAMING")
    problem = only(found)
    assert (problem.node_id, problem.pointer) == ("labels", "/nodes/labels/config/total_rows")
    assert problem.message == '"Labels": making rows: the table of a lookup or a job that ends needs a total; set total rows'
    assert found.schemas["look"]["out"][-1]["name"] == "label", "what stands behind it is analysed all the same"
    for node_id in ("look", "labels"):
        with pytest.raises(PlanInvalid) as refused:
            looked_at(bench.spark, bench, ENDLESS_TABLE, INTO_TABLE, node_id, type="STREAMING")
        assert [told.message for told in refused.value.problems] == [problem.message]
    assert analysed({**ENDLESS_TABLE, "labels": numbers(10)}, INTO_TABLE, type="STREAMING").problems == []


def test_a_source_that_never_ends_may_stand_where_nothing_reads_it_yet(analysed: Analyse) -> None:
    nodes = {"gen": numbers(None), "out": COLLECT, "idle": numbers(None)}
    assert only(analysed(nodes, "gen>out", type="STREAMING")).code == "port.unused"


def test_structure_problems_and_analysis_come_together(analysed: Analyse) -> None:
    found = analysed({"gen": numbers(), "big": keep("nope > 1"), "out": COLLECT, "odd": ("flow.nothing", {})}, "gen>big, big>out")
    assert {"node.unknown_type", "column.unknown"} <= {problem.code for problem in found.problems}


def test_the_rejected_rows_of_a_node_have_its_columns_and_a_reason(analysed: Analyse) -> None:
    nodes = {"gen": numbers(), "check": ("flow.rejects", {"condition": "id < 0"}), "out": COLLECT, "bad": COLLECT}
    found = analysed(nodes, "gen>check, check>out, check.errors>bad")
    assert [column["name"] for column in found.schemas["bad"]["in"]] == ["id", "time", "key", "value", "rejected_reason"]


def looked_at(spark: SparkSession, bench: Bench, nodes: Any, edges: str, node_id: str, rows: int = 5, **given: Any) -> dict[str, Any]:
    limits = Limits(file_roots=(bench.files,), data_dir=bench.root)
    return preview(spark, document(nodes, edges, **given), node_id, rows=rows, connections={}, limits=limits, registry=REGISTRY)


def test_a_preview_shows_rows_before_and_behind_a_node(bench: Bench) -> None:
    found = looked_at(bench.spark, bench, {"gen": numbers(), "odd": keep("id % 2 = 1"), "out": COLLECT}, "gen>odd, odd>out", "odd")
    assert [row["id"] for row in found["inputs"]["in"]["rows"]] == [0, 1, 2, 3, 4]
    assert [row["id"] for row in found["out"]["rows"]] == [1, 3]
    assert found["out"]["columns"][0] == {"name": "id", "type": "bigint"}


@pytest.mark.parametrize("per_second", [None, 100])
def test_a_preview_shows_the_first_rows_of_a_source_that_never_ends(bench: Bench, per_second: int | None) -> None:
    nodes = {"gen": numbers(None, 10, per_second), "odd": keep("id % 2 = 1"), "out": COLLECT}
    found = looked_at(bench.spark, bench, nodes, "gen>odd, odd>out", "odd", type="STREAMING")
    assert [row["id"] for row in found["inputs"]["in"]["rows"]] == [0, 1, 2, 3, 4]
    assert [row["id"] for row in found["out"]["rows"]] == [1, 3]
    assert len(looked_at(bench.spark, bench, nodes, "gen>odd, odd>out", "gen", type="STREAMING")["out"]["rows"]) == 5


def test_a_preview_of_a_sink_shows_what_arrives_and_touches_nothing(bench: Bench) -> None:
    found = looked_at(bench.spark, bench, {"gen": numbers(), "out": ("sink.file", {"path": "out"})}, "gen>out", "out")
    assert (len(found["inputs"]["in"]["rows"]), found["out"]) == (5, None)
    assert not (bench.files / "out").exists()


def test_a_preview_works_while_the_rest_of_the_document_does_not_hold(bench: Bench) -> None:
    found = looked_at(bench.spark, bench, {"gen": numbers(), "odd": keep("nope"), "lost": ("flow.nothing", {})}, "gen>odd", "gen")
    assert len(found["out"]["rows"]) == 5


def test_a_preview_refuses_columns_of_one_name_as_a_run_does(bench: Bench) -> None:
    nodes = {"gen": numbers(), "ask": ("flow.sql", {"query": "SELECT id, id FROM input"}), "out": COLLECT}
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench.spark, bench, nodes, "gen>ask, ask>out", "ask")
    (problem,) = caught.value.problems
    assert (problem.node_id, problem.pointer) == ("ask", "/nodes/ask/config/query")
    assert "id would come out more than once" in problem.message


def test_a_preview_of_a_node_that_does_not_hold_gives_its_problems(bench: Bench) -> None:
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench.spark, bench, {"gen": numbers(), "odd": keep("nope > 1"), "out": COLLECT}, "gen>odd, odd>out", "out")
    assert [problem.pointer for problem in caught.value.problems] == ["/nodes/odd/config/condition"]


@pytest.mark.parametrize(
    ("config", "pointer", "words"),
    [
        ({"path": "/etc/x"}, "path", "leads outside the allowed folders"),
        ({"path": "../outside"}, "path", "leads outside the allowed folders"),
        ({"path": "out", "partition_by": ["nope"]}, "partition_by", "there is no column nope to make folders from"),
    ],
)
def test_a_sink_is_judged_with_the_columns_that_arrive(analysed: Analyse, config: dict[str, Any], pointer: str, words: str) -> None:
    problem = only(analysed({"gen": numbers(), "out": ("sink.file", config)}, "gen>out"))
    assert (problem.node_id, problem.severity, problem.pointer) == ("out", "error", f"/nodes/out/config/{pointer}")
    assert words in problem.message


def test_a_file_in_another_encoding_is_warned_of_at_its_field_and_can_be_published(bench: Bench, analysed: Analyse) -> None:
    bench.files.mkdir(exist_ok=True)
    (bench.files / "a.csv").write_bytes("id,name\n1,李\n".encode("gb18030"))
    problem = only(analysed({"in": ("source.file", {"path": "a.csv"}), "out": COLLECT}, "in>out", type="SQL_TASK"))
    assert (problem.node_id, problem.severity, problem.pointer) == ("in", "warning", "/nodes/in/config/encoding")
    assert '"a.csv" holds bytes that are no UTF-8' in problem.message


def test_a_sink_needs_a_connection_that_exists_and_is_of_its_kind(bench: Bench) -> None:
    limits = Limits(file_roots=(bench.files,), data_dir=bench.root)
    known = {"api": ConnectionSettings("api", "http_api", {}), "db": ConnectionSettings("db", "sqlite", {"path": "made-later.sqlite3"})}

    def problems(**config: Any) -> list[tuple[str, str]]:
        drawn = document({"gen": numbers(), "out": ("sink.jdbc", {"table": "t", **config})}, "gen>out")
        found = analyse(bench.spark, drawn, connections=known, limits=limits, parameters={}, registry=REGISTRY).problems
        return [(problem.pointer.rpartition("/")[2], problem.message) for problem in found]

    assert problems(connection="none") == [("connection", '"Out": connection "none" does not exist in this project')]
    ((field, message),) = problems(connection="api")
    assert field == "connection"
    assert "is of kind http_api, but postgresql, mysql or sqlite is needed here" in message
    ((field, message),) = problems(connection="db", mode="upsert", keys=["zzz"])
    assert (field, "the key zzz is not among the columns id, time, key, value" in message) == ("keys", True)
    assert problems(connection="db", mode="upsert", keys=["id"]) == []
    assert not (bench.files / "made-later.sqlite3").exists()


def test_a_generator_that_never_ends_is_told_on_its_field_where_the_job_ends(analysed: Analyse) -> None:
    for job_type in ("BATCH_ROLLER", "SQL_TASK"):
        problem = only(analysed({"gen": numbers(None), "out": COLLECT}, "gen>out", type=job_type))
        assert (problem.severity, problem.code, problem.pointer) == ("error", "node.refused", "/nodes/gen/config/total_rows")
    assert analysed({"gen": numbers(None), "out": COLLECT}, "gen>out", type="STREAMING").problems == []
