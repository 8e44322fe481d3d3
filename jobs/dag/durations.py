"""Lengths of time as people write them: "60s", "5 min", "500ms"."""

import re

_UNITS_MS = {
    "ms": 1,
    "millisecond": 1,
    "milliseconds": 1,
    "s": 1_000,
    "sec": 1_000,
    "second": 1_000,
    "seconds": 1_000,
    "m": 60_000,
    "min": 60_000,
    "minute": 60_000,
    "minutes": 60_000,
    "h": 3_600_000,
    "hour": 3_600_000,
    "hours": 3_600_000,
    "d": 86_400_000,
    "day": 86_400_000,
    "days": 86_400_000,
}
_DURATION = re.compile(r"(?P<amount>[0-9]{1,12}(?:\.[0-9]{1,6})?)\s*(?P<unit>[A-Za-z]+)")
_LONGEST_MS = 366 * 86_400_000


def duration_ms(text: str) -> int:
    """Whole milliseconds of `text`. ValueError, in words for the user, if it is no duration or longer than a year."""
    match = _DURATION.fullmatch(text.strip())
    factor = _UNITS_MS.get(match["unit"].lower()) if match else None
    if match is None or factor is None:
        raise ValueError(f'"{text}" is no duration: write a number and a unit, such as "500ms", "60s", "5 min" or "1 h"')
    milliseconds = round(float(match["amount"]) * factor)
    if milliseconds > _LONGEST_MS:
        raise ValueError(f'"{text}" is longer than a year')
    return milliseconds


def duration_seconds(text: str) -> float:
    """As `duration_ms`, in seconds."""
    return duration_ms(text) / 1000


def duration_text(milliseconds: int) -> str:
    """The shortest exact writing in seconds or milliseconds: 60000 → "60s", 500 → "500ms"."""
    return f"{milliseconds // 1000}s" if milliseconds % 1000 == 0 else f"{milliseconds}ms"
