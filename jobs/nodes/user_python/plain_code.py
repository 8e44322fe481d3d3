"""A person's Python in a script: a function that gives all that the code defines."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from jobs.nodes.plainly import UserCodeText
from jobs.nodes.user_python.code import FUNCTION
from jobs.nodes.user_python.loaded import named

if TYPE_CHECKING:
    from jobs.nodes.base import NodeContext


@dataclass(frozen=True)
class PlainCode:
    """`make`: the code, as a function of the job's parameters."""

    make: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    parameters: Mapping[str, Any]

    def load(self) -> Callable[..., Any]:
        function: Callable[..., Any] = self.names()[FUNCTION]
        return function

    def names(self) -> Mapping[str, Any]:
        return self.make(self.parameters)

    @contextmanager
    def told(self) -> Iterator[None]:
        """What is raised inside ends the job."""
        yield

    def reason(self, error: BaseException) -> str:
        """What was raised, and in which line of the code."""
        place, first = self.make.__code__.co_filename, self.make.__code__.co_firstlineno
        frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == place and (one.lineno or 0) > first]
        if not frames:
            return named(error)
        line = (frames[-1].line or "").strip()[:200]
        return f"{named(error)}, in line {(frames[-1].lineno or 0) - first}" + (f": {line}" if line else "")


def plain_code(context: NodeContext[Any]) -> PlainCode:
    """Of a node whose field `code` has it: written into a script, not called here."""
    return PlainCode(cast(Any, UserCodeText(context.config.code, context.node_name)), dict(context.parameters))
