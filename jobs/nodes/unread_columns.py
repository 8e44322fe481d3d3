"""Columns that come up in a source's system while it is read, and that the run goes on without."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any


class TellsUnread(ABC):
    """A source that reads the columns it began with: those that come later are told, lest they are missing in silence."""

    @abstractmethod
    def unread(self, context: Any) -> str:
        """A sentence about the columns that are not read and came since the run began; empty where none did. Asked now and then."""


def names_listed(names: Iterable[str], known: Iterable[str]) -> str:
    """Those of `names` that are not `known`, in order; columns are told apart without regard to capitals."""
    before = {name.lower() for name in known}
    return ", ".join(sorted(name for name in names if name.lower() not in before))


def json_names(texts: Iterable[str]) -> set[str]:
    """The names of the members of those `texts` that are JSON objects."""
    found: set[str] = set()
    for text in texts:
        try:
            document = json.loads(text)
        except ValueError:
            continue
        found.update(document if isinstance(document, dict) else ())
    return found
