"""One connection to a name server or a broker: requests go out one behind the other, answers come in any order."""

from __future__ import annotations

import itertools
import socket
import ssl
from collections.abc import Mapping

from jobs.nodes.rocketmq.frames import BrokenFrame, Credentials, Frame, frame_bytes, frame_length, frame_of

_BUFFER = 256 * 1024


class Away(Exception):
    """Nobody answers at an address, or not any more, and why. Trying again may help."""


class Silent(Away):
    """Somebody is there, and says nothing for too long: another connection would hear as little."""


class Refused(Exception):
    """An answer that is a no: its code (org.apache.rocketmq.remoting.protocol.ResponseCode) and what the server says."""

    def __init__(self, code: int, remark: str) -> None:
        super().__init__(f"{remark} ({code})")
        self.code = code
        self.remark = remark


class Line:
    """Not for several threads at once. `seconds` is the longest silence; after Away the line is of no use any more.

    Encrypted by `tls` if given: ssl.SSLCertVerificationError where the server's certificate is not to be trusted.
    """

    def __init__(self, address: str, credentials: Credentials | None, seconds: float, tls: ssl.SSLContext | None = None) -> None:
        self.address = address
        self._credentials = credentials
        self._seconds = seconds
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Frame] = {}
        try:
            self._socket = _connected(address, seconds, tls)
        except ssl.SSLCertVerificationError:
            raise
        except ssl.SSLError as error:
            raise Away(f"{address}: the line cannot be encrypted ({error.reason or error}); it may not speak TLS") from None
        except (OSError, ValueError, OverflowError) as error:
            raise Away(f"{address}: {getattr(error, 'strerror', None) or error}") from None
        self._incoming = self._socket.makefile("rb", buffering=_BUFFER)

    def close(self) -> None:
        self._incoming.close()
        self._socket.close()

    def submit(self, code: int, fields: Mapping[str, object], body: bytes = b"") -> int:
        """Send a request; what it returns fetches the answer."""
        number = next(self._numbers)
        told = {name: _text(value) for name, value in fields.items()}
        if self._credentials is not None:
            told = self._credentials.signed(told, body)
        try:
            self._socket.sendall(frame_bytes(Frame(code, number, told, body)))
        except OSError as error:
            raise Away(f"{self.address}: {error.strerror or error}") from None
        return number

    def answer(self, number: int) -> Frame:
        """The answer to a submitted request, each once. It may be a no."""
        while number not in self._waiting:
            frame = self._next()
            if frame.is_response:
                self._waiting[frame.number] = frame
        return self._waiting.pop(number)

    def ask(self, code: int, fields: Mapping[str, object], body: bytes = b"") -> Frame:
        """Request and answer; Refused when it is a no."""
        answer = self.answer(self.submit(code, fields, body))
        if answer.code != 0:
            raise Refused(answer.code, answer.remark)
        return answer

    def _next(self) -> Frame:
        try:
            return frame_of(self._read(frame_length(self._read(4))))
        except BrokenFrame as error:
            raise Away(f"{self.address} does not answer as RocketMQ does: {error}") from None

    def _read(self, size: int) -> bytes:
        try:
            content: bytes = self._incoming.read(size)
        except TimeoutError:
            raise Silent(f"{self.address}: no answer for {self._seconds:g} s") from None
        except OSError as error:
            raise Away(f"{self.address}: {error.strerror or error}") from None
        if len(content) < size:
            raise Away(f"{self.address}: the connection was closed")
        return content


def _connected(address: str, seconds: float, tls: ssl.SSLContext | None) -> socket.socket:
    host, _, port = address.rpartition(":")
    plain = socket.create_connection((host.strip("[]"), int(port)), timeout=seconds)
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return tls.wrap_socket(plain, server_hostname=host.strip("[]")) if tls else plain
    except BaseException:
        plain.close()
        raise


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
