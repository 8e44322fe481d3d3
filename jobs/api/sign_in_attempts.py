"""How often signing in may fail before it has to wait: counted in the cache, per name and per address.

An address that is not known, "", is not counted: anybody could keep everybody behind the same proxy from signing in.
"""

import hashlib
import logging

from django.core.cache import cache
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

TERM = 300
#: Failures within the term: of one name from one address, of one address, of one name from anywhere.
LIMITS = {"pair": 8, "address": 60, "name": 100}


def attempts_exceeded(*, username: str, address: str) -> bool:
    """True while this name or address has to wait. Without Redis nothing is counted: signing in must not depend on it."""
    try:
        counts = cache.get_many(_keys(username, address).values())
    except RedisError as error:
        log.warning("failed sign-ins are not counted: %s", error)
        return False
    return any(counts.get(key, 0) >= LIMITS[kind] for kind, key in _keys(username, address).items())


def attempt_failed(*, username: str, address: str) -> None:
    """Count one failure."""
    try:
        for key in _keys(username, address).values():
            if not cache.add(key, 1, TERM):
                cache.incr(key)
    except (RedisError, ValueError) as error:  # ValueError: the key expired between the two
        log.warning("a failed sign-in was not counted: %s", error)


def attempts_forget(*, username: str, address: str) -> None:
    """Signing in worked: this name starts afresh from this address."""
    try:
        cache.delete(_keys(username, address)["pair"])
    except RedisError as error:
        log.warning("failed sign-ins were not forgotten: %s", error)


def _keys(username: str, address: str) -> dict[str, str]:
    name = username.casefold()
    parts = {"pair": f"{name}\n{address}", "name": name} | ({"address": address} if address else {})
    return {kind: f"sign-in:{kind}:{hashlib.sha256(part.encode()).hexdigest()[:32]}" for kind, part in parts.items()}
