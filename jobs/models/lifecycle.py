"""The states of an execution and every change that is allowed between them."""

from types import MappingProxyType

from django.db import models


class JobType(models.TextChoices):
    STREAMING = "STREAMING"
    BATCH_ROLLER = "BATCH_ROLLER"
    SQL_TASK = "SQL_TASK"


class ExecutionStatus(models.TextChoices):
    SCHEDULED = "SCHEDULED"
    INITIALIZING = "INITIALIZING"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class TriggeredBy(models.TextChoices):
    CRON = "CRON"
    MANUAL = "MANUAL"
    EVENT = "EVENT"
    DEPENDENCY = "DEPENDENCY"
    RETRY = "RETRY"
    RESTORE = "RESTORE"
    BACKFILL = "BACKFILL"
    API = "API"


S = ExecutionStatus

#: From → to. A change that is not here is an error that names both states.
TRANSITIONS: MappingProxyType[ExecutionStatus, frozenset[ExecutionStatus]] = MappingProxyType(
    {
        S.SCHEDULED: frozenset({S.INITIALIZING, S.PAUSED, S.FAILED, S.CANCELLED}),
        S.INITIALIZING: frozenset({S.RUNNING, S.PAUSED, S.SCHEDULED, S.FAILED, S.CANCELLED}),
        S.RUNNING: frozenset({S.COMPLETED, S.PAUSED, S.SCHEDULED, S.FAILED, S.CANCELLED}),
        S.PAUSED: frozenset({S.SCHEDULED, S.CANCELLED}),
        S.COMPLETED: frozenset(),
        S.FAILED: frozenset(),
        S.CANCELLED: frozenset(),
    }
)

FINAL = tuple(status for status, targets in TRANSITIONS.items() if not targets)
UNFINISHED = tuple(status for status, targets in TRANSITIONS.items() if targets)
#: A driver holds a lease on an execution in these.
LEASED = (S.INITIALIZING, S.RUNNING)


class TransitionRefused(Exception):
    """A change of status that the table does not allow, or that somebody else made first."""

    def __init__(self, *, execution_id: str, current: str, wanted: str) -> None:
        super().__init__(f"execution {execution_id} is {current}: it cannot become {wanted}")
        self.current = current
        self.wanted = wanted


def transition_check(*, execution_id: str, current: str, wanted: str) -> None:
    """Raise TransitionRefused unless the table has `current` → `wanted`."""
    if ExecutionStatus(wanted) not in TRANSITIONS[ExecutionStatus(current)]:
        raise TransitionRefused(execution_id=execution_id, current=current, wanted=wanted)
