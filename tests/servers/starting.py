"""Starts of servers that leave nothing behind when they fail."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def or_ended(end: Callable[[], object]) -> Iterator[None]:
    """`end` what was begun inside it when that fails."""
    try:
        yield
    except BaseException:
        end()
        raise
