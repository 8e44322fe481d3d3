"""The one shape of an API error: `{"error": {"code", "message", "problems": [Problem]}}`."""

import logging
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from jobs.dag.problems import Problem
from jobs.models import TransitionRefused
from jobs.selectors import refusals
from jobs.selectors.shapes.base import Shape

log = logging.getLogger(__name__)


class ErrorBody(Shape):
    """`code` is a stable word, `message` for people; some errors say more, such as `conflict` with who saved in between."""

    code: str
    message: str
    problems: list[Problem]


class ErrorOut(Shape):
    error: ErrorBody


class ConflictFacts(Shape):
    revision: int
    updated_by: str
    update_time: str


class ConflictBody(ErrorBody):
    """`conflict` stands with a stale draft, `execution_id` names the unfinished execution that is in the way."""

    conflict: ConflictFacts | None = None
    execution_id: str | None = None


class ConflictOut(Shape):
    error: ConflictBody


class PreconditionRequired(exceptions.APIException):
    """A save that does not say which revision it builds on."""

    status_code = status.HTTP_428_PRECONDITION_REQUIRED
    default_code = "precondition_required"
    default_detail = 'say which revision you changed: send the header If-Match: "<revision>"'


class TooLarge(exceptions.APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"
    default_detail = "the request is larger than 2 MiB"


_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (refusals.NotFound, 404),
    (refusals.Forbidden, 403),
    (refusals.Conflict, 409),
    (refusals.Invalid, 422),
    (refusals.NotYet, 422),
    (refusals.Unavailable, 503),
    (refusals.Refusal, 409),
    (TransitionRefused, 409),
)

_WORDS = {
    404: ("not_found", "there is nothing at this address"),
    403: ("forbidden", "this is not allowed"),
    400: ("bad_request", "the request cannot be read"),
}


def exception_response(exc: Exception, context: dict[str, Any]) -> Response:
    """The answer to any exception of a view. What nobody foresaw is logged with its trace and told as 500 without details."""
    set_rollback()
    if isinstance(exc, refusals.Refusal):
        return error_response(_status_of(exc), exc.code, exc.message, exc.problems, exc.detail)
    if isinstance(exc, TransitionRefused):
        return error_response(409, "transition", str(exc))
    if isinstance(exc, exceptions.APIException):
        return _api_exception(exc)
    if isinstance(exc, RequestDataTooBig):
        return error_response(413, "too_large", str(TooLarge.default_detail))
    for kind, number in ((Http404, 404), (PermissionDenied, 403), (SuspiciousOperation, 400)):
        if isinstance(exc, kind):
            return error_response(number, *_WORDS[number])
    view = context.get("view")
    log.error("%s failed", type(view).__name__ if view else "a view", exc_info=exc)
    return error_response(500, "internal", "something went wrong on our side; the log of the web process says what")


def _status_of(exc: Exception) -> int:
    return next(number for kind, number in _STATUS if isinstance(exc, kind))


def _api_exception(exc: exceptions.APIException) -> Response:
    codes = exc.get_codes()
    code = codes if isinstance(codes, str) else "invalid"
    detail = exc.detail if isinstance(exc.detail, str) else "the request has problems"
    response = error_response(exc.status_code, code, str(detail))
    if challenge := getattr(exc, "auth_header", None):
        response["WWW-Authenticate"] = challenge
    if wait := getattr(exc, "wait", None):
        response["Retry-After"] = str(int(wait))
    return response


def error_response(
    number: int, code: str, message: str, problems: Sequence[Problem] = (), detail: dict[str, Any] | None = None
) -> Response:
    """`detail` adds facts beside code, message and problems."""
    told = {"code": code, "message": message, "problems": [problem.model_dump() for problem in problems]}
    return Response({"error": {**(detail or {}), **told}}, status=number)
