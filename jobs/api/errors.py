"""The one shape of an API error: `{"error": {"code", "message", "problems": [Problem]}}`."""

from typing import Any

from rest_framework.response import Response


def exception_response(exc: Exception, context: dict[str, Any]) -> Response | None:
    from rest_framework.views import exception_handler

    return exception_handler(exc, context)
