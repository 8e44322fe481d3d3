"""What takes seconds to find out over all checkpoints is kept for half a minute, or until a person changes what it depends on.

What jobs do meanwhile does not end that: they complete and retain checkpoints every few seconds.
"""

import hashlib
import logging
from collections.abc import Callable
from typing import TypeVar, cast

from django.core.cache import cache
from django.db import transaction
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

TERM = 30
_VERSION = "checkpoints:surveys"

Found = TypeVar("Found")


def surveyed(name: str, find: Callable[[], Found]) -> Found:
    """What `find` gave at most TERM seconds ago under this name, else what it gives now. Without Redis nothing is kept."""
    try:
        key = f"{_VERSION}:{cache.get(_VERSION, 0)}:{hashlib.sha256(name.encode()).hexdigest()[:32]}"
        if (kept := cache.get(key)) is not None:
            return cast("Found", kept)
    except RedisError as error:
        logger.warning("what was found out over all checkpoints is not kept: %s", error)
        return find()
    found = find()
    try:
        cache.set(key, found, TERM)
    except RedisError as error:
        logger.warning("what was found out over all checkpoints is not kept: %s", error)
    return found


def surveys_outdate() -> None:
    """From the end of this transaction on, everything is found out anew."""
    transaction.on_commit(_outdate)


def _outdate() -> None:
    try:
        cache.add(_VERSION, 0, None)
        cache.incr(_VERSION)
    except (RedisError, ValueError) as error:  # ValueError: the key was taken away between the two
        logger.warning("what was found out over all checkpoints is kept too long: %s", error)
