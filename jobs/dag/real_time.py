"""Whether a job that asks for it can run in real time: each row goes its way as it comes, without waiting for a batch."""

from jobs.dag.catalogue import Catalogue
from jobs.dag.document import DagDocument
from jobs.dag.durations import duration_ms
from jobs.dag.parameters import config_filled, example_values
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem

#: Spark lets no batch be shorter in real time.
LEAST_SECONDS = 5


def real_time_problems(document: DagDocument, catalogue: Catalogue) -> list[Problem]:
    """On the setting that is to be changed, and on each node that needs whole batches."""
    settings = document.settings
    if settings.trigger != "real_time":
        return []
    if document.type != "STREAMING":
        message = "only a stream can run in real time: let rows be written in batches"
        return [Problem(code="real_time.bounded", pointer=pointer_of(("settings", "trigger")), message=message)]
    problems = _hindered(document, catalogue)
    if settings.trigger_interval and duration_ms(settings.trigger_interval) < LEAST_SECONDS * 1000:
        message = f"in real time at least {LEAST_SECONDS}s: no row waits for a batch to end"
        problems.append(Problem(code="real_time.interval", pointer=pointer_of(("settings", "trigger_interval")), message=message))
    return problems


def _hindered(document: DagDocument, catalogue: Catalogue) -> list[Problem]:
    values = example_values(document)
    problems = []
    for node_id, node in document.nodes.items():
        spec = catalogue.get(node.type)
        reason = (
            spec.hinders_real_time(config_filled(node.config, values, spec.verbatim, spec.own_places.keys()))
            if spec and spec.available
            else ""
        )
        if not reason and spec and spec.family == "sink" and any(edge.source[0] == node_id for edge in document.edges.values()):
            reason = "what it rejects goes on, which is known only behind a batch"
        if reason:
            message = f'"{node.name}" cannot run in real time: {reason}; change that, or let rows be written in batches'
            problems.append(Problem(code="real_time.node", node_id=node_id, pointer=pointer_of(("nodes", node_id)), message=message))
    return problems
