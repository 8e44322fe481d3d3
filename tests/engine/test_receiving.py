"""A receiver that fails is tried again: when, what is said meanwhile, and when it is given up."""

import time
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from jobs.engine import receiving
from jobs.engine.receiving import Receiving
from jobs.nodes.base import NodeError, Source
from jobs.nodes.node_context import Config, NodeContext
from jobs.nodes.node_error import SignInRefused, SystemAway
from jobs.nodes.retry_note import RetryNote
from tests.servers.waiting import wait_until

REFUSED = "the broker does not let this user in; correct user or password"


class Failing:
    """Whatever `faults` say, one a try; then it receives until it is to stop."""

    buffered = Source.buffered

    def __init__(self, *faults: NodeError, silent: tuple[str, ...] = ()) -> None:
        self.faults, self.silent = list(faults), list(silent)
        self.is_receiving = Event()

    def begin(self, context: Any) -> None: ...

    def waits_for(self, context: Any) -> str:
        return self.silent.pop(0) if self.silent else ""

    def receive(self, context: Any, stopping: Event) -> None:
        if self.faults:
            raise self.faults.pop(0)
        self.is_receiving.set()
        stopping.wait(20)


def receiving_from(source: Failing, work_dir: Path) -> Receiving:
    context: NodeContext[Config] = NodeContext("in", "in", Config(), bounded=False, work_dir=work_dir)
    steps: Any = SimpleNamespace(sources=["in"], types={"in": source}, source=lambda _: source, context=lambda *_: context)
    return Receiving(steps, lambda event: None)


def test_a_system_that_was_silent_is_come_back_to_as_soon_as_it_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "_FIRST_PAUSE_SECONDS", 30.0)
    monkeypatch.setattr(receiving, "_LOOK_SECONDS", 0.01)
    source = Failing(SystemAway("the broker does not answer"), silent=("mqtt plant",) * 5)
    with receiving_from(source, tmp_path).begun():
        assert source.is_receiving.wait(10)
    assert source.silent == []


def test_one_that_answers_all_the_while_is_given_its_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "_FIRST_PAUSE_SECONDS", 0.2)
    monkeypatch.setattr(receiving, "_LOOK_SECONDS", 0.01)
    source = Failing(SystemAway("the line broke"))
    begun = time.monotonic()
    with receiving_from(source, tmp_path).begun():
        assert source.is_receiving.wait(10)
    assert time.monotonic() - begun >= 0.4


def test_why_a_receiver_is_tried_again_is_said_while_its_system_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiving, "_FIRST_PAUSE_SECONDS", 0.1)
    monkeypatch.setattr(receiving, "_NOTE_SECONDS", 0.2)
    note = RetryNote.of(tmp_path)
    note.tell("of the attempt before", 60)
    source = Failing(SystemAway("away"), SignInRefused(REFUSED, permanent=True, kind="user"))
    with receiving_from(source, tmp_path).begun():
        wait_until(lambda: note.words() == REFUSED, seconds=10, what="why", every=0.01)
        assert source.is_receiving.wait(10)
        wait_until(lambda: note.words() == "", seconds=10, what="its end", every=0.01)


def test_what_is_given_up_is_not_said_to_be_tried_again(tmp_path: Path) -> None:
    source = Failing(SignInRefused(REFUSED, permanent=True, kind="user"))
    one = receiving_from(source, tmp_path)
    with one.begun():
        wait_until(lambda: one.failure is not None, seconds=10, what="the failure", every=0.01)
    assert RetryNote.of(tmp_path).words() == ""
