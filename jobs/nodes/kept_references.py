"""Reference inputs that are kept between batches instead of being read anew for each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Keeping:
    """How long rows are kept before they are read again, and how many there may be of what is kept."""

    seconds: float
    most_rows: int


class KeepsReferences(ABC):
    """A flow whose reference inputs are read once and kept, where it works on batches.

    Where reading again fails, what was kept stays in use and the history says since when; it is tried again after the usual time, or
    ten times as long as it took, as the batches wait for it.
    """

    @abstractmethod
    def keeping(self, config: Any) -> Keeping: ...

    def prepared(self, frame: DataFrame, config: Any) -> DataFrame:
        """What is kept of an input: `frame` with that done once which would cost every batch."""
        return frame

    def config_of_prepared(self, config: Any) -> Any:
        """The config for `apply` where its reference inputs are `prepared`."""
        return config
