"""What goes into a spool and comes out of it, and what is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple


class Message(NamedTuple):
    """`id`: by it a message that is sent again is told from a new one; "" if the sender gives none. A tuple: it is made in no time."""

    value: bytes | None
    key: str | None = None
    headers: Mapping[str, str] = MappingProxyType({})
    id: str = ""


@dataclass(frozen=True)
class Spooled:
    """A message with its position and the time (seconds since 1970) at which it was received."""

    position: int
    received: float
    key: str | None
    headers: Mapping[str, str]
    value: bytes | None


@dataclass(frozen=True)
class Taken:
    """What became of offered messages: the first `done` of them need not come again, of which `new` are kept and `dropped` are not.

    The rest was `refused`, the reason in words: there is no room for it now, or (`overrun`) there never will be.
    """

    done: int
    new: int
    dropped: int = 0
    overrun: bool = False
    refused: str = ""


@dataclass(frozen=True)
class Standing:
    """`waiting`: messages that nobody reads yet; `dropped`: all that were ever discarded unread; `overrun`: full under ERROR.

    `draining`: what waited at an overrun is being read, and nothing is taken until it is.
    """

    waiting: int
    dropped: int
    overrun: bool
    draining: bool = False
