"""Which formats of messages there are: ours, each where it is used, and those that other packages bring."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticKnownError
from pydantic_core.core_schema import no_info_after_validator_function

from jobs.nodes.form import hints
from jobs.nodes.message_format import MessageFormat
from jobs.nodes.plugins import Missing, Unfit, brought, judged, package_of

#: Name in documents = module:class, a MessageFormat.
FORMAT_GROUP = "pipeline_web.formats"
_OUR_TEXTS = frozenset({"csv", "json", "regex", "text", "xml"})
_OURS = _OUR_TEXTS | {"avro", "binary"}


def _installed() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=FORMAT_GROUP))


class Formats:
    """Those of other packages, by name. Imports nothing until asked."""

    def __init__(self, points: Callable[[], Collection[EntryPoint]] = _installed) -> None:
        self._points = points

    def names(self) -> list[str]:
        """Those that can be used, in alphabetical order."""
        return [name for name, found in self._found.items() if not isinstance(found, Missing)]

    def get(self, name: str) -> MessageFormat | None:
        """None for one of ours, one that nobody brought, and one that cannot be used."""
        found = None if name in _OURS else self._found.get(name)
        return None if isinstance(found, Missing) else found

    def missing(self, name: str) -> str:
        """Why the format that a package brings cannot be used; "" where there is nothing to tell."""
        found = self._found.get(name)
        return f'the format "{name}" could not be loaded: {found.reason}' if isinstance(found, Missing) else ""

    def is_text(self, name: str) -> bool:
        """Whether its messages are UTF-8 that people can read."""
        found = self.get(name)
        return name in _OUR_TEXTS if found is None else found.is_text

    @cached_property
    def _found(self) -> dict[str, MessageFormat | Missing]:
        points = brought(self._points(), FORMAT_GROUP, _OURS)
        return {name: judged(name, point.load, partial(_made, name), package_of(point)) for name, point in sorted(points.items())}


def _made(name: str, found: Any) -> MessageFormat:
    if not (isinstance(found, type) and issubclass(found, MessageFormat)):
        raise Unfit("its entry point does not name a class below MessageFormat")
    if found.name != name:
        raise Unfit(f'its class says it is "{found.name}"')
    return found()


FORMATS = Formats()


@dataclass(frozen=True)
class KnownFormat:
    """Marks a text of a form as the name of a format: one of `ours`, or one that a package brings."""

    ours: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core), "enum": [*self.ours, *FORMATS.names()]}

    def _checked(self, name: str) -> str:
        if name in self.ours or FORMATS.get(name) is not None:
            return name
        if reason := FORMATS.missing(name):
            raise ValueError(reason)
        *first, last = (f"'{one}'" for one in (*self.ours, *FORMATS.names()))
        raise PydanticKnownError("literal_error", {"expected": f"{', '.join(first)} or {last}"})


def format_hints(*ours: str, widget: Any = None) -> Callable[[dict[str, Any]], None]:
    """`json_schema_extra` of a field that is shown with the formats `ours`, and with all that packages bring."""

    def extend(schema: dict[str, Any]) -> None:
        schema.update(hints(widget, when=f"format={'|'.join((*ours, *FORMATS.names()))}"))

    return extend


def format_fault(name: str) -> str:
    """Why a plain PySpark script cannot hold a node that writes or reads `name`; "" where it can."""
    return "" if FORMATS.get(name) is None else f"its format {name} comes from a package"


def format_hinders_real_time(name: str) -> str:
    """Why a node that writes or reads `name` cannot run in real time; "" where it can."""
    found = FORMATS.get(name)
    return "" if found is None or found.real_time else f"its format {name} comes from a package and runs in Python"
