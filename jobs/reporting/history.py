"""What an execution's history is told while it runs, in order: nothing is left out because the database was away for a moment."""

import logging
import threading
from collections import deque
from collections.abc import Callable

from django import db

from jobs.reporting.visits import database_visit

#: So much waits for the database at most; then the oldest goes.
_MOST = 500


class History:
    """Entries are written by whoever adds one, or by `write`, which is called now and then."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._entries: deque[Callable[[], object]] = deque(maxlen=_MOST)
        self._lock = threading.Lock()
        self._is_away = False  # that it is, is said once

    def add(self, entry: Callable[[], object]) -> None:
        """`entry` writes it. It comes again, before all later ones, where the database does not take it now."""
        with self._lock:
            self._entries.append(entry)
        self.write()

    def write(self) -> None:
        """What waits, unless the database is still away."""
        with self._lock:
            while self._entries:
                try:
                    with database_visit():
                        self._entries[0]()
                except db.Error as error:
                    if not self._is_away:
                        self._log.warning("the history waits for the database: %s", error)
                    self._is_away = True
                    return
                except Exception:
                    self._entries.popleft()
                    raise
                self._entries.popleft()
                self._is_away = False
