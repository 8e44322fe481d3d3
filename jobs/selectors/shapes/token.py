"""API tokens as they are sent."""

from datetime import datetime
from typing import Literal

from jobs.selectors.shapes.base import Shape

ScopeWord = Literal["READ", "FULL"]


class TokenOut(Shape):
    """A living token. `prefix` are its first eight characters; the rest is kept nowhere. READ: it may look and change nothing."""

    id: int
    name: str
    prefix: str
    scope: ScopeWord
    create_time: datetime
    last_used_time: datetime | None


class TokenMadeOut(TokenOut):
    """A token at its making: `token` is the text to send, and is shown this once."""

    token: str
