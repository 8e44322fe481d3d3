"""A log does not fill with what goes wrong each second."""

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from jobs.engine.receiving import Receiving
from jobs.engine.recurring import Recurring
from jobs.nodes.base import Source


def test_a_fault_is_told_when_it_begins_when_its_words_change_and_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    told = Recurring(logging.getLogger("a.test"))
    told.right("the queue cannot be read")
    for second in range(20):
        told.wrong("the queue cannot be read", OSError(f"no answer from 10.0.0.1:4711{second} <at 0x7f{second:02}>\nand more"))
    told.wrong("the table cannot be read", OSError("no answer"))
    for _ in range(2):
        told.wrong("the queue cannot be read", OSError("it refuses the password"))
    for _ in range(2):
        told.right("the queue cannot be read")
    told.wrong("the queue cannot be read", OSError("it refuses the password"))
    assert [record.getMessage() for record in caplog.records] == [
        "the queue cannot be read: no answer from 10.0.0.1:47110 <at 0x7f00>",
        "the table cannot be read: no answer",
        "the queue cannot be read: it refuses the password",
        "it is over that the queue cannot be read",
        "the queue cannot be read: it refuses the password",
    ]


def test_a_buffer_that_cannot_be_looked_at_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    answers: list[Exception | None] = [*(ConnectionError(f"attempt {number}: no answer") for number in range(10)), None, None]

    class Buffering:
        receive = Source.receive

        def buffered(self, context: None, positions: list[str]) -> None:
            if (answer := answers.pop(0)) is not None:
                raise answer

    caplog.set_level(logging.INFO)
    source = Buffering()
    steps: Any = SimpleNamespace(sources=["in"], types={"in": source}, source=lambda _: source, context=lambda *_: None)
    receiving = Receiving(steps, lambda event: None)
    while answers:
        receiving._look()
    what = "how the buffer of in stands cannot be told"
    assert [record.getMessage() for record in caplog.records] == [f"{what}: attempt 0: no answer", f"it is over that {what}"]
