"""What people ask of an execution: stop, cancel, resume, a checkpoint now. A running one gets it as a row that its driver takes."""

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F

from jobs import queue
from jobs.models import (
    LEASED,
    Command,
    CommandKind,
    CommandStatus,
    Execution,
    ExecutionStatus,
    Role,
    TransitionRefused,
)
from jobs.selectors.refusals import Conflict
from jobs.services.access import role_check
from jobs.services.events import event_record
from jobs.services.executions.starting import job_locked
from jobs.services.executions.transition import error_cleared, execution_transition

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_OPEN = (CommandStatus.PENDING, CommandStatus.TAKEN)


def execution_stop(*, execution: Execution, user: "User") -> Execution:
    """Pause it: at the batch boundary while it runs, at once while it waits. Its position is kept. Conflict where it cannot stop."""
    _operator(execution, user)
    return _ask(execution, user, CommandKind.STOP, "stop_requested", at_once=(ExecutionStatus.SCHEDULED,), to=ExecutionStatus.PAUSED)


def execution_cancel(*, execution: Execution, user: "User", force: bool = False) -> Execution:
    """End it for good; its checkpoints stay unless its settings say otherwise. `force` does not wait for the batch boundary.

    Conflict where it has already ended.
    """
    _operator(execution, user)
    kind = CommandKind.FORCE_CANCEL if force else CommandKind.CANCEL
    waiting = (ExecutionStatus.SCHEDULED, ExecutionStatus.PAUSED)
    return _ask(execution, user, kind, "cancel_requested", at_once=waiting, to=ExecutionStatus.CANCELLED)


def execution_resume(*, execution: Execution, user: "User") -> Execution:
    """A PAUSED execution goes on where it stopped, in its generation.

    Conflict in any other status, NotStartable where its job is disabled.
    """
    _operator(execution, user)
    try:
        with transaction.atomic():
            job_locked(execution.job)
            execution_transition(
                execution_id=execution.execution_id,
                expected=ExecutionStatus.PAUSED,
                to=ExecutionStatus.SCHEDULED,
                actor=user.get_username(),
                reason="resumed",
                next_attempt_at=None,
                retry_count=0,
                **error_cleared(),
            )
            queue.wake()
    except TransitionRefused as refused:
        raise Conflict(
            f"execution {execution.execution_id} is {refused.current}: only a paused one can be resumed; start the job instead"
        ) from None
    return _fresh(execution)


def checkpoint_request(*, execution: Execution, user: "User", savepoint: bool = False, label: str = "") -> Command:
    """Ask for a checkpoint at the next batch boundary; a savepoint is kept until somebody deletes it. Conflict unless it runs."""
    _operator(execution, user)
    current = _fresh(execution)
    if current.status != ExecutionStatus.RUNNING:
        raise Conflict(f"execution {execution.execution_id} is {current.status}: a checkpoint can be taken only while it runs")
    kind = CommandKind.SAVEPOINT if savepoint else CommandKind.CHECKPOINT
    return command_create(
        execution_id=execution.execution_id, user=user, kind=kind, event_kind="checkpoint_requested", detail={"label": label}
    )


@transaction.atomic
def command_create(*, execution_id: str, user: "User", kind: str, event_kind: str, detail: dict[str, str] | None = None) -> Command:
    """The command's row with its event; drivers are woken on commit."""
    actor = user.get_username()
    command = Command.objects.create(execution_id=execution_id, kind=kind, requested_by=actor, detail=detail or {})
    event_record(execution_id=execution_id, kind=event_kind, actor=actor, detail={"command": command.pk, "kind": str(kind)})
    queue.wake()
    return command


def _ask(
    execution: Execution, user: "User", kind: CommandKind, event_kind: str, *, at_once: tuple[ExecutionStatus, ...], to: ExecutionStatus
) -> Execution:
    """At once while no driver holds it, else by a command; it may be claimed or let go in between, so both are tried in turn."""
    for _ in range(10):
        current = _fresh(execution)
        if current.status in LEASED:
            if _ask_driver(current, user, kind, event_kind):
                return _fresh(execution)
            continue
        try:
            execution_transition(execution_id=current.execution_id, expected=at_once, to=to, actor=user.get_username(), reason="asked for")
            return _fresh(execution)
        except TransitionRefused as refused:
            if refused.current not in LEASED:
                wish = "paused" if to == ExecutionStatus.PAUSED else "cancelled"
                raise Conflict(f"execution {current.execution_id} is {refused.current}: it cannot be {wish}") from None
    raise Conflict(f"execution {execution.execution_id} changes too quickly: try again")


@transaction.atomic
def _ask_driver(current: Execution, user: "User", kind: CommandKind, event_kind: str) -> bool:
    """False when the execution was let go meanwhile. Asking twice asks once."""
    # Written first, so that an ending attempt either sees this command or is seen here.
    if not Execution.objects.filter(execution_id=current.execution_id, status__in=LEASED).update(status=F("status")):
        return False
    if not Command.objects.filter(execution_id=current.execution_id, kind=kind, status__in=_OPEN).exists():
        command_create(execution_id=current.execution_id, user=user, kind=kind, event_kind=event_kind)
    return True


def _operator(execution: Execution, user: "User") -> None:
    role_check(user=user, project=execution.job.project_id, role=Role.OPERATOR)


def _fresh(execution: Execution) -> Execution:
    return Execution.objects.select_related("job").get(pk=execution.pk)
