"""Ports of this machine that nobody uses."""

import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack

#: Below those that the system gives to outgoing connections, which could take one between its choice and its use. Systems differ in
#: where these begin: 32,768 on Linux, 49,152 elsewhere.
_FIRST, _LAST = 10_240, 32_000
_dice = random.SystemRandom()  # tests seed the common one: every process would then choose the same ports


def free_ports(count: int) -> list[int]:
    """So many different ones, free a moment ago."""
    with ExitStack() as stack:
        return [port for port, _ in zip(_held(stack), range(count), strict=False)]


def free_port() -> int:
    return free_ports(1)[0]


def neighbours_free() -> tuple[int, int]:
    """Two that are free, the first of them two below the second."""
    while True:
        (port,) = free_ports(1)
        with ExitStack() as stack:
            if _hold(stack, port) and _hold(stack, port + 2):
                return port, port + 2


def _held(stack: ExitStack) -> Iterator[int]:
    """Each is held until the stack closes."""
    while True:
        port = _dice.randint(_FIRST, _LAST)
        if _hold(stack, port):
            yield port


def _hold(stack: ExitStack, port: int) -> bool:
    probe = stack.enter_context(socket.socket())
    try:
        probe.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True
