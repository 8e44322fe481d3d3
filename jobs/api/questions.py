"""/api/questions: analyses, previews and tests that are asked under a name, and can be cancelled by it."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, described
from jobs.dag.problems import Problem
from jobs.queue import interactive_cancel
from jobs.selectors.refusals import Invalid, Unavailable

_HEADER = "X-Question-Id"
QUESTION = OpenApiParameter(
    _HEADER, UUID, OpenApiParameter.HEADER, description="A name of your choice, by which this can be cancelled: DELETE /api/questions/{id}."
)


def question_of(request: Request) -> str:
    """The name that a request goes by, among its user's: nobody cancels what others ask. "" for none; Invalid for what is no UUID."""
    given = request.headers.get(_HEADER)
    if given is None:
        return ""
    try:
        return _name(request, UUID(given))
    except ValueError:
        problem = Problem(code="request.header", pointer="", message=f"{_HEADER} is to be a UUID")
        raise Invalid("the request cannot be read", problems=[problem]) from None


def _name(request: Request, question: UUID) -> str:
    return f"{request.user.pk}:{question}"


class QuestionView(ApiView):
    @described(
        "Cancel an analysis, a preview or tests that you asked for under this name; nothing where they ended", status=204, tag="documents"
    )
    def delete(self, request: Request, question: UUID) -> Response:
        try:
            interactive_cancel(_name(request, question))
        except RedisError as error:
            raise Unavailable(f"Redis cannot be reached: {error}") from error
        return Response(status=204)
