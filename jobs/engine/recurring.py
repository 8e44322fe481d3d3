"""What goes wrong again and again is told when it begins, when its words change, and when it is over: a log shall not fill with it."""

from __future__ import annotations

import logging
import re

from py4j.protocol import Py4JJavaError


class Recurring:
    """For one thread. `what` is the sentence that is told, and what tells one fault from another."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._told: dict[str, str] = {}

    def wrong(self, what: str, error: Exception) -> None:
        said = str(error.java_exception if isinstance(error, Py4JJavaError) else error).partition("\n")[0]
        words = re.sub(r"0x[0-9a-f]+|\d+", "", said)  # times, ports and the like differ each time
        if self._told.get(what) != words:
            self._told[what] = words
            self._logger.warning("%s: %s", what, said)

    def right(self, what: str) -> None:
        if self._told.pop(what, None) is not None:
            self._logger.info("it is over that %s", what)
