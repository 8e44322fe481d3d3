"""Lists are `{results, next}`, paged by cursor over the immutable (create_time, id) unless another order is asked."""

from typing import Any

from rest_framework.pagination import CursorPagination
from rest_framework.response import Response


class CreateTimeCursorPagination(CursorPagination):
    ordering: tuple[str, ...] = ("-create_time", "-id")
    page_size_query_param = "page_size"
    max_page_size = 200

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"results": data, "next": self.get_next_link()})
