"""The example jobs on real data: loaded once, and set back to their beginning."""

import json
import shutil
import sqlite3
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from jobs.models import (
    DEFAULT_PROJECT,
    UNFINISHED,
    Connection,
    Execution,
    ExecutionStatus,
    Job,
    JobDraft,
    Project,
    Role,
    TransitionRefused,
)
from jobs.nodes.base import NodeError
from jobs.nodes.connections.sqlite import sqlite_open
from jobs.selectors.refusals import Conflict, Invalid, NotFound, Refusal
from jobs.services.access import role_check
from jobs.services.audit import audit_record
from jobs.services.connections import connection_create, connection_open, connection_update
from jobs.services.executions.not_startable import ExecutionConflict
from jobs.services.executions.transition import execution_transition
from jobs.services.flights import tables_copy
from jobs.services.jobs import job_create, job_publish
from jobs.services.limits import file_roots, project_limits

if TYPE_CHECKING:
    from django.contrib.auth.models import User

WAREHOUSE, DEMO_API = "example-warehouse", "demo-api"


@dataclass(frozen=True)
class Example:
    """What a run of an example leaves behind: folders below the first file root, and tables of the warehouse."""

    folders: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    needs_demo_api: bool = False


EXAMPLES: Mapping[str, Example] = {
    "departures-per-hour": Example(folders=("flights/incoming",), tables=("departures_per_hour",)),
    "delay-streaks": Example(tables=("delay_streaks",)),
    "flights-import": Example(tables=("flights",), needs_demo_api=True),
    "carrier-delays": Example(folders=("flights/carrier-delays",), tables=("carrier_delays",)),
    "weather-delays": Example(folders=("flights/very-late",), tables=("weather_delays",)),
    "plane-days": Example(folders=("flights/unknown-airports",), tables=("plane_days",)),
}


def incoming_folder() -> Path:
    """Where the flights of the streaming example arrive, day by day."""
    return files_root(_home()) / "flights" / "incoming"


def files_root(project: Project) -> Path:
    """Where relative paths in a project's documents begin."""
    return file_roots(project)[0]


def _home() -> Project:
    return Project.objects.get(slug=DEFAULT_PROJECT)


def examples_load(*, user: "User") -> Iterator[str]:
    """Data, connections and jobs, each only where it is not there yet; yields what was done, in words.

    A job somebody changed stays as it is, one somebody deleted stays deleted.
    """
    yield from (f"copied the table {table}" for table in tables_copy(files_root(_home()) / "flights"))
    incoming_folder().mkdir(parents=True, exist_ok=True)
    yield from _connection_load(user, WAREHOUSE, "sqlite", {"path": "flights/warehouse.sqlite3"}, {}, "Results of the example jobs")
    if settings.EMBEDDED:
        address, secrets = {"base_url": settings.DEMO_API_URL, "auth": "bearer"}, {"token": settings.DEMO_API_TOKEN}
        yield from _connection_load(user, DEMO_API, "http_api", address, secrets, "The flights service of this installation")
    for job_name, example in EXAMPLES.items():
        if settings.EMBEDDED or not example.needs_demo_api:
            yield from _job_load(user, job_name)


def _connection_load(
    user: "User", name: str, kind: str, config: Mapping[str, Any], secrets: Mapping[str, str], description: str
) -> Iterator[str]:
    """A changed address (another port, say) is followed, as long as the connection still is the example's own."""
    content = {"name": name, "kind": kind, "description": description, "config": config, "secrets": secrets}
    found = Connection.objects.filter(project__slug=DEFAULT_PROJECT, name=name).first()
    try:
        if found is None:
            connection_create(user=user, project=DEFAULT_PROJECT, content=content)
            yield f"created the connection {name}"
        elif found.kind == kind and found.description == description and found.config != config:
            connection_update(connection=found, user=user, changes={"config": config, "secrets": secrets})
            yield f"changed the address of the connection {name}"
    except Refusal as refusal:
        yield f"left the connection {name} out: {refusal_text(refusal)}"


def _job_load(user: "User", job_name: str) -> Iterator[str]:
    document = example_document(job_name)
    known = Job.objects.filter(project__slug=DEFAULT_PROJECT, job_name=job_name)
    try:
        if not known.exists():
            job_create(user=user, document=document, publish=False)
            yield f"created the job {job_name}"
        draft = JobDraft.objects.filter(job__in=known.filter(deleted_at=None, version=None), revision=1).first()
        if draft is not None:
            job_publish(job=draft.job, user=user, comment="Example")
            yield f"published the job {job_name}"
    except Refusal as refusal:
        yield f"left the job {job_name} unpublished: {refusal_text(refusal)}"


