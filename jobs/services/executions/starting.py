"""Starting: which version, with which parameters, in which generation."""

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

from django.db import IntegrityError, transaction
from django.db.models import F

from checkpoints.models import Checkpoint
from jobs import queue
from jobs.dag.document import DagDocument, parse_document
from jobs.dag.parameters import resolve_parameters
from jobs.dag.problems import Problem, errors_in
from jobs.engine.change_words import Change
from jobs.engine.compiler import PlanInvalid, filled_problems, settings_resolve, step_compile
from jobs.engine.plan import Settings
from jobs.models import UNFINISHED, Execution, ExecutionStatus, Job, JobConfig, JobVersion, Role, TriggeredBy
from jobs.nodes.base import Source
from jobs.nodes.registry import REGISTRY
from jobs.selectors.graph_comparisons import Run, kept_no_position, reads_at_once
from jobs.selectors.installation import settings_default
from jobs.selectors.refusals import Invalid, NotFound
from jobs.services.access import role_check
from jobs.services.events import event_append, event_record
from jobs.services.executions.going_on import going_on_check
from jobs.services.executions.not_startable import ExecutionConflict, NotStartable
from jobs.services.user_code import code_nodes, user_code_check

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SYSTEM = "system"
#: A graph that is drawn anew says no more than this of its nodes in the event log.
_CHANGES_TOLD = 20


@dataclass(frozen=True)
class Beginning:
    """Where an execution goes on: a generation, and what is already fixed by it. `changes`: what people should know of the graph's.

    `roll_back`: what the sinks take away first (`RollBackPlan.data`).
    """

    generation: uuid.UUID
    storage_host: str = ""
    checkpoint: int | None = None
    words: str = "from the beginning"
    changes: tuple[Change, ...] = ()
    roll_back: Mapping[str, Any] = field(default_factory=dict)


def execution_start(
    *,
    job: Job,
    user: "User | None",
    triggered_by: str,
    version: int | None = None,
    parameters: Mapping[str, Any] | None = None,
    start_from: str | int | None = None,
    allow_non_restored_state: bool = False,
    roll_back: bool = False,
) -> Execution:
    """A new SCHEDULED execution; a driver claims it soon. `user` is None when a schedule asks.

    `start_from`: "continue", "beginning", a checkpoint's row id (then `version` is its own unless given, and `allow_non_restored_state`
    and `roll_back` count as for a restore), or None: continue where that is possible. ExecutionConflict names the unfinished execution;
    NotStartable says what stands in the way; Invalid has the problems of `parameters`, of a version that does not fit the checkpoint, or
    of what goes with a checkpoint only, or not with one.
    """
    if user is not None:
        role_check(user=user, project=job.project_id, role=Role.OPERATOR)
    if isinstance(start_from, int) or (isinstance(start_from, str) and start_from.isdecimal()):
        _parameters_refuse(parameters)
        how = {"allow_non_restored_state": allow_non_restored_state, "roll_back": roll_back}
        return _restored(job, user, int(start_from), version, how)
    _of_checkpoints_refuse(allow_non_restored_state=allow_non_restored_state, roll_back=roll_back)
    if start_from not in (None, "continue", "beginning"):
        problem = Problem(code="start.from", pointer="/from", message='"from" is "continue", "beginning" or the id of a checkpoint')
        raise Invalid("the start names a place that does not exist", problems=[problem])
    try:
        with transaction.atomic():
            return _create(job, user, triggered_by, version, dict(parameters or {}), start_from)
    except IntegrityError:
        raise_conflict(job)


def _parameters_refuse(parameters: Mapping[str, Any] | None) -> None:
    if parameters:
        words = 'a checkpoint is restored with the parameters it was taken with: leave "parameters" out'
        problem = Problem(code="start.parameters", pointer="/parameters", message=words)
        raise Invalid("a start from a checkpoint takes no parameters", problems=[problem])


