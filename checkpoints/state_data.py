"""What a checkpoint says about its position: offsets by node, and the readable summary of each job type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Parts of an offset that are no position of their own: shown, never compared.
_SHOWN = {"progress", "total"}


def offsets_by_node(queries: Iterable[Mapping[str, Any]], nodes: Iterable[str]) -> dict[str, Any]:
    """Node → offset from each query's source name → offset: the smallest per partition, for a restore reads on from there.

    A source read several times in one query is named `<node_id>__<edge_id>` each time.
    """
    known = set(nodes)
    found: dict[str, list[Any]] = {}
    for offsets in queries:
        for name, offset in offsets.items():
            node_id = name if name in known or "__" not in name else name.rsplit("__", 1)[0]
            found.setdefault(node_id, []).append(offset)
    return {node_id: smallest(offsets) for node_id, offsets in sorted(found.items())}


def smallest(offsets: Sequence[Any]) -> Any:
    """The smallest position: numbers by value, objects by each of their parts; a partition that one has not met yet is left out.

    Positions that have no order (cursors, keys of text) go with the one whose progress is least.
    """
    first = offsets[0]
    if all(offset == first for offset in offsets):
        return first
    if all(_is_number(offset) for offset in offsets):
        return min(offsets)
    if not all(isinstance(offset, dict) for offset in offsets):
        return first
    if not all(_ordered([offset.get(key) for offset in offsets]) for key in set().union(*offsets) - _SHOWN):
        return min(offsets, key=_done)
    shared = [key for key in first if all(key in offset for offset in offsets)]
    behind = min(offsets, key=_done)
    return {key: behind[key] if key in _SHOWN else smallest([offset[key] for offset in offsets]) for key in shared}


def state_data(
    *,
    job_type: str,
    number: int,
    timestamp: str,
    sources: Mapping[str, Any],
    operators: Iterable[Mapping[str, Any]],
    rows: int,
    page_sizes: Mapping[str, int],
) -> dict[str, Any]:
    """`{"sources": …}` with the summary that scripts read. `rows`: source rows up to here, where the offsets do not say it."""
    summary: dict[str, Any]
    if job_type == "STREAMING":
        summary = {
            "checkpoint_id": number,
            "timestamp": timestamp,
            "source_state": {"kafka_offsets": _kafka_offsets(sources)},
            "operator_state": _operator_state(operators),
        }
    elif job_type == "BATCH_ROLLER":
        summary = {"source_state": _page_state(sources, rows, page_sizes)}
    else:
        summary = {"source_state": _key_state(sources, rows)}
    return {"sources": dict(sources), **summary}


def state_moved(state: Mapping[str, Any], *, job_type: str, sources: Mapping[str, Any]) -> dict[str, Any]:
    """`state` of a checkpoint whose sources stand elsewhere, its summary too; what was processed stays what it was."""
    told = state.get("source_state")
    before = told if isinstance(told, dict) else {}
    summary: dict[str, Any]
    if job_type == "STREAMING":
        summary = {"kafka_offsets": _kafka_offsets(sources)}
    elif job_type == "BATCH_ROLLER":
        page_sizes = dict.fromkeys(sources, before.get("page_size"))
        summary = _page_state(sources, before.get("total_processed") or 0, page_sizes)
    else:
        summary = _key_state(sources, before.get("processed_rows") or 0)
    return {**state, "sources": dict(sources), "source_state": summary}


def _kafka_offsets(sources: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Topic → partition → offset, over all Kafka sources."""
    found: dict[str, list[dict[str, int]]] = {}
    for offset in sources.values():
        if isinstance(offset, dict) and offset and all(_partitions(value) for value in offset.values()):
            for topic, partitions in offset.items():
                found.setdefault(topic, []).append(partitions)
    return {topic: smallest(partitions) for topic, partitions in found.items()}


def _partitions(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(str(key).isdecimal() and _is_number(number) for key, number in value.items())


def _operator_state(operators: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Node (or operator, where Spark does not tell) → its rows and bytes together."""
    found: dict[str, dict[str, Any]] = {}
    for operator in operators:
        entry = found.setdefault(operator.get("node_id") or operator["operator"], {"operator": operator["operator"], "rows": 0, "bytes": 0})
        entry["rows"] += operator["rows"]
        entry["bytes"] += operator["bytes"]
    return found


def _page_state(sources: Mapping[str, Any], rows: int, page_sizes: Mapping[str, int | None]) -> dict[str, Any]:
    """The next page (or cursor) of the paged source; a roller over anything else says its rows only."""
    for node_id, offset in sources.items():
        if isinstance(offset, dict) and "page" in offset:
            total = offset.get("rows", rows)
            if offset.get("cursor") is not None:
                return {"cursor": offset["cursor"], "page_size": page_sizes.get(node_id), "total_processed": total}
            return {"current_page": offset["page"], "page_size": page_sizes.get(node_id), "total_processed": total}
    return {"current_page": None, "page_size": None, "total_processed": rows}


def _key_state(sources: Mapping[str, Any], rows: int) -> dict[str, Any]:
    for offset in sources.values():
        if isinstance(offset, dict) and "key" in offset:
            return {"processed_rows": offset.get("rows", rows), "last_processed_id": offset["key"]}
    return {"processed_rows": rows, "last_processed_id": None}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(values: list[Any]) -> bool:
    """Whether these can be compared part by part; None: one of them has no such part yet."""
    given = [value for value in values if value is not None]
    same = all(value == given[0] for value in given)
    return same or all(_is_number(value) for value in given) or all(isinstance(value, dict) for value in given)


def _done(offset: Mapping[str, Any]) -> float:
    progress = offset.get("progress")
    done: Any = progress.get("done") if isinstance(progress, dict) else 0
    return float(done) if _is_number(done) else 0.0
