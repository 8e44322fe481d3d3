"""Several pieces of work at once: in order, all or none, and ended by whoever asked."""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from functools import partial

import pytest

from checkpoints.threads import Pulse, all_done, no_pulse

_PATIENCE_SECONDS = 60


class TimeUp(Exception):
    """The one who asked has had enough."""


def endless(begun: Callable[[], object], ended: Callable[[], object], pulse: Pulse) -> None:
    """Works on until it is told to end."""
    begun()
    try:
        while True:
            pulse()
    except CancelledError:
        ended()
        raise


def test_results_come_in_the_order_of_the_works_whichever_ends_first() -> None:
    later_done = threading.Event()

    def first(pulse: Pulse) -> str:
        assert later_done.wait(_PATIENCE_SECONDS)
        return "first"

    def second(pulse: Pulse) -> str:
        later_done.set()
        return "second"

    assert all_done([first, second], no_pulse) == ["first", "second"]


def test_one_that_fails_ends_those_under_way_and_those_that_wait() -> None:
    under_way, ended = threading.Event(), threading.Event()
    ran: list[str] = []

    def failing(pulse: Pulse) -> None:
        assert under_way.wait(_PATIENCE_SECONDS)
        raise ValueError("the disk is full")

    def waiting(pulse: Pulse) -> None:
        ran.append("ran")

    works: list[Callable[[Pulse], None]] = [partial(endless, under_way.set, ended.set), failing, failing, failing, *[waiting] * 50]
    with pytest.raises(ValueError, match="the disk is full"):
        all_done(works, no_pulse)
    assert ended.is_set()
    assert ran == []


def test_who_asked_can_end_it_and_hears_of_nothing_that_still_runs() -> None:
    under_way, ended = threading.Event(), threading.Event()

    def pulse() -> None:
        if under_way.is_set():
            raise TimeUp

    with pytest.raises(TimeUp):
        all_done([partial(endless, under_way.set, ended.set)], pulse)
    assert ended.is_set()


def test_what_is_left_behind_is_not_waited_for() -> None:
    under_way, let_go, ended = threading.Event(), threading.Event(), threading.Event()

    def deaf(pulse: Pulse) -> None:
        under_way.set()
        assert let_go.wait(_PATIENCE_SECONDS)
        ended.set()

    def pulse() -> None:
        if under_way.is_set():
            raise TimeUp

    with pytest.raises(TimeUp):
        all_done([deaf], pulse, leave=True)
    assert not ended.is_set()
    let_go.set()
    assert ended.wait(_PATIENCE_SECONDS)
