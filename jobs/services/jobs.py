"""Jobs: made from a document, published, changed, switched on and off, and deleted softly."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.db.models import F, Prefetch, prefetch_related_objects
from django.utils import timezone

from jobs.dag.document import RESERVED_FOR_NEW_JOBS, DagDocument, canonical_json, logic_hash, parse_document
from jobs.dag.graph import structure_problems
from jobs.dag.problems import Problem, errors_in
from jobs.dag.resolved import with_defaults
from jobs.models import DEFAULT_PROJECT, UNFINISHED, Execution, ExecutionStatus, Job, JobDraft, JobVersion, Project, Role
from jobs.nodes.registry import REGISTRY
from jobs.selectors.access import projects_visible, role_covers, roles_by_project
from jobs.selectors.connection_use import connections_left_behind
from jobs.selectors.job_details import draft_get
from jobs.selectors.refusals import Conflict, Forbidden, Invalid
from jobs.services.access import role_check
from jobs.services.audit import audit_record
from jobs.services.drafts import document_read, draft_conflict, layout_read
from jobs.services.user_code import user_code_check

if TYPE_CHECKING:
    from django.contrib.auth.models import User


#: What a document says of its job, which can also be changed without it.
_WORDS = ("title", "description")


@transaction.atomic
def job_create(*, user: "User", document: Mapping[str, Any], project: str = "", publish: bool = True, comment: str = "") -> Job:
    """A new job with its draft; with `publish` also version 1, or Invalid with the Problems and nothing kept."""
    home = project_for(user=user, slug=project, role=Role.EDITOR)
    content = {key: value for key, value in document.items() if key != "layout"}
    text, digest, problems = document_read(content)
    name, job_type, title, description = _identity(content, problems)
    user_code_check(user=user, document=text, act="saving it")
    if Job.objects.filter(job_name=name, deleted_at=None).exists():
        raise _name_taken(name)
    try:
        with transaction.atomic():
            job = Job.objects.create(
                project=home, job_name=name, job_type=job_type, title=title, description=description, created_by=user, updated_by=user
            )
    except IntegrityError:
        raise _name_taken(name) from None
    layout = layout_read(document.get("layout") or {})
    JobDraft.objects.create(job=job, document=text, logic_hash=digest, layout=layout, updated_by=user)
    audit_record(user=user, action="job created", object_type="job", object_id=name, project=home)
    if publish:
        job_publish(job=job, user=user, comment=comment)
    return job


def _identity(document: Mapping[str, Any], problems: list[Problem]) -> tuple[str, str, str, str]:
    """Name, type, title and description, which even a half-drawn document must have right."""
    empty, faults = parse_document({key: document[key] for key in ("name", "type", "title", "description") if key in document})
    if empty is None:
        raise Invalid("the document needs a name and a type that can be used", problems=problems or faults)
    if empty.name in RESERVED_FOR_NEW_JOBS:
        problem = Problem(code="document.invalid", pointer="/name", message=f'"{empty.name}" is a reserved word: choose another name')
        raise Invalid("the document needs a name and a type that can be used", problems=[problem])
    return empty.name, empty.type, empty.title, empty.description


def _name_taken(name: str) -> Conflict:
    return Conflict(f'a job called "{name}" exists already, perhaps in another project: choose another name', code="job.name_taken")


def project_for(*, user: "User", slug: str, role: Role) -> Project:
    """The project called `slug` when the user holds `role` in it; Invalid when it does not exist for them.

    Without a slug the default project, or for one who holds the role only elsewhere the first of those by name.
    """
    if not slug:
        return _own_project(user, role)
    found = projects_visible(user).filter(slug=slug).first()
    if found is None:
        problem = Problem(code="project.unknown", pointer="/project", message=f'there is no project "{slug[:100]}" that you can see')
        raise Invalid("the project does not exist, or not for you", problems=[problem])
    role_check(user=user, project=found, role=role)
    return found


def _own_project(user: "User", role: Role) -> Project:
    roles = roles_by_project(user)
    own = [project for project in projects_visible(user).order_by("slug") if role_covers(roles.get(project.pk), role)]
    if not own:
        held = " and ".join(sorted(set(roles.values()))) or "a member of none"
        raise Forbidden(f"this needs the role {role} in a project; you are {held}: ask an administrator of the installation")
    return next((project for project in own if project.slug == DEFAULT_PROJECT), own[0])


@transaction.atomic
def job_publish(*, job: Job, user: "User", comment: str = "", revision: int | None = None) -> JobVersion:
    """The draft as the next immutable version, with defaults written in; Invalid with the Problems when it has any error.

    With `revision` only that revision of it: Conflict when somebody has saved another.
    """
    role_check(user=user, project=job.project_id, role=Role.EDITOR)
    draft = draft_get(job)
    if revision not in (None, draft.revision):
        raise draft_conflict(draft)
    user_code_check(user=user, document=draft.document, act="publishing it")
    document = publishable(draft.document)
    number = (JobVersion.objects.filter(job=job).order_by("-version").values_list("version", flat=True).first() or 0) + 1
    text = canonical_json(document)
    try:
        with transaction.atomic():
            version = JobVersion.objects.create(
                job=job, version=number, dag_definition=text, logic_hash=logic_hash(document), comment=comment[:500], created_by=user
            )
    except IntegrityError:
        raise Conflict("somebody published at the same moment: look at the newest version, then publish again") from None
    if not JobDraft.objects.filter(pk=draft.pk, revision=draft.revision).update(base_version=number):
        raise draft_conflict(draft_get(job))
    words = _words_taken_over(job, document)
    job.version, job.dag_definition, job.job_type, job.updated_by = number, text, document.type, user
    job.save(update_fields=[*words, "version", "dag_definition", "job_type", "updated_by", "update_time"])
    audit_record(
        user=user, action="job published", object_type="job", object_id=job.job_name, project=job.project, detail={"version": number}
    )
    return version


def _words_taken_over(job: Job, document: DagDocument) -> list[str]:
    """Title and description become the job's where they are others than in the version before: what was given to the job itself stays."""
    before = json.loads(job.dag_definition) if job.dag_definition else {}
    changed = [field for field in _WORDS if getattr(document, field) != before.get(field, "")]
    for field in changed:
        setattr(job, field, getattr(document, field))
    return changed


