"""Calls for each row: one for a row and a batch, however the rows go on, and none where nothing runs."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jobs.dag.pipeline_tests import PipelineTest
from jobs.engine.failure import ExecutionFailure
from jobs.engine.pipeline_test import pipeline_test_run
from jobs.engine.plan import Plan
from jobs.engine.preview import preview
from jobs.engine.validation import analyse
from jobs.nodes.base import ConnectionSettings, Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, files, keep, numbers, windows
from tests.engine.test_kills_http import killed, start
from tests.nodes.api_server import Answer, ApiServer, Request, api_server

pytestmark = pytest.mark.spark

CALL: tuple[str, dict[str, Any]] = ("flow.for_each", {"connection": "api", "path": "calls", "attempts": 1})
KINDS = ["BATCH_ROLLER", "SQL_TASK"]


def taken(request: Request) -> Answer:
    return 204, {}, b""


def refusing(condition: Callable[[Any], bool]) -> Callable[[Request], Answer]:
    return lambda request: (422, {}, b"not this one") if condition(request.document) else (204, {}, b"")


def calling(bench: Bench, server: ApiServer, read: Any, **given: Any) -> Plan:
    plan = bench.plan(read, **given)
    connection = ConnectionSettings("api", "http_api", {"base_url": server.url})
    return replace(plan, connections={"api": connection}, limits=replace(plan.limits, http_allowed_hosts=(server.host,)))


def called(server: ApiServer) -> list[int]:
    return sorted(row["id"] for row in server.documents())


def test_what_is_escaped_in_a_request_is_sent_as_text(bench: Bench) -> None:
    config = {
        "path": "calls/${id}/$${id}",
        "body": '{"$${id}": "$${id} ${id}", "whole": "$${id}"}',
        "parameters": [{"name": "q", "value": "$${id}-${id}"}],
        "headers": [{"name": "X-Told", "value": "$${id}-${id}"}],
    }
    nodes = {"gen": numbers(1), "call": (CALL[0], {**CALL[1], **config}), "a": files("a")}
    with api_server(taken) as server:
        run, _ = bench.run(calling(bench, server, document(nodes, "gen>call, call>a")))
        assert run.wait(90) == "completed"
        (request,) = server.requests
    assert request.document == {"${id}": "${id} 0", "whole": "${id}"}
    assert (request.path, request.headers["X-Told"]) == ("/calls/0/$%7Bid%7D", "${id}-0")
    assert request.query == {"q": "${id}-0"}


@pytest.mark.each_once
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("edges", "behind"),
    [
        ("gen>call, call>a", {}),
        ("gen>call, call>a, call>b", {}),
        ("gen>call, gen>a, call>few, few>b", {"few": keep("id < 3")}),
        ("gen>call, call>few, call>all, few>a, all>b", {"few": keep("id < 3"), "all": keep("true")}),
        ("gen>few, few>call, call>a, few>b, call>c", {"few": keep("true"), "c": ("sink.print", {"rows": 2})}),
        ("gen>call, call>asked, asked>a, call>b", {"asked": ("flow.sql", {"query": "SELECT * FROM input"})}),
    ],
    ids=["line", "two sinks", "one way of two", "two ways behind", "two ways and a sink that reads little", "a query beside a sink"],
)
def test_each_row_is_called_for_once_and_goes_on_as_it_came(bench: Bench, kind: str, edges: str, behind: dict[str, Any]) -> None:
    nodes = {"gen": numbers(60, 20), "call": CALL, **behind, "a": files("a"), "b": files("b")}
    read = document({name: node for name, node in nodes.items() if name in edges}, edges, type=kind)
    with api_server(taken) as server:
        run, heard = bench.run(calling(bench, server, read))
        assert run.wait(120) == "completed"
        assert called(server) == list(range(60))
    assert (heard.rows("call", "rows_in"), heard.rows("call"), heard.rows("call", "rejected")) == (60, 60, 0)
    assert sorted(row.id for row in bench.parquet("a")) == [number for number in range(60) if number < 3 or ">all" not in edges]


@pytest.mark.parametrize("kind", KINDS)
def test_the_calls_of_a_batch_are_made_although_nothing_behind_reads_its_rows(bench: Bench, kind: str) -> None:
    nodes = {"gen": numbers(40, 40), "call": CALL, "none": keep("1 = 2"), "a": files("a", "json")}
    with api_server(taken) as server:
        run, _ = bench.run(calling(bench, server, document(nodes, "gen>call, call>none, none>a", type=kind)))
        assert run.wait(90) == "completed"
        assert called(server) == list(range(40))


def test_a_stream_calls_before_a_window_keeps_the_rows(bench: Bench) -> None:
    nodes = {"gen": numbers(None, per_second=200, batch=50), "call": CALL, "sum": windows(), "out": COLLECT}
    with api_server(taken) as server:
        plan = calling(bench, server, document(nodes, "gen>call, call>sum, sum>out", type="STREAMING"))
        heard = bench.drained(plan, 200)
        times = Counter(called(server))
    committed = heard.rows("call")
    assert committed >= 200
    assert all(times[number] == 1 for number in range(committed))


def test_refused_rows_leave_by_the_errors_port_with_what_the_server_said(bench: Bench) -> None:
    nodes = {"gen": numbers(10, 5), "call": CALL, "good": files("good"), "bad": files("bad")}
    with api_server(refusing(lambda row: row["id"] % 5 == 0)) as server:
        run, heard = bench.run(calling(bench, server, document(nodes, "gen>call, call>good, call.errors>bad")))
        assert run.wait(90) == "completed"
        assert called(server) == list(range(10))
    assert sorted(row.id for row in bench.parquet("good")) == [1, 2, 3, 4, 6, 7, 8, 9]
    bad = bench.parquet("bad")
    assert sorted(row.id for row in bad) == [0, 5]
    assert "not this one" in bad[0].rejected_reason
    assert (heard.rows("call"), heard.rows("call", "rejected")) == (8, 2)


def test_a_job_that_fails_at_rejected_rows_calls_no_further(bench: Bench) -> None:
    nodes = {"gen": numbers(1000, 1000), "call": CALL, "out": files("out")}
    settings = {"rejected_rows": "fail", "parallelism": 1}
    with api_server(refusing(lambda row: True)) as server:
        run, _ = bench.run(calling(bench, server, document(nodes, "gen>call, call>out", settings=settings)))
        with pytest.raises(ExecutionFailure, match=r"the server answered 422.*not this one") as caught:
            run.wait(90)
        assert len(server.requests) <= 4, "one call of each task under way"
    assert caught.value.node_id == "call"


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_fails_at_a_rejected_row_that_nothing_behind_lets_through(bench: Bench, kind: str) -> None:
    """The rows behind it in its task were not called for: the batch must not count."""
    nodes = {"gen": numbers(1000, 1000), "call": CALL, "late": keep("id > 2000"), "out": files("out")}
    read = document(nodes, "gen>call, call>late, late>out", type=kind, settings={"rejected_rows": "fail"})
    with api_server(refusing(lambda row: row["id"] == 0)) as server:
        run, heard = bench.run(calling(bench, server, read))
        with pytest.raises(ExecutionFailure, match=r"the server answered 422.*not this one") as caught:
            run.wait(90)
        assert len(server.requests) < 1000
    assert caught.value.node_id == "call"
    assert heard.committed() == []


def test_the_key_of_a_call_is_that_of_generation_batch_and_place(bench: Bench) -> None:
    nodes = {"gen": numbers(6, 3), "call": CALL, "out": COLLECT}
    with api_server(taken) as server:
        run, _ = bench.run(calling(bench, server, document(nodes, "gen>call, call>out"), generation="9f"))
        assert run.wait(90) == "completed"
        keys = [request.headers["Idempotency-Key"] for request in server.requests]
    assert len(set(keys)) == 6
    assert {key.split("/")[3] for key in keys} == {"0", "1"}
    assert {key.split("/")[2] for key in keys} == {"9f"}


def test_a_function_of_ones_own_is_called_once_and_what_it_prints_is_heard(bench: Bench, tmp_path: Path) -> None:
    code = f"def process(row):\n    with open({str(tmp_path / 'seen')!r}, 'a') as seen:\n        print(row['id'], file=seen)\n"
    nodes = {"gen": numbers(50, 25), "own": ("flow.for_each_python", {"code": code}), "a": files("a"), "b": files("b")}
    bench.completed(document(nodes, "gen>own, own>a, own>b"))
    assert sorted(map(int, (tmp_path / "seen").read_text().split())) == list(range(50))
    assert len(bench.parquet("a")) == len(bench.parquet("b")) == 50


def test_a_preview_calls_nobody_and_says_so(bench: Bench) -> None:
    with api_server(taken) as server:
        connection = ConnectionSettings("api", "http_api", {"base_url": server.url})
        read = document({"gen": numbers(10), "call": CALL, "few": keep("id < 3"), "out": COLLECT}, "gen>call, call>few, few>out")
        limits = Limits(http_allowed_hosts=(server.host,))
        for node_id in ("call", "few", "out"):
            seen = preview(bench.spark, read, node_id, rows=5, connections={"api": connection}, limits=limits, registry=REGISTRY)
            assert seen["not_acted"] == ["call"]
        assert [row["id"] for row in seen["inputs"]["in"]["rows"]] == [0, 1, 2]
        assert preview(bench.spark, read, "gen", connections={}, limits=limits, registry=REGISTRY)["not_acted"] == []
        assert server.requests == []


@pytest.mark.parametrize("kind", ["STREAMING", "SQL_TASK"])
def test_a_test_of_the_job_calls_nobody(bench: Bench, tmp_path: Path, kind: str) -> None:
    test = PipelineTest.model_validate(
        {"name": "passes", "given": {"gen": [{"id": 1}]}, "expect": {"out": [{"id": 1}]}, "only_columns": True}
    )
    with api_server(taken) as server:
        nodes = {"gen": numbers(10), "call": CALL, "out": ("sink.print", {})}
        read = document(nodes, "gen>call, call>out", type=kind).model_copy(update={"tests": (test,)})
        result = pipeline_test_run(bench.spark, read, 0, folder=tmp_path / "tests")
        assert (result.status, result.message) == ("passed", "")
        assert server.requests == []


def test_calls_that_would_be_made_several_times_are_refused(bench: Bench) -> None:
    lookup = ("flow.lookup", {"keys": [{"left": "id", "right": "id"}]})
    api = {"api": ConnectionSettings("api", "http_api", {"base_url": "http://127.0.0.1:1"})}
    two = {"gen": numbers(None, per_second=10), "call": CALL, "a": windows(), "b": windows("5 min"), "x": COLLECT, "y": COLLECT}
    beside = {"gen": numbers(None, per_second=10), "few": numbers(5), "call": CALL, "look": lookup, "out": COLLECT}
    for nodes, edges in ((two, "gen>call, call>a, call>b, a>x, b>y"), (beside, "gen>look, few>call, call>look.table, look>out")):
        read = document(nodes, edges, type="STREAMING")
        found = analyse(bench.spark, read, connections=api, limits=Limits(), parameters={}, registry=REGISTRY).problems
        assert [(problem.node_id, "do its work several times" in problem.message) for problem in found] == [("call", True)]


@pytest.mark.faults
@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_run_that_is_killed_amid_its_calls_loses_none(tmp_path: Path) -> None:
    """Two sinks behind; what is called for again has the key it had."""
    job = """
