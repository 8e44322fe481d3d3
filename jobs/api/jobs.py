"""/api/jobs: list, make, read, change, delete, publish, versions, switch on and off, start."""

import json
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.analysis import analysis_check
from jobs.api.base import ANY_OBJECT, PAGED, ApiView, answer, answer_page, asked, body_read, described, json_object
from jobs.api.drafts import IF_STILL, draft_asked
from jobs.dag.problems import Problem
from jobs.models import Role
from jobs.selectors.job_details import job_detail, version_get, versions_of, versions_out
from jobs.selectors.jobs import ORDERS, job_get, jobs_filtered, jobs_for_lists, jobs_out, jobs_visible
from jobs.selectors.query_words import query_refused
from jobs.selectors.refusals import Invalid
from jobs.selectors.shapes.base import Body, Shape
from jobs.selectors.shapes.job import JobDetailOut, JobOut, VersionDetailOut, VersionOut
from jobs.services.access import role_check
from jobs.services.executions import execution_start
from jobs.services.jobs import job_create, job_delete, job_enable, job_publish, job_update, project_for

#: So many were told before this list had pages: who asks for no other size gets as many.
VERSIONS_PAGE = 500
VERSIONS_PAGED = (PAGED[0], asked("page_size", f"At most {VERSIONS_PAGE}, and as many unless asked.", int))
Title = Annotated[str, StringConstraints(max_length=200)]


class JobPage(Shape):
    results: list[JobOut]
    next: str | None


class VersionList(Shape):
    results: list[VersionOut]
    next: str | None


class JobPatch(Body):
    title: Title | None = None
    description: Annotated[str, StringConstraints(max_length=20_000)] | None = None
    enabled: bool | None = None
    project: str | None = None


class PublishBody(Body):
    comment: Annotated[str, StringConstraints(max_length=500)] = ""


class StartBody(Body):
    """`from`: "continue", "beginning", or the id of a checkpoint; without it, continue where that is possible.

    From a checkpoint, `version` is the one it was taken of unless given, `allow_non_restored_state` leaves state behind that no node
    of that version reads, and with `roll_back` sinks first take away what they wrote behind it, as far as they can.
    """

    version: int | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    start_from: Literal["continue", "beginning"] | int | None = Field(default=None, alias="from")
    allow_non_restored_state: bool = False
    roll_back: bool = False


class StartedOut(Shape):
    execution_id: str


class JobsView(ApiView):
    @described(
        "Jobs",
        responds=JobPage,
        tag="jobs",
        query=[
            asked("q", "Part of name, title or description."),
            asked("job_type", "STREAMING, BATCH_ROLLER, SQL_TASK; several by comma."),
            asked("status", "Of the latest execution; several by comma; REGISTERED: never started."),
            asked("enabled", "true or false."),
            asked("scheduled", "true: only those with a next start; false: the others."),
            asked("project", "Slug of a project."),
            asked("order", "create_time, update_time, job_name or title, with - for descending."),
            *PAGED,
        ],
    )
    def get(self, request: Request) -> Response:
        rows = jobs_filtered(jobs_for_lists(jobs_visible(self.user())), request.query_params.dict())
        return answer_page(self, request, rows, jobs_out, _ordering(request.query_params.get("order", "")))

    @described(
        "Make a job from a document; with `publish: false` a draft only", takes=ANY_OBJECT, responds=JobDetailOut, status=201, tag="jobs"
    )
    def post(self, request: Request) -> Response:
        document = json_object(request)
        publish, project = document.pop("publish", True), document.pop("project", "")
        if not isinstance(publish, bool) or not isinstance(project, str):
            problem = Problem(code="body.invalid", pointer="/publish", message="publish is true or false, project is a slug")
            raise Invalid("the request has problems", problems=[problem])
        if publish:
            analysis_check(document, project=project_for(user=self.user(), slug=project, role=Role.EDITOR))
        job = job_create(user=self.user(), document=document, project=project, publish=publish)
        return answer(job_detail(user=self.user(), job_name=job.job_name), status=201)


def _ordering(order: str) -> tuple[str, ...] | None:
    """Only columns that are named here ever reach the database."""
    if not order:
        return None
    name = order.removeprefix("-")
    if name not in ORDERS:
        raise query_refused({"order": f"order is one of {', '.join(ORDERS)}, with - for descending"})
    return (order, "-id" if order.startswith("-") else "id")


class JobView(ApiView):
    @described("One job with its current document", responds=JobDetailOut, tag="jobs")
    def get(self, request: Request, job_name: str) -> Response:
        return answer(job_detail(user=self.user(), job_name=job_name))

    @described("Change title, description, enabled or project", takes=JobPatch, responds=JobDetailOut, tag="jobs")
    def patch(self, request: Request, job_name: str) -> Response:
        changes = body_read(request, JobPatch).model_dump(exclude_unset=True, exclude_none=True)
        job_update(job=job_get(user=self.user(), job_name=job_name), user=self.user(), changes=changes)
        return answer(job_detail(user=self.user(), job_name=job_name))

    @described("Delete the job; its history stays readable", status=204, tag="jobs")
    def delete(self, request: Request, job_name: str) -> Response:
        job_delete(job=job_get(user=self.user(), job_name=job_name), user=self.user())
        return Response(status=204)


class JobPublishView(ApiView):
    @described("Make the draft the next version", takes=PublishBody, responds=VersionDetailOut, tag="jobs", query=[IF_STILL])
    def post(self, request: Request, job_name: str) -> Response:
        comment = body_read(request, PublishBody).comment
        job = job_get(user=self.user(), job_name=job_name)
        role_check(user=self.user(), project=job.project_id, role=Role.EDITOR)
        draft = draft_asked(request, job)
        analysis_check(json.loads(draft.document), project=job.project)
        version = job_publish(job=job, user=self.user(), comment=comment, revision=draft.revision)
        return answer(version_get(job=job, version=version.version))


class JobVersionsView(ApiView):
    @described("Published versions, newest first", responds=VersionList, tag="jobs", query=VERSIONS_PAGED)
    def get(self, request: Request, job_name: str) -> Response:
        job = job_get(user=self.user(), job_name=job_name)
        return answer_page(self, request, versions_of(job), versions_out, largest=VERSIONS_PAGE)


class JobVersionView(ApiView):
    @described("One published version with its document", responds=VersionDetailOut, tag="jobs")
    def get(self, request: Request, job_name: str, version: int) -> Response:
        return answer(version_get(job=job_get(user=self.user(), job_name=job_name), version=version))


class JobEnableView(ApiView):
    enabled = True

    @described("Switch the job on or off", takes=Body, responds=JobDetailOut, tag="jobs")
    def post(self, request: Request, job_name: str) -> Response:
        body_read(request, Body)
        job_enable(job=job_get(user=self.user(), job_name=job_name), user=self.user(), enabled=self.enabled)
        return answer(job_detail(user=self.user(), job_name=job_name))


class JobStartView(ApiView):
    @described("Start an execution", takes=StartBody, responds=StartedOut, status=202, tag="jobs")
    def post(self, request: Request, job_name: str) -> Response:
        body = body_read(request, StartBody)
        job = job_get(user=self.user(), job_name=job_name)
        execution = execution_start(
            job=job,
            user=self.user(),
            triggered_by="API" if request.auth else "MANUAL",
            version=body.version,
            parameters=body.parameters,
            start_from=body.start_from,
            allow_non_restored_state=body.allow_non_restored_state,
            roll_back=body.roll_back,
        )
        return answer(StartedOut(execution_id=execution.execution_id), status=202)
