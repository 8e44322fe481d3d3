"""What is told where the table of a Lookup cannot be read: of the node that reads it, at the field that is to blame."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from jobs.dag.problems import Problem
from jobs.engine.compiler import PlanInvalid
from jobs.engine.failure import ExecutionFailure
from jobs.engine.preview import preview
from jobs.nodes.base import ConnectionSettings, Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, Nodes, document, numbers
from tests.nodes.api_server import Answer, Request, api_server, as_json, records

pytestmark = pytest.mark.spark

Connections = Mapping[str, ConnectionSettings]

COLUMNS = [{"name": "id", "type": "long"}, {"name": "name"}]
LOOK = ("flow.lookup", {"keys": [{"left": "id"}], "columns": ["name"]})


def looking(*table: tuple[str, dict[str, Any]]) -> tuple[Nodes, str]:
    """Numbers that are looked up in a table, which a source and flows behind it make."""
    made = dict(zip(("table", "flow"), table, strict=False))
    beside = "table>flow, flow>look.table" if len(made) > 1 else "table>look.table"
    return {"gen": numbers(30, 10), **made, "look": LOOK, "out": COLLECT}, f"gen>look, {beside}, look>out"


def previewed(bench: Bench, drawn: tuple[Nodes, str], connections: Connections, limits: Limits) -> Problem:
    with pytest.raises(PlanInvalid) as refused:
        preview(bench.spark, document(*drawn), "look", rows=5, connections=connections, limits=limits, registry=REGISTRY)
    (problem,) = refused.value.problems
    return problem


def failed(bench: Bench, drawn: tuple[Nodes, str], connections: Connections, limits: Limits) -> ExecutionFailure:
    plan = bench.plan(document(*drawn, type="STREAMING"))
    plan = replace(plan, connections=connections, limits=replace(limits, data_dir=bench.root))
    run, _ = bench.run(plan)
    with pytest.raises(ExecutionFailure) as ended:
        run.wait(60)
    return ended.value


def stale(request: Request) -> Answer:
    """One page, then another kind of answer."""
    return as_json({"results": records(0, 10)} if request.query["page"] == "1" else {"items": []})


@pytest.mark.parametrize(
    ("answer", "field", "words"),
    [
        (lambda request: as_json({}, 500), "", "the server answered 500 Internal Server Error each time; try later"),
        (lambda request: (200, {}, b"<html>Sign in</html>"), "", "the answer is HTML instead of JSON"),
        (stale, "/records_pointer", 'the page has nothing at "/results": the page holds items; correct the records pointer'),
    ],
    ids=["500", "html", "pointer"],
)
def test_an_api_that_fails_is_told_at_the_table(bench: Bench, answer: Callable[[Request], Answer], field: str, words: str) -> None:
    api = {"connection": "api", "path": "things", "page_size": 10, "records_pointer": "/results", "columns": COLUMNS, "attempts": 1}
    drawn = looking(("source.http_api", api), ("flow.select_fields", {"fields": [{"column": "id"}, {"column": "name"}]}))
    with api_server(answer) as server:
        connections = {"api": ConnectionSettings("api", "http_api", {"base_url": server.url})}
        limits = Limits(http_allowed_hosts=(server.host,))
        problem = previewed(bench, drawn, connections, limits)
        ended = failed(bench, drawn, connections, limits)
    assert (problem.node_id, problem.pointer) == ("table", f"/nodes/table/config{field}")
    assert problem.message.startswith('"Table": ')
    assert words in problem.message
    assert (ended.node_id, ended.message.partition(": ")[0]) == ("table", '"Table"')
    assert words in ended.message


def test_a_file_with_other_columns_is_told_at_the_table(bench: Bench) -> None:
    (bench.files / "names.csv").write_text("name,id\nx,1\n")
    drawn = looking(("source.file", {"path": "names.csv", "format": "csv", "columns": COLUMNS}))
    limits = Limits(file_roots=(bench.files,))
    problem = previewed(bench, drawn, {}, limits)
    assert (problem.node_id, problem.pointer) == ("table", "/nodes/table/config")
    assert problem.message.startswith(f'"Table": the header of {bench.files / "names.csv"} names the columns name, id, where id, name are')
    assert failed(bench, drawn, {}, limits).message == problem.message


def test_an_expression_that_fails_on_the_way_to_the_lookup_is_told_where_it_stands(bench: Bench) -> None:
    with closing(sqlite3.connect(bench.files / "shop.db")) as shop, shop:
        shop.execute("CREATE TABLE names (id INTEGER, name TEXT)")
        shop.execute("INSERT INTO names VALUES (1, 'x')")
    drawn = looking(
        ("source.jdbc", {"connection": "shop", "table": "names"}),
        ("flow.compute_columns", {"columns": [{"name": "number", "expression": "CAST(name AS int)"}]}),
    )
    connections = {"shop": ConnectionSettings("shop", "sqlite", {"path": str(bench.files / "shop.db")})}
    limits = Limits(file_roots=(bench.files,))
    problem = previewed(bench, drawn, connections, limits)
    assert (problem.node_id, problem.pointer) == ("flow", "/nodes/flow/config/columns/0/expression")
    assert problem.message.startswith("\"Flow\": The value 'x' of the type")
    assert failed(bench, drawn, connections, limits).node_id == "flow"
