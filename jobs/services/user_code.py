"""Who may write Python into jobs and run it: a right of its own beside the roles, which an administrator grants."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from jobs.dag.document import canonical_json, parse_document
from jobs.dag.resolved import with_defaults
from jobs.nodes.registry import REGISTRY
from jobs.selectors.refusals import Forbidden

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

#: Superusers have it; others get it in the administration, by themselves or by a group.
PERMISSION = "jobs.run_python"


def code_nodes(document: str | Mapping[str, Any]) -> dict[str, str]:
    """Node id → the whole node as text, for each that holds a program; of a document that may be half-drawn."""
    data = json.loads(document or "{}") if isinstance(document, str) else document
    nodes = data.get("nodes") if isinstance(data, Mapping) else None
    catalogue = REGISTRY.catalogue()
    found = {}
    for node_id, node in nodes.items() if isinstance(nodes, Mapping) else ():
        spec = catalogue.get(str(node.get("type"))) if isinstance(node, Mapping) else None
        if spec is not None and spec.runs_user_code:
            found[str(node_id)] = json.dumps([node.get("type"), node.get("config")], sort_keys=True)
    return found


def _with_defaults(document: str | Mapping[str, Any]) -> dict[str, str]:
    """`code_nodes` as publishing writes them; none of a document that cannot be read."""
    read, _ = parse_document(document)
    return code_nodes(canonical_json(with_defaults(read, REGISTRY.catalogue()))) if read is not None else {}


def user_code_check(
    *, user: "User | AnonymousUser", document: str | Mapping[str, Any], act: str, known: Callable[[], Iterable[str]] = tuple
) -> None:
    """Forbidden where `document` holds a program that is in none of the documents that `known` gives, and `user` may not run any.

    `act` says what is refused, as in "publishing it".
    """
    found = code_nodes(document)
    if not found or user.has_perm(PERMISSION):
        return
    whole = _with_defaults(document)
    before = {node for text in known() for node in code_nodes(text).items()}
    if nodes := [node_id for node_id, text in found.items() if before.isdisjoint({(node_id, text), (node_id, whole.get(node_id))})]:
        named = ", ".join(nodes[:5])
        raise Forbidden(
            f"the job holds Python ({named}): {act} needs the permission {PERMISSION}, which you do not have: ask an administrator for it",
            code="python.forbidden",
            detail={"permission": PERMISSION, "node_ids": nodes},
        )
