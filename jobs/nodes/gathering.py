"""How many rows a reader puts together: bounded by their number and by their size, lest long rows take all memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

_ROWS, _BYTES = 5_000, 16 * 1024 * 1024
#: A first look at rows whose size nobody knows, and the most that are asked for at once: the next ones may be longer.
_FIRST_FETCHED, _MOST_FETCHED = 50, 1_000

RowT = TypeVar("RowT")


def gathered(rows: Iterable[RowT], size: Callable[[RowT], int]) -> Iterator[list[RowT]]:
    """`rows`, in their order, put together until they are worth a record batch. `size` in bytes, roughly."""
    together: list[RowT] = []
    taken = 0
    for row in rows:
        together.append(row)
        taken += size(row)
        if len(together) >= _ROWS or taken >= _BYTES:
            yield together
            together, taken = [], 0
    if together:
        yield together


def fetched(fetch: Callable[[int], Sequence[tuple[Any, ...]]]) -> Iterator[tuple[Any, ...]]:
    """Rows of a server that hands over as many at once as it is asked for: fewer, the longer those before were."""
    wanted = _FIRST_FETCHED
    while rows := fetch(wanted):
        longest = max(row_size(row) for row in rows)
        yield from rows
        wanted = _fetched_next(wanted, longest)


def fetched_first(longest: int) -> int:
    """How many rows a client fetches at first of which each has at most `longest` bytes: few only where they may be long."""
    return min(_MOST_FETCHED, max(_FIRST_FETCHED, _BYTES // max(1, longest)))


def fetched_ahead(rows: Iterable[tuple[Any, ...]], ask: Callable[[int], object], first: int) -> Iterator[tuple[Any, ...]]:
    """Likewise of a client that fetches by itself, `first` rows and then as many at once as `ask` told it last."""
    wanted, left, longest = first, first, 1
    for row in rows:
        longest, left = max(longest, row_size(row)), left - 1
        if left == 0:
            wanted = left = _fetched_next(wanted, longest)
            longest = 1
            ask(wanted)
        yield row


def _fetched_next(before: int, longest: int) -> int:
    return max(1, min(_BYTES // longest, before * 4, _MOST_FETCHED))


def row_size(row: Sequence[Any]) -> int:
    """Roughly, in bytes: what has no length of its own counts little."""
    return sum(len(value) if isinstance(value, str | bytes | memoryview) else 16 for value in row) or 1
