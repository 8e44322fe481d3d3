"""Which questions an interactive driver takes, and when; without Spark."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, cast

import pytest

from jobs import queue
from jobs.driver import interactive
from jobs.driver.process import DriverProcess
from jobs.engine.user_code import Cancelled
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.one_database


class Process:
    """As much of a driver as answering needs."""

    def __init__(self) -> None:
        self.ended = False
        self.spark_is_gone = False
        self.spark_is_dead = False
        self.exit_code = 0

    def give_up(self, reason: str, code: int = 1) -> None:
        self.exit_code = code
        self.ended = True

    def is_stopping(self) -> bool:
        return self.ended

    def spark_died(self) -> bool:
        return self.spark_is_dead

    def spark_ends(self) -> bool:
        return self.spark_is_gone


class Work:
    """What the driver works at, until it may go on."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.going_on = threading.Event()

    def __call__(self, process: Any, kind: str, payload: dict[str, Any], *_: Any) -> dict[str, Any]:
        self.begun.append(payload["name"])
        assert self.going_on.wait(30)
        return {"name": payload["name"]}


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    working = Work()
    monkeypatch.setattr(interactive, "_result", working)
    monkeypatch.setattr(interactive, "close_old_connections", lambda: None)
    with queue.redis_client() as client:
        client.flushdb()
    yield working
    working.going_on.set()


@contextmanager
def driver() -> Iterator[Process]:
    process = Process()
    thread = threading.Thread(target=interactive.answer_for_ever, args=(cast("DriverProcess", process),))
    thread.start()
    try:
        yield process
    finally:
        process.ended = True
        thread.join(30)


def asked(kind: str, name: str, **more: Any) -> str:
    key = queue._questions_key(queue.interactive_lane(kind))
    with queue.redis_client() as client:
        client.rpush(key, json.dumps({"id": name, "kind": kind, "payload": {"name": name}, **more}))
    return key


def waiting(key: str) -> int:
    with queue.redis_client() as client:
        return int(cast("int", client.llen(key)))


def answer_to(name: str) -> dict[str, Any]:
    with queue.redis_client(waiting=30) as client:
        found = cast("list[str] | None", client.blpop([queue._answer_key(name)], timeout=30))
    assert found is not None
    return cast("dict[str, Any]", json.loads(found[1])["result"])


def begun(work: Work, *names: str) -> None:
    wait_until(lambda: set(work.begun) == set(names), seconds=20, what=f"{names} in {work.begun}")


def test_previews_that_take_long_stand_in_no_drawings_way(work: Work) -> None:
    with driver():
        for name in ("one", "two"):
            asked("preview", name)
        begun(work, "one", "two")
        asked("validate", "drawn")
        begun(work, "one", "two", "drawn")
        work.going_on.set()
        assert answer_to("drawn")["name"] == "drawn"


@pytest.mark.slow
def test_a_question_stays_where_others_can_take_it_until_a_thread_is_free(work: Work) -> None:
    with driver():
        for name in ("one", "two", "three"):
            key = asked("validate", name)
        begun(work, "one", "two")
        assert waiting(key) == 1
        with driver():
            begun(work, "one", "two", "three")
        work.going_on.set()
        assert [answer_to(name)["name"] for name in ("one", "two", "three")] == ["one", "two", "three"]


def test_questions_that_take_their_time_hold_up_no_others(work: Work) -> None:
    with driver():
        for name in ("first", "second"):
            key = asked("test", name)
        begun(work, "first")
        for kind in ("state", "script", "preview"):
            asked(kind, kind)
        begun(work, "first", "state", "script", "preview")
        assert waiting(key) == 1
        work.going_on.set()
        assert answer_to("second") == {"name": "second"}


def test_a_question_that_nobody_waits_for_any_more_is_not_worked_at(work: Work) -> None:
    asked("validate", "late", deadline=time.time() - 60)
    asked("validate", "in time", deadline=time.time() + 60)
    asked("validate", "of an older web process")
    work.going_on.set()
    with driver():
        assert answer_to("in time") == {"name": "in time"}
        assert answer_to("of an older web process")
    assert "late" not in work.begun


def test_a_question_carries_how_long_it_is_waited_for(work: Work) -> None:
    work.going_on.set()
    with driver():
        assert queue.interactive_call("script", {"name": "here"}, timeout=20) == {"name": "here"}


