"""Columns that come up in a source's system while it is read, and that the run goes on without."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any


class TellsUnread(ABC):
    """A source that reads the columns it began with: those that come later are told, lest they are missing in silence."""

    @abstractmethod
    def unread(self, context: Any) -> str:
        """A sentence about the columns that are not read and came since the run began; empty where none did. Asked now and then."""


class TellsUnreadFields(TellsUnread):
    """One of messages that are JSON objects, of which some of the newest can be looked at."""

    #: The columns that this attempt reads; empty where their fields are not to be looked at.
    taken: Sequence[str] = ()
    #: Fields that are not told: they are read, were there before and may have been left out, or were told already.
    _known: set[str] | None = None

    @abstractmethod
    def newest_texts(self, context: Any) -> Sequence[str]: ...

    def unread(self, context: Any) -> str:
        """Who lists columns may leave out fields that are there when the run begins; columns that were found are all there were."""
        if context.config.format != "json" or not self.taken:
            return ""
        offered = _json_names(self.newest_texts(context))
        if self._known is None:
            self._known = {*self.taken, *(offered if context.config.columns else ())}
        names = names_listed(offered, self._known)
        self._known |= offered
        if not names:
            return ""
        return f"the newest messages hold fields that are not read: {names}; list them among the columns to read them from then on"


def names_listed(names: Iterable[str], known: Iterable[str]) -> str:
    """Those of `names` that are not `known`, in order; columns are told apart without regard to capitals."""
    before = {name.lower() for name in known}
    return ", ".join(sorted(name for name in names if name.lower() not in before))


def _json_names(texts: Iterable[str]) -> set[str]:
    """The names of the members of those `texts` that are JSON objects."""
    found: set[str] = set()
    for text in texts:
        try:
            document = json.loads(text)
        except ValueError:
            continue
        found.update(document if isinstance(document, dict) else ())
    return found
