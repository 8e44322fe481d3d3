"""Documents from files become jobs: new ones, or new versions of those that exist."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from jobs.dag.document import canonical_json
from jobs.dag.importing import import_document
from jobs.dag.problems import Problem, errors_in
from jobs.dag.proposals import ProposedConnection
from jobs.models import Job, JobDraft, JobVersion, Role
from jobs.nodes.registry import REGISTRY
from jobs.selectors.job_details import draft_get
from jobs.selectors.jobs import jobs_visible
from jobs.selectors.refusals import Conflict, Invalid
from jobs.services.access import role_check
from jobs.services.drafts import document_read, draft_save, layout_save
from jobs.services.jobs import job_create, job_publish, publishable, publishing_refused

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: What a document holds beside its logic, but where things are drawn.
_BESIDE_LOGIC = ("title", "description", "tests")


@dataclass(frozen=True)
class JobImported:
    """`done` says in words what was done; `problems` what was found in the text all the same; `connections` what its addresses need."""

    done: str
    problems: list[Problem]
    connections: list[ProposedConnection]


@transaction.atomic
def job_import(*, user: "User", raw: bytes, project: str = "", publish: bool = True, overwrite_drafts: bool = False) -> JobImported:
    """Make or update the job that `raw` (JSON, YAML, linear shorthand) describes.

    Invalid with Problems; Conflict where the job is in another project than the one named, or has a draft with unpublished changes.
    """
    imported = import_document(raw, REGISTRY.catalogue())
    document = imported.document
    if document is None:
        raise Invalid("the document cannot be imported", problems=imported.problems)
    if publish and errors_in(imported.problems):
        raise publishing_refused(imported.problems)
    job = jobs_visible(user).filter(job_name=document.get("name")).first()
    if job is None:
        made = job_create(user=user, document=document, project=project, publish=publish)
        words = f"made {made.job_name}" + ("" if publish else " as a draft")
        return JobImported(f"{words} in the project {made.project.slug}", imported.problems, imported.connections)
    if project and project != job.project.slug:
        raise Conflict(f'"{job.job_name}" is in the project "{job.project.slug}", not in "{project}"')
    words = _update(job, user, document, publish, overwrite_drafts)
    return JobImported(f"{words} in the project {job.project.slug}", imported.problems, imported.connections)


def _update(job: Job, user: "User", document: dict[str, Any], publish: bool, overwrite_drafts: bool) -> str:
    role_check(user=user, project=job.project_id, role=Role.EDITOR)
    content = {key: value for key, value in document.items() if key != "layout"}
    draft, text = draft_get(job), document_read(content)[0]
    if not overwrite_drafts and _is_unpublished(draft, job) and draft.document != text:
        who = draft.updated_by.get_username() if draft.updated_by else "somebody"
        raise Conflict(
            f'the draft of "{job.job_name}" has changes by {who} that are not published: publish them first, or say --overwrite-drafts'
        )
    if draft.document != text:  # else whoever has it open would be told of a conflict for nothing
        draft_save(job=job, user=user, document=content, revision=draft.revision)
    if document.get("layout"):
        layout_save(job=job, user=user, layout=document["layout"])
    if not publish:
        return f"saved the draft of {job.job_name}"
    if canonical_json(publishable(text)) == job.dag_definition:
        return f"{job.job_name} is as in version {job.version} already"
    return f"published version {job_publish(job=job, user=user, comment='imported').version} of {job.job_name}"


def _is_unpublished(draft: JobDraft, job: Job) -> bool:
    """Whether the draft holds anything that the version that holds does not."""
    current = JobVersion.objects.filter(job=job, version=job.version or 0).first()
    if current is None or draft.logic_hash != current.logic_hash:
        return True
    drawn, published = json.loads(draft.document), json.loads(current.dag_definition)
    return any(drawn.get(field) != published.get(field) for field in _BESIDE_LOGIC)
