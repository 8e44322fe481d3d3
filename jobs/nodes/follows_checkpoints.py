"""The part of a source that is told of checkpoints, and asked whether one can still be gone back to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from jobs.nodes.base import Config, NodeContext

ConfigT = TypeVar("ConfigT", bound="Config")


class FollowsCheckpoints(Generic[ConfigT]):
    def check_input(self, position: Any, context: NodeContext[ConfigT]) -> None:
        """NodeError, a permanent one, where input behind `position`, the offset that Spark keeps, is gone. Changes nothing.
        Asked before sinks are rolled back for it to be read again, and by who is about to restore. A source that cannot tell is silent."""

    def checkpointed(self, position: Any, context: NodeContext[ConfigT]) -> None:
        """Called after a checkpoint became complete, and after a restore, with this source's position in it: the offset Spark keeps.
        What goes wrong here is logged and tried again with the next checkpoint. Nothing may be deleted: older checkpoints stand."""

    def read_to(self, position: Any, context: NodeContext[ConfigT]) -> None:
        """Called once after a bounded run ended well, behind its last checkpoint, with where it has read to: the offset Spark keeps, or
        None where it was read whole. What goes wrong here is logged."""

    def trim(self, positions: Callable[[], Sequence[Any]], context: NodeContext[ConfigT]) -> None:
        """Called after a checkpoint became complete: input older than all of `positions()`, to which one can go back, may go."""

    def put_away(self, checkpoints: Callable[[], Sequence[Path]], context: NodeContext[ConfigT]) -> None:
        """Called after `trim`: input that all of `checkpoints()` have read may go for good; each is a folder laid out as `live_dir`."""
