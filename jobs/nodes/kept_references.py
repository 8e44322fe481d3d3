"""Reference inputs that are kept between batches instead of being read anew for each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Keeping:
    """How long rows are kept before they are read again, and how many there may be."""

    seconds: float
    most_rows: int


class KeepsReferences(ABC):
    """A flow whose reference inputs are read once and kept, where it works on batches.

    Where reading again fails, what was kept stays in use and the history says since when.
    """

    @abstractmethod
    def keeping(self, config: Any) -> Keeping: ...
