"""How the product is connected to its own database."""

from typing import Any

import environ


def database_settings(url: str, seconds_kept: int) -> dict[str, Any]:
    """Django's database entry for `url`. SQLite: WAL, immediate transactions, 20 s of patience for a lock.

    A connection to another one is used for at most `seconds_kept`, and looked after before each use.
    """
    entry: dict[str, Any] = dict(environ.Env.db_url_config(url))
    if entry["ENGINE"] == "django.db.backends.sqlite3":
        entry["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
        }
    else:
        entry["CONN_MAX_AGE"] = seconds_kept
        entry["CONN_HEALTH_CHECKS"] = True
    return entry
