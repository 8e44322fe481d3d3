"""Which checkpoints somebody asked for."""

from collections.abc import Mapping

from django.db.models import Q, QuerySet

from checkpoints.models import Checkpoint, CheckpointOrigin, CheckpointStatus
from jobs.selectors.execution_filters import time_read
from jobs.selectors.query_words import text_asked, truth_asked, words_asked


def checkpoints_filtered(rows: QuerySet[Checkpoint], given: Mapping[str, str]) -> QuerySet[Checkpoint]:
    """`given` may hold job (or job_name), execution, status and origin (several by comma), is_savepoint, pinned, kept, q, and times.

    `kept`: pinned or a savepoint, and not deleted. `q`: part of the label, the job's name or title, or the beginning of an execution id.
    """
    if job_name := given.get("job") or given.get("job_name"):
        rows = rows.filter(execution__job_name=job_name)
    if execution_id := given.get("execution") or given.get("execution_id"):
        rows = rows.filter(execution_id=execution_id)
    for column, known in (("status", CheckpointStatus.values), ("origin", CheckpointOrigin.values)):
        if words := words_asked(given, column, known):
            rows = rows.filter(**{f"{column}__in": words})
    rows = _kept(rows, given)
    if text := text_asked(given, "q").strip():
        in_job = Q(execution__job_name__icontains=text) | Q(execution__job__title__icontains=text)
        rows = rows.filter(in_job | Q(label__icontains=text) | Q(execution__execution_id__startswith=text))
    for name, condition in (("created_after", "create_time__gte"), ("created_before", "create_time__lt")):
        if given.get(name):
            rows = rows.filter(**{condition: time_read(given[name], name)})
    return rows


def _kept(rows: QuerySet[Checkpoint], given: Mapping[str, str]) -> QuerySet[Checkpoint]:
    for column in ("is_savepoint", "pinned"):
        if (wanted := truth_asked(given, column)) is not None:
            rows = rows.filter(**{column: wanted})
    if (wanted := truth_asked(given, "kept")) is not None:
        kept = (Q(pinned=True) | Q(is_savepoint=True)) & ~Q(status=CheckpointStatus.EXPIRED)
        rows = rows.filter(kept if wanted else ~kept)
    return rows
