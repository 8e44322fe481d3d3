"""/api/executions: list, one of them, and what people ask of it."""

from collections.abc import Callable
from typing import Any, ClassVar

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import PAGED, ApiView, answer, answer_page, asked, body_read, described
from jobs.api.jobs import StartedOut
from jobs.selectors.execution_filters import executions_filtered
from jobs.selectors.executions import execution_detail, execution_get, executions_for_lists, executions_out, executions_visible
from jobs.selectors.shapes.base import Body, Shape
from jobs.selectors.shapes.execution import ExecutionOut
from jobs.services.executions import checkpoint_request, execution_cancel, execution_resume, execution_stop


class ExecutionPage(Shape):
    results: list[ExecutionOut]
    next: str | None


class ExecutionsView(ApiView):
    @described(
        "Executions, newest first",
        responds=ExecutionPage,
        tag="executions",
        query=[
            asked("job_name", "Of this job."),
            asked("status", "Several by comma."),
            asked("job_type", "Several by comma."),
            asked("triggered_by", "Several by comma."),
            asked("q", "Part of the job's name or title, or the beginning of an execution id."),
            asked("created_after", "ISO 8601."),
            asked("created_before", "ISO 8601."),
            *PAGED,
        ],
    )
    def get(self, request: Request) -> Response:
        rows = executions_filtered(executions_visible(self.user()), request.query_params.dict())
        return answer_page(self, request, executions_for_lists(rows), executions_out)


class ExecutionView(ApiView):
    @described("One execution with its stack trace", responds=ExecutionOut, tag="executions")
    def get(self, request: Request, execution_id: str) -> Response:
        return answer(execution_detail(user=self.user(), execution_id=execution_id))


class ExecutionActionView(ApiView):
    """One of stop (= pause) and resume: asked for here, done by a driver."""

    act: ClassVar[Callable[..., Any]]

    @described("Ask this of the execution", takes=Body, responds=StartedOut, status=202, tag="executions")
    def post(self, request: Request, execution_id: str) -> Response:
        body_read(request, Body)
        execution = execution_get(user=self.user(), execution_id=execution_id)
        type(self).act(execution=execution, user=self.user())
        return answer(StartedOut(execution_id=execution_id), status=202)


class ExecutionStopView(ExecutionActionView):
    act = staticmethod(execution_stop)


class ExecutionResumeView(ExecutionActionView):
    act = staticmethod(execution_resume)


class CancelBody(Body):
    """`force`: do not wait for the batch boundary."""

    force: bool = False


class ExecutionCancelView(ApiView):
    @described("End it for good", takes=CancelBody, responds=StartedOut, status=202, tag="executions")
    def post(self, request: Request, execution_id: str) -> Response:
        force = body_read(request, CancelBody).force
        execution = execution_get(user=self.user(), execution_id=execution_id)
        execution_cancel(execution=execution, user=self.user(), force=force)
        return answer(StartedOut(execution_id=execution_id), status=202)


class CheckpointWish(Body):
    """`label`: what people will know it by."""

    label: str = Field("", max_length=200)


class ExecutionCheckpointView(ApiView):
    @described("Ask for a checkpoint now", takes=CheckpointWish, responds=StartedOut, status=202, tag="executions")
    def post(self, request: Request, execution_id: str) -> Response:
        """Asks a running execution for a checkpoint at its next batch boundary; 409 unless it runs."""
        return _checkpoint_asked(self, request, execution_id, savepoint=False)


class ExecutionSavepointView(ApiView):
    @described("Ask for a savepoint now", takes=CheckpointWish, responds=StartedOut, status=202, tag="executions")
    def post(self, request: Request, execution_id: str) -> Response:
        """Asks a running execution for a savepoint at its next batch boundary: a real copy, kept until somebody deletes it."""
        return _checkpoint_asked(self, request, execution_id, savepoint=True)


def _checkpoint_asked(view: ApiView, request: Request, execution_id: str, *, savepoint: bool) -> Response:
    label = body_read(request, CheckpointWish).label.strip()
    execution = execution_get(user=view.user(), execution_id=execution_id)
    checkpoint_request(execution=execution, user=view.user(), savepoint=savepoint, label=label)
    return answer(StartedOut(execution_id=execution_id), status=202)
