"""Under /api: jobs/NAME/export, job-exports, jobs/defaults, jobs/script: documents as files, in full, and as plain PySpark scripts."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any, Literal
from zipfile import ZIP_DEFLATED, ZipFile

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ANY_OBJECT, ApiView, answer, asked, body_read, described
from jobs.api.documents import DocumentView
from jobs.api.driver_questions import driver_answer
from jobs.api.jobs import JobView
from jobs.api.parsers import BoundedJsonParser
from jobs.dag.document import document_data, parse_document
from jobs.dag.graph import check_document
from jobs.dag.problems import Problem, errors_in
from jobs.dag.resolved import with_defaults
from jobs.dag.writing import document_text
from jobs.models import Project, Role
from jobs.nodes.registry import REGISTRY
from jobs.selectors.job_details import holds_document
from jobs.selectors.jobs import job_get, jobs_get
from jobs.selectors.query_words import query_refused
from jobs.selectors.refusals import Invalid
from jobs.selectors.shapes.base import Body, Shape
from jobs.services.access import role_check
from jobs.services.jobs import job_documents

FORMATS = ("json", "yaml", "pyspark")
SCRIPT_SECONDS = 60.0
_PARAM = OpenApiParameter(
    "param", str, many=True, description="Of a script: name=value for a parameter of the job, once for each; needs the role EDITOR."
)


class ScriptBody(Body):
    """`parameters`: values that stand in the script in the place of the document's own."""

    document: dict[str, Any]
    project: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class ScriptOut(Shape):
    """`text` is "" where a problem stands in the way: of the document, or of a node that plain PySpark has no counterpart for."""

    text: str
    problems: list[Problem]


class ScriptView(DocumentView):
    @described("A document as a plain PySpark script; no secret stands in it", takes=ScriptBody, responds=ScriptOut, tag="documents")
    def post(self, request: Request) -> Response:
        body = body_read(request, ScriptBody)
        project = self._project(body.document, body.project, Role.VIEWER)
        document, _ = parse_document(body.document)
        # Writing it reads from the project's systems: what is drawn or given anew may read others than the job does.
        if document is not None and (body.parameters or not holds_document(project, document)):
            role_check(user=self.user(), project=project, role=Role.EDITOR)
        return answer(script_of(body.document, project=project, parameters=body.parameters))


class DefaultsBody(Body):
    document: dict[str, Any]


class DefaultsOut(Shape):
    document: dict[str, Any]


class DefaultsView(DocumentView):
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """A job that was called `defaults` before that word was reserved is still read, changed and deleted at its address."""
        if request.method in ("GET", "HEAD", "PATCH", "DELETE"):
            of_job: HttpResponseBase = JobView.as_view()(request, job_name="defaults")
            return of_job
        return super().dispatch(request, *args, **kwargs)

    @described(
        "A document as publishing would keep it: with every default written in", takes=DefaultsBody, responds=DefaultsOut, tag="documents"
    )
    def post(self, request: Request) -> Response:
        document, problems = parse_document(body_read(request, DefaultsBody).document)
        if document is None:
            raise Invalid("the document cannot be read", problems=problems)
        return answer(DefaultsOut(document=document_data(with_defaults(document, REGISTRY.catalogue()))))


class JobExportView(ApiView):
    parser_classes = [BoundedJsonParser]

    @described(
        "The job's document as a file",
        responds=ANY_OBJECT,
        tag="documents",
        query=[asked("format", "json, yaml, or pyspark for a script.", choices=FORMATS), _PARAM],
    )
    def get(self, request: Request, job_name: str) -> HttpResponse:
        chosen = request.query_params.get("format") or "json"
        job = job_get(user=self.user(), job_name=job_name)
        [document] = job_documents([job])
        parameters = _parameters(request.query_params.getlist("param"))
        if parameters:  # writing the script reads from the project's systems: with other values it may read others than the job does
            role_check(user=self.user(), project=job.project_id, role=Role.EDITOR)
        if chosen == "pyspark":  # a dash, for Python looks for modules beside a script first, and a job may be called like one
            return _file(_script(document, job.project, parameters), f"{job.job_name}-job.py", "text/x-python; charset=utf-8")
        form: Literal["json", "yaml"] = "yaml" if chosen == "yaml" else "json"
        return _file(document_text(document, form), f"{job.job_name}.{form}", f"application/{form}; charset=utf-8")


class JobExportsBody(Body):
    names: list[str] = Field(min_length=1, max_length=1000)


class JobExportsView(ApiView):
    @described("The documents of several jobs as one ZIP archive, a JSON file each", takes=JobExportsBody, responds=bytes, tag="documents")
    def post(self, request: Request) -> HttpResponse:
        jobs = jobs_get(user=self.user(), names=dict.fromkeys(body_read(request, JobExportsBody).names))
        content = BytesIO()
        with ZipFile(content, "w", ZIP_DEFLATED) as archive:
            for job, document in zip(jobs, job_documents(jobs), strict=True):
                archive.writestr(f"{job.job_name}.json", document_text(document, "json"))
        return _file(content.getvalue(), "jobs.zip", "application/zip")


def script_of(document: Mapping[str, Any], *, project: Project, parameters: Mapping[str, Any]) -> ScriptOut:
    """Unavailable where no interactive driver answers."""
    checked, problems = check_document(dict(document), REGISTRY.catalogue())
    if checked is None or errors_in(problems):
        return ScriptOut(text="", problems=problems)
    payload = {"document": dict(document), "project_id": project.pk, "parameters": dict(parameters)}
    found = driver_answer("script", payload, seconds=SCRIPT_SECONDS, failing="the script cannot be written now")
    return ScriptOut(text=found.get("text", ""), problems=[Problem.model_validate(item) for item in found["problems"]])


def _parameters(given: list[str]) -> dict[str, str]:
    parted = [text.partition("=") for text in given]
    if wrong := [name for name, sign, _ in parted if not (name and sign)]:
        raise query_refused({"param": f'write a parameter as name=value, not as "{wrong[0][:64]}"'})
    return {name: value for name, _, value in parted}


def _script(document: Mapping[str, Any], project: Project, parameters: Mapping[str, str]) -> str:
    written = script_of(document, project=project, parameters=parameters)
    if not written.text:
        raise Invalid("the job cannot be written as plain PySpark", problems=written.problems)
    return written.text


def _file(content: str | bytes, name: str, kind: str) -> HttpResponse:
    response = HttpResponse(content, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