name: calls
type: BATCH_ROLLER
nodes:
  src: {type: source.generator, name: Numbers, config: {total_rows: 300, rows_per_batch: 30}}
  call: {type: flow.for_each, name: Call, config: {connection: api, path: calls}}
  a: {type: sink.file, name: A, config: {path: a, format: json}}
  b: {type: sink.file, name: B, config: {path: b, format: json}}
edges:
  e1: {from: [src, out], to: [call, in]}
  e2: {from: [call, out], to: [a, in]}
  e3: {from: [call, out], to: [b, in]}
"""
    calls: list[tuple[int, str]] = []

    def answer(request: Request) -> Answer:
        calls.append((request.document["id"], request.headers["Idempotency-Key"]))
        return 204, {}, b""

    with api_server(answer) as server:
        killed(start(tmp_path, server, job), lambda: len(calls) >= 40)
        killed(start(tmp_path, server, job), lambda: len(calls) >= 130)
        last = start(tmp_path, server, job)
        assert last.wait(240) == 0, (tmp_path / "run.log").read_text()[-3000:]
    assert {number for number, _ in calls} == set(range(300)), "no row is left out"
    assert len(calls) - 300 <= 2 * 30, "no more than the batch under way is called for again"
    assert len({key for _, key in calls}) == 300, "a row that is called for again has the key it had"
    for name in ("a", "b"):
        written = [json.loads(line)["id"] for file in (tmp_path / "files" / name).glob("*.json") for line in file.read_text().splitlines()]
        assert sorted(written) == list(range(300))
