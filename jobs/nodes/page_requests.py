"""The request for a page: `${cursor}` and the like filled into path, parameters and body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import quote

from jobs.nodes.base import NodeError
from jobs.nodes.http_client import HttpRequest
from jobs.nodes.page_styles import PageRequest
from jobs.nodes.places import JsonTemplate, text_filled, values_as_text

#: In place of a value that is not there yet, until the JSON is whole; no text of a form or an API holds it.
_ABSENT = "\x00absent"


def http_request(page: PageRequest, *, path: str, method: Literal["GET", "POST"], body: str) -> HttpRequest:
    """A value that is not there yet leaves out the member or item of the body that would be nothing but it."""
    return HttpRequest(
        path=path_filled(path, values_as_text(page.values)),
        parameters=page.parameters,
        method=method,
        body=_body(body, page.values) if body else None,
        link=page.link,
    )


def path_filled(path: str, value: Any) -> str:
    """`path` with escaped values; NodeError where one would lead out of its place."""
    filled = text_filled(path, lambda name: None if (found := value(name)) is None else quote(found, safe=""))
    if filled != path and any(part in (".", "..") for part in filled.split("/")):
        raise NodeError(f'the path "{filled[:200]}" leads out of its place', permanent=True, kind="user", field="path")
    return filled


def _body(template: str, values: Mapping[str, Any]) -> str:
    def value(name: str) -> str | None:
        return None if name not in values else json.dumps(_ABSENT if values[name] is None else values[name], ensure_ascii=False)

    return json.dumps(_pruned(json.loads(JsonTemplate(template).filled(value))), ensure_ascii=False)


def _pruned(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _pruned(item) for name, item in part.items() if item != _ABSENT}
    if isinstance(part, list):
        return [_pruned(item) for item in part if item != _ABSENT]
    return part.replace(_ABSENT, "") if isinstance(part, str) else part
