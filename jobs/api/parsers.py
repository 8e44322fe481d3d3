"""Request bodies: JSON of a bounded size, whatever the client says about its length."""

import json
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from jobs.api.errors import TooLarge
from jobs.dag.reading import data_problems
from jobs.selectors.refusals import Invalid


class BoundedJsonParser(BaseParser):
    """Reads at most DATA_UPLOAD_MAX_MEMORY_SIZE bytes of strict JSON: no NaN, no NUL, integers of 64 bits, bounded nesting."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        raw = _bounded(stream)
        if not raw.strip():
            return {}
        try:
            data = json.loads(raw.decode("utf-8-sig"), parse_constant=_refuse)
        except RecursionError:
            raise ParseError("the body is nested too deeply") from None
        except ValueError as error:
            raise ParseError(f"the body is not JSON: {error}") from None
        if problems := data_problems(data):
            raise Invalid("the request holds something that cannot be kept", problems=problems)
        return data


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
