"""What stands behind a port that takes connections but lets no Kafka client in, found by one question of Kafka's protocol."""

from __future__ import annotations

import socket
import struct
from contextlib import ExitStack
from typing import Literal

from jobs.nodes.connections.tls import unchecked_context

_SECONDS = 2.0
_LONGEST_ANSWER = 10_000
_NUMBER = 4711
#: SaslHandshake, version 0, of the mechanism PLAIN: a port that lets in without a sign-in refuses it by a code of its own.
_BODY = struct.pack("!hhih", 17, 0, _NUMBER, -1) + struct.pack("!h", 5) + b"PLAIN"
_QUESTION = struct.pack("!i", len(_BODY)) + _BODY
_ANSWER = struct.Struct("!iih")
_ILLEGAL_SASL_STATE = 34

#: Whether a broker lets in without a sign-in, asks for one, or something else answers or hangs up; "silent": nothing came in time.
Found = Literal["open", "sign-in", "stranger", "silent"]


def kafka_probe(host: str, port: int, *, tls: bool) -> Found:
    """Nothing secret is told: not to a server that is no broker either."""
    try:
        with ExitStack() as lines:
            line = lines.enter_context(socket.create_connection((host, port), timeout=_SECONDS))
            if tls:
                line = lines.enter_context(unchecked_context().wrap_socket(line, server_hostname=host))
            line.sendall(_QUESTION)
            return _meaning(line.recv(_ANSWER.size, 0 if tls else socket.MSG_WAITALL))
    except (ConnectionRefusedError, TimeoutError, socket.gaierror):
        return "silent"
    except OSError:
        return "stranger"


def _meaning(answer: bytes) -> Found:
    if len(answer) < _ANSWER.size:
        return "stranger"
    size, number, code = _ANSWER.unpack(answer)
    if number != _NUMBER or not 0 < size < _LONGEST_ANSWER:
        return "stranger"
    return "open" if code == _ILLEGAL_SASL_STATE else "sign-in"
