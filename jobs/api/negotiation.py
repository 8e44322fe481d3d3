"""The API speaks JSON, whatever a client says it prefers."""

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class JsonAlways(BaseContentNegotiation):
    """Takes the one renderer; a body still has to say what it is."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        given = (request.content_type or "").split(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type in (given, "*/*")), None)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type
