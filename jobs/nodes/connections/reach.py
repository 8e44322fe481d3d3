"""The first steps of a connection's test, the same for every system behind a host and a port."""

from __future__ import annotations

import socket
from contextlib import suppress

from jobs.nodes.base import NodeError

SECONDS = 10
_SILENT_SECONDS = 3.0
_HUNG_UP_SECONDS = 0.2


def name_resolve(host: str) -> str:
    """Which addresses `host` has; NodeError where the name is not known."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NodeError(f'the name "{host}" is not known ({getattr(error, "strerror", None) or error}); correct the host') from None
    return f"{host} has the address {', '.join(sorted({str(address[4][0]) for address in found}))}"


def line_try(host: str, port: int, *, seconds: float = SECONDS) -> None:
    """That a line to `host`:`port` comes about and lasts. OSError if not: a forwarder takes lines to a server that is away and hangs up."""
    with socket.create_connection((host, port), timeout=seconds) as line, suppress(TimeoutError):
        line.settimeout(_HUNG_UP_SECONDS)
        if not line.recv(1):
            raise ConnectionResetError("the line is closed at once")


def port_reach(host: str, port: int, *, seconds: float = SECONDS) -> str:
    """That something takes connections at `host`:`port`; NodeError if nothing does."""
    try:
        line_try(host, port, seconds=seconds)
        return f"{host}:{port} takes connections"
    except OSError as error:
        raise NodeError(f"{host}:{port} does not answer ({error.strerror or error}); check port, firewall and whether it runs") from None


def is_silent(host: str, port: int) -> bool:
    """Whether nothing takes a lasting connection at `host`:`port` now."""
    try:
        port_reach(host, port, seconds=_SILENT_SECONDS)
    except NodeError:
        return True
    return False