def publishable(text: str) -> DagDocument:
    """The document of `text` with defaults written in; Invalid with every Problem when one of them is an error."""
    document, problems = parse_document(text)
    catalogue = REGISTRY.catalogue()
    if document is not None:
        problems = structure_problems(document, catalogue)
    if document is None or errors_in(problems):
        raise publishing_refused(problems)
    return with_defaults(document, catalogue)


def publishing_refused(problems: list[Problem]) -> Invalid:
    """What is said when `problems`, some of them errors, keep a document from being published."""
    count = len(errors_in(problems))
    words = "one problem stands" if count == 1 else f"{count} problems stand"
    return Invalid(f"{words} in the way of publishing", code="document.problems", problems=problems)


@transaction.atomic
def job_update(*, job: Job, user: "User", changes: Mapping[str, Any]) -> Job:
    """Change title, description, enabled or project (slug). Moving needs the role ADMIN on both sides, the rest EDITOR.

    Conflict where the job is to move while an execution of it runs or waits to run: its figures go to who sees the old project.
    """
    role_check(user=user, project=job.project_id, role=Role.OPERATOR if set(changes) <= {"enabled"} else Role.EDITOR)
    fields = {key: changes[key] for key in ("title", "description", "enabled") if key in changes}
    if "project" in changes and changes["project"] != job.project.slug:
        role_check(user=user, project=job.project_id, role=Role.ADMIN)
        fields["project"] = _new_home(job, project_for(user=user, slug=changes["project"], role=Role.ADMIN))
    for key, value in fields.items():
        setattr(job, key, value)
    job.updated_by = user
    job.save(update_fields=[*fields, "updated_by", "update_time"])
    detail = {key: str(value)[:200] for key, value in fields.items()}
    audit_record(user=user, action="job changed", object_type="job", object_id=job.job_name, project=job.project, detail=detail)
    return job


