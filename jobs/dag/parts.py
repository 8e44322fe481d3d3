"""A part of a document: some nodes with all that their rows come from."""

from collections import defaultdict
from collections.abc import Iterable

from jobs.dag.document import DagDocument


def part_above(document: DagDocument, node_ids: Iterable[str]) -> DagDocument:
    """`node_ids` and all above them, references too, without tests. Ids of no node are passed over."""
    sources: dict[str, list[str]] = defaultdict(list)
    for edge in document.edges.values():
        sources[edge.target[0]].append(edge.source[0])
    found: set[str] = set()
    waiting = list(node_ids)
    while waiting:
        one = waiting.pop()
        if one not in found and one in document.nodes:
            found.add(one)
            waiting.extend(sources[one])
    nodes = {one: node for one, node in document.nodes.items() if one in found}
    edges = {edge_id: edge for edge_id, edge in document.edges.items() if edge.target[0] in found}
    return document.model_copy(update={"nodes": nodes, "edges": edges, "tests": []})
