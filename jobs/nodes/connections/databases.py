"""What the nodes that read and write databases share about their connections."""

from __future__ import annotations

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.jdbc_session import jdbc_close, jdbc_open
from jobs.nodes.connections.mysql import mysql_open
from jobs.nodes.connections.postgresql import postgresql_open


def database_silent(settings: ConnectionSettings, limits: Limits) -> str:
    """The database's name, as in "waiting for postgresql warehouse", when it takes no session for now; else "".

    A refusal that no waiting mends, as of a wrong password, counts as an answer: the node itself tells of it.
    """
    try:
        if settings.kind == "postgresql":
            postgresql_open(settings, limits).close()
        elif settings.kind == "mysql":
            mysql_open(settings).close()
        elif settings.kind == "jdbc":
            jdbc_close(jdbc_open(settings, limits))
    except NodeError as error:
        return "" if error.permanent or error.kind == "user" else f"{settings.config.get('driver', settings.kind)} {settings.name}"
    return ""
