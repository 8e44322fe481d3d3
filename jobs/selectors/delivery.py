"""Whether a job's rows arrive exactly once, node by node: what those give, as they are configured, that read, write or act."""

import json
from collections.abc import Mapping
from typing import Any, cast

from jobs.dag.document import parse_document
from jobs.models import JobVersion
from jobs.nodes.guarantees import Guarantee, together
from jobs.nodes.registry import REGISTRY
from jobs.selectors.shapes.delivery import DeliveryNodeOut, DeliveryOut


def delivery_of(document: Mapping[str, Any]) -> DeliveryOut | None:
    """Sources first, each in the order of ids. None where the document cannot be read, or says of no node what becomes of its rows."""
    read, _ = parse_document(document)
    catalogue, found = REGISTRY.catalogue(), []
    for node_id, node in sorted(read.nodes.items()) if read else ():
        spec = catalogue.get(node.type)
        if spec is not None and (word := spec.guarantee_of(node.config)):
            found.append((spec.family, DeliveryNodeOut(node_id=node_id, name=node.name, type=node.type, guarantee=cast(Guarantee, word))))
    nodes = [node for family in ("source", "flow", "sink") for kind, node in found if kind == family]
    return DeliveryOut(guarantee=together(node.guarantee for node in nodes), nodes=nodes) if nodes else None


def delivery_of_version(*, job_id: int, version: int) -> DeliveryOut | None:
    """Of one version of a job, as `delivery_of`; None also where it is not kept."""
    text = JobVersion.objects.filter(job_id=job_id, version=version).values_list("dag_definition", flat=True).first()
    return delivery_of(json.loads(text)) if text else None
