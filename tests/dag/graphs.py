"""Documents by their shape, over a small catalogue of node types made for the tests."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from jobs.dag.catalogue import Catalogue, NodeTypeSpec, Port
from jobs.dag.document import DagDocument, parse_document
from jobs.dag.problems import Problem

_IN, _OUT = Port("in", "input"), Port("out", "output")


def _config_problems(config: Mapping[str, Any]) -> list[Problem]:
    """A config has a required text `path`, and an optional integer `rows` of at least 10."""
    problems = [
        Problem(code="config.invalid", pointer=f"/{key}", message=f"no setting {key}") for key in config if key not in ("path", "rows")
    ]
    if not isinstance(config.get("path", "x"), str):
        problems.append(Problem(code="config.invalid", pointer="/path", message="path must be text"))
    rows = config.get("rows", 10)
    if not isinstance(rows, int) or rows < 10:
        problems.append(Problem(code="config.invalid", pointer="/rows", message="rows must be at least 10"))
    return problems


def spec(type_name: str, ports: tuple[Port, ...], **changes: Any) -> NodeTypeSpec:
    family: Any = type_name.split(".")[0]
    face: dict[str, Any] = {
        "type": type_name,
        "version": 2,
        "family": family,
        "title": type_name.split(".")[1].capitalize(),
        "help": "",
        "icon": "box",
        "ports": ports,
        "schema": {},
        "job_types": ("STREAMING", "BATCH_ROLLER", "SQL_TASK"),
        "config_problems": _config_problems,
        "resolved_config": lambda config: {"path": "x", "rows": 10, **config},
    }
    return NodeTypeSpec(**{**face, **changes})


CATALOGUE: Catalogue = {
    item.type: item
    for item in (
        spec("source.read", (_OUT, Port("errors", "errors", required=False))),
        spec("source.stream", (_OUT,), job_types=("STREAMING",)),
        spec("source.pages", (_OUT,), job_types=("BATCH_ROLLER", "SQL_TASK"), boundedness="bounded"),
        spec("flow.step", (_IN, _OUT)),
        spec("flow.union", (Port("in", "input", many=True), _OUT)),
        spec("flow.look_up", (_IN, Port("table", "reference"), _OUT)),
        spec("flow.broken", (_IN, _OUT), available=False, unavailable_reason="No module named 'nothing'"),
        spec("sink.write", (_IN,)),
    )
}


def node(type_name: str, **config: Any) -> dict[str, Any]:
    return {"type": type_name, "config": config}


def data(nodes: Mapping[str, Any], edges: list[str], /, **changes: Any) -> dict[str, Any]:
    """A document's data. An edge is "a>b", or with ports "a.errors>b.table"; they are called e1, e2 …"""
    document: dict[str, Any] = {"name": "a-job", "type": "BATCH_ROLLER", "nodes": dict(nodes), "edges": {}}
    for number, written in enumerate(edges, start=1):
        source, target = written.split(">")
        document["edges"][f"e{number}"] = {"from": _end(source, "out"), "to": _end(target, "in")}
    return {**document, **changes}


def _end(written: str, port: str) -> list[str]:
    node_id, _, named = written.partition(".")
    return [node_id, named or port]


def parsed(document: Mapping[str, Any]) -> DagDocument:
    found, problems = parse_document(document)
    assert found is not None, problems
    return found


def chain(length: int = 3, **changes: Any) -> dict[str, Any]:
    """source → step_1 → … → sink, `length` nodes in all."""
    steps = {f"step_{number}": node("flow.step") for number in range(1, length - 1)}
    ids = ["source", *steps, "sink"]
    nodes = {"source": node("source.read"), **steps, "sink": node("sink.write")}
    return data(nodes, [f"{one}>{other}" for one, other in pairwise(ids)], **changes)


def fan_out_fan_in(**changes: Any) -> dict[str, Any]:
    """One source, two steps beside each other, a union, a sink."""
    nodes = {
        "source": node("source.read"),
        "left": node("flow.step"),
        "right": node("flow.step"),
        "union": node("flow.union"),
        "sink": node("sink.write"),
    }
    return data(nodes, ["source>left", "source>right", "left>union", "right>union", "union>sink"], **changes)


def cycle(**changes: Any) -> dict[str, Any]:
    """A source into a union, which a step behind it feeds again: edge e3 closes the circle."""
    nodes = {"source": node("source.read"), "union": node("flow.union"), "again": node("flow.step"), "sink": node("sink.write")}
    return data(nodes, ["source>union", "union>again", "again>union", "again>sink"], **changes)


def look_up(**changes: Any) -> dict[str, Any]:
    """Two sources, one read whole beside the rows of the other."""
    nodes = {"rows": node("source.read"), "table": node("source.read"), "look_up": node("flow.look_up"), "sink": node("sink.write")}
    return data(nodes, ["rows>look_up", "table>look_up.table", "look_up>sink"], **changes)
