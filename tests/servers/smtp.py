"""A mail server for tests, in this process: plain, with STARTTLS or TLS, with and without a sign-in. What it took is kept."""

import asyncio
import ssl
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP as POLICY
from types import TracebackType
from typing import Any, Literal

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from scripts.ports import free_port
from tests.servers.certificate import self_signed, server_context

USER, PASSWORD = "pipeline", "canary-smtp-4711"
_TAKEN = "250 OK"


@dataclass(frozen=True)
class Received:
    """A mail as it came, with its envelope."""

    sender: str
    recipients: list[str]
    message: EmailMessage

    @property
    def text(self) -> str:
        return str(self.message.get_content()).replace("\r\n", "\n").rstrip("\n")


@dataclass
class SmtpServer:
    """A context. `answer_sender`, `answer_recipient` and `answer_mail` may be replaced while it runs; an answer is a line of SMTP."""

    security: Literal["starttls", "tls", "none"] = "none"
    sign_in: bool = False
    answer_sender: Callable[[str], str] = lambda address: _TAKEN
    answer_recipient: Callable[[str], str] = lambda address: _TAKEN
    answer_mail: Callable[[EmailMessage], str] = lambda message: _TAKEN
    mails: list[Received] = field(default_factory=list)
    lines: int = 0
    port: int = field(default_factory=free_port)
    certificate: str = ""
    _controller: Controller | None = None

    def __enter__(self) -> "SmtpServer":
        self._context = self._tls() if self.security != "none" else None
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def config(self, **change: Any) -> dict[str, Any]:
        """Of a connection to it."""
        found = {"host": "127.0.0.1", "port": self.port, "security": self.security, "sender": "pipeline@example.com"}
        signing = {"sign_in": "password", "user": USER} if self.sign_in else {"sign_in": "none"}
        return {**found, **signing, "certificate_authority": self.certificate, **change}

    def start(self) -> None:
        """Returns when it takes connections, at the port it had."""
        self._transports: list[Any] = []
        offers_in_clear = self.sign_in and self.security != "starttls"
        given: dict[str, Any] = {"auth_require_tls": not offers_in_clear, "auth_required": self.sign_in}
        if self.sign_in:
            given["authenticator"] = _authenticated
        if self.security == "starttls":
            given |= {"tls_context": self._context, "require_starttls": True}
        self._controller = _Listener(
            self, hostname="127.0.0.1", port=self.port, ssl_context=self._context if self.security == "tls" else None, **given
        )
        self._controller.start()
        self.lines -= 1  # the controller's own, by which it sees that it listens

    def stop(self) -> None:
        """As one that is killed: it says no farewell to those that are connected."""
        if self._controller is not None:
            asyncio.run_coroutine_threadsafe(self._abort(), self._controller.loop).result(10)
            self._controller.stop()
            self._controller = None

    async def _abort(self) -> None:
        for transport in self._transports:
            transport.abort()
        await asyncio.sleep(0.01)

    async def handle_MAIL(self, server: SMTP, session: Any, envelope: Any, address: str, options: list[str]) -> str:  # noqa: N802
        answer = self.answer_sender(address)
        if answer == _TAKEN:
            envelope.mail_from = address
        return answer

    async def handle_RCPT(self, server: SMTP, session: Any, envelope: Any, address: str, options: list[str]) -> str:  # noqa: N802
        answer = self.answer_recipient(address)
        if answer == _TAKEN:
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server: SMTP, session: Any, envelope: Any) -> str:  # noqa: N802
        message = message_from_bytes(envelope.content, policy=POLICY)
        answer = self.answer_mail(message)
        if answer == _TAKEN:
            self.mails.append(Received(envelope.mail_from, list(envelope.rcpt_tos), message))
        return answer

    def _tls(self) -> ssl.SSLContext:
        self.certificate, key = self_signed()
        return server_context(self.certificate, key)


def _authenticated(server: SMTP, session: Any, envelope: Any, mechanism: str, given: Any) -> AuthResult:
    right = isinstance(given, LoginPassword) and (given.login, given.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=right, handled=False)


class _Listener(Controller):
    def __init__(self, server: SmtpServer, **given: Any) -> None:
        self._server = server
        super().__init__(server, **given)

    def factory(self) -> SMTP:
        return _Session(self._server, **self.SMTP_kwargs)


class _Session(SMTP):
    def __init__(self, server: SmtpServer, **given: Any) -> None:
        self._server = server
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a sign-in in clear
            super().__init__(server, **given)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._server._transports.append(transport)
        self._server.lines += 1
        super().connection_made(transport)