def _of_checkpoints_refuse(*, allow_non_restored_state: bool, roll_back: bool) -> None:
    """What only a start from a checkpoint heeds."""
    if roll_back:
        problem = Problem(code="start.roll_back", pointer="/roll_back", message='"roll_back" goes with the id of a checkpoint in "from"')
        raise Invalid("sinks are rolled back to a checkpoint only", problems=[problem])
    if allow_non_restored_state:
        words = '"allow_non_restored_state" goes with the id of a checkpoint in "from"'
        problem = Problem(code="start.allow_non_restored_state", pointer="/allow_non_restored_state", message=words)
        raise Invalid("state is left behind by a restore only", problems=[problem])


def _restored(job: Job, user: "User | None", checkpoint_id: int, version: int | None, how: Mapping[str, bool]) -> Execution:
    from jobs.services.executions.restoring import execution_restore  # it starts executions too

    checkpoint = Checkpoint.objects.filter(pk=checkpoint_id, execution__job=job).first()
    if checkpoint is None:
        raise NotFound(f"this job has no checkpoint {checkpoint_id}")
    return execution_restore(checkpoint=checkpoint, user=user, version=version, **how)


def _create(
    job: Job, user: "User | None", triggered_by: str, version: int | None, parameters: dict[str, Any], start_from: str | None
) -> Execution:
    job = job_locked(job)
    unfinished_refuse(job)
    chosen = version_of(job, version)
    document = document_of(chosen)
    values, problems = resolve_parameters(document, parameters)
    if errors_in(problems := problems or filled_problems(document, values)):
        raise Invalid("the parameters do not fit the job", problems=problems)
    beginning = _beginning(job, chosen, document, values, start_from)
    return execution_create(
        job=job, user=user, triggered_by=triggered_by, version=chosen, document=document, parameters=values, beginning=beginning
    )


def job_locked(job: Job) -> Job:
    """The job as it is now. The write without a change makes other starts, claims and a deletion of this job wait for us."""
    if not Job.objects.filter(pk=job.pk, deleted_at=None).update(attempt_counter=F("attempt_counter")):
        raise NotStartable("the job was deleted")
    job = Job.objects.get(pk=job.pk)
    if not job.enabled:
        raise NotStartable(f'"{job.job_name}" is disabled: enable it first', code="job.disabled")
    return job


def unfinished_refuse(job: Job) -> None:
    if Execution.objects.filter(job=job, status__in=UNFINISHED).exists():
        raise_conflict(job)


def raise_conflict(job: Job) -> NoReturn:
    """ExecutionConflict naming the unfinished execution, and what to do about it."""
    other = Execution.objects.filter(job=job, status__in=UNFINISHED).order_by("-id").first()
    if other is None:  # it ended in this very moment
        raise ExecutionConflict("another start came first: try again")
    remedy = "resume or cancel it" if other.status == ExecutionStatus.PAUSED else "stop or cancel it first"
    raise ExecutionConflict(
        f"execution {other.execution_id} is {other.status}: {remedy}",
        detail={"execution_id": other.execution_id, "status": other.status},
    )


def version_of(job: Job, version: int | None) -> JobVersion:
    wanted = job.version if version is None else version
    if wanted is None:
        raise NotStartable(f'"{job.job_name}" has no published version: publish it first', code="job.unpublished")
    row = JobVersion.objects.filter(job=job, version=wanted).first()
    if row is None:
        raise NotFound(f'"{job.job_name}" has no version {wanted}')
    return row


def document_of(version: JobVersion) -> DagDocument:
    document, problems = parse_document(version.dag_definition)
    if document is None:
        raise Invalid(f"version {version.version} can no longer be read", problems=problems)
    return document


