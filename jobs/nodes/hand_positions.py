"""Positions that a person sets: where a source is to go on instead of where a checkpoint has it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from jobs.nodes.node_error import NodeError

if TYPE_CHECKING:
    from jobs.nodes.base import NodeContext

Way = Literal["earliest", "latest", "time", "values"]
_MOST = 2**63 - 1


FOREIGN_POSITION = "it is not what this kind of source writes"
#: What reading a position raises that has another shape.
_FOREIGN = (LookupError, TypeError, ValueError, AttributeError)
_NUMBER = re.compile(r"-?\d+(\.\d+)?", re.ASCII)


@dataclass(frozen=True)
class Wanted:
    """`to`: the oldest or newest that the system has, the first from `time` on, or `values`, which take the place of the position's own."""

    to: Way
    time: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


class HandPositions(Protocol):
    """How a source's offset, as Spark keeps it, can be moved."""

    @property
    def ways(self) -> tuple[Way, ...]:
        """Those that `moved` understands."""

    def settable(self, position: Any, config: Any) -> dict[str, Any]:
        """The part of an offset that `values` may set, as it stands; empty where none can."""

    def moved(self, position: Any, wanted: Wanted, context: NodeContext[Any]) -> Any:
        """`position` as it is wanted. NodeError (user) in words where that is no position; external where the system does not answer."""


@dataclass(frozen=True)
class NumberPart:
    """One number of the offset, such as the next message's; `progress`, where there is some, goes with it."""

    name: str
    ways: tuple[Way, ...] = ("values",)

    def settable(self, position: Any, config: Any) -> dict[str, Any]:
        return {self.name: position[self.name]}

    def moved(self, position: Any, wanted: Wanted, context: NodeContext[Any]) -> Any:
        number = whole_number(only_value(wanted, self.name), self.name)
        progress = position.get("progress")
        moved = {**position, self.name: number}
        if not isinstance(progress, dict):
            return moved
        if isinstance(total := progress.get("total"), int) and number > total:
            raise wrong(f"{self.name} is at most {total:,}, which is the end")
        return moved | {"progress": {**progress, "done": number}}


@dataclass(frozen=True)
class NumberEach:
    """An offset of named numbers, such as one for each queue."""

    ways: tuple[Way, ...] = ("values",)

    def settable(self, position: Any, config: Any) -> dict[str, Any]:
        return dict(position)

    def moved(self, position: Any, wanted: Wanted, context: NodeContext[Any]) -> Any:
        if unknown := sorted(set(wanted.values) - set(position)):
            raise wrong(f"it has no position in {unknown[0]!r}: there are {', '.join(sorted(position))}")
        return {**position, **{name: whole_number(value, name) for name, value in wanted.values.items()}}


@dataclass(frozen=True)
class LastKey:
    """The last key that was read; null: from the first one on."""

    ways: tuple[Way, ...] = ("values",)

    def settable(self, position: Any, config: Any) -> dict[str, Any]:
        return {"key": position["key"]} if "key" in position else {}

    def moved(self, position: Any, wanted: Wanted, context: NodeContext[Any]) -> Any:
        if "key" not in position:
            raise wrong("it is read whole, in no order of a key: it has no position but its beginning and its end")
        key, before = only_value(wanted, "key"), position["key"]
        if key is None:
            return {**position, "key": None, "rows": 0}
        if isinstance(key, bool) or not isinstance(key, int | float | str):
            raise wrong("the last key is a number or a text")
        if isinstance(before, str) and _NUMBER.fullmatch(before):  # so the numbers of a server are kept
            key = str(key)
        if before is not None and isinstance(key, str) != isinstance(before, str):
            raise wrong(f"the last key is {'a text' if isinstance(before, str) else 'a number'}, as {before!r} is")
        return {**position, "key": key}


def position_settable(hand: HandPositions, position: Any, config: Any) -> dict[str, Any] | None:
    """As `settable`; None where the position has not the shape that the source writes, as one that somebody else wrote may."""
    try:
        return hand.settable(position, config)
    except _FOREIGN:
        return None


def position_moved(hand: HandPositions, position: Any, wanted: Wanted, context: NodeContext[Any]) -> Any:
    """As `moved`; NodeError (user), too, where the position has not the shape that the source writes."""
    try:
        return hand.moved(position, wanted, context)
    except _FOREIGN as error:
        raise wrong(f"its position cannot be read: {FOREIGN_POSITION}") from error


def wrong(message: str) -> NodeError:
    return NodeError(message, permanent=True, kind="user")


def only_value(wanted: Wanted, name: str) -> Any:
    """The value of `name`, which is all that can be set."""
    if set(wanted.values) != {name}:
        raise wrong(f'of this position "{name}" can be set, and nothing else')
    return wanted.values[name]


def whole_number(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise wrong(f"{name} is a whole number from 0 on")
    return value
