"""/api/jobs/{name}/tests: run the tests that a job's document holds."""

import json
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, answer, body_read, described
from jobs.api.questions import QUESTION, question_of
from jobs.dag.document import parse_document
from jobs.dag.problems import Problem
from jobs.models import Job, Role
from jobs.queue import InteractiveFailed, InteractiveUnavailable, interactive_call
from jobs.selectors.job_details import draft_get, version_get
from jobs.selectors.jobs import job_get
from jobs.selectors.refusals import Invalid
from jobs.selectors.shapes.base import Body, Shape
from jobs.selectors.shapes.code_prints import CodePrint
from jobs.services.access import role_check
from jobs.services.user_code import user_code_check

#: What one request may take; the driver leaves off a little before.
TESTS_SECONDS = 110.0
_BEFORE_SECONDS = 10.0


class RunTestsBody(Body):
    """`document`: the one to test; else the published `version`; else the draft. `test`: the name of the only one to run. `rows`: whether
    to give all rows that come out."""

    document: dict[str, Any] | None = None
    version: int | None = Field(default=None, ge=1)
    test: Annotated[str, StringConstraints(strip_whitespace=True)] | None = None
    rows: bool = False


class DifferingRowOut(Shape):
    """A row that came with other values in `columns` than were expected."""

    expected: dict[str, Any]
    actual: dict[str, Any]
    columns: list[str]


class RowDifferencesOut(Shape):
    """The `…_rows` count all; the lists hold the first twenty. `first_out_of_order`: the rows are right, but from this one on their
    order is not; 0 elsewhere."""

    expected_rows: int
    actual_rows: int
    missing_rows: int
    unexpected_rows: int
    differing_rows: int
    first_out_of_order: int
    missing: list[dict[str, Any]]
    unexpected: list[dict[str, Any]]
    differing: list[DifferingRowOut]


class OutletResultOut(Shape):
    """What came out where rows were expected: at a sink, or behind a flow as "id" or "id.port". `columns`: those compared. `rows`: if
    asked for, all that came: a test that expects them passes."""

    outlet: str
    columns: list[str]
    differences: RowDifferencesOut
    rows: list[dict[str, Any]] = Field(default_factory=list)


class PipelineTestResultOut(Shape):
    """`error`: the test could not be run to its end; `message` says why, `problems` where in the document. `printed`: what Python printed
    at the nodes, cut short."""

    name: str
    status: Literal["passed", "failed", "error"]
    seconds: float
    message: str
    node_id: str
    problems: list[Problem]
    outlets: list[OutletResultOut]
    printed: list[CodePrint] = Field(default_factory=list)


class PipelineTestsOut(Shape):
    """No system is touched and no sink is written. `available` is false with the reason in `message`."""

    available: bool
    message: str
    results: list[PipelineTestResultOut]


class JobTestsView(ApiView):
    @described(
        "Run the tests of the job's document, or one of them",
        takes=RunTestsBody,
        responds=PipelineTestsOut,
        tag="documents",
        query=[QUESTION],
    )
    def post(self, request: Request, job_name: str) -> Response:
        body = body_read(request, RunTestsBody)
        job = job_get(user=self.user(), job_name=job_name)
        role_check(user=self.user(), project=job.project_id, role=Role.EDITOR)
        content = _content(job, body)
        user_code_check(user=self.user(), document=content, act="testing it")
        asked = {"test": body.test, "rows": body.rows}
        payload = {"document": content, "project_id": job.project_id, "seconds": TESTS_SECONDS - _BEFORE_SECONDS, **asked}
        try:
            found = interactive_call("test", payload, TESTS_SECONDS, question=question_of(request))
        except (InteractiveUnavailable, InteractiveFailed) as error:
            return answer(PipelineTestsOut(available=False, message=str(error), results=[]))
        results = [PipelineTestResultOut.model_validate(result) for result in found.get("results", [])]
        return answer(PipelineTestsOut(available=True, message="", results=results))


def _content(job: Job, body: RunTestsBody) -> dict[str, Any]:
    """The document to test without its layout; Invalid where it cannot be read, or has no such test."""
    raw: dict[str, Any]
    if body.document is not None:
        raw = {key: value for key, value in body.document.items() if key != "layout"}
    elif body.version is not None:
        raw = version_get(job=job, version=body.version).document
    else:
        raw = json.loads(draft_get(job).document)
    document, problems = parse_document(raw)
    if document is None:
        raise Invalid("the document cannot be tested", problems=problems)
    if body.test is not None and body.test not in {test.name for test in document.tests}:
        problem = Problem(code="test.unknown", pointer="/test", message=f'the document has no test called "{body.test[:200]}"')
        raise Invalid("there is no such test", problems=[problem])
    return raw