def _beginning(job: Job, version: JobVersion, document: DagDocument, parameters: dict[str, Any], start_from: str | None) -> Beginning:
    continuable = Execution.objects.that_ran().filter(job=job)
    if job.reset_time is not None:
        continuable = continuable.filter(create_time__gt=job.reset_time)
    last = continuable.order_by("-create_time", "-id").first()
    if start_from == "beginning" or last is None:
        if start_from == "continue":
            raise NotStartable("there is nothing to continue: the job never ran", detail={"offers": ["beginning"]})
        return Beginning(uuid.uuid4())
    if last.status == ExecutionStatus.COMPLETED and not _incremental(document, parameters):
        if start_from == "continue":
            raise NotStartable("there is nothing to continue: the last execution completed", detail={"offers": ["beginning"]})
        return Beginning(uuid.uuid4())
    if last.status == ExecutionStatus.COMPLETED and kept_no_position(last) and reads_at_once(Run(version, parameters, {})):
        # Its sinks have the one batch of its generation already.
        return Beginning(uuid.uuid4(), words=f"in a new generation: execution {last.execution_id} read all at once, and completed")
    changes = going_on_check(last=last, version=version, parameters=parameters)
    words = f"continues where execution {last.execution_id} ended"
    return Beginning(last.generation, storage_host=last.storage_host, words=words, changes=changes)


def _incremental(document: DagDocument, parameters: Mapping[str, Any]) -> bool:
    """Such a source leaves its generation unfinished: the next start goes on behind what was read."""
    return any(_goes_on(document, node_id, parameters) for node_id in document.nodes)


def _goes_on(document: DagDocument, node_id: str, parameters: Mapping[str, Any]) -> bool:
    node = document.nodes[node_id]
    found = REGISTRY.get(node.type)
    if found is not None and issubclass(found, Source) and found.goes_on:
        return True
    try:
        return getattr(step_compile(document, node_id, parameters, REGISTRY).config, "incremental", False) is True
    except PlanInvalid:  # which is told when it runs
        return node.config.get("incremental") is True


def execution_create(
    *,
    job: Job,
    user: "User | None",
    triggered_by: str,
    version: JobVersion,
    document: DagDocument,
    parameters: dict[str, Any],
    beginning: Beginning,
) -> Execution:
    """The row with its first event; IntegrityError where another start was first. Call it inside a transaction."""
    if user is not None:
        user_code_check(user=user, document=version.dag_definition, act="starting it")
    resolved = _settings_of(job, version, document)
    execution = Execution.objects.create(
        job=job,
        job_name=job.job_name,
        job_type=document.type,
        version=version.version,
        generation=beginning.generation,
        storage_host=beginning.storage_host,
        isolation=resolved.isolation,
        restored_from_checkpoint_id=beginning.checkpoint,
        roll_back=dict(beginning.roll_back),
        parameters=parameters,
        resolved=asdict(resolved),
        triggered_by=TriggeredBy(triggered_by),
        created_by=user,
        seq=1,
    )
    event_append(
        execution_id=execution.execution_id,
        kind="triggered",
        actor=user.get_username() if user else SYSTEM,
        reason=f"version {version.version}, {beginning.words}",
        to_status=ExecutionStatus.SCHEDULED,
        detail={"triggered_by": str(execution.triggered_by)},
    )
    _changes_tell(execution, beginning.changes)
    queue.wake()
    return execution


def _changes_tell(execution: Execution, changes: tuple[Change, ...]) -> None:
    for change in changes[:_CHANGES_TOLD]:
        event_record(
            execution_id=execution.execution_id,
            kind="notice",
            actor=SYSTEM,
            node_id=change.node_id,
            reason=change.message,
            detail=change.data(),
        )


def _settings_of(job: Job, version: JobVersion, document: DagDocument) -> Settings:
    overrides = dict(JobConfig.objects.filter(job=job).values_list("config_key", "config_value"))
    try:
        resolved = settings_resolve(document, overrides, settings_default())
    except ValueError as error:
        raise NotStartable(str(error), code="config.invalid") from error
    # A person's code that never ends would keep the processors of a shared driver from its other executions.
    # In real time a job's tasks never end: they would leave the others none.
    apart = resolved.trigger == "real_time" or code_nodes(version.dag_definition)
    return replace(resolved, isolation="dedicated") if apart else resolved
