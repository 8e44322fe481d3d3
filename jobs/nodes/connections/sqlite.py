"""SQLite database files below the allowed folders."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep, ConnectionKind, check_steps
from jobs.nodes.file_roots import allowed_path
from jobs.nodes.form import hints

_POLL_SECONDS = 0.01
#: Of SQLite's machine: so many take well below a millisecond.
_STEPS_BETWEEN_LOOKS = 10_000


class SqliteSettings(base.Config):
    path: str = Field(
        min_length=1,
        description="The database file, below the folders this project may use; it is made when first written to.",
        examples=["flights.sqlite3"],
        json_schema_extra=hints("path"),
    )
    busy_timeout_seconds: int = Field(
        20,
        ge=1,
        le=600,
        description="How long to wait while another program writes.",
        examples=[20],
        json_schema_extra=hints(advanced=True),
    )


class SqliteConnection(ConnectionKind):
    kind = "sqlite"
    title = "SQLite"
    icon = "database"
    Config = SqliteSettings
    secrets: ClassVar[Mapping[str, str]] = {}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Path, then content. A file that does not exist yet is fine if its folder does."""
        return check_steps(
            ("path", lambda: f"{sqlite_path(settings, limits)} is allowed here"),
            ("content", lambda: _content(sqlite_path(settings, limits))),
        )


def _content(path: Path) -> str:
    if not path.parent.is_dir():
        raise NodeError(f"the folder {path.parent} does not exist; create it")
    if not path.exists():
        return "the file does not exist yet; it is made when first written to"
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as session:
            (tables,) = session.execute("SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'view')").fetchone()
    except sqlite3.Error as error:
        raise NodeError(f"the file cannot be read as a SQLite database: {error}") from None
    return f"{tables} tables and views"


def sqlite_path(settings: ConnectionSettings, limits: Limits) -> Path:
    """The database file of `settings`; NodeError when it stands outside the allowed folders."""
    return allowed_path(SqliteSettings.model_validate(settings.config).path, limits)


def sqlite_open(settings: ConnectionSettings, limits: Limits, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection in manual transaction mode. Writing uses WAL, so that readers never wait. No statement opens another file on it."""
    path = sqlite_path(settings, limits)
    seconds = SqliteSettings.model_validate(settings.config).busy_timeout_seconds
    if read_only:
        uri = f"{path.as_uri()}?mode=ro"
        return _confined(sqlite3.connect(uri, uri=True, timeout=seconds, isolation_level=None, check_same_thread=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=seconds, isolation_level=None, check_same_thread=False)
    try:
        _log_ahead(connection, seconds)
    except sqlite3.Error:
        connection.close()
        raise
    return _confined(connection)


def sqlite_limit(session: sqlite3.Connection, seconds: int) -> None:
    """Statements end `seconds` from now, and wait no longer for another program."""
    (waiting,) = session.execute("PRAGMA busy_timeout").fetchone()
    session.execute(f"PRAGMA busy_timeout = {min(waiting, seconds * 1000):d}")
    end = time.monotonic() + seconds
    session.set_progress_handler(lambda: time.monotonic() > end, _STEPS_BETWEEN_LOOKS)


def _log_ahead(connection: sqlite3.Connection, seconds: float) -> None:
    """Where others open or close the file at this moment, SQLite refuses to change the mode at once, whatever its busy time-out is."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(_POLL_SECONDS)


def _confined(connection: sqlite3.Connection) -> sqlite3.Connection:
    """People write SQL of their own: ATTACH and VACUUM INTO would lead it out of the allowed folders."""
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK)
    return connection
