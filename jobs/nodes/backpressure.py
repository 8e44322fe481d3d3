"""What a source does with messages that come faster than they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from jobs.nodes.form import hints
from jobs.nodes.node_error import NodeError

Strategy = Literal["BUFFER", "DROP", "LATEST", "ERROR"]

#: OK, or what the strategy does now: HOLDING back what comes (under ERROR: until what waited at an overrun is read), DROPPING messages,
#: or FAILED: under ERROR, one came that had no room.
BackpressureStatus = Literal["OK", "HOLDING", "DROPPING", "FAILED"]
_WHEN_FULL: Mapping[Strategy, BackpressureStatus] = {"BUFFER": "HOLDING", "DROP": "DROPPING", "LATEST": "DROPPING", "ERROR": "OK"}


@dataclass(frozen=True)
class Backpressure:
    """`buffer_size` messages wait at most; then `strategy` decides."""

    strategy: Strategy = "BUFFER"
    buffer_size: int = 1_000_000

    @property
    def refuses(self) -> bool:
        """Whether what finds no room stays with its sender; else something is dropped for it."""
        return self.strategy in ("BUFFER", "ERROR")

    @property
    def when_full(self) -> BackpressureStatus:
        return _WHEN_FULL[self.strategy]


def backpressure_field() -> Any:
    return Field(
        "BUFFER",
        description=(
            "When the buffer is full: BUFFER takes no more until there is room, DROP discards what comes, "
            "LATEST discards the oldest that waits, ERROR ends the job as failed; started again, it reads what waits before it takes more."
        ),
        examples=["BUFFER", "LATEST"],
        json_schema_extra=hints(advanced=True),
    )


def buffer_size_field() -> Any:
    return Field(
        1_000_000,
        ge=1,
        le=100_000_000,
        description="Most messages that wait to be read.",
        examples=[1_000_000],
        json_schema_extra=hints(advanced=True),
    )


def backlog_strategy_field(system: str) -> Any:
    """Of a source whose `system` keeps what waits."""
    return Field(
        "BUFFER",
        description=(
            f"When a stream reads too slowly: BUFFER leaves any number of messages waiting in {system}, DROP skips the newest that wait, "
            "LATEST the oldest, ERROR ends the job as failed."
        ),
        examples=["BUFFER", "LATEST"],
        json_schema_extra=hints(advanced=True),
    )


def max_backlog_field(places: str, counted: str) -> Any:
    """`places`: over which what waits is added up; `counted`: what offsets count that are no messages of this stream."""
    return Field(
        0,
        ge=0,
        description=(
            f"Most messages that may wait behind what a stream has read{places}; with more, LATEST skips down to this number, "
            "and DROP reads this number and skips those behind them. "
            "Looked at every few seconds once a first batch is read, skipped between two batches, at most every ten seconds; "
            "sinks that read in queries of their own skip each for itself. What is skipped counts as dropped, by offsets: "
            f"{counted}."
        ),
        examples=[1_000_000],
        json_schema_extra=hints(advanced=True, when="backpressure=DROP|LATEST|ERROR"),
    )


def backlog_is_told(strategy: Strategy, max_backlog: int) -> None:
    """ValueError where the strategy needs a number that nobody gave."""
    if strategy != "BUFFER" and not max_backlog:
        raise ValueError(f"{strategy} needs a max backlog: the number of messages that may wait")


@dataclass(frozen=True)
class Buffered:
    """A source's own buffer: messages that wait in it, and all that were ever dropped from it unread.

    `fault`: what ends the run, whatever waits. `field`: the one that says how many may wait; `remedy`: what to do once it FAILED.
    """

    waiting: int
    dropped: int
    status: BackpressureStatus
    field: str = "buffer_size"
    remedy: str = "which is all the buffer takes; a start reads them first; enlarge it or choose another strategy"
    fault: NodeError | None = None


@dataclass(frozen=True)
class Skip:
    """Messages that a source leaves out: from where, where to go on, one of each for each that was asked about, and how many they are.

    `begins` are the positions that were asked about where the oldest go; else what lies before them is read first.
    """

    begins: tuple[Any, ...]
    positions: tuple[Any, ...]
    messages: int


def is_beyond(position: Any, limit: Any) -> bool:
    """Whether `position` is ahead of `limit` anywhere. Both are numbers in dictionaries; a place that only one of them knows counts not."""
    if isinstance(position, dict):
        return any(is_beyond(position[place], limit[place]) for place in position.keys() & limit.keys())
    return bool(position > limit)


def placed_at(position: Any, limit: Any) -> Any:
    """`position` with what `limit` says of the places that both know."""
    if isinstance(position, dict):
        return {place: placed_at(there, limit[place]) if place in limit else there for place, there in position.items()}
    return limit
