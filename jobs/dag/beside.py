"""What a stream only looks things up in: nodes whose rows are read whole beside its own."""

from collections.abc import Collection

from jobs.dag.catalogue import Catalogue
from jobs.dag.document import DagDocument, Edge
from jobs.dag.parts import part_above


def nodes_beside(document: DagDocument, catalogue: Catalogue) -> frozenset[str]:
    """Ids of the nodes from which every way leads into a reference input, and of sources that nothing reads yet."""
    specs = {node_id: catalogue.get(node.type) for node_id, node in document.nodes.items()}
    leaving: dict[str, list[Edge]] = {node_id: [] for node_id, spec in specs.items() if spec is not None and spec.family == "source"}
    for edge in document.edges.values():
        leaving.setdefault(edge.source[0], []).append(edge)
    found: set[str] = set()
    for _ in document.nodes:  # each round adds the nodes that stand one edge further above
        more = {
            node_id
            for node_id, edges in leaving.items()
            if node_id not in found and all(edge.target[0] in found or _is_reference(document, catalogue, edge) for edge in edges)
        }
        if not more:
            break
        found |= more
    return frozenset(found)


def part_read(document: DagDocument, node_ids: Collection[str], catalogue: Catalogue) -> DagDocument:
    """`part_above` of them, to be read for itself: what a stream only looks things up in is read whole, as a query does."""
    part = part_above(document, node_ids)
    read = {edge.source[0] for edge in document.edges.values()}
    is_whole = document.type == "STREAMING" and set(node_ids) <= nodes_beside(document, catalogue) & read
    return part.model_copy(update={"type": "SQL_TASK"}) if is_whole else part


def _is_reference(document: DagDocument, catalogue: Catalogue, edge: Edge) -> bool:
    node_id, name = edge.target
    node = document.nodes.get(node_id)
    spec = catalogue.get(node.type) if node else None
    return spec is not None and any(port.name == name and port.kind == "reference" for port in spec.ports)
