"""/api/jobs/{name}/draft/samples: rows that previews take instead of reading a source."""

from datetime import datetime

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from pydantic import ConfigDict, Field
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, answer, body_read, described
from jobs.dag.pipeline_tests import Identifier
from jobs.dag.samples import Sample, SampleRows
from jobs.selectors.jobs import job_get
from jobs.selectors.samples import sample_out, samples_out
from jobs.selectors.shapes.base import Body
from jobs.selectors.shapes.samples import SampleOut, SamplesOut
from jobs.services.samples import Expected, sample_drop, sample_keep, samples_replace

CONDITIONS = [
    OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description="Only if these rows are kept: the revision that was read."),
    OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="*: only if none are kept yet."),
]


class SampleBody(SampleRows):
    """`by_hand`: a person wrote or changed the rows. `taken_at`: when the source gave them; now, unless it is said."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    by_hand: bool = False
    taken_at: datetime | None = None

    def sample(self) -> Sample:
        return Sample(columns=self.columns, rows=self.rows, by_hand=self.by_hand, taken_at=self.taken_at or timezone.now())


class SamplesBody(Body):
    samples: dict[Identifier, SampleBody] = Field(description="Source id → its rows.")


class JobSamplesView(ApiView):
    @described("Sample rows of the draft's sources", responds=SamplesOut, tag="jobs")
    def get(self, request: Request, job_name: str) -> Response:
        return answer(samples_out(job_get(user=self.user(), job_name=job_name)))

    @described("Keep these sample rows and no others; the last write wins", takes=SamplesBody, responds=SamplesOut, tag="jobs")
    def put(self, request: Request, job_name: str) -> Response:
        job = job_get(user=self.user(), job_name=job_name)
        given = body_read(request, SamplesBody).samples
        samples_replace(job=job, user=self.user(), samples={node_id: body.sample() for node_id, body in given.items()})
        return answer(samples_out(job))

    @described("Read every source again", status=204, tag="jobs")
    def delete(self, request: Request, job_name: str) -> Response:
        samples_replace(job=job_get(user=self.user(), job_name=job_name), user=self.user(), samples={})
        return Response(status=204)


class JobSampleView(ApiView):
    @described("Sample rows of one source", responds=SampleOut, tag="jobs")
    def get(self, request: Request, job_name: str, node_id: str) -> Response:
        return _with_etag(sample_out(job=job_get(user=self.user(), job_name=job_name), node_id=node_id))

    @described("Keep sample rows of one source", takes=SampleBody, responds=SampleOut, tag="jobs", query=CONDITIONS)
    def put(self, request: Request, job_name: str, node_id: str) -> Response:
        job = job_get(user=self.user(), job_name=job_name)
        sample = body_read(request, SampleBody).sample()
        sample_keep(job=job, user=self.user(), node_id=node_id, sample=sample, expected=_expected(request))
        return _with_etag(sample_out(job=job, node_id=node_id))

    @described("Read the source again", status=204, tag="jobs", query=CONDITIONS[:1])
    def delete(self, request: Request, job_name: str, node_id: str) -> Response:
        sample_drop(job=job_get(user=self.user(), job_name=job_name), user=self.user(), node_id=node_id, expected=_expected(request))
        return Response(status=204)


def _expected(request: Request) -> Expected:
    """What the headers say of the rows that are there; without any, whatever there is may be replaced."""
    match, none = request.headers.get("If-Match"), request.headers.get("If-None-Match")
    if none is not None:
        return lambda revision: revision is None
    if match is not None:
        return lambda revision: revision is not None and match.strip() in ("*", f'"{revision}"')
    return lambda _: True


def _with_etag(sample: SampleOut) -> Response:
    response = answer(sample)
    response["ETag"] = f'"{sample.revision}"'
    return response
