"""What stands behind every address of the API that does not exist: the usual error, and 401 first for the signed out."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView


@extend_schema(exclude=True)
class UnknownView(ApiView):
    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound(f"there is nothing at {request.path[:200]}")

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        raise NotFound
