"""The clock of a test: at which time each of its micro-batches comes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from jobs.dag.durations import duration_ms

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ClockWrong(ValueError):
    """What is wrong with the time at `place`, counted from 0."""

    def __init__(self, place: int, message: str) -> None:
        super().__init__(message)
        self.place, self.message = place, message


def clock_times(clock: Sequence[str], zone: tzinfo) -> tuple[int, ...]:
    """Milliseconds since 1970 of each entry: a time, of `zone` where it names none, or a duration after the one before."""
    times: list[int] = []
    for place, text in enumerate(clock):
        time = _time(place, text.strip(), times[-1] if times else None, zone)
        if times and time < times[-1]:
            raise ClockWrong(place, f'"{text}" is before the time of the batch before: a clock goes on')
        times.append(time)
    return tuple(times)


def _time(place: int, text: str, before: int | None, zone: tzinfo) -> int:
    try:
        read = datetime.fromisoformat(text)
        moment = (read if read.tzinfo else read.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return _later(place, text, before)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _later(place: int, text: str, before: int | None) -> int:
    try:
        after = duration_ms(text.removeprefix("+"))
    except ValueError:
        message = f'"{text}" is no time: write one such as "2026-01-31 12:00:00", or how long after the one before, such as "10 min"'
        raise ClockWrong(place, message) from None
    if before is None:
        raise ClockWrong(place, f'"{text}" comes after no other: the clock begins with a time such as "2026-01-31 12:00:00"')
    return before + after
