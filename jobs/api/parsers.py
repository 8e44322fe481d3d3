"""Request bodies: JSON of a bounded size, whatever the client says about its length."""

import json
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from jobs.api.errors import TooLarge


class BoundedJsonParser(BaseParser):
    """Reads at most DATA_UPLOAD_MAX_MEMORY_SIZE bytes of strict JSON (no NaN, no nesting beyond what Python reads)."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        raw = _bounded(stream)
        if not raw.strip():
            return {}
        try:
            return json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse)
        except RecursionError:
            raise ParseError("the body is nested too deeply") from None
        except ValueError as error:
            raise ParseError(f"the body is not JSON: {error}") from None


class TextParser(BaseParser):
    """A document as it stands in a file: JSON or YAML text, bounded as JSON is. The view gets bytes."""

    media_type = "*/*"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        return _bounded(stream)


def _bounded(stream: IO[Any]) -> bytes:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    raw: bytes = stream.read(limit + 1)
    if len(raw) > limit:
        raise TooLarge
    return raw


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a number")
