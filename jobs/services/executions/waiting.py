"""A running attempt waits for another system: shown as long as it lasts, kept in the history."""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from jobs.dag.storable import storable
from jobs.models import LEASED, Execution
from jobs.services.events import event_append


@transaction.atomic
def execution_waits(*, execution_id: str, attempt: int, node_id: str, what: str, given_up: bool = False) -> None:
    """`what` does not answer node `node_id`; "" when it answers again, or was `given_up`. Nothing happens where the attempt is over.

    Where another node is shown by now, that one stays.
    """
    rows = Execution.objects.filter(execution_id=execution_id, attempt=attempt, status__in=LEASED)
    if what:
        rows.update(waiting_for=storable(what[:300]), waiting_node_id=node_id, waiting_since=timezone.now())
    else:
        rows.filter(waiting_node_id=node_id).update(waiting_for="", waiting_node_id="", waiting_since=None)
    if rows.update(seq=F("seq") + 1):
        kind = "waiting" if what else "given_up" if given_up else "answers"
        event_append(execution_id=execution_id, kind=kind, actor="engine", reason=what, node_id=node_id)
