"""The part of a document that a test runs, with the test's rows in place of its sources and folders in place of its sinks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql.types import StructType

from jobs.dag.document import DagDocument, Edge, Node
from jobs.dag.pipeline_tests import PipelineTest, outlet_parts
from jobs.engine.trial_nodes import GivenGoodRows, GivenRows, KeptRows
from jobs.nodes.registry import REGISTRY


@dataclass(frozen=True)
class Trial:
    """A document that runs a test, and where its rows lie.

    `given`: source id → the folder its rows are to be written to. `kept`: outlet → the folder that will hold what came out.
    `beside`: node that the document itself does not have → the one whose rows it keeps.
    """

    document: DagDocument
    given: Mapping[str, Path]
    kept: Mapping[str, Path]
    beside: Mapping[str, str]


def trial_of(part: DagDocument, test: PipelineTest, schemas: Mapping[str, StructType], place: Path) -> Trial:
    """`part` holds what the test expects rows of and all above it; `schemas` the columns of its sources. Node ids stay the same."""
    given = {source: place / "given" / source for source in schemas}
    kept = {outlet: place / "kept" / str(number) for number, outlet in enumerate(test.expect)}
    nodes = dict(part.nodes) | {source: _given(part, source, schema, given[source], test.expect) for source, schema in schemas.items()}
    edges, beside = dict(part.edges), dict[str, str]()
    for node_id, node in part.nodes.items():
        if _is_sink(part, node_id):  # no system is touched, and none refuses anything
            nodes[node_id] = _kept(node.name, place / "unread" / node_id)
    for number, (outlet, folder) in enumerate(kept.items()):
        node_id, port = outlet_parts(outlet)
        if _is_sink(part, node_id) and "." not in outlet:
            nodes[node_id] = _kept(part.nodes[node_id].name, folder)
        else:
            own_id = _free(f"__expected_{number}", nodes)
            nodes[own_id] = _kept(_free(f"expect: {outlet}", {node.name for node in nodes.values()}), folder)
            beside[own_id] = node_id
            edges[own_id] = Edge.model_validate({"from": (node_id, port), "to": (own_id, "in")})
    return Trial(part.model_copy(update={"nodes": nodes, "edges": edges}), given, kept, beside)


def _given(part: DagDocument, source: str, schema: StructType, folder: Path, expected: Iterable[str]) -> Node:
    read = {edge.source for edge in part.edges.values()} | {outlet_parts(outlet) for outlet in expected}
    rejects = (source, "errors") in read
    kind = GivenGoodRows.type if rejects else GivenRows.type
    return Node(type=kind, name=part.nodes[source].name, config={"folder": str(folder), "table_schema": schema.json()})


def _kept(name: str, folder: Path) -> Node:
    return Node(type=KeptRows.type, name=name[:200], config={"folder": str(folder)})


def _is_sink(part: DagDocument, node_id: str) -> bool:
    node_type = REGISTRY.get(part.nodes[node_id].type)
    return node_type is not None and node_type.family == "sink"


def _free(wanted: str, taken: Collection[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted
