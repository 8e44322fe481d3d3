"""/api/jobs/validate, /preview and /import: documents that are looked at before they are saved."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.analysis import analysis
from jobs.api.base import ANY_OBJECT, ApiView, answer, body_read, described, json_object
from jobs.api.parsers import TextParser
from jobs.api.questions import QUESTION, question_of
from jobs.dag.document import DagDocument
from jobs.dag.graph import check_document
from jobs.dag.importing import import_document
from jobs.dag.parts import part_above
from jobs.dag.problems import Problem
from jobs.dag.samples import Samples, no_sources, sample_problems, sources_in
from jobs.models import Project, Role
from jobs.nodes.registry import REGISTRY
from jobs.queue import InteractiveFailed, InteractiveUnavailable, interactive_call
from jobs.selectors.access import role_covers, role_in
from jobs.selectors.checkpoint_stores import storage_problems
from jobs.selectors.jobs import jobs_visible
from jobs.selectors.refusals import Invalid
from jobs.selectors.shapes.base import Body, Shape
from jobs.selectors.shapes.code_prints import CodePrint
from jobs.services.jobs import project_for
from jobs.services.user_code import user_code_check

ANALYSIS_SECONDS = 20.0
PREVIEW_SECONDS = 60.0


class ValidateBody(Body):
    """`analyse: false` leaves Spark out: only what shows without it."""

    document: dict[str, Any]
    project: str = ""
    analyse: bool = True
    parameters: dict[str, Any] = Field(default_factory=dict)


class ColumnOut(Shape):
    name: str
    type: str
    nullable: bool


class ValidationOut(Shape):
    """`schemas`: node id → output port → columns. `analysed` is false when Spark was not asked or not there: `analysis` says why."""

    problems: list[Problem]
    schemas: dict[str, dict[str, list[ColumnOut]]]
    analysed: bool
    analysis: str


class PreviewBody(Body):
    """`samples`: source id → rows to take instead of reading it; nothing of its system is touched then."""

    document: dict[str, Any]
    node_id: str
    project: str = ""
    rows: int = Field(default=100, ge=1, le=1000)
    parameters: dict[str, Any] = Field(default_factory=dict)
    samples: Samples = Field(default_factory=dict)


class CutValue(Shape):
    """The value of `column` in the row `row`, counted from 0, had so many `characters`; the row holds the first of them, and "…"."""

    row: int
    column: str
    characters: int


class PreviewSide(Shape):
    """`more`: whether there are rows behind these. `cut`: values that are not shown whole, as their rows would be too large for that."""

    columns: list[ColumnOut]
    rows: list[list[Any]]
    more: bool = False
    cut: list[CutValue] = Field(default_factory=list)


class PreviewOut(Shape):
    """The first rows into and out of one node; no sink is touched. `available` is false with the reason in `message`.

    `inputs`: by port, or where several edges lead into one port by where each comes from (NODE, or NODE.PORT); `outputs`: by port.
    `not_acted`: nodes up to this one that act on another system in a run, and only pass their rows on here.
    `given`: the sources whose rows were sent along; the others were read. `printed`: what Python printed up to this node, cut short.
    `supposed`: the parameters up to this node that have no default and were given no value, and the value that stood for each.
    """

    available: bool
    message: str
    problems: list[Problem]
    inputs: dict[str, PreviewSide]
    outputs: dict[str, PreviewSide]
    not_acted: list[str] = Field(default_factory=list)
    given: list[str] = Field(default_factory=list)
    printed: list[CodePrint] = Field(default_factory=list)
    supposed: dict[str, Any] = Field(default_factory=dict)


class ProposedConnectionOut(Shape):
    """A connection the imported document would need; `secrets` names those to be entered."""

    name: str
    kind: str
    config: dict[str, Any]
    node_ids: list[str]
    secrets: list[str]


class ImportOut(Shape):
    """`document` is the imported one in today's form, null where it cannot be read at all. Nothing is saved."""

    document: dict[str, Any] | None
    problems: list[Problem]
    connections: list[ProposedConnectionOut]


class DocumentView(ApiView):
    def _project(self, document: Mapping[str, Any], project: str, role: Role) -> Project:
        """The one that was named, else that of the job whose document this is, else the user's own."""
        job = jobs_visible(self.user()).filter(job_name=str(document.get("name", ""))).select_related("project").first()
        return project_for(user=self.user(), slug=project or (job.project.slug if job else ""), role=role)