def example_document(job_name: str) -> dict[str, Any]:
    """The document of an example with its layout, as it ships."""
    document: dict[str, Any] = json.loads((settings.BASE_DIR / "examples" / f"{job_name}.json").read_text(encoding="utf-8"))
    return document


def example_reset(*, job: Job, user: "User") -> None:
    """Back to the beginning: what arrived and what was written is gone; the data that ships stays.

    A paused execution is cancelled with it: its position is gone. NotFound for a job that is no example, ExecutionConflict while an
    execution runs or waits, Conflict where something cannot be emptied: resetting again goes on with it. The feeder starts over with
    the first day, and the next start begins anew: no execution from before can be continued.
    """
    role_check(user=user, project=job.project_id, role=Role.EDITOR)
    example = EXAMPLES.get(job.job_name)
    if example is None:
        raise NotFound(f'"{job.job_name}" is no example: {", ".join(EXAMPLES)} are')
    _reset_begin(job, user)
    # Outside of any transaction: another database may let this one wait for minutes, and nobody else could write meanwhile.
    _leavings_remove(job, example)
    _reset_end(job)


@transaction.atomic
def _reset_begin(job: Job, user: "User") -> None:
    # The row is written first: a start in another transaction then either came before and is seen, or waits for this one.
    Job.objects.filter(pk=job.pk).update(reset_time=timezone.now())
    cancelled = _paused_cancel(job, user)
    detail = {"cancelled": cancelled} if cancelled else {}
    audit_record(user=user, action="example reset", object_type="job", object_id=job.job_name, project=job.project, detail=detail)


def _reset_end(job: Job) -> None:
    """What began while things were emptied cannot be continued either; ExecutionConflict while it goes on."""
    Job.objects.filter(pk=job.pk).update(reset_time=timezone.now())
    row = Execution.objects.filter(job=job, status__in=UNFINISHED).order_by("-id").first()
    if row is not None:
        raise ExecutionConflict(
            f"execution {row.execution_id} began while the example was reset: stop it, then reset the example again",
            detail={"execution_id": row.execution_id, "status": row.status},
        )


def _paused_cancel(job: Job, user: "User") -> str:
    """The id of the paused execution that was ended, "" without one. ExecutionConflict where one runs or waits."""
    row = Execution.objects.filter(job=job, status__in=UNFINISHED).order_by("-id").first()
    if row is None:
        return ""
    try:
        execution_transition(
            execution_id=row.execution_id,
            expected=ExecutionStatus.PAUSED,
            to=ExecutionStatus.CANCELLED,
            actor=user.get_username(),
            reason="the example was reset",
        )
    except TransitionRefused as refused:
        raise ExecutionConflict(
            f"execution {row.execution_id} is {refused.current}: stop it first, then reset the example",
            detail={"execution_id": row.execution_id, "status": refused.current},
        ) from None
    return row.execution_id


def _leavings_remove(job: Job, example: Example) -> None:
    try:
        _tables_drop(job, example.tables)
        for folder in example.folders:
            _folder_empty(files_root(job.project) / folder)
    except (sqlite3.Error, OSError, NodeError) as error:
        raise Conflict(
            f"what the example left behind cannot be emptied: {error}; stop what uses it, then reset the example again",
            code="example.in_use",
        ) from error


def _folder_empty(folder: Path) -> None:
    """Moved aside in one step first, so that a feeder never sees half of it: days would arrive out of order."""
    if folder.is_dir():
        aside = folder.with_name(f".{folder.name}-{uuid.uuid4().hex}")
        folder.rename(aside)
        shutil.rmtree(aside)
    folder.mkdir(parents=True, exist_ok=True)


def _tables_drop(job: Job, tables: tuple[str, ...]) -> None:
    row = Connection.objects.filter(project_id=job.project_id, name=WAREHOUSE, kind="sqlite").first()
    if row is None:
        return
    with closing(sqlite_open(connection_open(row), project_limits(job.project))) as warehouse:
        for table in tables:
            warehouse.execute(f'DROP TABLE IF EXISTS "{table}"')


def refusal_text(refusal: Refusal) -> str:
    """The refusal with its first problem, on one line."""
    problems = refusal.problems if isinstance(refusal, Invalid) else []
    return f"{refusal.message}: {problems[0].message}" if problems else refusal.message
