"""The graph of a document: whether it holds together, and in which order its nodes run."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from jobs.dag.beside import nodes_beside
from jobs.dag.catalogue import JOB_TYPE_WORDS, Catalogue, NodeTypeSpec, Port
from jobs.dag.checkpoint_settings import checkpoint_problems
from jobs.dag.cycles import closing_edges
from jobs.dag.document import DagDocument, Edge, Node, parse_document
from jobs.dag.node_configs import config_problems
from jobs.dag.parameters import default_problems
from jobs.dag.pipeline_test_problems import pipeline_test_problems
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.dag.real_time import real_time_problems


def check_document(raw: bytes | str | Mapping[str, Any], catalogue: Catalogue) -> tuple[DagDocument | None, list[Problem]]:
    """`parse_document` and, if that went well, `structure_problems`: all that can be said without Spark. Never raises."""
    document, problems = parse_document(raw)
    return document, problems if document is None else structure_problems(document, catalogue)


def structure_problems(document: DagDocument, catalogue: Catalogue) -> list[Problem]:
    """Every fault of nodes, edges, ports, configs, parameters and tests that shows without reading any data."""
    return [
        *_node_problems(document, catalogue),
        *_edge_problems(document, catalogue),
        *_cycle_problems(document),
        *_port_problems(document, catalogue),
        *_family_problems(document, catalogue),
        *config_problems(document, catalogue),
        *default_problems(document),
        *checkpoint_problems(document),
        *real_time_problems(document, catalogue),
        *pipeline_test_problems(document, catalogue),
    ]


def topological_order(document: DagDocument) -> list[str]:
    """Node ids, each behind all it reads from; among equals in order of id.

    Edges to nodes that do not exist are passed over. ValueError if the edges make a circle.
    """
    waiting: Counter[str] = Counter(dict.fromkeys(document.nodes, 0))
    followers: defaultdict[str, list[str]] = defaultdict(list)
    inner = [edge for edge in document.edges.values() if {edge.source[0], edge.target[0]} <= document.nodes.keys()]
    for edge in inner:
        followers[edge.source[0]].append(edge.target[0])
        waiting[edge.target[0]] += 1
    ready = [node_id for node_id in document.nodes if not waiting[node_id]]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        order.append(heapq.heappop(ready))
        for follower in followers[order[-1]]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, follower)
    if len(order) < len(document.nodes):
        raise ValueError("the edges make a circle")
    return order


def _node_problems(document: DagDocument, catalogue: Catalogue) -> list[Problem]:
    problems: list[Problem] = []
    names = Counter(node.name for node in document.nodes.values())
    beside = nodes_beside(document, catalogue)
    for node_id, node in document.nodes.items():
        if names[node.name] > 1:
            message = f'{names[node.name]} nodes are called "{node.name}": give each its own name'
            problems.append(_on_node("node.duplicate_name", node_id, "name", message))
        spec = catalogue.get(node.type)
        if spec is None:
            message = f'"{node.name}": the node type "{node.type}" does not exist here: install what brings it, or choose another'
            problems.append(_on_node("node.unknown_type", node_id, "type", message))
        else:
            problems.extend(_type_problems(document, node_id, node, spec, is_beside=node_id in beside))
    return problems


def _type_problems(document: DagDocument, node_id: str, node: Node, spec: NodeTypeSpec, *, is_beside: bool) -> list[Problem]:
    if not spec.available:
        return [_on_node("node.unavailable", node_id, "type", f'"{node.name}": {spec.title} is missing: {spec.unavailable_reason}')]
    problems = []
    if node.type_version > spec.version:
        message = (
            f'"{node.name}" was made with version {node.type_version} of {spec.title}; here is {spec.version}: update this installation'
        )
        problems.append(_on_node("node.type_version", node_id, "type_version", message))
    ends_in_stream = document.type == "STREAMING" and spec.boundedness == "bounded"
    if document.type not in spec.job_types and not (ends_in_stream and is_beside):
        fitting = " or ".join(JOB_TYPE_WORDS[name] for name in spec.job_types)
        message = f'"{node.name}": {spec.title} cannot run in a job of the kind {JOB_TYPE_WORDS[document.type]}, only in {fitting}'
        if ends_in_stream:
            message = f"{message}; in a stream it can be the table of a lookup"
        problems.append(_on_node("node.job_type", node_id, "type", message))
    return problems


def _edge_problems(document: DagDocument, catalogue: Catalogue) -> list[Problem]:
    problems: list[Problem] = []
    seen: dict[Edge, str] = {}
    for edge_id, edge in document.edges.items():
        first = seen.setdefault(edge, edge_id)
        if first != edge_id:
            problems.append(_on_edge("edge.duplicate", edge_id, "", "this edge is drawn twice: remove one"))
            continue
        problems.extend(_end_problems(document, catalogue, edge_id, edge, "from"))
        problems.extend(_end_problems(document, catalogue, edge_id, edge, "to"))
    return problems


def _end_problems(document: DagDocument, catalogue: Catalogue, edge_id: str, edge: Edge, end: str) -> list[Problem]:
    node_id, port_name = edge.source if end == "from" else edge.target
    node = document.nodes.get(node_id)
    if node is None:
        return [_on_edge("edge.unknown_node", edge_id, end, f'there is no node "{node_id}": connect the edge anew or remove it')]
    spec = catalogue.get(node.type)
    if spec is None:
        return []
    ports = spec.ports_of(node.config)
    port = next((port for port in ports if port.name == port_name), None)
    if port is None:
        known = ", ".join(f'"{port.name}"' for port in ports if port.is_input == (end == "to"))
        if not known:
            message = f'"{node.name}" is a source: no edge ends there' if end == "to" else f'"{node.name}" is a sink: no edge begins there'
            return [_at_end("edge.unknown_port", edge_id, end, node_id, message)]
        return [_at_end("edge.unknown_port", edge_id, end, node_id, f'"{node.name}" has no port "{port_name}"; it has {known}')]
    if port.is_input == (end == "from"):
        what = "an input: edges end there" if end == "from" else "an output: edges begin there"
        return [_at_end("edge.direction", edge_id, end, node_id, f'the port "{port_name}" of "{node.name}" is {what}')]
    return []


def _cycle_problems(document: DagDocument) -> list[Problem]:
    edges = {edge_id: (edge.source[0], edge.target[0]) for edge_id, edge in document.edges.items()}
    problems = []
    for edge_id, circle in closing_edges(edges).items():
        names = [document.nodes[node_id].name if node_id in document.nodes else node_id for node_id in circle]
        way = " → ".join(names if len(names) <= 8 else [*names[:4], "…", *names[-3:]])
        problems.append(_on_edge("edge.cycle", edge_id, "", f"this edge closes a circle, rows would never come to an end: {way}"))
    return problems


def _port_problems(document: DagDocument, catalogue: Catalogue) -> list[Problem]:
    problems: list[Problem] = []
    arriving: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    leaving = set()
    for edge_id, edge in document.edges.items():
        arriving[edge.target].append(edge_id)
        leaving.add(edge.source)
    for node_id, node in document.nodes.items():
        spec = catalogue.get(node.type)
        for port in spec.ports_of(node.config) if spec else ():
            edge_ids = arriving[(node_id, port.name)]
            if port.is_input:
                problems.extend(_input_problems(node_id, node, port, edge_ids))
            elif port.kind == "output" and port.required and (node_id, port.name) not in leaving:
                message = f'nothing reads the port "{port.name}" of "{node.name}": connect it, or remove the node'
                problems.append(_on_node("port.unused", node_id, "", message).model_copy(update={"severity": "warning"}))
    return problems


def _input_problems(node_id: str, node: Node, port: Port, edge_ids: list[str]) -> list[Problem]:
    if not edge_ids and port.required:
        return [_on_node("port.missing", node_id, "", f'nothing is connected to the port "{port.name}" of "{node.name}"')]
    if port.many:
        return []
    message = f'the port "{port.name}" of "{node.name}" takes one edge only: put a union in between'
    return [_on_edge("port.full", edge_id, "to", message) for edge_id in edge_ids[1:]]


def _family_problems(document: DagDocument, catalogue: Catalogue) -> list[Problem]:
    specs = [catalogue.get(node.type) for node in document.nodes.values()]
    families = {spec.family for spec in specs if spec is not None}
    if None in specs and specs:  # a missing type may be of any family
        return []
    problems = []
    if "source" not in families:
        problems.append(Problem(code="graph.no_source", pointer="/nodes", message="the job reads nothing: add a source"))
    if "sink" not in families:
        problems.append(Problem(code="graph.no_sink", pointer="/nodes", message="the job writes nothing: add a sink"))
    return problems


def _on_node(code: str, node_id: str, field: str, message: str) -> Problem:
    return Problem(code=code, node_id=node_id, pointer=pointer_of(("nodes", node_id, *([field] if field else []))), message=message)


def _at_end(code: str, edge_id: str, end: str, node_id: str, message: str) -> Problem:
    """Of an edge, and told at the node where it cannot end: whoever renamed its ports looks there."""
    return _on_edge(code, edge_id, end, message).model_copy(update={"node_id": node_id})


def _on_edge(code: str, edge_id: str, field: str, message: str) -> Problem:
    return Problem(code=code, edge_id=edge_id, pointer=pointer_of(("edges", edge_id, *([field] if field else []))), message=message)
