"""Runs start a few at a time, and no start keeps the others waiting for ever."""

import threading

import pytest

from jobs.engine import turns
from jobs.engine.turns import StartTurn


@pytest.fixture(autouse=True)
def _two_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_PLACES", threading.BoundedSemaphore(2))


def taken() -> StartTurn:
    turn = StartTurn()
    turn.take(lambda: False)
    return turn


def test_the_third_waits_until_one_of_the_first_two_is_through() -> None:
    first, _second = taken(), taken()
    through = threading.Event()

    def start() -> None:
        taken()
        through.set()

    third = threading.Thread(target=start)
    third.start()
    assert not through.wait(0.3)
    first.give_back()
    assert through.wait(5)
    third.join()


def test_a_place_is_given_back_once_however_often_it_is_said() -> None:
    turn = taken()
    for _ in range(3):
        turn.give_back()
    taken(), taken()


def test_a_start_that_hangs_lets_others_go_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_MOST_SECONDS", 0.2)
    taken(), taken()
    assert not turns._PLACES.acquire(blocking=False)
    assert turns._PLACES.acquire(timeout=5)


def test_one_that_is_stopped_waits_no_longer_and_gives_nothing_back() -> None:
    taken(), taken()
    stopped = StartTurn()
    stopped.take(lambda: True)
    stopped.give_back()
    assert not turns._PLACES.acquire(blocking=False)
