"""`${name}` places that a node fills in itself, in texts and in JSON; those of job parameters were filled in before."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import BeforeValidator

from jobs.nodes.cautions import Caution
from jobs.nodes.config_texts import texts_in
from jobs.nodes.node_error import NodeError

PLACE = re.compile(r"(?P<escape>\$?)\$\{(?P<name>[^{}]+)\}")
_JSON_PART = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")(?P<key>\s*:)?|(?P<escape>\$?)\$\{(?P<name>[^{}]+)\}')
_SHOWN_OF_OPEN_PLACE = 20


def _as_text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


#: A text that may be nothing but a job parameter, whose value need not be text.
TemplateText = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=str)]


def place_names(text: str) -> list[str]:
    """The names in `text`, as they come."""
    return [match["name"] for match in PLACE.finditer(text) if not match["escape"]]


def open_places(texts: Mapping[str, Any]) -> list[Caution]:
    """For each field whose text, or one of them, has a place that is none, for nothing closes it or it has no name."""
    found = ((field, next(filter(None, (_left_open(text) for _, text in texts_in(written))), "")) for field, written in texts.items())
    return [
        Caution(field, f"{left} is written as it stands: a value goes there where }} follows its name, as in ${{name}}", "template.open")
        for field, left in found
        if left
    ]


def _left_open(text: str) -> str:
    """The beginning of the first place that is none; "" where there is none."""
    _, begin, rest = PLACE.sub("\0", text).partition("${")
    return begin + rest.split("\0")[0][:_SHOWN_OF_OPEN_PLACE].rstrip()


def text_filled(text: str, value: Callable[[str], str | None]) -> str:
    """`text` with `value(name)` in its places; a place whose value is None stays as it is. `$${name}` becomes `${name}`."""

    def written(match: re.Match[str]) -> str:
        if match["escape"]:
            return match[0][1:]
        found = value(match["name"])
        return match[0] if found is None else found

    return PLACE.sub(written, text)


def path_filled(path: str, value: Callable[[str], str | None]) -> str:
    """`path` with escaped values; NodeError where one would lead out of its place."""
    filled = text_filled(path, lambda name: None if (found := value(name)) is None else quote(found, safe=""))
    if filled != path and any(part in (".", "..") for part in filled.split("/")):
        raise NodeError(f'the path "{filled[:200]}" leads out of its place', permanent=True, kind="user", field="path")
    return filled


@dataclass(frozen=True)
class _Place:
    """`whole`: a JSON value of its own; else a part of the text of one."""

    name: str
    whole: bool


class JsonTemplate:
    """JSON with places: `"${id}"` or bare `${id}` becomes the value with its type, within a longer text it is written in."""

    def __init__(self, text: str) -> None:
        self._parts = tuple(_parts(text))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part.name for part in self._parts if isinstance(part, _Place)))

    def is_json(self) -> bool:
        """Whether it is JSON once its places are filled."""
        try:
            json.loads(self.filled(lambda name: "null"))
        except (ValueError, RecursionError):
            return False
        return True

    def filled(self, value: Callable[[str], str | None]) -> str:
        """`value(name)` is JSON text; a place whose value is None stays as it is."""
        return "".join(part if isinstance(part, str) else _written(part, value(part.name)) for part in self._parts)


def text_of(json_text: str) -> str:
    """A JSON value within a text: text without its quotes, null as nothing, anything else as JSON writes it."""
    if json_text == "null":
        return ""
    return str(json.loads(json_text)) if json_text.startswith('"') else json_text


def values_as_text(values: Mapping[str, Any]) -> Callable[[str], str | None]:
    """For `text_filled`: None, a value that is not there yet, is written as nothing."""
    return lambda name: None if name not in values else "" if values[name] is None else str(values[name])


def _parts(text: str) -> Iterator[str | _Place]:
    at = 0
    for match in _JSON_PART.finditer(text):
        yield text[at : match.start()]
        at = match.end()
        if match["text"] is not None:
            yield from _parts_of_text(match["text"], is_key=match["key"] is not None)
            yield match["key"] or ""
        elif match["escape"]:
            yield match[0][1:]
        else:
            yield _Place(match["name"], whole=True)
    yield text[at:]


def _parts_of_text(quoted: str, *, is_key: bool) -> Iterator[str | _Place]:
    whole = PLACE.fullmatch(quoted[1:-1])
    if whole and not whole["escape"] and not is_key:
        yield _Place(whole["name"], whole=True)
        return
    at = 0
    for match in PLACE.finditer(quoted):
        yield quoted[at : match.start()]
        at = match.end()
        yield match[0][1:] if match["escape"] else _Place(match["name"], whole=False)
    yield quoted[at:]


def _written(place: _Place, value: str | None) -> str:
    if value is None:
        return f'"${{{place.name}}}"' if place.whole else f"${{{place.name}}}"
    return value if place.whole else json.dumps(text_of(value), ensure_ascii=False)[1:-1]
