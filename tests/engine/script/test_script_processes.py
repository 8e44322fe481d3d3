"""Scripts in processes of their own leave behind what a run of the same job leaves."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jobs.dag.document import DagDocument
from jobs.engine.script.program import script_write
from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.plainly import secret_stand_in
from tests.engine.graphs import Bench, document
from tests.engine.script.processes import Scripts
from tests.nodes.api_server import Answer, ApiServer, Request, api_server

pytestmark = [pytest.mark.spark, pytest.mark.processes, pytest.mark.slow, pytest.mark.timeout(300)]

COLUMNS = [{"name": "id", "type": "long"}, {"name": "name"}, {"name": "at", "type": "timestamp"}]
#: Text of several lines, a module and a class of its own: what a person's code may hold.
OWN = '''import re
from dataclasses import dataclass

WORDS = """one
    two
"""


@dataclass
class Found:
    name: str


def process(row):
    if row["id"] % 7 == 0:
        raise ValueError(f"no sevens: {row['id']}")
    found = Found(re.sub("x", parameters["by"], row["name"]))
    return [{"id": row["id"], "name": found.name, "at": row["at"], "words": len(WORDS)}] * (1 + row["id"] % 2)
'''
KEPT = """calls = 0


def process(key, rows, state, timers):
    global calls
    calls += 1
    total = state.total.get(0) + sum(row["id"] for row in rows)
    state.total.set(total)
    for row in rows:
        state.ids.append(row["id"])
    yield {"total": total, "ids": len(state.ids), "last": rows[-1]["at"]}
"""
SEEN = """def process(row):
    with open({place!r}, "a") as seen:
        print(row["id"], file=seen)
