"""Executions as a user may see them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.db.models import Exists, OuterRef, Prefetch, QuerySet, Subquery, prefetch_related_objects
from django.utils import timezone

from checkpoints.models import Checkpoint, CheckpointStatus
from jobs.models import LEASED, Event, Execution, ExecutionStatus, Job
from jobs.selectors.access import projects_visible
from jobs.selectors.delivery import delivery_of_version
from jobs.selectors.overdue import checkpoints_overdue
from jobs.selectors.refusals import NotFound
from jobs.selectors.shapes.execution import EventOut, ExecutionOut, JobTypeWord, ShownStatus, StatusWord, TriggerWord

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

DEFAULT_RETRIES = 3


def executions_visible(user: "User | AnonymousUser") -> QuerySet[Execution]:
    """Every execution in the user's projects, also of deleted jobs: history stays readable."""
    if user.is_authenticated and user.is_active and user.is_superuser:
        return Execution.objects.all()
    jobs = Job.objects.filter(pk=OuterRef("job_id"), project__in=projects_visible(user))
    return Execution.objects.filter(Exists(jobs))


def execution_get(*, user: "User | AnonymousUser", execution_id: str) -> Execution:
    """One execution with its job, or NotFound."""
    row = executions_visible(user).select_related("job", "job__project").filter(execution_id=execution_id).first()
    if row is None:
        raise _unknown(execution_id)
    return row


def _unknown(execution_id: str) -> NotFound:
    """Who follows an old link learns that it once led somewhere."""
    name, days = execution_id[:64], settings.HISTORY_KEPT_DAYS
    if not days:
        return NotFound(f'execution "{name}" does not exist, or not for you')
    return NotFound(f'execution "{name}" does not exist, or not for you; what ended more than {days} days ago is forgotten')


def executions_with_facts(rows: QuerySet[Execution]) -> QuerySet[Execution]:
    """`rows` with all that `execution_out` reads, in two queries: joined, SQLite begins with the jobs and sorts all they ever ran."""
    checkpoints = Checkpoint.objects.filter(execution_id=OuterRef("execution_id"))
    claims = Event.objects.filter(execution_id=OuterRef("execution_id"), kind="claimed").order_by("seq").values("attempt")[:1]
    newest = checkpoints.filter(status=CheckpointStatus.COMPLETED).order_by("-checkpoint_id").values("complete_time")[:1]
    return (
        rows.select_related("driver", "created_by")
        .prefetch_related(_jobs())
        .annotate(
            checkpoint_pending=Exists(checkpoints.filter(status=CheckpointStatus.PENDING)),
            last_checkpoint=Subquery(newest),
            first_attempt=Subquery(claims),
        )
    )


def jobs_fetch(rows: Sequence[Execution]) -> None:
    """The jobs of several lists in one query, where each was read with `prefetch_related(None)`."""
    prefetch_related_objects(rows, _jobs())


def _jobs() -> "Prefetch[Any]":
    return Prefetch("job", Job.objects.select_related("project").defer("dag_definition", "description"))


def executions_for_lists(rows: QuerySet[Execution]) -> QuerySet[Execution]:
    """The same without what only the page of one execution shows."""
    return executions_with_facts(rows).defer("error_stack_trace")


def execution_detail(*, user: "User | AnonymousUser", execution_id: str) -> ExecutionOut:
    """One execution with its stack trace, whether its checkpoint is overdue and what its nodes guarantee, or NotFound."""
    row = executions_with_facts(executions_visible(user).filter(execution_id=execution_id)).first()
    if row is None:
        raise _unknown(execution_id)
    return execution_out(row, detailed=True)


def execution_message_out(execution_id: str) -> ExecutionOut:
    """One execution as live messages carry it, whoever listens."""
    return execution_out(executions_for_lists(Execution.objects.filter(execution_id=execution_id)).get())


def executions_out(rows: Iterable[Execution]) -> list[ExecutionOut]:
    return [execution_out(row) for row in rows]


#: What is the matter with an execution, in its row's own words.
_TROUBLE = ("error_message", "error_node_id", "error_class", "waiting_for", "waiting_node_id", "waiting_since")

_BUFFER = ("buffer_size", "backpressure_status", "dropped_records")
_PLACE = ("storage_host", "checkpoint_path")


def execution_out(row: Execution, *, detailed: bool = False) -> ExecutionOut:
    """`row` comes from `executions_with_facts` or `executions_for_lists`."""
    checkpointing = bool(getattr(row, "checkpoint_pending", False)) and row.status == ExecutionStatus.RUNNING
    return ExecutionOut(
        execution_id=row.execution_id,
        job_name=row.job_name,
        job_title=row.job.title or row.job_name,
        job_type=cast(JobTypeWord, row.job_type),
        project=row.job.project.slug,
        version=row.version,
        generation=row.generation,
        attempt=row.attempt,
        first_attempt=getattr(row, "first_attempt", None),
        status=cast(StatusWord, row.status),
        shown_status=cast(ShownStatus, "CHECKPOINTING" if checkpointing else row.status),
        checkpointing=checkpointing,
        confirmed_time=row.confirmed_time,
        lease_expires_at=row.lease_expires_at,
        next_attempt_at=row.next_attempt_at,
        create_time=row.create_time,
        start_time=row.start_time,
        end_time=row.end_time,
        resume_time=row.resume_time,
        duration_ms=row.duration_ms,
        processed_records=row.processed_records,
        written_records=row.written_records,
        failed_records=row.failed_records,
        error_stack_trace=row.error_stack_trace if detailed else None,
        **{name: getattr(row, name) for name in (*_TROUBLE, *_BUFFER, *_PLACE)},
        retry_count=row.retry_count,
        max_retry_times=_retries(row),
        triggered_by=cast(TriggerWord, row.triggered_by),
        restored_from_checkpoint_id=row.restored_from_checkpoint_id,
        parameters=row.parameters,
        resolved=row.resolved,
        seq=row.seq,
        worker=_worker(row),
        created_by=row.created_by.get_username() if row.created_by else "",
        last_checkpoint_time=getattr(row, "last_checkpoint", None),
        **(_details(row) if detailed else dict.fromkeys(_DETAILS)),
    )


#: What only the page of one execution shows.
_DETAILS = ("checkpoint_overdue", "checkpoint_storage_warning", "delivery")


def _details(row: Execution) -> dict[str, Any]:
    return {
        "checkpoint_overdue": bool(checkpoints_overdue([row], timezone.now())),
        "checkpoint_storage_warning": _storage_warning(row),
        "delivery": delivery_of_version(job_id=row.job_id, version=row.version),
    }


def _storage_warning(row: Execution) -> str:
    """What the latest attempt said of the store it was to use."""
    told = row.events.filter(kind="notice", attempt=row.attempt, detail__has_key="checkpoint_storage").order_by("-seq")
    return told.values_list("reason", flat=True).first() or ""


def _worker(row: Execution) -> str:
    return f"{row.driver.host}:{row.driver.pid}" if row.driver and row.status in LEASED else ""


def _retries(row: Execution) -> int:
    found = row.resolved.get("max_retry_times", DEFAULT_RETRIES) if isinstance(row.resolved, dict) else DEFAULT_RETRIES
    return found if isinstance(found, int) else DEFAULT_RETRIES


def event_out(row: Event) -> EventOut:
    return EventOut(
        seq=row.seq,
        time=row.time,
        kind=row.kind,
        actor=row.actor,
        reason=row.reason,
        attempt=row.attempt,
        from_status=row.from_status,
        to_status=row.to_status,
        node_id=row.node_id,
        detail=row.detail,
    )
