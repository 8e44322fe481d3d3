"""Names of time zones that a document may use."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def time_zone_known(name: str) -> bool:
    """Whether `name` is an IANA time zone. Offsets such as "+02:00" are not: they forget daylight saving."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return bool(name)
