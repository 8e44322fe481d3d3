"""Circles in a directed graph: the edges that close them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping


def closing_edges(edges: Mapping[str, tuple[str, str]]) -> dict[str, list[str]]:
    """Edge id → the circle it closes, first node repeated at the end. Without these edges the graph has no circle.

    `edges` is edge id → (from node, to node). Depth-first, from nodes that nothing leads to, then by id:
    the edge told is the one that goes back against the rows. No recursion: 500 nodes in a row are fine.
    """
    following: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for edge_id, (source, target) in sorted(edges.items()):
        following[source].append((edge_id, target))
    found: dict[str, list[str]] = {}
    done: set[str] = set()
    entered = {target for _, target in edges.values()}
    for start in sorted(following, key=lambda node_id: (node_id in entered, node_id)):
        if start not in done:
            _walk(start, following, done, found)
    return found


def _walk(start: str, following: Mapping[str, list[tuple[str, str]]], done: set[str], found: dict[str, list[str]]) -> None:
    path = [start]
    depth = {start: 0}
    pending: list[Iterator[tuple[str, str]]] = [iter(following.get(start, ()))]
    while pending:
        step = next(pending[-1], None)
        if step is None:
            pending.pop()
            done.add(path[-1])
            del depth[path.pop()]
            continue
        edge_id, target = step
        if target in depth:
            found[edge_id] = [*path[depth[target] :], target]
        elif target not in done:
            depth[target] = len(path)
            path.append(target)
            pending.append(iter(following.get(target, ())))
