"""Lists are `{results, next}`, paged by cursor over the immutable (create_time, id) unless another order is asked.

A cursor names the last row that was told, so rows that come or go in front of it never shift a page.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q
from rest_framework.exceptions import NotFound
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from jobs.selectors.query_words import query_refused


class CreateTimeCursorPagination(BasePagination):
    """`ordering` is one column that is never null and then the id, both ascending or both descending."""

    ordering: tuple[str, ...] = ("-create_time", "-id")
    page_size = 50
    max_page_size = 200

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any]:
        column = self.ordering[0]
        given = request.query_params.get("cursor")
        rows = queryset.order_by(*self.ordering)
        if given:
            rows = rows.filter(_behind(column, *_read(given, of_time=column.endswith("_time"))))
        size = self._size(request)
        found = list(rows[: size + 1])
        self._next = None
        if len(found) > size:
            cursor = _written(getattr(found[size - 1], column.removeprefix("-")), found[size - 1].pk)
            self._next = replace_query_param(request.build_absolute_uri(), "cursor", cursor)
        return found[:size]

    def get_next_link(self) -> str | None:
        """The address of the next page, None on the last; after `paginate_queryset`."""
        return self._next

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"results": data, "next": self.get_next_link()})

    def _size(self, request: Request) -> int:
        text = request.query_params.get("page_size") or str(self.page_size)
        if not (text.isascii() and text.isdigit() and len(text) < 9):
            raise query_refused({"page_size": "page_size must be a whole number"})
        return max(1, min(self.max_page_size, int(text)))


def _behind(column: str, value: Any, row_id: int) -> Q:
    """Rows behind (value, row_id). The first condition alone bounds the index range."""
    name, way = column.removeprefix("-"), "lt" if column.startswith("-") else "gt"
    return Q(**{f"{name}__{way}e": value}) & (Q(**{f"{name}__{way}": value}) | Q(**{f"id__{way}": row_id}))


def _written(value: Any, row_id: int) -> str:
    told = {"t": value.isoformat()} if isinstance(value, datetime) else {"s": value}
    return urlsafe_b64encode(json.dumps([told, row_id]).encode()).decode()


def _read(cursor: str, *, of_time: bool) -> tuple[Any, int]:
    try:
        told, row_id = json.loads(urlsafe_b64decode(cursor.encode()))
        value = _time(told["t"]) if of_time else _text(told["s"])
        if isinstance(row_id, bool) or not isinstance(row_id, int) or abs(row_id) >= 2**63:
            raise ValueError("an id is a whole number")
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise NotFound("the cursor is not one that this list gave: begin at its first page") from None
    return value, row_id


def _time(told: str) -> datetime:
    value = datetime.fromisoformat(told)
    if value.tzinfo is None:
        raise ValueError("a time without its zone")
    return value.astimezone(UTC)


def _text(told: str) -> str:
    value = str(told)
    if "\x00" in value:
        raise ValueError("no database keeps NUL in a text")
    value.encode()  # nor half a character
    return value
