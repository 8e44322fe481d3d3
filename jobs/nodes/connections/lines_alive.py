"""A host that vanished is noticed by the system within half a minute, while one that takes its time over an answer is not hurried."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: Where the open files of this process are listed, by their numbers.
_OPEN = "/dev/fd"


def keep_alive(line: socket.socket) -> None:
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            line.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)


@contextmanager
def lines_kept_alive() -> Iterator[None]:
    """For all lines of this process that come about inside: a driver that runs in a JVM lets nobody at its own."""
    before = _sockets()
    yield
    for number in (number for socket_id, number in _sockets().items() if socket_id not in before):
        with suppress(OSError), _line_of(number) as line:
            if line.type == socket.SOCK_STREAM and line.family in (socket.AF_INET, socket.AF_INET6):
                keep_alive(line)


def _line_of(number: int) -> socket.socket:
    """OSError where it is closed by now, or is the number of something else."""
    doubled = os.dup(number)
    try:
        return socket.socket(fileno=doubled)
    except OSError:
        os.close(doubled)
        raise


def _sockets() -> dict[int, int]:
    """By what tells one from another: the number of one that is closed is the next one's."""
    found: dict[int, int] = {}
    with suppress(OSError):
        for name in os.listdir(_OPEN):
            with suppress(OSError):
                told = os.fstat(int(name))
                if stat.S_ISSOCK(told.st_mode):
                    found[told.st_ino] = int(name)
    return found
