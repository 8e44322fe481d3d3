"""Times with a zone, reckoned with by what has passed.

Python compares, hashes and adds times that share a zone by their wall clock, which stands in one hour of the year twice.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import Any


def instant(value: Any) -> Any:
    """A time with a zone as one of UTC, anything else as it is."""
    return value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value


def in_zone(value: Any, zone: tzinfo) -> Any:
    """An instant as people see it in `zone`."""
    return value.astimezone(zone) if isinstance(value, datetime) and value.tzinfo else value
