"""Lengths of time as a form takes them: "10 min", "1 h"."""

from typing import Annotated

from pydantic import AfterValidator

from jobs.dag.durations import duration_ms


def _duration(text: str) -> str:
    duration_ms(text)
    return text


def longer_than_nothing(text: str) -> str:
    """The text as it came; ValueError if it says zero."""
    if duration_ms(text) == 0:
        raise ValueError(f'"{text}" is no time at all: it must be longer')
    return text


Duration = Annotated[str, AfterValidator(_duration)]
#: One that is not zero.
Span = Annotated[str, AfterValidator(longer_than_nothing)]


def late_delay(late: str) -> str:
    """The delay of a watermark that takes in rows which are `late` behind the newest one.

    By its own time a row is too late for Spark where it is not newer than the watermark, which is one of whole milliseconds.
    """
    return f"{duration_ms(late) + 1} milliseconds"
