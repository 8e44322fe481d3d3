"""How the product is connected to its own database."""

from pathlib import Path
from typing import Any

import environ

_SQLITE = "django.db.backends.sqlite3"


def database_settings(url: str, seconds_kept: int, *, otherwise: Path) -> dict[str, Any]:
    """Django's database entry for `url`, or the SQLite file `otherwise`. SQLite: WAL, immediate transactions, 20 s of patience for a lock.

    A connection to another one is used for at most `seconds_kept`, which only a thread that comes back to it gains by, and looked after
    before each use.
    """
    # As a path, for in an address + % # and ? would mean something else than the folder that is called so.
    entry: dict[str, Any] = dict(environ.Env.db_url_config(url)) if url else {"ENGINE": _SQLITE, "NAME": str(otherwise)}
    if entry["ENGINE"] == _SQLITE:
        entry["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
        }
    else:
        entry["CONN_MAX_AGE"] = seconds_kept
        entry["CONN_HEALTH_CHECKS"] = True
    return entry
