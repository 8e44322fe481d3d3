"""The demo API `/demo/api/flights`: a real, paged HTTP source for the examples of an embedded installation."""

import hmac
import json
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET

from jobs.services.flights import flight_rows

MAX_ROWS = 5000
_USUAL_ROWS = 100


class _Refused(Exception):
    """What the caller did wrong, in words."""


@csrf_exempt  # it changes nothing and heeds no session: what is no GET is told so
@login_not_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """What there is; a connection is tested against it."""
    return _refusal(request) or _json({"flights": request.build_absolute_uri("api/flights")})


@csrf_exempt  # it changes nothing and heeds no session: what is no GET is told so
@login_not_required
@require_GET
def flights(request: HttpRequest) -> HttpResponse:
    """Flights of 2013 by page (`page`, `page_size`) or by cursor (`cursor`, `limit`), as JSON.

    By page: `{total, page, pages, results}`; a page behind the last one is empty. By cursor: `{results, next_cursor}`, where
    `next_cursor` is null at the end; begin with an empty cursor. Wants `Authorization: Bearer <DEMO_API_TOKEN>`, no session.
    """
    if (refusal := _refusal(request)) is not None:
        return refusal
    try:
        by_cursor = "cursor" in request.GET or "limit" in request.GET
        return _json(_by_cursor(request) if by_cursor else _by_page(request))
    except _Refused as refused:
        return _json({"error": {"code": "invalid", "message": str(refused)}}, 400)


def _refusal(request: HttpRequest) -> HttpResponse | None:
    if _token_is_right(request.headers.get("Authorization", "")):
        return None
    response = _json({"error": {"code": "unauthorized", "message": "the demo API needs its token: Authorization: Bearer <token>"}}, 401)
    response["WWW-Authenticate"] = "Bearer"
    return response


def _token_is_right(header: str) -> bool:
    scheme, _, token = header.partition(" ")
    right = settings.DEMO_API_TOKEN
    return bool(right) and scheme.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), right.encode())


def _by_page(request: HttpRequest) -> dict[str, Any]:
    rows, size = flight_rows(), _number(request, "page_size", _USUAL_ROWS, most=MAX_ROWS)
    page = _number(request, "page", 1)
    first = min((page - 1) * size, len(rows))
    return {"total": len(rows), "page": page, "pages": -(-len(rows) // size), "results": rows.rows(first, size)}


def _by_cursor(request: HttpRequest) -> dict[str, Any]:
    rows, size = flight_rows(), _number(request, "limit", _USUAL_ROWS, most=MAX_ROWS)
    cursor = request.GET.get("cursor", "")
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 12):
        raise _Refused("cursor must be one that this API gave as next_cursor")
    first = min(int(cursor or 0), len(rows))
    end = first + size
    return {"results": rows.rows(first, size), "next_cursor": str(end) if end < len(rows) else None}


def _number(request: HttpRequest, name: str, usual: int, *, most: int = 10**9) -> int:
    text = request.GET.get(name, str(usual))
    if not (text.isascii() and text.isdigit() and len(text) < 12 and 1 <= int(text) <= most):
        raise _Refused(f"{name} must be a whole number from 1 to {most:,}")
    return int(text)


def _json(data: dict[str, Any], status: int = 200) -> HttpResponse:
    return HttpResponse(json.dumps(data, separators=(",", ":")), content_type="application/json", status=status)


urlpatterns = [path("demo/api", index, name="demo"), path("demo/api/flights", flights, name="demo-flights")]
