"""The shared draft of a job: saved half-drawn, against lost updates by its revision."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from pydantic import ValidationError

from jobs.dag.document import Layout, canonical_json, logic_hash, parse_document
from jobs.dag.graph import structure_problems
from jobs.dag.problems import Problem
from jobs.dag.reading import read_json
from jobs.dag.resolved import with_defaults
from jobs.dag.shape import shape_problems
from jobs.models import Job, JobDraft, Role
from jobs.nodes.registry import REGISTRY
from jobs.selectors.checkpoint_stores import storage_problems
from jobs.selectors.job_details import draft_get
from jobs.selectors.refusals import Conflict, Invalid
from jobs.services.access import role_check
from jobs.services.user_code import user_code_check

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def document_read(raw: Mapping[str, Any], *, job_name: str = "") -> tuple[str, str, list[Problem]]:
    """(text to keep, logic hash or "", Problems) of a document that may be half-drawn.

    Invalid where it cannot be kept at all: not storable as JSON text, too large, or under another name than `job_name`.
    """
    data, unreadable = read_json(raw)
    if unreadable:
        raise Invalid("the document cannot be saved", problems=unreadable)
    if job_name and data.get("name", job_name) != job_name:
        problem = Problem(code="document.name", pointer="/name", message=f'the name of a job never changes: it is "{job_name}"')
        raise Invalid("the document has another name", problems=[problem])
    document, problems = parse_document(data)
    if document is None:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")), "", problems
    catalogue = REGISTRY.catalogue()
    text = canonical_json(document)
    return (
        text,
        logic_hash(with_defaults(document, catalogue)),
        [
            *structure_problems(document, catalogue),
            *storage_problems(document, catalogue),
        ],
    )


@transaction.atomic
def draft_save(*, job: Job, user: "User", document: Mapping[str, Any], revision: int) -> tuple[JobDraft, list[Problem]]:
    """Keep `document` when the draft still has `revision`; Conflict (with who and when) when somebody saved in between.

    A save that is sent again because its answer got lost is the same save.
    """
    role_check(user=user, project=job.project_id, role=Role.EDITOR)
    text, digest, problems = document_read(document, job_name=job.job_name)
    user_code_check(user=user, document=text, act="writing or changing that", known=lambda: _known_texts(job))
    saved = JobDraft.objects.filter(job=job, revision=revision).update(
        document=text, logic_hash=digest, revision=F("revision") + 1, updated_by=user, update_time=timezone.now()
    )
    draft = draft_get(job)
    if not saved and (draft.revision, draft.updated_by, draft.document) != (revision + 1, user, text):
        raise draft_conflict(draft)
    return draft, problems


def _known_texts(job: Job) -> tuple[str, str]:
    """The draft as it is, and what is published: code that was deleted by mistake can be had back from there."""
    return Job.objects.values_list("draft__document", "dag_definition").get(pk=job.pk)


def draft_conflict(draft: JobDraft) -> Conflict:
    """Who saved what in between."""
    who = draft.updated_by.get_username() if draft.updated_by else ""
    when = draft.update_time.isoformat().replace("+00:00", "Z")
    return Conflict(
        f"{who or 'somebody'} saved revision {draft.revision} at {when}: look at the difference, then overwrite or save a copy",
        code="draft.conflict",
        detail={"conflict": {"revision": draft.revision, "updated_by": who, "update_time": when}},
    )


def layout_save(*, job: Job, user: "User", layout: Mapping[str, Any]) -> None:
    """Keep where things are drawn; the last write wins, and no revision is used up."""
    role_check(user=user, project=job.project_id, role=Role.EDITOR)
    JobDraft.objects.filter(job=job).update(layout=layout_read(layout))


def layout_read(layout: Mapping[str, Any]) -> dict[str, Any]:
    """`layout` checked: storable, and nothing but positions, notes and groups."""
    data, unreadable = read_json(layout)
    if unreadable:
        raise Invalid("the layout cannot be saved", problems=unreadable)
    try:
        return Layout.model_validate(data).model_dump(mode="json")
    except ValidationError as error:
        raise Invalid("the layout is not one", problems=shape_problems(Layout, error)) from None
