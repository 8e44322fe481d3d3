"""What a source must still keep, for a checkpoint of its job could bring back a position before it."""

from collections.abc import Callable, Collection
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.db.models import Q, QuerySet

from checkpoints.models import Checkpoint, CheckpointStatus
from checkpoints.storages import opened

#: Of an execution, a node and sinks: whether rows of the node reach one of them.
Reaches = Callable[[Any, str, Collection[str]], bool]


def positions_restorable(*, job_uid: str) -> list[dict[str, Any]]:
    """Node → offset in every complete checkpoint of a job, those that were brought from another job left out: they count other rows."""
    taken_here = Q(execution__imported_from__isnull=True) | Q(execution__imported_from__job_uid=job_uid)
    return [state.get("sources", {}) for state in _complete(job_uid).filter(taken_here).values_list("state_data", flat=True)]


def folders_restorable(*, job_uid: str, node_id: str, until: ExitStack, reaches: Reaches) -> list[Path]:
    """The folder of every complete checkpoint of a job that reads a source, also of those brought here, with its logs of that source.

    They stay until `until` ends. None at all where one has a query that reads the source and has no position of it yet: gone back to, that
    query reads all there is.
    """
    rows = list(_complete(job_uid).select_related("execution__job"))
    if any(_is_at_its_beginning(row, node_id, reaches) for row in rows):
        return []
    taken = [row for row in rows if _has_position(row, node_id)]
    return [until.enter_context(opened(row, wanted=lambda name: f"/sources/{node_id}" in name)) for row in taken]


def _complete(job_uid: str) -> "QuerySet[Checkpoint]":
    return Checkpoint.objects.filter(execution__job__job_uid=job_uid, status=CheckpointStatus.COMPLETED)


def _has_position(row: Checkpoint, node_id: str) -> bool:
    return node_id in row.state_data.get("sources", {})


def _is_at_its_beginning(row: Checkpoint, node_id: str, reaches: Reaches) -> bool:
    """Spark gives a source that found nothing yet no offset; a query that committed nothing has none of any source."""
    has_position = _has_position(row, node_id)
    begun = [query["sinks"] for query in row.queries.values() if not has_position or query["batch_id"] < 0]
    return any(reaches(row.execution, node_id, sinks) for sinks in begun)
