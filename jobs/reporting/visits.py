"""How a thread that lives as long as an execution, and seldom has something to write, comes to the database."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import close_old_connections, connection


@contextmanager
def database_visit() -> Iterator[None]:
    """Inside it the database is asked. The connection ends with it: a server has a hundred, and executions run for months."""
    close_old_connections()
    try:
        yield
    finally:
        if not connection.in_atomic_block:
            connection.close()
