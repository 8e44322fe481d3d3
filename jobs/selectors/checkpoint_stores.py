"""Whether checkpoints of a job can go to the store that its document names, in this installation."""

from checkpoints.storages import storage_refusal
from jobs.dag.catalogue import Catalogue
from jobs.dag.document import DagDocument
from jobs.dag.problems import Problem


def storage_problems(document: DagDocument, catalogue: Catalogue) -> list[Problem]:
    """A warning on the setting: a run takes the local disk then. The store itself is not asked."""
    name = document.settings.checkpoint_storage
    if name is None:
        return []
    types = (catalogue.get(node.type) for node in document.nodes.values())
    reason = storage_refusal(name, stateful=any(found is not None and found.stateful for found in types))
    if not reason:
        return []
    message = f"its checkpoints will stay on the local disk: {reason}"
    return [Problem(severity="warning", code="checkpoint.storage", pointer="/settings/checkpoint_storage", message=message)]