def _new_home(job: Job, project: Project) -> Project:
    """`project`; Conflict where it lacks a connection that the job uses: documents refer to those of their own project."""
    # The row is written first: starts and claims in other transactions then either came before and are seen, or wait for the move.
    Job.objects.filter(pk=job.pk).update(attempt_counter=F("attempt_counter"))
    on_its_way = Execution.objects.filter(job=job, status__in=UNFINISHED).exclude(status=ExecutionStatus.PAUSED).first()
    if on_its_way is not None:
        raise Conflict(
            f"execution {on_its_way.execution_id} is {on_its_way.status}: stop it first, then move the job",
            code="job.unfinished_execution",
            detail={"execution_id": on_its_way.execution_id},
        )
    if lacking := connections_left_behind(job, project):
        names = ", ".join(f'"{name}"' for name in lacking[:5])
        raise Conflict(f'"{job.job_name}" uses {names}, which the project "{project.slug}" does not have: add it there first')
    return project


def job_enable(*, job: Job, user: "User", enabled: bool) -> Job:
    """A disabled job is never started, by nobody; what runs goes on."""
    return job_update(job=job, user=user, changes={"enabled": enabled})


@transaction.atomic
def job_delete(*, job: Job, user: "User") -> None:
    """Soft: the name becomes free, history stays readable. Conflict while an execution is unfinished."""
    role_check(user=user, project=job.project_id, role=Role.EDITOR)
    # The row is written first: a start in another transaction then either came before and is seen here, or finds no job.
    Job.objects.filter(pk=job.pk, deleted_at=None).update(deleted_at=timezone.now(), updated_by=user, enabled=False)
    unfinished = Execution.objects.filter(job=job, status__in=UNFINISHED).first()
    if unfinished is not None:
        raise Conflict(
            f"execution {unfinished.execution_id} is {unfinished.status}: cancel it, then delete the job",
            code="job.unfinished_execution",
            detail={"execution_id": unfinished.execution_id},
        )
    if (schedule := getattr(job, "schedule", None)) is not None:
        type(schedule).objects.filter(pk=schedule.pk).update(enabled=False, next_trigger_time=None)
    audit_record(user=user, action="job deleted", object_type="job", object_id=job.job_name, project=job.project)


def job_documents(jobs: Sequence[Job]) -> Iterator[dict[str, Any]]:
    """What is exported of each. How they are drawn is read for all of them together, without their sample rows."""
    prefetch_related_objects(jobs, Prefetch("draft", JobDraft.objects.only("job", "layout")))
    return (_job_document(job) for job in jobs)


def _job_document(job: Job) -> dict[str, Any]:
    """What is exported: the current version's document with the job's own title and description, or the draft's; and how it is drawn."""
    own = {field: getattr(job, field) for field in _WORDS}
    document: dict[str, Any] = json.loads(job.dag_definition or job.draft.document)
    words = own if job.dag_definition else {field: document.get(field) or text for field, text in own.items()}
    return {**document, **words, **_drawn(job.draft.layout, document)}


def _drawn(layout: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """The layout without the positions of nodes that only the draft has; nothing where nothing was placed or noted."""
    nodes = document.get("nodes")
    known = set(nodes) if isinstance(nodes, dict) else set()
    positions = {node_id: place for node_id, place in (layout.get("positions") or {}).items() if node_id in known}
    drawn = {key: value for key, value in {**layout, "positions": positions}.items() if value}
    return {"layout": drawn} if drawn else {}
