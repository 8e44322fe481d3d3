"""A document with its defaults written in, as publishing keeps it: a later change of a default never changes an old version."""

from typing import Any

from jobs.dag.catalogue import Catalogue
from jobs.dag.document import DagDocument, Node
from jobs.dag.parameters import config_filled, example_values, references


def with_defaults(document: DagDocument, catalogue: Catalogue) -> DagDocument:
    """Every node of a known type with its full config and the type's version; the settings that decide about results written out.

    `${name}` stays as written. Nodes of unknown types stay as they are. Settings about pace and retries stay open:
    the installation's defaults are theirs.
    """
    values = example_values(document)
    nodes = {node_id: _with_defaults(node, catalogue, values) for node_id, node in document.nodes.items()}
    settings = document.settings
    settings = settings.model_copy(
        update={
            "time_zone": settings.time_zone or "UTC",
            "rejected_rows": settings.rejected_rows or "dead_letter",
            "state_store": settings.state_store or "rocksdb",
        }
    )
    return document.model_copy(update={"nodes": nodes, "settings": settings})


def _with_defaults(node: Node, catalogue: Catalogue, values: dict[str, Any]) -> Node:
    spec = catalogue.get(node.type)
    if spec is None or not spec.available:
        return node
    full = spec.resolved_config(config_filled(node.config, values, spec.verbatim, spec.own_places.keys(), no_texts=spec.no_texts))
    return node.model_copy(update={"config": _as_written(full, node.config), "type_version": spec.version})


def _as_written(full: Any, written: Any) -> Any:
    """`full`, but with the texts of `written` wherever these hold a parameter or an escape of one."""
    if isinstance(full, dict) and isinstance(written, dict):
        filled = {key: _as_written(value, written[key]) if key in written else value for key, value in full.items()}
        return {**written, **filled}
    if isinstance(full, list) and isinstance(written, list) and len(full) == len(written):
        return [_as_written(item, own) for item, own in zip(full, written, strict=True)]
    if any(references(written)) or (isinstance(written, str) and "${" in written):
        return written
    return full
