"""The history of an execution, and the rows its nodes refused."""

from collections.abc import Sequence

from jobs.models import Event, Execution, RejectedRow
from jobs.selectors.executions import event_out
from jobs.selectors.shapes.execution import EventOut, RejectedRowOut


def events_out(execution: Execution, *, before: int | None = None, kinds: Sequence[str] = (), limit: int = 100) -> list[EventOut]:
    """The newest `limit` events (below `before`), newest first."""
    rows = Event.objects.filter(execution_id=execution.execution_id).order_by("-seq")
    if before is not None:
        rows = rows.filter(seq__lt=before)
    if kinds:
        rows = rows.filter(kind__in=kinds)
    return [event_out(row) for row in rows[:limit]]


def rejected_rows_out(execution: Execution, *, before: int | None = None, node_id: str = "", limit: int = 100) -> list[RejectedRowOut]:
    """The newest `limit` rejected rows (below `before`), newest first."""
    rows = RejectedRow.objects.filter(execution_id=execution.execution_id).order_by("-id")
    if before is not None:
        rows = rows.filter(id__lt=before)
    if node_id:
        rows = rows.filter(node_id=node_id)
    return [
        RejectedRowOut(
            id=row.pk,
            node_id=row.node_id,
            batch_id=row.batch_id,
            ordinal=row.ordinal,
            reason=row.reason,
            row=row.row,
            create_time=row.create_time,
        )
        for row in rows[:limit]
    ]
