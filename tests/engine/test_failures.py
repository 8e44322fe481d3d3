"""What an execution says when it dies: the node, one sentence, whether to try again."""

import shutil
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from jobs.dag.samples import SampleRows
from jobs.engine.compiler import PlanInvalid
from jobs.engine.events import BatchWritten, QueryStarted
from jobs.engine.failure import AtNode, ExecutionFailure, failure_of
from jobs.engine.preview import preview
from jobs.nodes.base import Limits, NodeError
from jobs.nodes.node_error import SignInRefused, SystemAway, reworded
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, keep, numbers
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark


def failure(bench: Bench, nodes: Any, edges: str, **given: Any) -> ExecutionFailure:
    run, _ = bench.run(bench.plan(document(nodes, edges, **given)))
    with pytest.raises(ExecutionFailure) as caught:
        run.wait(60)
    assert caught.value.stack_trace
    return caught.value


def fail(how: str) -> tuple[str, dict[str, Any]]:
    return "sink.fail", {"how": how}


def test_a_node_error_is_told_in_its_own_words(bench: Bench) -> None:
    found = failure(bench, {"gen": numbers(100, 50), "out": fail("node_error")}, "gen>out")
    assert found.message == '"Out": writing to "t": the password is wrong; correct the connection'
    assert (found.node_id, found.kind, found.permanent, found.fenced) == ("out", "user", True, False)


def test_what_fails_for_want_of_another_system_is_told_as_that(bench: Bench) -> None:
    plan = bench.plan(document({"gen": numbers(10, 10), "out": COLLECT}, "gen>out"))
    found = failure_of(AtNode("out", SystemAway("the server answered 503")), plan)
    assert (found.outage, found.permanent, found.node_id) == ("away", False, "out")
    refused = failure_of(AtNode("out", reworded(SignInRefused("correct the password", permanent=True), "no")), plan)
    assert (refused.outage, refused.permanent, refused.message) == ("sign-in", True, '"Out": no')
    assert not failure_of(AtNode("out", NodeError("no such path", permanent=True)), plan).outage


def test_a_fenced_sink_is_told_as_fenced_and_not_as_permanent(bench: Bench) -> None:
    found = failure(bench, {"gen": numbers(100, 50), "out": fail("fenced")}, "gen>out")
    assert (found.node_id, found.fenced, found.permanent, found.kind) == ("out", True, False, "system")


def test_a_full_disk_is_an_external_failure_at_the_sink(bench: Bench) -> None:
    found = failure(bench, {"gen": numbers(100, 50), "out": fail("disk")}, "gen>out")
    assert found.message == '"Out": the disk is full; free some space, then start again: it goes on where it was'
    assert (found.node_id, found.kind, found.permanent) == ("out", "external", False)


def test_a_bug_in_a_sink_names_the_sink(bench: Bench) -> None:
    found = failure(bench, {"gen": numbers(100, 50), "out": fail("bug")}, "gen>out")
    assert (found.node_id, found.kind, found.message) == ("out", "system", '"Out": division by zero')


def test_an_expression_that_fails_on_a_row_blames_its_own_node_not_the_sink(bench: Bench) -> None:
    found = failure(bench, {"gen": numbers(100, 50), "bad": keep("1 / (id - 60) > 0"), "out": COLLECT}, "gen>bad, bad>out")
    assert (found.node_id, found.kind, found.permanent) == ("bad", "user", True)
    assert found.message.startswith('"Bad": Division by zero')
    assert found.message.endswith(". It happened in 1 / (id - 60) > 0")


def test_the_line_of_a_script_that_fails_on_a_row_is_told(bench: Bench) -> None:
    script = "flow.script", {"script": "word = concat('x', id)\nnumber = cast(word AS int)\ntwice = number * 2"}
    found = failure(bench, {"gen": numbers(100, 50), "lines": script, "out": COLLECT}, "gen>lines, lines>out")
    assert (found.node_id, found.kind) == ("lines", "user")
    assert found.message.endswith(". It happened in cast(word AS int)")


@pytest.mark.parametrize("condition", ["assert_true(id < 60) is null", "if(id = 60, raise_error('sixty is bad'), true)"])
def test_a_check_in_an_expression_blames_its_own_node_too(bench: Bench, condition: str) -> None:
    found = failure(bench, {"gen": numbers(100, 50), "checked": keep(condition), "out": fail("nothing")}, "gen>checked, checked>out")
    assert found.node_id == "checked", found.message