class ValidateView(DocumentView):
    @described(
        "Problems of a document: structure at once, then Spark's own analysis",
        takes=ValidateBody,
        responds=ValidationOut,
        tag="documents",
        query=[QUESTION],
    )
    def post(self, request: Request) -> Response:
        data = json_object(request)
        body = body_read(request, ValidateBody) if "document" in data else ValidateBody(document=data)
        project = self._project(body.document, body.project, Role.VIEWER)
        document, problems = check_document(body.document, REGISTRY.catalogue())
        if document is not None:
            problems = [*problems, *storage_problems(document, REGISTRY.catalogue())]
        if reason := self._unanalysed(body, document, project):
            return answer(ValidationOut(problems=problems, schemas={}, analysed=False, analysis=reason))
        try:
            question = question_of(request)
            found = analysis(body.document, project=project, parameters=body.parameters, seconds=ANALYSIS_SECONDS, question=question)
        except (InteractiveUnavailable, InteractiveFailed) as error:
            return answer(ValidationOut(problems=problems, schemas={}, analysed=False, analysis=str(error)))
        more = [problem for problem in found.problems if problem not in problems]
        return answer(ValidationOut(problems=[*problems, *more], schemas=found.schemas, analysed=True, analysis=""))

    def _unanalysed(self, body: ValidateBody, document: DagDocument | None, project: Project) -> str:
        """Why Spark is not asked, "" if it is: to find columns it signs in to systems with the project's connections."""
        if not body.analyse:
            return "not asked for"
        if document is None:
            return "the problems above come first"
        if not role_covers(role_in(self.user(), project.pk), Role.EDITOR):
            return f"this reads from the project's systems, which needs the role {Role.EDITOR}"
        return ""


class PreviewView(DocumentView):
    @described("The first rows into and out of one node", takes=PreviewBody, responds=PreviewOut, tag="documents", query=[QUESTION])
    def post(self, request: Request) -> Response:
        body = body_read(request, PreviewBody)
        project = self._project(body.document, body.project, Role.EDITOR)
        document, problems = check_document(body.document, REGISTRY.catalogue())
        if document is None:
            raise Invalid("the document, or the node, cannot be previewed", problems=problems)
        if body.node_id not in document.nodes:
            raise Invalid("the document, or the node, cannot be previewed", problems=[_no_node(body.node_id)])
        sources = sources_in({node_id: node.type for node_id, node in document.nodes.items()})
        if wrong := [*no_sources(body.samples, sources), *sample_problems(body.samples)]:
            raise Invalid("the sample rows cannot be used", problems=wrong)
        part = part_above(document, [body.node_id]).model_dump(mode="json")
        user_code_check(user=self.user(), document=part, act="looking at its rows")
        payload = {
            "document": body.document,
            "project_id": project.pk,
            "node_id": body.node_id,
            "rows": body.rows,
            "parameters": body.parameters,
            "samples": {node_id: sample.model_dump(mode="json") for node_id, sample in body.samples.items()},
        }
        try:
            found = interactive_call("preview", payload, PREVIEW_SECONDS, question=question_of(request))
        except (InteractiveUnavailable, InteractiveFailed) as error:
            return answer(PreviewOut(available=False, message=str(error), problems=[], inputs={}, outputs={}))
        return answer(_preview(found))


def _no_node(node_id: str) -> Problem:
    return Problem(code="node.unknown", pointer="/node_id", message=f'there is no node "{node_id[:200]}" in the document')


def _preview(found: dict[str, Any]) -> PreviewOut:
    problems = [Problem.model_validate(item) for item in found.get("problems", [])]
    return PreviewOut(
        available=not problems,
        message=str(found.get("message", "")),
        problems=problems,
        inputs=found.get("in", {}),
        outputs=found.get("out", {}),
        not_acted=found.get("not_acted", []),
        given=found.get("given", []),
        printed=found.get("printed", []),
        supposed=found.get("supposed", {}),
    )


class ImportView(ApiView):
    """Takes the file as it is: JSON, YAML, or the linear shorthand, whatever its content type says."""

    parser_classes = [TextParser]

    @described(
        "Read a document in JSON, YAML or the linear shorthand; nothing is saved", takes=ANY_OBJECT, responds=ImportOut, tag="documents"
    )
    def post(self, request: Request) -> Response:
        raw: Any = request.data
        imported = import_document(raw or b"", REGISTRY.catalogue())
        proposals = [
            ProposedConnectionOut(
                name=found.name, kind=found.kind, config=dict(found.config), node_ids=list(found.node_ids), secrets=list(found.secrets)
            )
            for found in imported.connections
        ]
        return answer(ImportOut(document=imported.document, problems=imported.problems, connections=proposals))
