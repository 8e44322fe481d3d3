"""The requests for pages of an API: `${cursor}` and the like filled into path, parameters and body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.http_client import HttpApi
from jobs.nodes.http_messages import HttpRequest, JsonAnswer
from jobs.nodes.page_styles import PageRequest, Paging
from jobs.nodes.page_walk import KeptPages, PageWalk
from jobs.nodes.places import JsonTemplate, path_filled, values_as_text
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.sources.http_api_config import HttpApiConfig

#: In place of a value that is not there yet, until the JSON is whole; no text of a form or an API holds it.
_ABSENT = "\x00absent"


def page_walk(
    config: HttpApiConfig,
    connection: ConnectionSettings,
    limits: Limits,
    *,
    kept: KeptPages | None = None,
    note: RetryNote | None = None,
) -> PageWalk:
    """The walk over this API's pages; its client lives until the walk is closed."""

    def fetch(page: PageRequest) -> JsonAnswer:
        return api.ask(http_request(page, path=config.path, method=config.method, body=config.body))

    api = HttpApi(
        connection,
        limits,
        attempts=config.attempts,
        timeout_seconds=config.timeout_seconds,
        requests_per_second=config.requests_per_second,
        link_hosts=config.link_hosts,
        note=note,
    )
    paging = Paging(
        style=config.paging,
        page_size=config.page_size,
        page_size_parameter=config.page_size_parameter,
        page_parameter=config.page_parameter,
        first_page=config.first_page,
        cursor_parameter=config.cursor_parameter,
        cursor_pointer=config.cursor_pointer,
        records_pointer=config.records_pointer,
        total_pointer=config.total_pointer,
        parameters=tuple((parameter.name, parameter.value) for parameter in config.parameters),
        offset_parameter=config.offset_parameter,
        first_offset=config.first_offset,
        link_pointer=config.link_pointer,
        at_once=config.concurrency,
        most_pages=config.most_pages,
        asks=config.places_used(),
    )
    return PageWalk(paging, fetch, api.close, kept)


def http_request(page: PageRequest, *, path: str, method: Literal["GET", "POST"], body: str) -> HttpRequest:
    """A value that is not there yet leaves out the member or item of the body that would be nothing but it."""
    return HttpRequest(
        path=path_filled(path, values_as_text(page.values)),
        parameters=page.parameters,
        method=method,
        body=_body(body, page.values) if body else None,
        link=page.link,
    )


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
