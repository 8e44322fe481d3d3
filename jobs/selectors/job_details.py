"""One job in full: its document, its draft, its versions, its settings."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, cast

from django.db.models import QuerySet

from jobs.dag.document import DagDocument, logic_hash, parse_document
from jobs.dag.graph import check_document
from jobs.dag.problems import Problem, errors_in
from jobs.dag.resolved import with_defaults
from jobs.engine.compiler import settings_resolve
from jobs.models import Job, JobConfig, JobDraft, JobVersion, Project, Role
from jobs.nodes.registry import REGISTRY
from jobs.selectors.access import role_in
from jobs.selectors.checkpoint_stores import storage_problems
from jobs.selectors.delivery import delivery_of
from jobs.selectors.installation import settings_default
from jobs.selectors.jobs import jobs_for_lists, jobs_out, jobs_visible
from jobs.selectors.refusals import NotFound
from jobs.selectors.schedules import schedule_out
from jobs.selectors.shapes.job import ConfigOut, DraftOut, JobDetailOut, VersionDetailOut, VersionOut

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def job_detail(*, user: "User", job_name: str) -> JobDetailOut:
    """Everything the job's page shows, or NotFound."""
    row = jobs_for_lists(jobs_visible(user)).filter(job_name=job_name).first()
    if row is None:
        raise NotFound(f'job "{job_name[:200]}" does not exist, or not for you')
    listed = jobs_out([row])[0]
    schedule = getattr(row, "schedule", None)
    draft = JobDraft.objects.filter(job=row).values_list("document", flat=True).first()
    return JobDetailOut(
        **{
            **{name: getattr(listed, name) for name in type(listed).model_fields},
            "schedule": schedule_out(schedule, with_times=True) if schedule else None,
        },
        document=json.loads(row.dag_definition) if row.dag_definition else None,
        problems=len(errors_in(document_problems(draft))) if draft else 0,
        role=cast(Literal["VIEWER", "OPERATOR", "EDITOR", "ADMIN"], str(role_in(user, row.project_id) or Role.VIEWER)),
    )


def document_problems(text: str) -> list[Problem]:
    """All that can be said about a document without Spark."""
    catalogue = REGISTRY.catalogue()
    document, problems = check_document(text, catalogue)
    return [*problems, *storage_problems(document, catalogue)] if document is not None else problems


def draft_get(job: Job) -> JobDraft:
    """Without its sample rows: they are many, and read on their own."""
    return JobDraft.objects.select_related("updated_by").defer("samples").get(job=job)


def holds_document(project: Project, document: DagDocument) -> bool:
    """Whether a job of this name in `project` does the same, by its draft or one of its versions."""
    draft = JobDraft.objects.filter(job__project=project, job__job_name=document.name, job__deleted_at=None).defer("samples").first()
    if draft is None:
        return False
    catalogue = REGISTRY.catalogue()
    whole = logic_hash(with_defaults(document, catalogue))
    drawn, _ = parse_document(json.loads(draft.document))
    if drawn is not None and logic_hash(with_defaults(drawn, catalogue)) == whole:
        return True
    return JobVersion.objects.filter(job_id=draft.job_id, logic_hash__in={whole, logic_hash(document)}).exists()


def draft_out(draft: JobDraft, problems: list[Problem] | None = None) -> DraftOut:
    """`problems` are found anew unless given."""
    current = JobVersion.objects.filter(job_id=draft.job_id, version=draft.job.version or 0).values_list("logic_hash", flat=True).first()
    document: dict[str, Any] = json.loads(draft.document)
    return DraftOut(
        document=document,
        layout=draft.layout,
        revision=draft.revision,
        base_version=draft.base_version,
        dirty=current is None or draft.logic_hash != current,
        problems=document_problems(draft.document) if problems is None else problems,
        delivery=delivery_of(document),
        update_time=draft.update_time,
        updated_by=draft.updated_by.get_username() if draft.updated_by else "",
    )


def versions_of(job: Job) -> QuerySet[JobVersion]:
    """Without their documents."""
    return JobVersion.objects.filter(job=job).select_related("created_by").defer("dag_definition")


def versions_out(rows: Iterable[JobVersion]) -> list[VersionOut]:
    return [VersionOut(**_version_fields(row)) for row in rows]


def version_get(*, job: Job, version: int) -> VersionDetailOut:
    """One version with its document, or NotFound."""
    row = JobVersion.objects.filter(job=job, version=version).select_related("created_by").first()
    if row is None:
        raise NotFound(f'job "{job.job_name}" has no version {version}')
    document = json.loads(row.dag_definition)
    return VersionDetailOut(**_version_fields(row), document=document, settings=_settings(document))


def _settings(document: dict[str, Any]) -> dict[str, Any]:
    """Empty where today's rules no longer read the version."""
    parsed, _ = parse_document(document)
    return asdict(settings_resolve(parsed, {}, settings_default())) if parsed is not None else {}


def _version_fields(row: JobVersion) -> dict[str, Any]:
    return {
        "version": row.version,
        "logic_hash": row.logic_hash,
        "comment": row.comment,
        "create_time": row.create_time,
        "created_by": row.created_by.get_username() if row.created_by else "",
    }


def configs_out(job: Job) -> list[ConfigOut]:
    """The settings laid over the job's document, by key."""
    return [
        ConfigOut(
            config_key=row.config_key,
            config_value=row.config_value,
            config_type=cast(Literal["STRING", "INT", "BOOLEAN", "JSON"], row.config_type),
            description=row.description,
            create_time=row.create_time,
            update_time=row.update_time,
        )
        for row in JobConfig.objects.filter(job=job).order_by("config_key")
    ]