@pytest.mark.slow
def test_the_time_that_a_question_waited_is_part_of_the_time_it_has(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests share that time: what is left is theirs, so that those that were done in it are told."""
    left: list[float] = []

    def timed(process: Any, kind: str, payload: dict[str, Any], asked: float, is_cancelled: Any) -> dict[str, Any]:
        left.append(asked + payload["seconds"] - time.monotonic())
        return {"name": "timed"}

    monkeypatch.setattr(interactive, "_result", timed)
    people = ThreadPoolExecutor(1)
    answer = people.submit(queue.interactive_call, "test", {"seconds": 20}, 30)
    time.sleep(3)
    with driver():
        assert answer.result(30) == {"name": "timed"}
    assert 10 < left[0] < 18


@pytest.mark.slow
def test_what_takes_too_long_ends_with_its_question_and_makes_room_for_the_next(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    def until_nobody_waits(process: Any, kind: str, payload: dict[str, Any], taken: float, is_cancelled: Any) -> dict[str, Any]:
        wait_until(is_cancelled, seconds=30, what="the end of the question")
        raise Cancelled

    with driver():
        with monkeypatch.context() as patch:
            patch.setattr(interactive, "_result", until_nobody_waits)
            for kind in ("preview", "validate", "preview"):
                with pytest.raises(queue.InteractiveUnavailable, match="it took longer than 1 s and was ended"):
                    queue.interactive_call(kind, {}, timeout=1)
        work.going_on.set()
        assert queue.interactive_call("preview", {"name": "next"}, timeout=20) == {"name": "next"}


PROBLEM = {"severity": "error", "message": "OutOfMemoryError: Java heap space"}


@pytest.mark.slow
@pytest.mark.parametrize("told", [ConnectionRefusedError(111, "refused"), {"problems": [PROBLEM]}, {"results": [{"status": "error"}]}])
def test_what_is_left_of_spark_when_it_ends_is_told_as_its_end(work: Work, monkeypatch: pytest.MonkeyPatch, told: Any) -> None:
    def worked(*_: Any) -> dict[str, Any]:
        if isinstance(told, Exception):
            raise told
        return cast("dict[str, Any]", told)

    monkeypatch.setattr(interactive, "_result", worked)
    with driver() as process:
        process.spark_is_gone = True
        with pytest.raises(queue.InteractiveFailed, match="Spark ended while it worked on this"):
            queue.interactive_call("preview", {}, timeout=20)
        assert process.is_stopping()
    with driver():
        if isinstance(told, Exception):
            with pytest.raises(queue.InteractiveFailed, match="ConnectionRefusedError"):
                queue.interactive_call("preview", {}, timeout=20)
        else:
            assert queue.interactive_call("preview", {}, timeout=20) == told


def test_a_driver_whose_spark_died_ends_once_it_has_told_who_asked(work: Work) -> None:
    """Its process ends at once behind that: what a thread has not given by then, nobody gets."""
    process = Process()
    thread = threading.Thread(target=interactive.answer_for_ever, args=(cast("DriverProcess", process),))
    thread.start()
    asked("preview", "under way")
    begun(work, "under way")
    process.spark_is_dead = process.spark_is_gone = True
    wait_until(process.is_stopping, seconds=20, what="its end")
    assert thread.is_alive()
    work.going_on.set()
    thread.join(20)
    with queue.redis_client() as client:
        assert client.llen(queue._answer_key("under way")) == 1


@pytest.mark.slow
def test_an_answer_that_came_whole_is_given_though_spark_ends(work: Work) -> None:
    work.going_on.set()
    with driver() as process:
        process.spark_is_gone = True
        assert queue.interactive_call("preview", {"name": "whole"}, timeout=20) == {"name": "whole"}


@pytest.mark.slow
def test_a_question_that_comes_as_the_driver_ends_is_left_to_another(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    take, taken = queue.interactive_take, threading.Event()

    def ending(*given: Any, **more: Any) -> dict[str, Any] | None:
        found = take(*given, **more)
        if found:
            process.ended = True
            taken.set()
        return found

    monkeypatch.setattr(interactive, "interactive_take", ending)
    with driver() as process:
        key = asked("preview", "next", asked=0.1, deadline=time.time() + 60)
        assert taken.wait(20)
    with queue.redis_client() as client:
        (left,) = cast("list[str]", client.lrange(key, 0, -1))
    told = json.dumps({"id": "next", "kind": "preview", "payload": {"name": "next"}, "asked": 0.1})
    assert left.startswith(told[:-1]), "whoever asked finds it by its text, and may take it back"
    assert "waited" not in left
    monkeypatch.setattr(interactive, "interactive_take", take)
    work.going_on.set()
    with driver():
        assert answer_to("next") == {"name": "next"}