"""


def nodes_of(root: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    made = [*COLUMNS, {"name": "words", "type": "long"}]
    kept = [{"name": "total", "kind": "value", "type": "long"}, {"name": "ids", "kind": "list", "type": "long"}]
    state = {"keys": ["name"], "time_column": "at", "code": KEPT, "state": kept}
    state["columns"] = [{"name": "total", "type": "long"}, {"name": "ids", "type": "int"}, {"name": "last", "type": "timestamp"}]
    return {
        "rows": ("source.file", {"path": "in", "format": "json", "columns": COLUMNS}),
        "own": ("flow.python", {"code": OWN, "columns": made}),
        "kept": ("flow.stateful", state),
        "totals": ("sink.delta", {"path": "totals", "mode": "upsert", "keys": ["name"]}),
        "reduced": ("flow.window_reduce", {"time_column": "at", "window": "10s", "group_by": ["name"], "emit": "update"}),
        "windows": ("sink.delta", {"path": "windows", "mode": "upsert", "keys": ["window_start", "name"]}),
        "bad": ("sink.file", {"path": "bad", "format": "json"}),
        "each": ("flow.for_each_python", {"code": SEEN.format(place=str(root / "seen"))}),
        "slow": ("flow.rate_limit", {"rows_per_second": 1000}),
        "shown": ("sink.delta", {"path": "shown", "partition_by": ["name"]}),
    }


EDGES = "rows>own, own>kept, kept>totals, own.errors>bad, own>each, each>slow, slow>shown, rows>reduced, reduced>windows"
PARAMETERS = {"by": {"type": "string", "default": "y"}}


def drawn(root: Path) -> DagDocument:
    return document(nodes_of(root), EDGES, type="STREAMING", parameters=PARAMETERS)


def put(bench: Bench) -> None:
    (bench.files / "in").mkdir()
    rows = [{"id": number, "name": f"x{number % 5}", "at": f"2026-01-02T03:04:{number:02}Z"} for number in range(30)]
    (bench.files / "in" / "1.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def left(bench: Bench) -> dict[str, list[str]]:
    found = {name: bench.spark.read.format("delta").load(str(bench.files / name)) for name in ("totals", "shown", "windows")}
    found["bad"] = bench.spark.read.json(str(bench.files / "bad"))
    rows = {name: sorted(map(str, frame.select(sorted(frame.columns)).collect())) for name, frame in found.items()}
    return rows | {"seen": sorted((bench.root / "seen").read_text(encoding="utf-8").split())}


def test_python_state_calls_and_delta_tables_are_those_of_a_run(bench: Bench, scripts: Scripts, tmp_path: Path) -> None:
    plain = Bench(bench.spark, tmp_path / "plain")
    plain.root.mkdir()
    for one in (bench, plain):
        put(one)
    run, _ = bench.run(replace(bench.plan(drawn(bench.root)), until_drained=True))
    assert run.wait(90) == "completed"
    limits = Limits(file_roots=(plain.files,), data_dir=plain.root)
    written = script_write(bench.spark, drawn(plain.root), connections={}, limits=limits, parameters={})
    assert not written.problems
    assert not re.search(r"^(from|import) jobs", written.text, re.MULTILINE)
    assert "def own_code(parameters):" in written.text
    scripts.run(written.text, plain.root)
    assert left(plain) == left(bench)
    assert "no sevens" in left(plain)["bad"][0]


def refusing_some(request: Request) -> Answer:
    """Busy at first, and not for every row."""
    if request.path.endswith("/calls/6"):
        return 422, {}, b"not this one"
    return 204, {}, b""


def sent(server: ApiServer) -> list[tuple[str, ...]]:
    """What is the same whatever run sends it: not the keys, in which its job and batch stand."""
    kept = ("authorization", "x-kept", "x-name", "content-type", "x-signature")
    found = []
    for request in server.requests:
        headers = {name.lower(): value for name, value in request.headers.items()}
        found.append((request.method, request.path, str(request.query), request.body.decode(), *(headers.get(name, "") for name in kept)))
    return sorted(found)


def http_nodes() -> dict[str, tuple[str, dict[str, Any]]]:
    header = [{"name": "X-Name", "value": "${name}"}]
    body = '{"row": {"id": "${id}", "label": "No. ${id}"}}'
    return {
        "rows": ("source.file", {"path": "in", "format": "json", "columns": COLUMNS}),
        "call": ("flow.for_each", {"connection": "api", "path": "calls/${id}", "method": "PUT", "headers": header, "attempts": 3}),
        "bad": ("sink.file", {"path": "bad", "format": "json"}),
        "api": ("sink.http_api", {"connection": "api", "path": "rows", "body": body, "keys": ["id"], "rows_per_request": 7}),
        "hook": ("sink.webhook", {"connection": "hook", "keys": ["id"]}),
    }


def connections(server: ApiServer) -> dict[str, ConnectionSettings]:
    api = {"base_url": f"{server.url}/api", "auth": "bearer", "headers": [{"name": "X-Kept", "value": "yes"}]}
    hook = {"url": f"{server.url}/hooks/one", "proof_header": "X-Signature"}
    return {
        "api": ConnectionSettings("api", "http_api", api, {"token": "t0p"}),
        "hook": ConnectionSettings("hook", "webhook_receiver", hook, {"secret": "s3cret"}),
    }


def closed(known: Mapping[str, ConnectionSettings]) -> dict[str, ConnectionSettings]:
    return {name: replace(one, secrets={key: secret_stand_in(name, key) for key in one.secrets}) for name, one in known.items()}


def test_calls_and_messages_by_http_are_those_of_a_run(bench: Bench, scripts: Scripts, tmp_path: Path) -> None:
    plain = Bench(bench.spark, tmp_path / "plain")
    plain.root.mkdir()
    for one in (bench, plain):
        put(one)
    read = document(http_nodes(), "rows>call, call>api, call>hook, call.errors>bad", type="SQL_TASK", settings={"parallelism": 1})
    with api_server(refusing_some) as server:
        plan = bench.plan(read)
        limits = replace(plan.limits, http_allowed_hosts=(server.host,))
        run, _ = bench.run(replace(plan, connections=connections(server), limits=limits))
        assert run.wait(90) == "completed"
        ran = sent(server)
        server.requests.clear()
        limits = Limits(file_roots=(plain.files,), data_dir=plain.root)
        written = script_write(bench.spark, read, connections=closed(connections(server)), limits=limits, parameters={})
        assert not written.problems
        assert "t0p" not in written.text
        assert "s3cret" not in written.text
        scripts.run(written.text, plain.root, API_TOKEN="t0p", HOOK_SECRET="s3cret")
        assert sent(server) == ran
    assert len(ran) == 30 + 29 + 5
    bad = [sorted(map(str, bench.spark.read.json(str(one.files / "bad")).collect())) for one in (bench, plain)]
    assert bad[0] == bad[1]
    assert "422" in bad[0][0]
