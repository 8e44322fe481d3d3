"""/api/jobs/{name}/draft and /layout: the shared draft, kept from lost updates by its revision."""

import re
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, answer, body_read, described
from jobs.api.errors import PreconditionRequired
from jobs.dag.document import Layout
from jobs.models import Job, JobDraft
from jobs.selectors.job_details import draft_get, draft_out
from jobs.selectors.jobs import job_get
from jobs.selectors.shapes.base import Body
from jobs.selectors.shapes.job import DraftOut
from jobs.services.drafts import draft_conflict, draft_save, layout_save

IF_MATCH = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, required=True, description='The revision that was changed: "7".')
IF_STILL = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description='Only this revision: "7". Without it, any.')


class DraftBody(Body):
    document: dict[str, Any]


class LayoutOut(Body):
    layout: Layout


class JobDraftView(ApiView):
    @described("The shared draft with its Problems", responds=DraftOut, tag="jobs")
    def get(self, request: Request, job_name: str) -> Response:
        draft = draft_get(job_get(user=self.user(), job_name=job_name))
        return _with_etag(answer(draft_out(draft)), draft)

    @described("Save the draft, even half-drawn", takes=DraftBody, responds=DraftOut, tag="jobs", query=[IF_MATCH])
    def put(self, request: Request, job_name: str) -> Response:
        job = job_get(user=self.user(), job_name=job_name)
        revision = _revision(request)
        if revision is None:
            raise draft_conflict(draft_get(job))
        draft, problems = draft_save(job=job, user=self.user(), document=body_read(request, DraftBody).document, revision=revision)
        return _with_etag(answer(draft_out(draft, problems)), draft)


def _revision(request: Request) -> int | None:
    """The number in If-Match; None for one that is no revision at all, which therefore cannot match."""
    given = request.headers.get("If-Match")
    if given is None:
        raise PreconditionRequired
    found = re.fullmatch(r'(?:W/)?"?(\d{1,9})"?', given.strip())
    return int(found.group(1)) if found else None


def draft_asked(request: Request, job: Job) -> JobDraft:
    """The draft; Conflict where If-Match is sent and names another revision than it has by now."""
    draft = draft_get(job)
    if "If-Match" in request.headers and _revision(request) != draft.revision:
        raise draft_conflict(draft)
    return draft


def _with_etag(response: Response, draft: JobDraft) -> Response:
    response["ETag"] = f'"{draft.revision}"'
    return response


class JobLayoutView(ApiView):
    @described("Where things are drawn", responds=LayoutOut, tag="jobs")
    def get(self, request: Request, job_name: str) -> Response:
        draft = draft_get(job_get(user=self.user(), job_name=job_name))
        return answer(LayoutOut(layout=Layout.model_validate(draft.layout)))

    @described("Keep where things are drawn; the last write wins", takes=Layout, responds=LayoutOut, tag="jobs")
    def put(self, request: Request, job_name: str) -> Response:
        layout = body_read(request, Layout)
        layout_save(job=job_get(user=self.user(), job_name=job_name), user=self.user(), layout=layout.model_dump(mode="json"))
        return answer(LayoutOut(layout=layout))