def test_a_column_that_does_not_exist_is_told_as_the_editor_tells_it(bench: Bench) -> None:
    found = failure(bench, {"gen": numbers(100, 50), "kept": keep("idd > 1"), "out": COLLECT}, "gen>kept, kept>out")
    assert (found.node_id, found.kind) == ("kept", "user")
    assert found.message == '"Kept": there is no column idd; did you mean id? The columns are id, key, time, value'


def test_the_other_queries_end_when_one_fails(bench: Bench) -> None:
    nodes = {"gen": numbers(100, 50), "more": numbers(None, 10), "out": fail("node_error"), "other": COLLECT}
    run, heard = bench.run(bench.plan(document(nodes, "gen>out, more>other", type="STREAMING")))
    with pytest.raises(ExecutionFailure, match="password"):
        run.wait(60)
    written = len(heard.of(BatchWritten))
    assert not run.hanging
    assert len(heard.of(BatchWritten)) == written


def test_what_has_started_ends_when_a_later_query_does_not_start(bench: Bench) -> None:
    nodes = {"gen": numbers(None, 10), "more": numbers(None, 10), "a": COLLECT, "b": COLLECT}
    plan = bench.plan(document(nodes, "gen>a, more>b", type="STREAMING"))
    plan.locations.live.mkdir(parents=True)
    (plan.locations.live / "b").write_text("where the folder of the second query is to be")
    before = active_queries(bench)
    run, heard = bench.run(plan)
    with pytest.raises(ExecutionFailure):
        run.wait(60)
    assert {event.query for event in heard.of(QueryStarted)} >= {"a"}
    wait_until(lambda: active_queries(bench) <= before, seconds=60, what="the end of the first query")


def active_queries(bench: Bench) -> set[str]:
    """All that go on in this Spark, whosever session they are in."""
    spark: Any = bench.spark
    return {str(key) for key in spark._jsparkSession.sharedState().activeStreamingQueries().keySet()}


def test_a_file_that_vanished_blames_the_source_and_names_the_path(bench: Bench) -> None:
    folder = bench.files / "incoming"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.csv").write_text(f"id\n{number}\n")
    source = ("source.file", {"path": "incoming", "columns": [{"name": "id", "type": "long"}], "max_files_per_trigger": 1})
    run, heard = bench.run(bench.plan(document({"csv": source, "out": COLLECT}, "csv>out", type="STREAMING")))
    heard.wait_for(BatchWritten, 3)
    shutil.rmtree(folder)
    (bench.files / "incoming").write_text("now a file")
    run.stop()
    run.wait(30)


def test_a_missing_file_in_a_whole_batch_is_external_and_names_the_source(bench: Bench) -> None:
    source = ("source.file", {"path": "nowhere", "columns": [{"name": "id", "type": "long"}]})
    found = failure(bench, {"csv": source, "out": COLLECT}, "csv>out", type="SQL_TASK")
    assert found.node_id == "csv"
    assert "nowhere" in found.message


def test_a_damaged_file_blames_the_source_and_names_the_file(bench: Bench) -> None:
    folder = bench.files / "parquet"
    bench.spark.range(10).coalesce(1).write.parquet(str(folder))
    [file] = folder.glob("part-*.parquet")
    source = ("source.file", {"path": "parquet", "format": "parquet", "columns": [{"name": "id", "type": "long"}]})
    plan = bench.plan(document({"files": source, "out": COLLECT}, "files>out", type="STREAMING"))
    file.write_bytes(b"PAR1 is not all there is to it")
    run, _ = bench.run(plan)
    with pytest.raises(ExecutionFailure) as caught:
        run.wait(60)
    assert (caught.value.node_id, caught.value.kind, caught.value.permanent) == ("files", "external", False)
    assert caught.value.message == (
        f'"Files": the file {file} cannot be read: it is damaged, cut off or of another format; '
        "put a sound one in its place, then start again"
    )


def test_columns_that_differ_in_case_only_are_told_as_that(bench: Bench) -> None:
    folder = bench.files / "parquet"
    folder.mkdir()
    file = folder / "twins.parquet"
    parquet.write_table(pa.table({"id": [1], "ID": ["a"], "name": ["b"]}), file)
    source = ("source.file", {"path": "parquet", "format": "parquet", "columns": [{"name": "id", "type": "long"}]})
    found = failure(bench, {"files": source, "out": COLLECT}, "files>out", type="STREAMING")
    assert (found.node_id, found.message) == (
        "files",
        (
            f'"Files": the file {file} holds the columns id and ID, which differ in upper and lower case only and cannot be told apart; '
            "write it with another name for one of them"
        ),
    )


