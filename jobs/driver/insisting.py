"""What an attempt has to read or write, however long the database is away."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django import db

from jobs.reporting.visits import database_visit

_PAUSE_SECONDS = 0.5

T = TypeVar("T")


def insisted(act: Callable[[], T], *, given_up: Callable[[], bool], log: logging.Logger) -> T:
    """What `act` gives; tried again where the database fails, until `given_up`: then it raises what `act` raised."""
    while True:
        try:
            with database_visit():
                return act()
        except db.Error as error:
            if given_up():
                raise
            log.warning("the database does not answer: %s", error)
            time.sleep(_PAUSE_SECONDS)
