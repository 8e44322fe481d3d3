"""Everything that changes an execution: starting, claiming, asking, failing and ending it."""

from jobs.services.executions.claiming import driver_leases_end, execution_claim, execution_hand_over, leases_renew
from jobs.services.executions.commanding import (
    checkpoint_request,
    execution_cancel,
    execution_resume,
    execution_stop,
)
from jobs.services.executions.ending import (
    execution_attempt_failed,
    execution_complete,
    execution_lease_lost,
    execution_refuse,
    execution_stopped,
    status_asked_for,
)
from jobs.services.executions.not_startable import ExecutionConflict, NotRestorable, NotStartable
from jobs.services.executions.restoring import execution_generation_renew, execution_restore
from jobs.services.executions.starting import execution_start
from jobs.services.executions.transition import LeaseLost, execution_transition
from jobs.services.executions.waiting import execution_waits

__all__ = [
    "ExecutionConflict",
    "LeaseLost",
    "NotRestorable",
    "NotStartable",
    "checkpoint_request",
    "driver_leases_end",
    "execution_attempt_failed",
    "execution_cancel",
    "execution_claim",
    "execution_complete",
    "execution_generation_renew",
    "execution_hand_over",
    "execution_lease_lost",
    "execution_refuse",
    "execution_restore",
    "execution_resume",
    "execution_start",
    "execution_stop",
    "execution_stopped",
    "execution_transition",
    "execution_waits",
    "leases_renew",
    "status_asked_for",
]
