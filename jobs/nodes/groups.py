"""What tells rows apart: the groups of a flow, what it looks for in them, and the keys by which a sink lets a row replace another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class GroupsRows:
    """A flow whose config names the columns by which it groups in `group_by`; they come out of it."""

    def groups_of(self, config: Any) -> Sequence[str]:
        names: Sequence[str] = config.group_by
        return names


class PicksRows:
    """A flow that looks at a row to say whether it goes on, or where to."""

    def picks(self, config: Any) -> bool:
        """Whether one with this config does so."""
        return True


class ReplacesByKeys:
    """A sink whose config names the columns in `keys` by which a row takes the place of another; with none it adds rows."""

    def keys_of(self, config: Any) -> Sequence[str]:
        names: Sequence[str] = config.keys
        return names

    def replaces(self, config: Any) -> bool:
        return bool(self.keys_of(config))
