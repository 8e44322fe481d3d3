"""The time from which on messages are read, as a form gives it."""

from __future__ import annotations

from datetime import UTC, datetime

TIME = r"^(\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?)?$"
TIME_WORDS = "a date such as 2026-01-31, or a time such as 2026-01-31T06:00:00Z"


def time_of(text: str) -> datetime:
    """Of a date or time, in UTC unless it says otherwise; ValueError where there is none such."""
    given = datetime.fromisoformat(text)
    return given if given.tzinfo else given.replace(tzinfo=UTC)


def milliseconds_of(text: str) -> int:
    return round(time_of(text).timestamp() * 1000)


def time_checked(text: str) -> str:
    """For a form's field: ValueError in words where `text` is no time; empty passes."""
    try:
        time_of(text or "2026-01-01")
    except ValueError:
        raise ValueError(f"there is no such time: {text}") from None
    return text
