"""How long a driver may be silent, and how often it speaks: two variables that must leave each other room."""

from django.core.exceptions import ImproperlyConfigured


def lease_settings(lease: int, renew: int) -> tuple[int, int]:
    """Both as they are; ImproperlyConfigured where one renewal that is missed or slow would cost a driver its lease.

    A driver ends itself when its last renewal is LEASE_SECONDS - LEASE_RENEW_SECONDS - 1 old.
    """
    least = 3 * max(renew, 1) + 2
    if renew < 1 or lease < least:
        raise ImproperlyConfigured(
            f"LEASE_RENEW_SECONDS ({renew}) must be 1 or more, and LEASE_SECONDS ({lease}) three times as long and 2 s more"
            f" ({least}): a driver that cannot renew in time ends itself with all that it runs"
        )
    return lease, renew
