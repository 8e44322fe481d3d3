"""Documents from files become jobs: new ones, or new versions of those that exist."""

from typing import TYPE_CHECKING

from django.db import transaction

from jobs.dag.importing import import_document
from jobs.models import Job, JobDraft, Role
from jobs.nodes.registry import REGISTRY
from jobs.selectors.jobs import jobs_visible
from jobs.selectors.refusals import Invalid
from jobs.services.access import role_check
from jobs.services.drafts import draft_save
from jobs.services.jobs import job_create, job_publish

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def job_import(*, user: "User", raw: bytes, project: str = "", publish: bool = True) -> str:
    """Make or update the job that `raw` (JSON, YAML, linear shorthand) describes; says in words what was done. Invalid with Problems."""
    imported = import_document(raw, REGISTRY.catalogue())
    document = imported.document
    if document is None:
        raise Invalid("the document cannot be imported", problems=imported.problems)
    job = jobs_visible(user).filter(job_name=document.get("name")).first()
    if job is None:
        job = job_create(user=user, document=document, project=project, publish=publish)
        return f"made {job.job_name}" + ("" if publish else " as a draft")
    return _update(job, user, document, publish)


def _update(job: Job, user: "User", document: dict[str, object], publish: bool) -> str:
    role_check(user=user, project=job.project_id, role=Role.EDITOR)
    content = {key: value for key, value in document.items() if key != "layout"}
    draft_save(job=job, user=user, document=content, revision=JobDraft.objects.values_list("revision", flat=True).get(job=job))
    if not publish:
        return f"saved the draft of {job.job_name}"
    return f"published version {job_publish(job=job, user=user, comment='imported').version} of {job.job_name}"