def test_a_file_whose_column_is_of_another_type_is_told_as_that(bench: Bench) -> None:
    folder = bench.files / "parquet"
    bench.spark.range(10).coalesce(1).write.parquet(str(folder))
    [file] = folder.glob("part-*.parquet")
    source = ("source.file", {"path": "parquet", "format": "parquet", "columns": [{"name": "id", "type": "string"}]})
    found = failure(bench, {"files": source, "out": COLLECT}, "files>out", type="STREAMING")
    assert found.node_id == "files"
    assert found.message == (
        f'"Files": column id of the file {file} holds Parquet\'s INT64, where string is listed; '
        "list what the files hold, or put another file in its place"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,id\nx,1\n", "names the columns name, id, where id, name are listed; list the columns in the order of the files, or correct"),
        ("id\n1\n", "has 1 columns, where 2 are listed; list the columns of the files, or correct the file"),
    ],
)
def test_a_header_with_other_columns_is_told_and_not_tried_again(bench: Bench, text: str, words: str) -> None:
    folder = bench.files / "headers"
    folder.mkdir()
    (folder / "a file.csv").write_text(text)
    columns = [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}]
    source = ("source.file", {"path": "headers", "format": "csv", "columns": columns})
    found = failure(bench, {"files": source, "out": COLLECT}, "files>out", type="STREAMING")
    assert found.message.startswith(f'"Files": the header of {folder / "a file.csv"} {words}')
    assert (found.node_id, found.kind, found.permanent) == ("files", "user", True)
    nodes = {"files": source, "out": COLLECT}
    with pytest.raises(PlanInvalid) as looked:
        preview(
            bench.spark,
            document(nodes, "files>out"),
            "files",
            connections={},
            limits=Limits(file_roots=(bench.files,)),
            registry=REGISTRY,
        )
    assert [problem.message for problem in looked.value.problems] == [found.message]


def test_rejected_rows_under_the_policy_fail_end_the_run_at_their_node(bench: Bench) -> None:
    nodes = {"gen": numbers(100, 50), "check": ("flow.rejects", {"condition": "id = 7"}), "out": COLLECT}
    found = failure(bench, nodes, "gen>check, check>out", settings={"rejected_rows": "fail"})
    assert (found.node_id, found.kind, found.permanent) == ("check", "user", True)
    assert found.message.startswith('"Check": a row was rejected: bad id 7; ')


def test_a_machine_too_busy_to_start_python_is_named_as_that(bench: Bench) -> None:
    plan = bench.plan(document({"gen": numbers(100, 50), "out": fail("bug")}, "gen>out"))
    found = failure_of(RuntimeError("org.apache.spark.SparkException: Python worker failed to connect back."), plan)
    assert found.message.startswith('"Gen": its Python worker did not start within ten seconds')
    assert (found.node_id, found.kind, found.permanent) == ("gen", "external", False)


def test_what_a_source_cannot_read_while_a_sink_writes_is_told_at_the_source(bench: Bench) -> None:
    source = ("source.kafka", {"connection": "main", "topic": "orders"})
    plan = bench.plan(document({"orders": source, "out": fail("bug")}, "orders>out", type="STREAMING"))
    raised = AtNode("out", RuntimeError("org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] unknown_avro_schema:99"))
    found = failure_of(raised, plan)
    assert found.message.startswith('"Orders": ')
    assert "a message was written with schema 99, which the registry did not list" in found.message
    assert (found.node_id, found.permanent) == ("orders", False)


def test_a_preview_tells_what_the_jvm_says_in_the_words_of_a_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Spark hands over is the call that failed, and behind it the words of the system that was read."""
    assigned = "kafka010: offsets don't match what are assigned.\nSpecified: Set(t-0) Assigned: Set(t-0, t-1)"

    def told(java_text: str) -> tuple[str | None, str]:
        def fails(*_: Any) -> None:
            bench.spark._jvm.java.lang.Integer.parseInt(java_text)  # type: ignore[union-attr]

        monkeypatch.setattr("jobs.engine.preview.rows_shown", fails)
        nodes = {"src": ("source.kafka", {"connection": "main", "topic": "t"}), "some": keep("id > 1"), "out": COLLECT}
        given = {"src": SampleRows(rows=[{"id": 1}])}
        with pytest.raises(PlanInvalid) as caught:
            drawn = document(nodes, "src>some, some>out")
            preview(bench.spark, drawn, "some", connections={}, limits=Limits(), registry=REGISTRY, samples=given)
        (problem,) = caught.value.problems
        return problem.node_id, problem.message

    assert told("x") == ("some", '"Some": For input string: "x"')
    node_id, message = told(assigned)
    assert node_id == "src"
    assert "the start or end offsets name the partitions t-0, where t-0, t-1 are read" in message
