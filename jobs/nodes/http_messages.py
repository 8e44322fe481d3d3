"""What goes to an API and what comes from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class HttpRequest:
    """What is asked of an API. `link`: a whole address in place of path and parameters; `body`: JSON text.

    A parameter may be named several times.
    """

    path: str = ""
    parameters: tuple[tuple[str, str], ...] = ()
    method: str = "GET"
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    link: str | None = None

    @property
    def content(self) -> bytes | None:
        """The body as it goes over the line."""
        return None if self.body is None else self.body.encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class JsonAnswer:
    """A document, and the next page's address from the header Link. `linked`: an address in it as a whole one, without any key.

    The document is MISSING where the server says that it has nothing to tell.
    """

    document: Any
    next_link: str | None = None
    linked: Callable[[str], str] = str


@dataclass(frozen=True)
class Refused:
    """The server's answer to a request that it does not want, in its own words."""

    status: int
    words: str
